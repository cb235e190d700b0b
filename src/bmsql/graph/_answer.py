"""The answer from the state: pure."""

from __future__ import annotations

from typing import Any

from bmsql.graph._costs import running_total
from bmsql.graph._data import problem_text
from bmsql.graph._dependencies import Dependencies
from bmsql.graph._evidence import Found, warnings_of
from bmsql.graph._state import GraphState
from bmsql.reasoners import Attempt, Evidence
from bmsql.sql import format_sql
from bmsql.types import Answer, Clarification, ConventionRecord, Plan, Usage


def abstention(state: GraphState, deps: Dependencies) -> Answer:
    """A question back, or an abstention with its reason, where there are no rows to speak of."""
    plan = Plan.model_validate(state["plan"])
    if plan.clarification is not None:
        return _not_answered(state, deps, plan, "the question is ambiguous", plan.clarification)
    if not plan.answerable:
        return _not_answered(state, deps, plan, plan.problem or "the question was not understood")
    return _not_answered(state, deps, plan, _last_failure(state))


def answered(state: GraphState, deps: Dependencies, found: Found, evidence: Evidence, text: str) -> Answer:
    """The answer of the final rows, with the reasoner's sentence."""
    measured = found.measured
    warnings = list(warnings_of(state, measured))
    review = state["review"]
    if not review.get("sufficient", True) and review.get("reason"):
        warnings.append(f"The rows may not suffice: {review['reason']}")
    return Answer(
        text=text,
        # The rewritten query is formatted as it is written.
        sql=evidence.sql if found.refined else format_sql(evidence.sql),
        general=found.general,
        refined=found.refined,
        conventions=evidence.conventions,
        evidence=measured.evidence,
        sources=measured.sources,
        warnings=tuple(warnings),
        total=measured.total,
        **_common(state, deps, evidence.plan),
    )


def _not_answered(
    state: GraphState, deps: Dependencies, plan: Plan, reason: str, clarification: Clarification | None = None
) -> Answer:
    if clarification is not None:
        text = clarification.question
    else:
        text = f"I cannot answer this: {reason if reason.endswith(('.', '!', '?')) else reason + '.'}"
    return Answer(
        text=text,
        abstained=True,
        reason=reason,
        clarification=clarification,
        conventions=tuple(ConventionRecord.model_validate(record) for record in state["records"]),
        **_common(state, deps, plan),
    )


def _common(state: GraphState, deps: Dependencies, plan: Plan) -> dict[str, Any]:
    return {
        "question": state["question"],
        "plan": plan,
        "reasoner": deps.reasoner.name,
        "backend": deps.backend.name,
        "profile": deps.rules.profile,
        "usage": Usage(**state["usage"], **running_total(deps.backend)),
    }


def _last_failure(state: GraphState) -> str:
    """Why the last draft failed, in the words of the validator or the database."""
    attempts = state.get("attempts", [])
    if not attempts:
        return "no query could be written for it, or no step was left to run it"
    last = Attempt.model_validate(attempts[-1]["attempt"])
    drafts = "the query" if len(attempts) == 1 else f"{len(attempts)} drafts of the query"
    why = last.error or "; ".join(problem_text(problem) for problem in last.problems)
    return f"{drafts} failed, at last with: {why}"
