"""How often the graph may try again; every loop of the graph is bounded here and nowhere else."""

from __future__ import annotations

from pydantic import Field

from bmsql.types import Frozen

# Nodes on the way of one attempt: generate, validate, execute, inject_thresholds, validate, execute.
_STEPS_PER_ATTEMPT = 6
# Nodes that run once per pass (plan, refine) and once per question (answer).
_STEPS_PER_PASS = 2
_STEPS_ONCE = 1


class Budgets(Frozen):
    """repairs: drafts after the first one, per pass; passes: plans per question.

    candidates: drafts that a chat model writes at first, of which the one whose result most agree
    with is taken.
    """

    repairs: int = Field(default=3, ge=0, le=20)
    passes: int = Field(default=1, ge=1, le=10)
    candidates: int = Field(default=1, ge=1, le=20)

    @property
    def recursion_limit(self) -> int:
        """A LangGraph recursion limit that the budgets cannot reach."""
        per_pass = _STEPS_PER_PASS + _STEPS_PER_ATTEMPT * (self.repairs + 1)
        return _STEPS_ONCE + per_pass * self.passes + 2
