"""The steps that several systems share: what is shown, a query, its execution, words for its rows, the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, Literal, assert_never

from langgraph.graph import END, START, StateGraph

from bmsql.bench.systems._kit import Kit
from bmsql.bench.systems._shown import rows_text
from bmsql.graph import (
    Graph,
    GraphContext,
    GraphInput,
    GraphOutput,
    GraphState,
    Run,
    Step,
    Think,
    Wait,
    Work,
    fresh_state,
    load_run,
    pack,
    pack_result,
    problem_text,
    running_total,
    traced_node,
    usage_with,
)
from bmsql.reasoners import Attempt
from bmsql.sql import extract_sql, format_sql
from bmsql.types import Answer, ExecutionFailed, QueryResult, RanQuery, Rejected, Usage

FIRST, LAST = "prepare", "finish"
NONE = "NONE"
Node = Callable[[Any, Run], Work]
Route = Callable[[Any], str]


class PaperState(GraphState, total=False):
    """The state of the paper's systems: that of the agent's graph, and what their prompts are filled with.

    shown: values of prompts by name, such as `schema`; said: the words for the rows; reason: why there is no
    answer; log: what was done so far in a loop, as the next prompt tells it.
    """

    shown: dict[str, str]
    said: str
    reason: str
    log: list[str]


def compile_steps(
    kit: Kit, name: str, nodes: Mapping[str, Node], routes: Mapping[str, tuple[Route, tuple[str, ...]]], *, steps: int
) -> Graph:
    """The graph of `nodes`: each leads to the next, but for those with a route; `finish` is the last one.

    steps: how many nodes a question enters at most.
    """
    every = {**nodes, LAST: finish(kit)}
    graph = StateGraph(PaperState, context_schema=GraphContext, input_schema=GraphInput, output_schema=GraphOutput)
    for node, function in every.items():
        made = traced_node(node, function, kit.deps, first=FIRST, thinker=kit.thinker)
        graph.add_node(node, made, input_schema=PaperState)
    order = list(every)
    graph.add_edge(START, order[0])
    for node, following in pairwise(order):
        if node in routes:
            route, targets = routes[node]
            graph.add_conditional_edges(node, route, list(targets))
        else:
            graph.add_edge(node, following)
    graph.add_edge(LAST, END)
    return graph.compile(name=name).with_config(recursion_limit=steps + 2)


def prepare(show: Callable[[str], dict[str, str]]) -> Node:
    """The first node: what prompts show of the knowledge base, for the question."""

    def node(state: PaperState, run: Run) -> Work:
        question = state["question"]
        shown = yield Wait(lambda: show(question))
        update = {**fresh_state(question), "shown": shown, "said": "", "reason": "", "log": [], "plan": {}}
        return Step(update, "planned")

    return node


def draft(kit: Kit, prompt: str, step: str = "draft") -> Node:
    """A node that has the model write the query."""

    def node(state: PaperState, run: Run) -> Work:
        values = {"question": state["question"], "feedback": state["feedback"], **state["shown"]}
        text = yield Think("reply", (kit.ask(step, prompt, values),))
        return drafted(text)

    return node


def drafted(text: str) -> Step:
    """The step that a reply with a query makes; a model may say that there is none."""
    sql = extract_sql(text) or text
    if sql.strip().strip(".`'\"").upper() == NONE:
        return Step({"reason": "the model found no way to answer it from these tables", "sql": ""}, "declined")
    return Step({"sql": sql, "draft": {"sql": sql, "author": "model", "note": ""}}, "drafted", {"sql": sql})


def after_draft(state: PaperState) -> str:
    """To the database, unless there is no query."""
    return "execute" if state["outcome"] == "drafted" else LAST


def run_query(state: PaperState, run: Run) -> Work:
    """Validate and run the query under way within the limits; it is kept as it was validated."""
    run.checkpoint()
    deps, stage = run.deps, state["stage"]
    match (yield Wait(partial(deps.run, state["sql"], run.cancel))):
        case QueryResult() as result:
            ran = {"sql": deps.validate(state["sql"]).sql, "result": pack_result(result)}
            detail = {"stage": stage, "rows": len(result.rows), "truncated": result.truncated}
            return Step({stage: ran, "usage": usage_with(state, result)}, "ran", detail)
        case Rejected() as rejected:
            return _failed(state, Attempt(sql=state["sql"], problems=rejected.problems), "rejected")
        case ExecutionFailed() as failed:
            error = f"{failed.message} {failed.remedy}".strip()
            return _failed(state, Attempt(sql=state["sql"], error=error), "failed")
        case never:
            assert_never(never)


def _failed(state: PaperState, attempt: Attempt, outcome: Literal["rejected", "failed"]) -> Step:
    """A query that failed: kept for a repair, and why there is no answer if none follows."""
    tried = {"pass": state["passes"], "draft": attempt.sql, "attempt": pack(attempt)}
    why = last_failure({"attempts": [tried]})
    return Step(
        {"attempts": [tried], "reason": f"the query failed: {why}"}, outcome, {"stage": state["stage"], "error": why}
    )


def after_single(state: PaperState) -> str:
    """To the words, unless the only query failed."""
    return "answer" if state["outcome"] == "ran" else LAST


def last_failure(state: Mapping[str, Any]) -> str:
    """What the validator or the database said of the query that failed last."""
    last = Attempt.model_validate(state["attempts"][-1]["attempt"])
    return last.error or "; ".join(problem_text(problem) for problem in last.problems)


def answer(kit: Kit, prompt: str = "answer") -> Node:
    """A node that has the model word the rows."""

    def node(state: PaperState, run: Run) -> Work:
        text = yield Think("reply", (kit.ask("answer", prompt, result_values(kit, state)),))
        return Step({"said": text.strip()}, "answered")

    return node


def result_values(kit: Kit, state: PaperState) -> dict[str, str]:
    """The question, and its queries with their rows, for a prompt; the final one as `sql` and `rows`."""
    question = state["question"]
    general, refined = load_run(state["general"]), load_run(state["refined"])
    values = {"question": question, "answer": state["said"]}
    for name, ran in (("general_", general), ("refined_", refined), ("", refined or general)):
        values[f"{name}sql"] = ran.sql if ran else "there is none"
        values[f"{name}rows"] = rows_text(kit, question, ran.sql, ran.result) if ran else "there is none"
    return values


def finish(kit: Kit) -> Node:
    """The last node: the answer from the state; an abstention where no query could be run."""

    def node(state: PaperState, run: Run) -> Work:
        kept = state.get("kept")
        # A further pass that ends without rows does not cost those of the pass before.
        whole: PaperState = {**state, **kept} if kept and not state["general"] else state  # type: ignore[typeddict-item]
        final = load_run(whole["refined"]) or load_run(whole["general"])
        made = _abstention(kit, whole) if final is None else _answered(kit, whole, final)
        yield from ()
        return Step({"answer": made}, "abstained" if made.abstained else "answered")

    return node


def _answered(kit: Kit, state: PaperState, final: RanQuery) -> Answer:
    warnings = list(state["warnings"])
    if final.result.truncated:
        warnings.append(f"Truncated: {len(final.result.rows)} rows were fetched; there are more.")
    return Answer(
        text=state["said"],
        sql=format_sql(final.sql),
        general=load_run(state["general"]),
        refined=load_run(state["refined"]),
        warnings=tuple(warnings),
        **_common(kit, state),
    )


def _abstention(kit: Kit, state: PaperState) -> Answer:
    reason = state["reason"] or "no query was run"
    text = state["said"] or f"I cannot answer this: {reason.rstrip('.')}."
    return Answer(text=text, abstained=True, reason=reason, **_common(kit, state))


def _common(kit: Kit, state: PaperState) -> dict[str, Any]:
    return {
        "question": state["question"],
        "reasoner": kit.reasoner.name,
        "backend": kit.deps.backend.name,
        "profile": kit.deps.rules.profile,
        "usage": Usage(**state["usage"], **running_total(kit.deps.backend)),
    }
