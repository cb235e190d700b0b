"""The linker over the facts tables, and small knowledge bases of the tests' own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import duckdb
import pytest

from bmsql.backends import DryRun, DuckDBBackend, open_embedded
from bmsql.linking import Linker, ValueIndex
from bmsql.semantic import load_semantic_model
from bmsql.types import Limits, QueryResult, ValidatedQuery

Tables = Mapping[str, Sequence[Mapping[str, str | None]]]
MakeSource = Callable[..., "TableSource"]


class TableSource(DuckDBBackend):
    """A DuckDB backend that counts the queries it runs, and says what they would cost if it is told to."""

    reads: list[str]
    bytes_per_query: int | None = None

    def execute(self, query: ValidatedQuery, limits: Limits, *, cancel: threading.Event | None = None) -> QueryResult:
        self.reads.append(query.sql)
        return super().execute(query, limits, cancel=cancel)

    def dry_run(self, query: ValidatedQuery) -> DryRun:
        return super().dry_run(query).model_copy(update={"bytes_processed": self.bytes_per_query})


def write_tables(path: Path, tables: Tables) -> None:
    """Tables of texts as a DuckDB file."""
    with duckdb.connect(str(path)) as connection:
        for name, rows in tables.items():
            columns = list(rows[0])
            connection.execute(
                f'CREATE OR REPLACE TABLE "{name}" ({", ".join(f"{column} VARCHAR" for column in columns)})'
            )
            marks = ", ".join("?" for _ in columns)
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', [[*row.values()] for row in rows])


@pytest.fixture(scope="session")
def make_source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeSource]:
    """Makes a backend over tables; a second call with the same name has other tables in the same place."""
    folder = tmp_path_factory.mktemp("sources")
    opened: list[TableSource] = []

    def make(tables: Tables, name: str = "memory") -> TableSource:
        for source in opened:
            source.close()
        write_tables(folder / f"{name}.duckdb", tables)
        source = TableSource(folder / f"{name}.duckdb")
        source.reads = []
        opened.append(source)
        return source

    yield make
    for source in opened:
        source.close()


@pytest.fixture(scope="session")
def facts_index() -> ValueIndex:
    with open_embedded() as backend:
        return ValueIndex.build(backend, load_semantic_model())


@pytest.fixture(scope="session")
def linker(facts_index: ValueIndex) -> Linker:
    return Linker(load_semantic_model(), facts_index)
