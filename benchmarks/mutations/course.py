"""The way of a draft through the product: validate, hold against the plan, run, conventions, run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from benchmarks.mutations.gold import Gold

from bmsql import Agent
from bmsql.sql import format_sql, parse
from bmsql.types import ConventionUse, ExecutionFailed, Plan, QueryResult, Rejected, ValidatedQuery

Verdict = Literal["repaired", "rejected", "wrong", "same"]


@dataclass(frozen=True)
class Outcome:
    """What became of a draft.

    verdict: `repaired` to the gold result, `rejected`, passed `wrong`, or `same`: it gave the gold
    result as it was written and does not count. usable: a rejection that says what is wrong and what would be
    right, or where. sql: as it was run last; message: why it was rejected.
    """

    verdict: Verdict
    sql: str = ""
    message: str = ""
    usable: bool = True


class Course:
    """The product with a question's plan, for drafts that others wrote."""

    def __init__(self, agent: Agent) -> None:
        self.deps = agent.dependencies
        self.plan = lru_cache(maxsize=None)(agent.plan)
        # Most damaged drafts end as one of a few queries.
        self._run = lru_cache(maxsize=4096)(self.deps.run)
        self._gold: dict[str, tuple[QueryResult, bool]] = {}

    def gold(self, gold: Gold) -> QueryResult:
        """The rows of the gold query, as it is written."""
        return self._measured(gold)[0]

    def undamaged(self, gold: Gold) -> Outcome:
        """What the product makes of the gold query itself; `same` where it keeps the result."""
        outcome = self._product(gold, gold.sql)
        return Outcome("same", outcome.sql) if outcome.verdict == "repaired" else outcome

    def damaged(self, gold: Gold, sql: str) -> Outcome:
        """What the product makes of a damaged gold query."""
        written = self.deps.validate(sql)
        if isinstance(written, ValidatedQuery) and not written.fixes:
            result = self._run(sql)
            if isinstance(result, QueryResult) and self._agrees(gold, result):
                return Outcome("same", sql)
        return self._product(gold, sql)

    def _product(self, gold: Gold, sql: str) -> Outcome:
        plan = self.plan(gold.question)
        if not plan.answerable or plan.clarification is not None:
            return Outcome("rejected", sql, plan.problem or "asks back")
        query = self.deps.validate(sql)
        if isinstance(query, ValidatedQuery):
            query = self.deps.fit(query, plan, gold.question)
        if isinstance(query, Rejected):
            return _rejected(query)
        result = self._run(query.sql)
        if not isinstance(result, QueryResult):
            return _rejected(result)
        refined = self._refined(gold, plan, query)
        if refined is not None:
            query = self.deps.validate(refined)
            if isinstance(query, Rejected):
                return _rejected(query)
            result = self._run(query.sql)
            if not isinstance(result, QueryResult):
                return _rejected(result)
        return Outcome("repaired" if self._agrees(gold, result) else "wrong", query.sql)

    def _refined(self, gold: Gold, plan: Plan, query: ValidatedQuery) -> str | None:
        if self._measured(gold)[1]:
            waived = ConventionUse(rule="default_limit", mode="waived")
            plan = plan.model_copy(update={"conventions": (*plan.conventions, waived)})
        applied = self.deps.rules.apply_plan(parse(query.sql), self.deps.model, plan)
        return format_sql(applied.tree) if applied.changed else None

    def _measured(self, gold: Gold) -> tuple[QueryResult, bool]:
        """The gold rows, and whether they are more than the default limit, which gold then does not have."""
        if gold.id not in self._gold:
            result = self._run(gold.sql)
            if not isinstance(result, QueryResult):
                raise TypeError(f"the gold query of {gold.id} does not run: {result}")
            self._gold[gold.id] = (result, len(result.rows) > self.deps.model.default_limit)
        return self._gold[gold.id]

    def _agrees(self, gold: Gold, result: QueryResult) -> bool:
        wanted = self.gold(gold)
        if gold.key == "numbers":
            return _numbers(wanted.rows) == _numbers(result.rows)
        position = [name.lower() for name in wanted.names()].index(gold.key.lower())
        values = {_plain(row[position]) for row in wanted.rows}
        if not values:
            return not result.rows
        return any({_plain(row[index]) for row in result.rows} == values for index in range(len(result.columns)))


def _rejected(found: Rejected | ExecutionFailed) -> Outcome:
    if isinstance(found, ExecutionFailed):
        return Outcome("rejected", found.sql, found.message, bool(found.message))
    first = found.problems[0]
    usable = bool(first.message) and bool(first.suggestion or first.line or first.snippet)
    return Outcome("rejected", found.sql, f"{first.message} {first.suggestion}".strip(), usable)


def _numbers(rows: Sequence[Sequence[Any]]) -> set[float]:
    return {
        float(f"{float(value):.9g}")
        for row in rows
        for value in row
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, list | dict) else value
