"""What a backend holds: tables and columns, as introspected."""

from __future__ import annotations

from functools import cached_property

from bmsql.types._base import Frozen


class ColumnInfo(Frozen):
    """A column: its name and BigQuery type (`STRING`, `FLOAT64`, `ARRAY<STRING>`, ...)."""

    name: str
    type: str
    description: str = ""


class TableInfo(Frozen):
    """A table or view with its columns; `rows` is the row count where the backend knows it."""

    name: str
    columns: tuple[ColumnInfo, ...]
    rows: int | None = None
    description: str = ""

    @cached_property
    def by_name(self) -> dict[str, ColumnInfo]:
        """Columns by lower-cased name: BigQuery's column names ignore case."""
        return {column.name.lower(): column for column in self.columns}


class Catalog(Frozen):
    """The tables a query may read. `project` and `dataset` qualify their names."""

    project: str
    dataset: str
    tables: tuple[TableInfo, ...]

    @cached_property
    def by_name(self) -> dict[str, TableInfo]:
        """Tables by exact name: BigQuery's table names are case-sensitive."""
        return {table.name: table for table in self.tables}

    def qualified(self, table: str) -> str:
        """The full name of a table, without backticks: `project.dataset.table`."""
        return f"{self.project}.{self.dataset}.{table}"
