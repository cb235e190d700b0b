"""Running gold: each query validated as any other, run once, its rows kept."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import sqlglot
from sqlglot import exp

from bmsql.backends import Backend
from bmsql.bench._cells import cells
from bmsql.bench._types import Gold
from bmsql.errors import ConfigurationError
from bmsql.sql import validate
from bmsql.types import Limits, QueryResult, Rejected

# To see whether a cut is certain, so many rows beyond it are looked at.
_BEYOND = 1
# The one change that validation may make: templates name tables without their dataset.
_NAME_IN_FULL = "table-name"


@dataclass(frozen=True)
class Ran:
    """Gold rows, or why a question must not be asked of them; `filled`: the query's limit is reached."""

    gold: Gold
    uncertain: str = ""
    filled: bool = False


@dataclass
class GoldRunner:
    """Validates and runs queries over a backend, each distinct text once; may be used from several threads."""

    backend: Backend
    limits: Limits = field(default_factory=Limits)
    _known: dict[str, Ran] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, sql: str) -> Ran:
        """The rows of a gold query.

        A list that its limit cuts is certain only where its order decides which rows are kept: with
        a tie across the cut, or no order, the same query may return others, and `uncertain` says so.
        Raises ConfigurationError for a query that validation rejects or repairs, BackendError where it fails.
        """
        with self._lock:
            known = self._known.get(sql)
        if known is not None:
            return known
        result = self._execute(sql, self.limits)
        limit = _limit_of(sql)
        ran = Ran(_as_gold(result, self.backend.fingerprint(), total=None if result.truncated else len(result.rows)))
        if limit is not None and len(result.rows) >= limit:
            ran = self._cut(sql, result, limit)
        with self._lock:
            return self._known.setdefault(sql, ran)

    def rows(self, sql: str, *, most: int) -> list[tuple[Any, ...]]:
        """The rows of a query of the builder's own."""
        limits = self.limits.model_copy(update={"rows": most})
        return list(self._execute(sql, limits).rows)

    def _cut(self, sql: str, result: QueryResult, limit: int) -> Ran:
        """A query whose limit may leave rows out: how many, and whether its order says which."""
        tree = _parsed(sql)
        whole = tree.copy()
        whole.args["limit"].pop()
        if isinstance(order := whole.args.get("order"), exp.Order):
            order.pop()
        counted = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n")).from_(whole.subquery("whole"))
        ((total,),) = self.rows(counted.sql("bigquery"), most=1)
        gold = _as_gold(result, self.backend.fingerprint(), total=int(total))
        if int(total) <= limit:
            return Ran(gold, filled=True)
        keys = _order_keys(tree, [column.name for column in result.columns])
        if keys is None:
            return Ran(gold, "a limit cuts rows whose order is not given")
        tree.args["limit"].set("expression", exp.Literal.number(limit + _BEYOND))
        more = self.rows(tree.sql("bigquery"), most=limit + _BEYOND)
        last, first_left_out = ([row[key] for key in keys] for row in (more[limit - 1], more[limit]))
        return Ran(gold, "a tie lies across the limit" if last == first_left_out else "", filled=True)

    def _execute(self, sql: str, limits: Limits) -> QueryResult:
        query = validate(sql, self.backend.catalog())
        if isinstance(query, Rejected):
            problems = "; ".join(problem.message for problem in query.problems)
            raise ConfigurationError(f"a query of the templates is rejected: {problems} ({sql})")
        changed = [fix.message for fix in query.fixes if fix.code != _NAME_IN_FULL]
        if changed:
            raise ConfigurationError(f"a query of the templates needs repair: {'; '.join(changed)} ({sql})")
        return self.backend.execute(query, limits)


def _parsed(sql: str) -> exp.Query:
    """The tree of a query that has run."""
    return sqlglot.parse_one(sql, read="bigquery").assert_is(exp.Query)


def _limit_of(sql: str) -> int | None:
    limit = _parsed(sql).args.get("limit")
    return int(limit.expression.name) if isinstance(limit, exp.Limit) else None


def _order_keys(tree: exp.Query, columns: list[str]) -> list[int] | None:
    """The places of the columns that a query is ordered by; None where one is not among its outputs."""
    order = tree.args.get("order")
    if not isinstance(order, exp.Order):
        return None
    outputs = [output.unalias().sql("bigquery") for output in tree.selects]
    places = []
    for ordered in order.expressions:
        text = ordered.this.sql("bigquery")
        if text in columns:
            places.append(columns.index(text))
        elif text in outputs:
            places.append(outputs.index(text))
        else:
            return None
    return places


def _as_gold(result: QueryResult, fingerprint: str, *, total: int | None) -> Gold:
    return Gold(
        columns=tuple(result.names()),
        rows=cells(result.rows),
        truncated=result.truncated,
        total=total,
        fingerprint=fingerprint,
    )
