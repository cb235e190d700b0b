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
    """A table or view with its columns.

    name: within the catalogue's dataset; a table elsewhere is named `dataset.table` or
    `project.dataset.table`, and date-sharded tables are one, `prefix_*`. rows, bytes: where the backend
    knows them; of a sharded one, of its latest shard. kind: `table`, `view`, ... partitioned_by: the
    column, or `_PARTITIONTIME`; partition_filter: queries must filter on it. clustered_by: columns.
    hidden: columns that can be named, but that `*` leaves out. shards: what `*` stands for.
    """

    name: str
    columns: tuple[ColumnInfo, ...]
    rows: int | None = None
    description: str = ""
    bytes: int | None = None
    kind: str = "table"
    partitioned_by: str = ""
    partition_filter: bool = False
    clustered_by: tuple[str, ...] = ()
    hidden: tuple[ColumnInfo, ...] = ()
    shards: tuple[str, ...] = ()

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
        match table.count("."):
            case 0:
                return f"{self.project}.{self.dataset}.{table}"
            case 1:
                return f"{self.project}.{table}"
            case _:
                return table

    def find(self, name: str, dataset: str = "", project: str = "") -> TableInfo | None:
        """The table that a name means, however far it is qualified; a shard is found as its family.

        Project and dataset are compared without regard to case, tables exactly.
        """
        home = (not dataset or dataset.lower() == self.dataset.lower()) and (
            not project or project.lower() == self.project.lower()
        )
        if home:
            return self.by_name.get(name) or self._shards.get(name)
        full = f"{project or self.project}.{dataset}".lower() + f".{name}"
        return self._elsewhere.get(full)

    @cached_property
    def _shards(self) -> dict[str, TableInfo]:
        """The families by the names of their shards."""
        return {table.name[:-1] + shard: table for table in self.tables for shard in table.shards}

    @cached_property
    def _elsewhere(self) -> dict[str, TableInfo]:
        """Tables of other datasets by full name, project and dataset in lower case."""
        found = {}
        for table in self.tables:
            if "." in table.name:
                place, _, name = self.qualified(table.name).rpartition(".")
                for each in (name, *(name[:-1] + shard for shard in table.shards)):
                    found[f"{place.lower()}.{each}"] = table
        return found
