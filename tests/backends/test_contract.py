"""The contract, for every backend that ships."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from bmsql.backends import BigQueryBackend, DuckDBBackend
from tests.backends.contract import BackendContract, Case


class TestDuckDB(BackendContract):
    @pytest.fixture
    def case(self, sample: DuckDBBackend) -> Case:
        return Case(sample, table="Items", rows=2000, key="id", text="name", number="x", source="study 0")


class TestEmbedded(BackendContract):
    @pytest.fixture
    def case(self, embedded: DuckDBBackend) -> Case:
        return Case(
            embedded,
            table="ParkinsonDisease_CompleteGeneData_No23andMe",
            rows=764,
            key="UUID",
            text="nearestGene",
            number="b",
            source="Nalls2019_TableS6_GWAS_columns(incl.23andMe)",
        )


@pytest.fixture(scope="session")
def larger_kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A DuckDB file of the parquet tables in BMSQL_TEST_KB."""
    folder = os.environ.get("BMSQL_TEST_KB")
    if not folder:
        pytest.skip("BMSQL_TEST_KB names no folder of parquet tables")
    path = tmp_path_factory.mktemp("kb") / "kb.duckdb"
    with duckdb.connect(str(path)) as connection:
        for file in sorted(Path(folder).glob("[!_]*.parquet")):
            connection.execute(f'CREATE TABLE "{file.stem}" AS SELECT * FROM read_parquet(?)', [str(file)])
        sources = Path(folder, "_row_sources.parquet")
        if sources.exists():
            connection.execute(
                'CREATE TABLE _row_sources AS SELECT "table" AS table_name, UUID AS key, source FROM read_parquet(?)',
                [str(sources)],
            )
    return path


class TestLargerKnowledgeBase(BackendContract):
    @pytest.fixture
    def case(self, larger_kb: Path) -> Iterator[Case]:
        table = "AlzheimerDisease_CombinedGeneData_UUID"
        with DuckDBBackend(larger_kb, dataset="biomedsql") as backend:
            first = backend.distinct_values(table, "UUID", limit=1)
            yield Case(
                backend,
                table=table,
                rows=backend.catalog().by_name[table].rows or 0,
                key="UUID",
                text="nearestGene",
                number="p",
                source=backend.sources_of(table, first).get(first[0]),
            )


@pytest.mark.all
class TestBigQuery(BackendContract):
    """Over the loopback server that speaks BigQuery's API."""

    @pytest.fixture
    def case(self, bigquery: BigQueryBackend) -> Case:
        return Case(bigquery, table="Items", rows=2000, key="id", text="name", number="x", source="study 0")
