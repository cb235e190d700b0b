"""A value index over the facts tables, built once, from the package's own files and no backend."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pyarrow.parquet as pq
import pytest

from bmsql.data import facts_manifest, read_facts_file
from bmsql.linking import Linker, ValueIndex
from bmsql.semantic import load_semantic_model
from bmsql.types import Catalog, ColumnInfo, TableInfo


class TableSource:
    """A `ValueSource` over rows in memory; it counts what is read."""

    def __init__(self, tables: dict[str, list[dict[str, str | None]]], name: str = "memory") -> None:
        self.tables = tables
        self.name = name
        self.reads = 0

    def fingerprint(self) -> str:
        return self.name

    def catalog(self) -> Catalog:
        return Catalog(
            project="p",
            dataset="d",
            tables=tuple(
                TableInfo(name=name, columns=tuple(ColumnInfo(name=column, type="STRING") for column in rows[0]))
                for name, rows in self.tables.items()
            ),
        )

    def distinct_values(self, table: str, column: str, *, limit: int) -> list[str]:
        return [value for (value,) in self.distinct_pairs(table, [column], limit=limit) if value is not None]

    def distinct_pairs(self, table: str, columns: Sequence[str], *, limit: int) -> list[tuple[str | None, ...]]:
        self.reads += 1
        found = {tuple(row[column] for column in columns) for row in self.tables[table]}
        return sorted((row for row in found if any(row)), key=lambda row: [cell or "" for cell in row])[:limit]


def facts_source() -> TableSource:
    tables = {}
    for table in facts_manifest().tables:
        rows = pq.read_table(io.BytesIO(read_facts_file(table))).to_pylist()
        texts = [{key: value if value is None else str(value) for key, value in row.items()} for row in rows]
        tables[table.name] = texts
    return TableSource(tables, "facts")


@pytest.fixture(scope="session")
def facts_index() -> ValueIndex:
    return ValueIndex.build(facts_source(), load_semantic_model())


@pytest.fixture(scope="session")
def linker(facts_index: ValueIndex) -> Linker:
    return Linker(load_semantic_model(), facts_index)
