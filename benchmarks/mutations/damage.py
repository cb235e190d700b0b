"""The kinds of damage: each takes a gold query and gives damaged texts, of which one is drawn."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import sqlglot
from benchmarks.mutations import aggregates, columns, dialect, syntax, tables, thresholds
from benchmarks.mutations.gold import Gold
from sqlglot import exp

Damage = Callable[[exp.Query, str], Iterator[str]]

# By kind and sub-kind; a function gives all variants of its damage to one query.
KINDS: dict[str, dict[str, Damage]] = {
    "threshold": thresholds.DAMAGES,
    "evidence key": columns.KEY_DAMAGES,
    "limit": aggregates.LIMIT_DAMAGES,
    "dialect": dialect.DAMAGES,
    "column": columns.DAMAGES,
    "syntax": syntax.DAMAGES,
    "table": tables.DAMAGES,
    "aggregate": aggregates.DAMAGES,
}


@dataclass(frozen=True)
class Mutant:
    """A damaged gold query."""

    gold: Gold
    kind: str
    damage: str
    sql: str


def mutants_of(gold: Gold, seed: int) -> list[Mutant]:
    """One mutant of each sub-kind that the query has a place for; the same for the same seed."""
    tree = sqlglot.parse_one(gold.sql, read="bigquery")
    if not isinstance(tree, exp.Query):
        raise TypeError(f"the gold query of {gold.id} is no query")
    made = []
    for kind, damages in KINDS.items():
        for name, damage in damages.items():
            texts = [text for text in damage(tree.copy(), gold.sql) if text != gold.sql]
            if texts:
                draw = random.Random(f"{seed} {gold.id} {name}")  # noqa: S311 - no secret
                made.append(Mutant(gold, kind, name, draw.choice(texts)))
    return made
