"""What the review and the answer may speak of, taken from the state."""

from __future__ import annotations

from typing import NamedTuple

from bmsql.graph._data import load_run
from bmsql.graph._dependencies import Dependencies
from bmsql.graph._hidden import without_sources
from bmsql.graph._measure import Measured
from bmsql.graph._state import GraphState
from bmsql.reasoners import Evidence
from bmsql.types import ConventionRecord, Plan, QueryResult, RanQuery


class Found(NamedTuple):
    """What the state holds of the final rows; refined is None where no convention changed the query."""

    plan: Plan
    general: RanQuery | None
    refined: RanQuery | None
    conventions: tuple[ConventionRecord, ...]
    measured: Measured

    @classmethod
    def of(cls, state: GraphState, plan: Plan, measured: Measured | None = None) -> Found:
        """What `state` holds beside its plan; measured: what it does not hold yet."""
        return cls(
            plan=plan,
            general=load_run(state["general"]),
            refined=load_run(state["refined"]),
            conventions=measured.records
            if measured
            else tuple(ConventionRecord.model_validate(record) for record in state["records"]),
            measured=measured or Measured.model_validate(state["measured"]),
        )


def evidence_for(state: GraphState, found: Found, deps: Dependencies) -> Evidence:
    """The final and the general rows with all that was found out about them.

    Rows are left out where the reasoner would send them elsewhere and the user said not to.
    """
    general, refined, measured = found.general, found.refined, found.measured
    final = refined or general
    if final is None:
        raise ValueError("there is no result to speak of")
    hidden, warnings = deps.hides_rows, warnings_of(state, measured)
    return Evidence(
        question=state["question"],
        plan=found.plan,
        sql=final.sql,
        result=_without_rows(final.result) if hidden else final.result,
        general=None if refined is None or general is None or hidden else general.result,
        conventions=found.conventions,
        total=len(final.result.rows) if hidden and measured.total is None else measured.total,
        hidden=hidden,
        warnings=without_sources(warnings, measured.sources) if hidden else warnings,
    )


def warnings_of(state: GraphState, measured: Measured) -> tuple[str, ...]:
    """Everything that limits the answer, each once, in the order it was found."""
    return tuple(dict.fromkeys([*state["warnings"], *measured.warnings]))


def _without_rows(result: QueryResult) -> QueryResult:
    return result.model_copy(update={"rows": ()})
