"""The nodes: each turns the state into an update by calling a pure function elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, assert_never

from bmsql.errors import CredentialsError, PlanError, QueryCancelledError, QueryTimeoutError, ReasonerError
from bmsql.graph._answer import abstention, answered
from bmsql.graph._candidates import Election, elect, rows_of
from bmsql.graph._costs import billed
from bmsql.graph._data import pack, pack_result, problem_text
from bmsql.graph._dependencies import Dependencies, failed_by
from bmsql.graph._drive import Step, Think, Wait, Work
from bmsql.graph._evidence import Found, evidence_for
from bmsql.graph._hidden import without_values
from bmsql.graph._measure import measure, unmeasured
from bmsql.graph._plans import Plans, key_of
from bmsql.graph._state import Data, GraphState, Outcome, failures, fresh_pass, fresh_state, is_fresh
from bmsql.graph._together import run_stage
from bmsql.reasoners import Attempt
from bmsql.sql import format_sql, shared_tree
from bmsql.types import (
    ConventionRecord,
    Draft,
    ExecutionFailed,
    Plan,
    Problem,
    QueryResult,
    Rejected,
    Review,
    ValidatedQuery,
)

# Characters of SQL that the rules go through in a few milliseconds; a thread would hold the interpreter as long.
_SHORT = 4_000


class Run(NamedTuple):
    """What a node may use besides the state."""

    deps: Dependencies
    cancel: threading.Event | None = None
    plans: Plans | None = None

    def checkpoint(self) -> None:
        """Raise QueryCancelledError when the caller has given up."""
        if self.cancel is not None and self.cancel.is_set():
            raise QueryCancelledError("The question was cancelled.")

    def plan_in(self, state: GraphState) -> Plan:
        """The plan that `state` holds."""
        return (self.plans or Plans()).read(state["plan"])


def plan(state: GraphState, run: Run) -> Work:
    """Which tables, columns, stored values and conventions; or: cannot be answered."""
    fresh = is_fresh(state)
    question = state["question"]
    try:
        made = yield Think("plan", (question,), {"feedback": "" if fresh else state["feedback"]})
    except ReasonerError as error:
        if fresh:
            raise
        # The pass before has an answer, which a further one must not cost.
        return Step({"again": False}, "unchanged", {"error": str(error)})
    data = pack(made)
    if fresh:
        base = fresh_state(question)
    elif data == state["plan"]:
        return Step({"again": False}, "unchanged")
    else:
        base = {**fresh_pass(), "again": False, "passes": state["passes"] + 1, "seen": _seen(state)}
    usable = made.answerable and made.clarification is None
    detail = {"intent": made.intent, "tables": sorted({source.table for source in made.sources})}
    return Step(
        {**base, "plan": data}, "planned" if usable else "declined", detail if usable else {"problem": made.problem}
    )


def generate(state: GraphState, run: Run) -> Work:
    """The general query, or a repair that is told the exact errors."""
    question, made = state["question"], run.plan_in(state)
    tried = failures(state)
    detail: Data = {}
    used: Data = {}
    try:
        if tried:
            attempts = tuple(Attempt.model_validate(attempt["attempt"]) for attempt in tried)
            if run.deps.hides_rows:
                attempts = tuple(map(without_values, attempts))
            draft = yield Think("repair", (question, made, attempts))
        elif run.deps.budgets.candidates > 1 and hasattr(run.deps.reasoner, "drafts"):
            drafts = yield Think("drafts", (question, made, run.deps.budgets.candidates))
            election = elect(drafts, (yield from _results(drafts, made, question, run)))
            draft, detail = yield from _elected(question, made, election, hidden=run.deps.hides_rows)
            used = {"usage": _used(state, *election.ran)}
        else:
            draft = yield Think("draft", (question, made))
    except PlanError as error:
        problem = Problem(code="plan", message=error.message, suggestion=error.remedy)
        return Step({**_failed(state, problems=(problem,)), "draft": {}}, "failed", {"error": str(error)})
    seen = {attempt["draft"] for attempt in tried} | set(state["seen"])
    if draft is None or draft.sql in seen:
        return Step(used, "exhausted", {"failed_drafts": len(tried)})
    update: Data = {**fresh_pass(), **used, "seen": state["seen"], "draft": pack(draft), "sql": draft.sql}
    return Step(update, "drafted", {"sql": draft.sql, "author": draft.author, **detail})


def _results(drafts: Sequence[Draft], made: Plan, question: str, run: Run) -> Any:
    results = []
    for draft in drafts:
        try:
            results.append((yield Wait(partial(rows_of, draft, made, question, run.deps, run.cancel))))
        except QueryTimeoutError:
            results.append(None)
    return results


def _elected(question: str, made: Plan, election: Election, *, hidden: bool) -> Any:
    """The draft that most candidates agree with; where as many agree with another, the reasoner's choice."""
    detail = {"candidates": election.votes}
    if not election.is_tied:
        return election.leaders[0], detail
    results = (None,) * len(election.leaders) if hidden else election.results
    chosen: Draft = yield Think("choose", (question, made, election.leaders, results))
    return chosen, {**detail, "tie": len(election.leaders)}


