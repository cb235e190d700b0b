"""What a question must not pay for: threads for what is over at once, runs of their own for routes, a second check."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, cast

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.graph import START, StateGraph
from pydantic import ValidationError

from bmsql.conventions import RuleBook, load_rules
from bmsql.graph import (
    GraphContext,
    GraphInput,
    GraphOutput,
    GraphState,
    Run,
    Step,
    Wait,
    Work,
    ainvoke_graph,
    compile_graph,
    invoke_graph,
    load_run,
    pack,
    pack_result,
)
from bmsql.graph._build import NODES
from bmsql.graph._drive import adrive, drive
from bmsql.graph._plans import Plans
from bmsql.graph._turns import Turn
from bmsql.reasoners import current_step
from bmsql.testing import ScriptedReasoner
from bmsql.types import Answer, ColumnInfo, Plan, QueryResult, Source, TraceEntry
from tests.graph.fakes import ALL, PLAN, UNFILTERED, dependencies

QUESTION = {"question": "Which SNPs?"}


class Names(BaseCallbackHandler):
    """The names of the runs that were begun."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        self.begun.append(kwargs["name"])


class Counting(ThreadPoolExecutor):
    """A pool that counts what it is given."""

    given = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given += 1
        return super().submit(fn, *args, **kwargs)


def test_callbacks_see_a_run_for_the_graph_and_one_for_each_node() -> None:
    names = Names()
    graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL)))
    answer = Answer.model_validate(graph.invoke(QUESTION, {"callbacks": [names]})["answer"])
    assert names.begun == ["bmsql", *(entry.node for entry in answer.trace)]


async def test_routes_need_no_thread() -> None:
    with Counting(2) as pool:
        asyncio.get_running_loop().set_default_executor(pool)
        graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL)))
        answer = Answer.model_validate((await graph.ainvoke(QUESTION))["answer"])
        assert len(answer.trace) > 5
        assert pool.given == 0


@pytest.mark.parametrize("over", [True, False])
async def test_what_is_over_needs_no_thread(over: bool) -> None:
    def node() -> Work:
        ident = yield Wait(threading.get_ident, over=over)
        return Step({"ident": ident}, "ran")

    step = await adrive(node(), None, Turn())
    assert (step.update["ident"] == threading.get_ident()) is over
    assert drive(node(), None).update["ident"] == threading.get_ident()


async def waits_of(monkeypatch: pytest.MonkeyPatch, node: str, draft: str, times: int = 1) -> tuple[list[bool], Answer]:
    """Whether what each visit of `node` waited for was over at once, and the last answer."""
    waits: list[bool] = []
    function = NODES[node]

    def noted(state: GraphState, run: Run) -> Work:
        work = function(state, run)
        due = next(work)
        assert isinstance(due, Wait)
        waits.append(due.over)
        try:
            work.send((yield due))
        except StopIteration as stop:
            return cast(Step, stop.value)
        raise AssertionError(f"{node} waits for one thing")

    monkeypatch.setitem(NODES, node, noted)
    graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=draft)))
    for _ in range(times):
        out = await graph.ainvoke(QUESTION)
    return waits, Answer.model_validate(out["answer"])


async def test_a_verdict_that_is_known_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    waits, answer = await waits_of(monkeypatch, "validate", ALL, times=2)
    # The draft is held against its plan each time; the refined query is only validated.
    assert waits == [False, False, False, True]
    assert answer.sql


@pytest.mark.parametrize(("length", "over"), [(10, True), (5_000, False)])
async def test_rules_are_written_into_a_short_text_without_a_thread(
    monkeypatch: pytest.MonkeyPatch, length: int, over: bool
) -> None:
    draft = f"SELECT SNP, p, '{'x' * length}' AS note FROM study ORDER BY p"
    waits, answer = await waits_of(monkeypatch, "inject_thresholds", draft)
    assert waits == [over]
    assert answer.refined
    assert [row["SNP"] for row in answer.rows] == ["rs2", "rs1", "rs6"]


async def test_who_asks_is_given_the_answer_itself_and_not_a_copy() -> None:
    """As plain data it is the same; what another graph makes of it counts where there is one."""
    graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL)))
    for context, out in (
        (first := GraphContext(), graph.invoke(QUESTION, context=first)),
        (second := GraphContext(), await graph.ainvoke(QUESTION, context=second)),
    ):
        answer = context.answer_in(out["answer"])
        assert answer is context.answer_in(out["answer"])
        assert answer == Answer.model_validate(out["answer"])
        assert context.answer_in({**out["answer"], "text": "Other."}).text == "Other."


async def test_an_answer_that_an_outer_graph_changed_is_the_changed_one() -> None:
    def changed(state: GraphOutput) -> dict[str, Any]:
        return {"answer": {**state["answer"], "text": "Changed."}}

    outer = StateGraph(GraphOutput, context_schema=GraphContext, input_schema=GraphInput)
    outer.add_node("bmsql", compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL))))
    outer.add_node("changed", changed)
    outer.add_edge(START, "bmsql")
    outer.add_edge("bmsql", "changed")
    graph = outer.compile()
    assert invoke_graph(graph, "Which SNPs?").text == "Changed."
    assert (await ainvoke_graph(graph, "Which SNPs?")).text == "Changed."


