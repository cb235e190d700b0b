"""The nodes: each turns the state into an update by calling a pure function elsewhere."""

from __future__ import annotations

import threading
from typing import Any, NamedTuple, assert_never

from bmsql.errors import PlanError, QueryCancelledError
from bmsql.graph._answer import build_answer
from bmsql.graph._data import pack, pack_result, problem_text
from bmsql.graph._dependencies import Dependencies
from bmsql.graph._evidence import evidence_for
from bmsql.graph._measure import measure
from bmsql.graph._state import Data, GraphState, Outcome, failures, fresh_pass, fresh_state, is_fresh
from bmsql.reasoners import Attempt
from bmsql.sql import format_sql, parse
from bmsql.types import ExecutionFailed, Plan, Problem, QueryResult, Rejected, ValidatedQuery


class Step(NamedTuple):
    """What a node did: the update of the state, its outcome, and details for the trace."""

    update: Data
    outcome: Outcome
    detail: Data = {}  # noqa: RUF012 - a tuple's default, never changed


class Run(NamedTuple):
    """What a node may use besides the state."""

    deps: Dependencies
    cancel: threading.Event | None = None

    def checkpoint(self) -> None:
        """Raise QueryCancelledError when the caller has given up."""
        if self.cancel is not None and self.cancel.is_set():
            raise QueryCancelledError("The question was cancelled.")


def plan(state: GraphState, run: Run) -> Step:
    """Which tables, columns, stored values and conventions; or: cannot be answered."""
    fresh = is_fresh(state)
    question = state["question"]
    made = run.deps.reasoner.plan(question, feedback="" if fresh else state["feedback"])
    data = pack(made)
    if fresh:
        base = fresh_state(question)
    elif data == state["plan"]:
        return Step({"again": False}, "unchanged")
    else:
        base = {**fresh_pass(), "again": False, "passes": state["passes"] + 1}
    usable = made.answerable and made.clarification is None
    detail = {"intent": made.intent, "tables": sorted({source.table for source in made.sources})}
    return Step(
        {**base, "plan": data}, "planned" if usable else "declined", detail if usable else {"problem": made.problem}
    )


def generate(state: GraphState, run: Run) -> Step:
    """The general query, or a repair that is told the exact errors."""
    question, made = state["question"], Plan.model_validate(state["plan"])
    tried = failures(state)
    try:
        if tried:
            draft = run.deps.reasoner.repair(question, made, tuple(Attempt.model_validate(t["attempt"]) for t in tried))
        else:
            draft = run.deps.reasoner.draft(question, made)
    except PlanError as error:
        problem = Problem(code="plan", message=error.message, suggestion=error.remedy)
        return Step({**_failed(state, problems=(problem,)), "draft": {}}, "failed", {"error": str(error)})
    if draft is None or any(draft.sql == attempt["draft"] for attempt in tried):
        return Step({}, "exhausted", {"failed_drafts": len(tried)})
    update: Data = {**fresh_pass(), "draft": pack(draft), "sql": draft.sql}
    return Step(update, "drafted", {"sql": draft.sql, "author": draft.author})


def validate(state: GraphState, run: Run) -> Step:
    """Parse, guard, check names and types, repair what is certain; hold a draft against the plan."""
    verdict = run.deps.validate(state["sql"])
    # What was compiled from the plan, or already held against it, says what the plan says.
    if isinstance(verdict, ValidatedQuery) and state["stage"] == "general" and state["draft"].get("author") != "plan":
        verdict = run.deps.fit(verdict, Plan.model_validate(state["plan"]), state["question"])
    match verdict:
        case ValidatedQuery() as query:
            detail: Data = {"stage": state["stage"]}
            if query.fixes:
                detail["fixes"] = [fix.message for fix in query.fixes]
            return Step({"sql": query.sql}, "valid", detail)
        case Rejected() as rejected:
            problems = [problem_text(problem) for problem in rejected.problems]
            detail = {"stage": state["stage"], "problems": problems, "sql": rejected.sql}
            return Step(_failed(state, problems=rejected.problems), "rejected", detail)
        case never:
            assert_never(never)


