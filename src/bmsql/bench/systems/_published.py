"""BMSQL as the paper describes it: thresholds by prompt, two queries, and passes until an answer suffices."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from bmsql.bench.systems._graph_system import GraphSystem
from bmsql.bench.systems._kit import Kit, building, open_kit, prompt_labels
from bmsql.bench.systems._open import SystemOptions
from bmsql.bench.systems._shown import tables_text, thresholds_text
from bmsql.bench.systems._steps import (
    FIRST,
    LAST,
    Node,
    PaperState,
    after_draft,
    answer,
    compile_steps,
    draft,
    drafted,
    last_failure,
    prepare,
    result_values,
    run_query,
)
from bmsql.graph import Run, Step, Think, Work, failures, fresh_pass, load_run
from bmsql.sql import same_sql

_PROMPTS = ("columns", "general", "repair", "refined", "both", "sufficient")
_KEPT = ("general", "refined", "said", "warnings")


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore")


class TableReply(_Reply):
    """A table, and the columns of it that are needed."""

    table: str
    columns: list[str] = []


class ColumnsReply(_Reply):
    """The relevant tables."""

    tables: list[TableReply] = []


class SufficientReply(_Reply):
    """Whether an answer suffices, and what is to change."""

    sufficient: bool
    change: str = ""


def open_published(name: str, options: SystemOptions) -> GraphSystem:
    """Columns, general query, up to three repairs, refined query, answer from both, and whether it suffices."""
    kit = open_kit(name, options)
    with building(kit):
        fixed = {"schema": tables_text(kit.deps, kit.tables), "thresholds": thresholds_text(kit.deps) or "none"}
        nodes: dict[str, Node] = {
            FIRST: prepare(lambda question: fixed),
            "columns": _columns(kit),
            "generate": draft(kit, "general"),
            "execute": _execute,
            "repair": _repair(kit),
            "refine": _refine(kit),
            "answer": answer(kit, "both"),
            "sufficient": _sufficient(kit),
        }
        budgets = kit.deps.budgets

        def after_execute(state: PaperState) -> str:
            if state["stage"] == "refined":
                return "answer"
            if state["outcome"] == "ran":
                return "refine"
            return "repair" if len(failures(state)) <= budgets.repairs else LAST

        routes = {
            "generate": (after_draft, ("execute", LAST)),
            "execute": (after_execute, ("repair", "refine", "answer", LAST)),
            "repair": (after_draft, ("execute", LAST)),
            "refine": (_after_refine, ("execute", "answer")),
            "sufficient": (_after_sufficient, ("columns", LAST)),
        }
        per_pass = len(nodes) + 2 * budgets.repairs + 1
        graph = compile_steps(kit, name, nodes, routes, steps=2 + per_pass * budgets.passes)
        settings = {
            "prompts": prompt_labels(*_PROMPTS),
            "chat": kit.options.model_dump(mode="json"),
            "repairs": budgets.repairs,
        }
        return GraphSystem(name, kit.agent, graph, without=kit.without, settings=settings)


def _columns(kit: Kit) -> Node:
    def node(state: PaperState, run: Run) -> Work:
        values = {"question": state["question"], "feedback": state["feedback"], **state["shown"]}
        reply: ColumnsReply = yield Think("reply", (kit.ask("columns", "columns", values, ColumnsReply),))
        chosen = "\n".join(f"`{one.table}`: {', '.join(one.columns)}" for one in reply.tables) or "none"
        shown = {**state["shown"], "columns": chosen}
        return Step({"shown": shown}, "planned", {"tables": [one.table for one in reply.tables]})

    return node


def _execute(state: PaperState, run: Run) -> Work:
    step = yield from run_query(state, run)
    if step.outcome == "ran" or state["stage"] == "general":
        return step
    # The general rows are there; the answer rests on them, and says so.
    warning = f"The refined query failed: {last_failure({**state, **step.update})}"
    return Step({**step.update, "warnings": [*state["warnings"], warning]}, step.outcome, step.detail)


def _repair(kit: Kit) -> Node:
    def node(state: PaperState, run: Run) -> Work:
        failed = [
            f"{number}. {one['draft']}\n   {last_failure({'attempts': [one]})}"
            for number, one in enumerate(failures(state), 1)
        ]
        values = {"question": state["question"], "failed": "\n".join(failed), **state["shown"]}
        text = yield Think("reply", (kit.ask("repair", "repair", values),))
        return drafted(text)

    return node


def _refine(kit: Kit) -> Node:
    def node(state: PaperState, run: Run) -> Work:
        values = {**result_values(kit, state), **state["shown"]}
        text = yield Think("reply", (kit.ask("refine", "refined", values),))
        step = drafted(text)
        general = load_run(state["general"])
        if step.outcome == "declined" or (general is not None and _same(step.update["sql"], general.sql, run)):
            return Step({}, "unchanged")
        return Step({**step.update, "stage": "refined"}, "drafted", step.detail)

    return node


def _same(sql: str, general: str, run: Run) -> bool:
    """Whether two queries are the same as they would be run."""
    return same_sql(run.deps.validate(sql).sql, general)


def _after_refine(state: PaperState) -> str:
    return "execute" if state["outcome"] == "drafted" else "answer"


def _sufficient(kit: Kit) -> Node:
    def node(state: PaperState, run: Run) -> Work:
        values = result_values(kit, state)
        reply: SufficientReply = yield Think("reply", (kit.ask("sufficient", "sufficient", values, SufficientReply),))
        if reply.sufficient:
            return Step({}, "sufficient")
        if state["passes"] >= run.deps.budgets.passes:
            return Step({}, "insufficient", {"change": reply.change})
        update = {
            **fresh_pass(),
            "passes": state["passes"] + 1,
            "again": True,
            "feedback": f"AN EARLIER ATTEMPT DID NOT SUFFICE: {reply.change.strip() or 'try another way'}",
            "kept": {name: state.get(name) for name in _KEPT},
        }
        return Step(update, "again", {"change": reply.change})

    return node


def _after_sufficient(state: PaperState) -> str:
    return "columns" if state["outcome"] == "again" else LAST
