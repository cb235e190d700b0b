"""The same questions on DuckDB and through another backend: what differs, and of what kind it is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bmsql import Agent
from bmsql.backends import Backend
from bmsql.errors import BackendError
from bmsql.sql import validate
from bmsql.types import Answer, Limits, QueryResult, ValidatedQuery


@dataclass(frozen=True)
class Difference:
    """A query whose result differs. kind: `error`, `types`, `order` (the same rows in another order) or `rows`."""

    question: str
    kind: str
    sql: str
    detail: str


@dataclass
class Parity:
    """How many queries gave the same, and those that did not."""

    same: int = 0
    differences: list[Difference] = field(default_factory=list)

    def summary(self) -> str:
        """One line, then one per difference."""
        kinds = Counter(one.kind for one in self.differences)
        lines = [f"{self.same} the same; {', '.join(f'{n} {kind}' for kind, n in kinds.items()) or 'no difference'}"]
        lines += [
            f"{one.question} {one.kind}: {one.detail}\n    {' '.join(one.sql.split())}" for one in self.differences
        ]
        return "\n".join(lines)


def queries(agent: Agent, questions: Mapping[str, str]) -> dict[str, tuple[str, QueryResult]]:
    """Every query that answers to the questions ran, once, with the id of its question and its result."""
    found: dict[str, tuple[str, QueryResult]] = {}
    for name, question in questions.items():
        answer = agent.ask(question)
        for ran in (answer.general, answer.refined):
            if ran is not None:
                found.setdefault(ran.sql, (name, ran.result))
    return found


def compare(
    found: Mapping[str, tuple[str, QueryResult]], place: str, other: Backend, limits: Limits | None = None
) -> Parity:
    """Run queries on `other`. place: the `project.dataset` that they are written for."""
    catalog = other.catalog()
    parity = Parity()
    for text, (question, here) in found.items():
        sql = text.replace(f"`{place}.", f"`{catalog.project}.{catalog.dataset}.")
        query = validate(sql, catalog)
        assert isinstance(query, ValidatedQuery), (question, sql, query)
        try:
            there = other.execute(query, limits or Limits())
        except BackendError as error:
            parity.differences.append(Difference(question, "error", sql, f"{type(error).__name__}: {error}"[:300]))
            continue
        kind, detail = difference(here, there)
        if kind:
            parity.differences.append(Difference(question, kind, sql, detail))
        else:
            parity.same += 1
    return parity


def difference(here: QueryResult, there: QueryResult) -> tuple[str, str]:
    """The kind of the difference between two results and what it is; empty texts where there is none."""
    if here.columns != there.columns:
        columns = [(a.name, a.type, b.type) for a, b in zip(here.columns, there.columns, strict=False) if a != b]
        return "types", f"{columns or (here.names(), there.names())}"
    if same_rows(here.rows, there.rows):
        return "", ""
    if sorted(map(_key, here.rows)) == sorted(map(_key, there.rows)):
        return "order", f"{len(here.rows)} rows in another order"
    missing = Counter(map(_key, here.rows)) - Counter(map(_key, there.rows))
    return "rows", f"{len(here.rows)} and {len(there.rows)} rows; first missing: {next(iter(missing), '')[:200]}"


def same_rows(here: Iterable[tuple[Any, ...]], there: Iterable[tuple[Any, ...]]) -> bool:
    """Whether rows are the same; floating-point numbers up to the order of their summation."""
    left, right = list(here), list(there)
    return len(left) == len(right) and all(
        _same(a, b) for one, other in zip(left, right, strict=True) for a, b in zip(one, other, strict=True)
    )


def same_answer(here: Answer, there: Answer) -> list[str]:
    """The parts in which two answers differ."""
    parts = {
        "text": here.text == there.text,
        "rows": same_rows([tuple(row.values()) for row in here.rows], [tuple(row.values()) for row in there.rows]),
        "evidence": here.evidence == there.evidence,
        "sources": here.sources == there.sources,
        "total": here.total == there.total,
        "conventions": here.conventions == there.conventions,
        "warnings": here.warnings == there.warnings,
        "abstained": (here.abstained, here.reason) == (there.abstained, there.reason),
    }
    return [name for name, same in parts.items() if not same]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or math.isclose(a, b, rel_tol=1e-12) or (math.isnan(a) and math.isnan(b))
    return bool(a == b)


def _key(row: tuple[Any, ...]) -> str:
    return repr(tuple(f"{value:.11g}" if isinstance(value, float) else value for value in row))