def test_rows_that_are_tuples_are_taken_as_they_are() -> None:
    columns = (ColumnInfo(name="SNP", type="STRING"),)
    rows = (("rs1",), (None,))
    result = QueryResult(columns=columns, rows=rows)
    assert result.rows is rows
    loaded = load_run({"sql": "SELECT 1", "result": pack_result(result)})
    assert loaded is not None
    assert loaded.result == result
    assert loaded.result.rows is rows


@pytest.mark.parametrize("rows", [[("rs1",)], (["rs1"],), [["rs1"]], (("rs1",), ["rs2"])])
def test_other_rows_become_tuples(rows: Any) -> None:
    result = QueryResult(columns=(ColumnInfo(name="SNP", type="STRING"),), rows=rows)
    assert result.rows == tuple(map(tuple, rows))
    assert {type(row) for row in result.rows} == {tuple}


@pytest.mark.parametrize("rows", [None, "rs1", (("rs1",), "rs2"), (("rs1",), 2), {"a": 1}])
def test_what_is_no_rows_is_refused(rows: Any) -> None:
    with pytest.raises(ValidationError):
        QueryResult(columns=(), rows=rows)


def test_a_plan_is_read_once_until_it_is_edited_even_in_place() -> None:
    data, plans = pack(PLAN), Plans()
    first = plans.read(data)
    assert first == PLAN
    assert plans.read(pack(PLAN)) is first
    data["limit"] = 1
    assert plans.read(data).limit == 1
    with pytest.raises(ValidationError):
        plans.read({**data, "sources": 1})
    # A number and a truth value may be equal, and are not the same.
    data["filters"] = [{"target": "p", "op": "=", "values": [1]}]
    whole = plans.read(data)
    data["filters"][0]["values"] = [True]
    assert plans.read(data).filters[0].values[0] is True
    assert whole.filters[0].values[0] == 1
    assert whole.filters[0].values[0] is not True


def test_a_plan_of_other_than_plain_data_is_read_each_time() -> None:
    class Text(str):
        __slots__ = ()

    data = {**pack(PLAN), "problem": Text("none")}
    plans = Plans()
    assert plans.read(data) == plans.read(data)
    assert plans.read(data).problem == "none"


def test_models_that_a_reasoner_reports_are_plain_data_in_the_trace() -> None:
    def draft(question: str, plan: Plan) -> str:
        current_step().detail["source"] = [Source(alias="s", table="study")]
        return ALL

    graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=draft)))
    trace = graph.invoke(QUESTION)["answer"]["trace"]
    assert trace[1]["detail"]["source"] == [{"alias": "s", "table": "study"}]
    assert all(TraceEntry.model_validate(entry).model_dump() == entry for entry in trace)


def test_a_text_is_checked_once() -> None:
    deps = dependencies(ScriptedReasoner())
    assert not deps.has_verdict(ALL)
    verdict = deps.validate(ALL)
    assert deps.has_verdict(ALL)
    assert deps.validate(ALL) is verdict


def test_what_the_conventions_make_of_a_query_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    real = RuleBook.apply_plan

    def noted(self: RuleBook, tree: Any, *rest: Any) -> Any:
        written.append(tree.sql("bigquery"))
        return real(self, tree, *rest)

    monkeypatch.setattr(RuleBook, "apply_plan", noted)
    plans = [PLAN, PLAN, UNFILTERED, PLAN, PLAN]
    graph = compile_graph(dependencies(ScriptedReasoner(plan=plans, draft=ALL)))
    first, second, other, again = (invoke_graph(graph, "Which SNPs?") for _ in range(4))
    assert len(written) == 2
    assert (first.sql, first.conventions, first.text) == (second.sql, second.conventions, second.text)
    assert (first.sql, first.evidence) == (again.sql, again.evidence)
    assert other.sql != first.sql
    # Other dependencies have a memory of their own.
    graph.invoke(QUESTION, context=GraphContext(rules=load_rules(profile="biomedsql")))
    assert len(written) == 3


def test_what_is_remembered_is_not_what_the_state_holds() -> None:
    graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL)))
    seen = []
    for _ in range(2):
        updates = list(graph.stream(QUESTION, stream_mode="updates"))
        seen.append([update["inject_thresholds"]["records"] for update in updates if "inject_thresholds" in update])
        for records in seen[-1]:
            for record in records:
                record["rule"] = "edited"
    (first,), (second,) = seen
    assert first is not second
    assert [record["rule"] for record in second] == ["edited"] * len(first)
    answer = invoke_graph(graph, "Which SNPs?")
    assert "edited" not in {record.rule for record in answer.conventions}
