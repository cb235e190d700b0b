"""ReAct: thoughts, actions and observations, at most five of them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, field_validator

from bmsql.bench.systems._graph_system import GraphSystem
from bmsql.bench.systems._kit import Kit, building, open_kit, prompt_labels
from bmsql.bench.systems._open import SystemOptions
from bmsql.bench.systems._shown import rows_text, tables_text
from bmsql.bench.systems._steps import FIRST, LAST, Node, PaperState, compile_steps, last_failure, prepare, run_query
from bmsql.errors import BackendUnavailableError, BmsqlError, QueryCancelledError
from bmsql.graph import Run, Step, Think, Wait, Work, load_run, problem_text
from bmsql.sql import extract_sql
from bmsql.types import Rejected

STEPS = 5


class StepReply(BaseModel):
    """One step: a thought, an action, and what the action is given."""

    # As one reply of a schema, this needs no tools of the provider; small models add fields of their own.
    model_config = ConfigDict(extra="ignore")

    thought: str = ""
    action: Literal["verify", "execute", "answer"]
    sql: str = ""
    answer: str = ""

    @field_validator("action", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value


def open_react(name: str, options: SystemOptions) -> GraphSystem:
    """At most five steps, each one call; the action is one of verify, execute and answer."""
    kit = open_kit(name, options)
    with building(kit):
        fixed = {"schema": tables_text(kit.deps, kit.tables)}
        nodes: dict[str, Node] = {
            FIRST: prepare(lambda question: fixed),
            "think": _think(kit),
            "validate": _verify,
            "execute": _execute(kit),
        }
        routes = {
            "think": (_after_think, ("validate", "execute", "think", LAST)),
            "validate": (_onward, ("think", LAST)),
            "execute": (_onward, ("think", LAST)),
        }
        graph = compile_steps(kit, name, nodes, routes, steps=2 * STEPS + 2)
        settings = {"prompts": prompt_labels("react"), "chat": kit.options.model_dump(mode="json")}
        return GraphSystem(name, kit.agent, graph, without=kit.without, settings=settings)


def _think(kit: Kit) -> Node:
    def node(state: PaperState, run: Run) -> Work:
        log = state["log"]
        values = {
            "question": state["question"],
            "steps": "\n".join(log) or "none yet",
            "left": str(STEPS - len(log)),
            **state["shown"],
        }
        reply: StepReply = yield Think("reply", (kit.ask("react", "react", values, StepReply),))
        number = len(log) + 1
        told = f"{number}. THOUGHT: {reply.thought.strip()}\n   ACTION: {reply.action}"
        detail = {"thought": reply.thought, "action": reply.action}
        if reply.action == "answer":
            said, reason = _ending(state, reply)
            return Step({"said": said, "reason": reason, "log": [*log, told]}, "answered", detail)
        sql = extract_sql(reply.sql)
        if not sql:
            observed = f"{told}\n   OBSERVATION: There was no query in `sql`."
            return Step({**_unanswered(number), "log": [*log, observed]}, "failed", detail)
        update = {
            **_unanswered(number),
            "sql": sql,
            "draft": {"sql": sql, "author": "model", "note": ""},
            "feedback": reply.action,
            "log": [*log, f"{told}: {sql}"],
        }
        # To run what was verified is no further draft.
        return Step(update, "unchanged" if sql == state["sql"] else "drafted", {**detail, "sql": sql})

    return node


def _ending(state: PaperState, reply: StepReply) -> tuple[str, str]:
    """The words of the answer, and why there is none where no query was run before."""
    said = reply.answer.strip() or reply.thought.strip()
    return said, "" if state["general"] else "the model gave an answer without having run a query"


def _unanswered(number: int) -> dict[str, str]:
    """What is said when the steps are used up: replaced by an answer, if one comes."""
    if number < STEPS:
        return {}
    return {
        "said": f"No answer was given within {STEPS} steps.",
        "reason": f"no answer was given within {STEPS} steps",
    }


def _after_think(state: PaperState) -> str:
    match state["outcome"]:
        case "answered":
            return LAST
        case "failed":
            return _onward(state)
        case _:
            return "validate" if state["feedback"] == "verify" else "execute"


def _onward(state: PaperState) -> str:
    return "think" if len(state["log"]) < STEPS else LAST


def _verify(state: PaperState, run: Run) -> Work:
    """Have the query checked by the validator and by the database, without running it."""
    problem = yield Wait(lambda: _refusal(state["sql"], run))
    observed = problem or "The query is valid."
    detail = {"problems": [problem], "sql": state["sql"]} if problem else {}
    return Step({"log": _observed(state, observed)}, "rejected" if problem else "valid", detail)


def _refusal(sql: str, run: Run) -> str:
    """What is wrong with a query; empty where nothing is."""
    verdict = run.deps.validate(sql)
    if isinstance(verdict, Rejected):
        return "; ".join(problem_text(problem) for problem in verdict.problems)
    try:
        run.deps.backend.dry_run(verdict)
    except (BackendUnavailableError, QueryCancelledError):
        raise
    except BmsqlError as error:
        return str(error)
    return ""


def _execute(kit: Kit) -> Node:
    def node(state: PaperState, run: Run) -> Work:
        step = yield from run_query(state, run)
        ran = load_run(step.update.get("general"))
        if ran is None:
            observed = f"It failed. {last_failure({**state, **step.update})}"
        else:
            observed = rows_text(kit, state["question"], ran.sql, ran.result)
        return Step({**step.update, "log": _observed(state, observed)}, step.outcome, step.detail)

    return node


def _observed(state: PaperState, observation: str) -> list[str]:
    *before, last = state["log"]
    return [*before, f"{last}\n   OBSERVATION: {observation}"]
