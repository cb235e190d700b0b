"""The protocol that every reasoner implements: one method per thinking step."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from bmsql.types import ConventionRecord, Draft, Frozen, Plan, Problem, QueryResult, Review


class Attempt(Frozen):
    """One draft of this pass and what became of it, for the repair step."""

    sql: str
    problems: tuple[Problem, ...] = ()
    error: str = ""


class Evidence(Frozen):
    """All that the answer and review steps may speak of.

    general, refined: results without and with the implied conventions; total: rows of the final
    query without its limit, where counted; hidden: rows were found but are not shown, because the
    user keeps them on this machine (`total` then says how many there are).
    """

    question: str
    plan: Plan
    sql: str
    result: QueryResult
    general: QueryResult | None = None
    conventions: tuple[ConventionRecord, ...] = ()
    total: int | None = None
    hidden: bool = False
    warnings: tuple[str, ...] = ()


@runtime_checkable
class Reasoner(Protocol):
    """Turns questions into plans, plans into drafts, and rows into sentences.

    Methods are called from several threads at once and keep no state between calls.
    """

    @property
    def name(self) -> str:
        """How the reasoner is named to the user, such as `offline`."""
        ...

    @property
    def local(self) -> bool:
        """Whether nothing that it is shown leaves the machine; others see no rows with `send_rows=False`."""
        ...

    def plan(self, question: str, *, feedback: str = "") -> Plan:
        """The query plan for a question; `feedback` is the review of the pass before."""
        ...

    def draft(self, question: str, plan: Plan) -> Draft:
        """The general query for a plan. Raises PlanError when the plan cannot be compiled."""
        ...

    def repair(self, question: str, plan: Plan, attempts: tuple[Attempt, ...]) -> Draft | None:
        """Another draft after the given ones failed, or None when there is nothing new to try."""
        ...

    def review(self, evidence: Evidence) -> Review:
        """Whether the rows suffice, and if not what to change."""
        ...

    def answer(self, evidence: Evidence) -> str:
        """One or two sentences from the rows only."""
        ...