def execute(state: GraphState, run: Run) -> Step:
    """Run the query under way within the limits."""
    run.checkpoint()
    match run.deps.run(state["sql"], run.cancel):
        case QueryResult() as result:
            ran = {"sql": state["sql"], "result": pack_result(result)}
            detail: Data = {"stage": state["stage"], "rows": len(result.rows), "truncated": result.truncated}
            return Step({state["stage"]: ran, "usage": _used(state, result)}, "ran", detail)
        case Rejected() as rejected:
            return Step(_failed(state, problems=rejected.problems), "rejected")
        case ExecutionFailed() as failed:
            error = f"{failed.message} {failed.remedy}".strip()
            detail = {"stage": state["stage"], "kind": failed.kind, "error": error}
            return Step(_failed(state, error=error), "failed", detail)
        case never:
            assert_never(never)


def inject_thresholds(state: GraphState, run: Run) -> Step:
    """The implied conventions, written into the syntax tree of the validated query."""
    deps = run.deps
    made = Plan.model_validate(state["plan"])
    applied = deps.rules.apply_plan(parse(state["sql"]), deps.model, made)
    update: Data = {
        "records": [pack(record) for record in applied.records],
        "warnings": [*state.get("warnings", []), *applied.warnings],
    }
    detail = {"rules": [f"{record.rule}: {record.status}" for record in applied.records]}
    if not applied.changed:
        return Step(update, "unchanged", detail)
    sql = format_sql(applied.tree)
    return Step({**update, "sql": sql, "stage": "refined"}, "changed", {**detail, "sql": sql})


def refine(state: GraphState, run: Run) -> Step:
    """Counts and evidence of the final rows; then: do they suffice, and if not, what to change."""
    run.checkpoint()
    measured = measure(state, run.deps, run.cancel)
    update: Data = {
        "measured": pack(measured),
        "usage": _used(state, *measured.results),
        "records": [pack(record) for record in measured.records],
    }
    review = run.deps.reasoner.review(evidence_for({**state, **update}, run.deps))  # type: ignore[typeddict-item]
    update["review"] = pack(review)
    if review.sufficient:
        return Step(update, "sufficient")
    if not review.change or state["passes"] >= run.deps.budgets.passes:
        return Step(update, "insufficient", {"reason": review.reason})
    kept = {key: {**state, **update}.get(key) for key in KEPT}
    update |= {"again": True, "feedback": review.change, "kept": kept}
    return Step(update, "again", {"reason": review.reason, "change": review.change})


# What an earlier pass leaves for the case that a later one ends without a result.
KEPT = ("plan", "general", "refined", "records", "warnings", "measured", "review")


def answer(state: GraphState, run: Run) -> Step:
    """Text from the rows only, or an abstention with its reason."""
    final = state
    if state.get("kept") and state["outcome"] not in {"sufficient", "insufficient"}:
        final = {**state, **state["kept"]}  # type: ignore[typeddict-item]
    made = build_answer(final, run.deps)
    outcome: Outcome = "abstained" if made.abstained else "answered"
    return Step({"answer": made}, outcome, {"reason": made.reason} if made.abstained else {})


def _failed(state: GraphState, *, problems: tuple[Problem, ...] = (), error: str = "") -> Data:
    """An attempt for the repair: the text its author wrote, or the rewritten one where that failed."""
    written = str(state["draft"].get("sql", ""))
    attempt = Attempt(sql=written if state["stage"] == "general" else state["sql"], problems=problems, error=error)
    return {"attempts": [{"pass": state["passes"], "draft": written, "attempt": pack(attempt)}]}


def _used(state: GraphState, *results: QueryResult) -> Data:
    usage: dict[str, Any] = state["usage"]
    metered = [result.bytes_processed for result in results if result.bytes_processed is not None]
    bytes_before = usage["bytes_processed"]
    return {
        "queries": usage["queries"] + len(results),
        "query_seconds": usage["query_seconds"] + sum(result.seconds for result in results),
        "bytes_processed": sum(metered, bytes_before or 0) if metered else bytes_before,
    }
