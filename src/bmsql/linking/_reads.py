"""Which values are read of a knowledge base, and the one query for each: the splitting is the database's work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bmsql.errors import KnowledgeBaseError
from bmsql.semantic import Recipe
from bmsql.types import Catalog, Limits, QueryResult, Rejected, ValidatedQuery

MAX_VALUES = 500_000
"""Distinct values read of a column; more are left out, and `ValueIndex.truncated` says so."""
SECONDS = 3600.0
"""Time for one of these queries, which may scan a table of many gigabytes."""

Row = tuple[str | None, ...]


class ReadCost(Protocol):
    """What a dry run says."""

    @property
    def bytes_processed(self) -> int | None:
        """Bytes that the query would read; None where they are not metered."""

    @property
    def cost(self) -> float | None:
        """US dollars that they cost; None where bytes are not metered."""


class ValueSource(Protocol):
    """The part of a backend that the index is built from."""

    @property
    def name(self) -> str:
        """What the user would write to open it."""

    def catalog(self) -> Catalog:
        """The tables there are, with their columns."""

    def dry_run(self, query: ValidatedQuery) -> ReadCost:
        """What a query would cost."""

    def execute(self, query: ValidatedQuery, limits: Limits) -> QueryResult:
        """The rows of a query."""

    def fingerprint(self) -> str:
        """A text that changes when the data change."""


@dataclass(frozen=True)
class Read:
    """The distinct values of a column, or the distinct combinations of several.

    separator: each value is a list, and its items are wanted; until: of an item only what comes before it.
    """

    table: str
    columns: tuple[str, ...]
    separator: str = ""
    until: str = ""

    @classmethod
    def items(cls, table: str, column: str, recipe: Recipe) -> Read:
        """The items of a column under a recipe; whole values where it has no lists."""
        match recipe.how:
            case "item":
                return cls(table, (column,), recipe.separator)
            case "listed":
                return cls(table, (column,), recipe.separator, recipe.suffix)
            case _:
                return cls(table, (column,))

    def sql(self, catalog: Catalog) -> str:
        """The query, in BigQuery's dialect."""
        source = f"`{catalog.qualified(self.table)}`"
        names = [f"`{column}`" for column in self.columns]
        order = f" ORDER BY {', '.join(str(place + 1) for place in range(len(names)))} LIMIT {MAX_VALUES + 1}"
        if self.separator:
            item = "TRIM(item)"
            if self.until:
                item = f"TRIM(SPLIT(item, {_literal(self.until)})[OFFSET(0)])"
            # Distinct before it is split: lists repeat more often than their items.
            whole = f"(SELECT DISTINCT {names[0]} AS list FROM {source} WHERE {names[0]} IS NOT NULL)"  # noqa: S608
            return (
                f"SELECT DISTINCT {item} AS value_0 FROM {whole}, "  # noqa: S608
                f"UNNEST(SPLIT(list, {_literal(self.separator)})) AS item WHERE TRIM(item) != ''{order}"
            )
        selected = ", ".join(f"CAST({name} AS STRING) AS value_{place}" for place, name in enumerate(names))
        present = " OR ".join(f"{name} IS NOT NULL" for name in names)
        return f"SELECT DISTINCT {selected} FROM {source} WHERE {present}{order}"  # noqa: S608

    def query(self, catalog: Catalog) -> ValidatedQuery:
        """The query, validated like any other. Raises KnowledgeBaseError when a table cannot be read so."""
        from bmsql.sql import validate

        checked = validate(self.sql(catalog), catalog)
        if isinstance(checked, Rejected):
            problem = "; ".join(problem.message for problem in checked.problems)
            raise KnowledgeBaseError(
                f"The values of {self.table}.{', '.join(self.columns)} cannot be read: {problem}",
                remedy="Correct the columns of this table in the semantic model, or leave the entity out of it.",
            )
        return checked


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"
