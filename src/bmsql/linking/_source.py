"""What the value index asks of a knowledge base."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from bmsql.linking._tables import ExtraName, shipped_names
from bmsql.semantic import SemanticModel
from bmsql.types import Catalog

MAX_VALUES = 500_000
"""Distinct values read of a column; more are left out, and `ValueIndex.truncated` says so."""


class ValueSource(Protocol):
    """The part of a backend that the index is built from."""

    def catalog(self) -> Catalog:
        """The tables there are, with their columns."""

    def distinct_values(self, table: str, column: str, *, limit: int) -> list[str]:
        """The distinct values of a column as text."""

    def distinct_pairs(self, table: str, columns: Sequence[str], *, limit: int) -> list[tuple[str | None, ...]]:
        """The distinct combinations of columns as text."""

    def fingerprint(self) -> str:
        """A text that changes when the data change."""


class Reader:
    """Reads the values of roles from every table of a family that the knowledge base has."""

    def __init__(self, source: ValueSource, model: SemanticModel, names: tuple[ExtraName, ...] = ()) -> None:
        self._source = source
        self._names = (*names, *shipped_names())
        self._model = model
        self._tables = {
            table.name: {column.name.lower() for column in table.columns} for table in source.catalog().tables
        }
        self.truncated: set[str] = set()

    def names(self, *entities: str) -> list[tuple[str, str]]:
        """Further names for entities or alias tables, as (known name, other name); the user's come first."""
        return [(row.name, row.alias) for row in self._names if row.entity in entities]

    def values(self, family: str, role: str) -> list[str]:
        """The distinct values of a role."""
        found: dict[str, None] = {}
        for table, (column,) in self._columns(family, (role,)):
            values = self._source.distinct_values(table, column, limit=MAX_VALUES)
            self._note(table, column, len(values))
            found.update(dict.fromkeys(value for value in values if value))
        return list(found)

    def rows(self, family: str, roles: Sequence[str]) -> list[tuple[str | None, ...]]:
        """The distinct combinations of roles; a role that a table lacks is None there."""
        found: dict[tuple[str | None, ...], None] = {}
        for table, columns in self._columns(family, roles, all_of=False):
            present = [column for column in columns if column]
            rows = (
                self._source.distinct_pairs(table, present, limit=MAX_VALUES)
                if len(present) > 1
                else [(value,) for value in self._source.distinct_values(table, present[0], limit=MAX_VALUES)]
            )
            self._note(table, present[0], len(rows))
            for row in rows:
                cells = iter(row)
                found[tuple(next(cells) if column else None for column in columns)] = None
        return list(found)

    def _columns(
        self, family: str, roles: Sequence[str], *, all_of: bool = True
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        for table in self._model.tables_of(family):
            known = self._tables.get(table)
            if known is None:
                continue
            columns = [self._model.column(table, role) or "" for role in roles]
            columns = [column if column.lower() in known else "" for column in columns]
            if all(columns) if all_of else any(columns):
                yield table, tuple(columns)

    def _note(self, table: str, column: str, count: int) -> None:
        if count >= MAX_VALUES:
            self.truncated.add(f"{table}.{column}")