def _seen(state: GraphState) -> list[str]:
    """The drafts of earlier passes, which another pass must not repeat."""
    return [*state["seen"], *(sql for sql in [state["draft"].get("sql", "")] if sql)]


def validate(state: GraphState, run: Run) -> Work:
    """Parse, guard, check names and types, repair what is certain; hold a draft against the plan."""
    # What was compiled from the plan, or already held against it, says what the plan says.
    to_fit = state["stage"] == "general" and state["draft"].get("author") != "plan"
    made = run.plan_in(state) if to_fit else None
    known = made is None and run.deps.has_verdict(state["sql"])
    verdict = yield Wait(partial(run.deps.checked, state["sql"], made, question=state["question"]), over=known)
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


def execute(state: GraphState, run: Run) -> Work:
    """Run the query under way within the limits."""
    run.checkpoint()
    try:
        outcome = yield Wait(partial(run_stage, state, run.deps, run.cancel))
    except QueryTimeoutError as late:  # of a query that was left running: it does not end even when it is told to
        outcome = failed_by(state["sql"], late)
    match outcome:
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


def inject_thresholds(state: GraphState, run: Run) -> Work:
    """The implied conventions, written into the syntax tree of the validated query."""
    made, sql = run.plan_in(state), state["sql"]
    written = yield Wait(partial(_written, sql, made, key_of(state["plan"]), run.deps), over=len(sql) < _SHORT)
    update: Data = {
        "records": [pack(record) for record in written.records],
        "warnings": [*state.get("warnings", []), *written.warnings],
    }
    detail = {"rules": [f"{record.rule}: {record.status}" for record in written.records]}
    if not written.refined:
        return Step(update, "unchanged", detail)
    refined = written.refined
    return Step({**update, "sql": refined, "stage": "refined"}, "changed", {**detail, "sql": refined})


class _Written(NamedTuple):
    """What the conventions make of a query; refined: empty where they leave it as it is."""

    records: tuple[ConventionRecord, ...]
    warnings: tuple[str, ...]
    refined: str


def _written(sql: str, made: Plan, key: bytes | None, deps: Dependencies) -> _Written:
    def write() -> _Written:
        applied = deps.rules.apply_plan(shared_tree(sql), deps.model, made)
        refined = format_sql(applied.tree, copy=False) if applied.changed else ""
        return _Written(tuple(applied.records), tuple(applied.warnings), refined)

    return write() if key is None else deps.remembered(("conventions", sql, key), write)


def refine(state: GraphState, run: Run) -> Work:
    """Counts and evidence of the final rows; then: do they suffice, and if not, what to change."""
    run.checkpoint()
    try:
        measured = yield Wait(partial(measure, state, run.deps, run.cancel))
    except QueryTimeoutError:
        measured = unmeasured(state)
    update: Data = {
        "measured": pack(measured),
        "usage": _used(state, *measured.results),
        "records": [pack(record) for record in measured.records],
    }
    evidence = evidence_for(state, Found.of(state, run.plan_in(state), measured), run.deps)
    try:
        review = yield Think("review", (evidence,))
    except (ReasonerError, CredentialsError) as error:
        # The rows are there; that nobody looked at them is said, and costs nothing else.
        review = Review(sufficient=True, reason="not reviewed")
        update["warnings"] = [*state.get("warnings", []), f"The rows were not reviewed: {error.message}"]
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


def answer(state: GraphState, run: Run) -> Work:
    """Text from the rows only, or an abstention with its reason."""
    final = state
    if state.get("kept") and state["outcome"] not in {"sufficient", "insufficient"}:
        final = {**state, **state["kept"]}  # type: ignore[typeddict-item]
    if final.get("measured"):
        found = Found.of(final, run.plan_in(final))
        evidence = evidence_for(final, found, run.deps)
        text = yield Think("answer", (evidence,))
        made = answered(final, run.deps, found, evidence, text)
    else:
        made = abstention(final, run.deps)
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
        **usage,
        "queries": usage["queries"] + len(results),
        "query_seconds": usage["query_seconds"] + sum(result.seconds for result in results),
        "bytes_processed": sum(metered, bytes_before or 0) if metered else bytes_before,
        **billed(usage, results),
    }


def usage_with(state: GraphState, *results: QueryResult) -> Data:
    """The usage in `state` with that of further queries, for nodes of other graphs."""
    return _used(state, *results)
