"""The real client against a real emulator, and the same questions there as on DuckDB.

The emulator is installed into `build/emulators` the first time. BMSQL_TEST_PARITY=all compares every query of every
development question, which takes long (0.3 s or more a query); without it a fixed part of them is compared.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import bigquery

from bmsql import Agent
from bmsql.backends import BigQueryBackend
from bmsql.data import facts_manifest, read_facts_file
from bmsql.types import Limits
from tests.backends.contract import BackendContract, Case
from tests.backends.parity import compare, queries, same_answer
from tests.offline.scoring import load, sample
from tests.servers import emulator
from tests.servers.emulator import PROJECT, Emulator

pytestmark = [pytest.mark.all, pytest.mark.xdist_group("bigquery-emulator")]

DATA = Path(__file__).parents[1] / "data"
# Queries of the larger question sets that are compared without BMSQL_TEST_PARITY=all.
PART = 40


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """The emulator with two datasets: the sample of the contract, and the facts."""
    folder = tmp_path_factory.mktemp("emulator") / "data"
    try:
        with emulator.running(folder) as found:
            if found.note:
                warnings.warn(found.note, stacklevel=1)
            yield found
    except emulator.CannotInstall as error:
        pytest.skip(f"no emulator of BigQuery: {error}")


@pytest.fixture(scope="module")
def client(running: Emulator) -> bigquery.Client:
    return bigquery.Client(
        project=PROJECT, credentials=AnonymousCredentials(), client_options={"api_endpoint": running.url}
    )


KINDS = {"double": "FLOAT64", "bool": "BOOL", "string": "STRING", "int64": "INT64"}


def put(client: bigquery.Client, dataset: str, tables: dict[str, bytes]) -> None:
    """Load Parquet files as the tables of a new dataset."""
    client.create_dataset(dataset, exists_ok=True, timeout=60)
    for name, content in tables.items():
        found = pq.read_schema(io.BytesIO(content))
        schema = [bigquery.SchemaField(field.name, KINDS[str(field.type)]) for field in found]
        client.create_table(bigquery.Table(f"{PROJECT}.{dataset}.{name}", schema=schema), exists_ok=True, timeout=60)
        config = bigquery.LoadJobConfig(source_format="PARQUET", write_disposition="WRITE_TRUNCATE", schema=schema)
        target = f"{PROJECT}.{dataset}.{name}"
        client.load_table_from_file(io.BytesIO(content), target, job_config=config, timeout=60).result(timeout=60)


def parquet(connection: duckdb.DuckDBPyConnection, sql: str) -> bytes:
    """The rows of a query as a Parquet file."""
    out = io.BytesIO()
    pq.write_table(connection.sql(sql).to_arrow_table(), out)
    return out.getvalue()


@pytest.fixture(scope="module")
def kb(client: bigquery.Client, sample_template: Path) -> None:
    """The sample of the contract."""
    with duckdb.connect(str(sample_template), read_only=True) as connection:
        put(client, "kb", {name: parquet(connection, f"FROM {name}") for name in ("Items", "_row_sources")})


class TestContract(BackendContract):
    """What every backend must do, through the emulator."""

    @pytest.fixture
    def case(self, running: Emulator, kb: None) -> Iterator[Case]:
        with BigQueryBackend(PROJECT, "kb", endpoint=running.url, catalogue_cache_hours=0) as backend:
            yield Case(backend, "Items", 2000, key="id", text="name", number="x", source="study 0", moment=1.5)


@pytest.fixture(scope="module")
def facts(running: Emulator, client: bigquery.Client) -> Iterator[BigQueryBackend]:
    """The facts of the package, with the sources of their rows."""
    tables, sources = {}, []
    with duckdb.connect() as connection:
        for number, table in enumerate(facts_manifest().tables):
            connection.register(f"t{number}", pq.read_table(io.BytesIO(read_facts_file(table))))
            columns = ", ".join(f'"{column.name}"' for column in table.columns)
            tables[table.name] = parquet(connection, f"SELECT {columns} FROM t{number}")
            key, source = f'"{table.key}" AS key', f'"{table.source_column}" AS source'
            sources.append(f"SELECT '{table.name}' AS table_name, {key}, {source} FROM t{number}")
        tables["_row_sources"] = parquet(connection, " UNION ALL ".join(sources))
    put(client, "biomedsql", tables)
    with BigQueryBackend(PROJECT, "biomedsql", endpoint=running.url, catalogue_cache_hours=0) as backend:
        yield backend


# Answers that differ because of what local-bigquery 0.3.2 refuses although BigQuery's own analyser takes it.
REFUSED = {
    "dev06": "ORDER BY ... NULLS LAST after UNION ALL",
    "dev24": "an UNNEST alias with the name of a column, in another case",
}


def test_answers_are_those_of_duckdb(running: Emulator, facts: BigQueryBackend) -> None:
    here, there = Agent(), Agent(backend=facts)
    questions = load(DATA / "questions_dev.yaml")
    differing = {}
    for question in questions:
        parts = same_answer(here.ask(question.q), there.ask(question.q))
        if parts:
            differing[question.id] = parts
    known = REFUSED if running.kind.name == "local-bigquery" else {}
    if not known:
        pytest.skip(f"differences of {running.kind.name}: {differing}")
    assert set(differing) == set(known), differing


def test_queries_give_the_rows_of_duckdb(running: Emulator, facts: BigQueryBackend) -> None:
    files = [DATA / "questions_dev.yaml", *sorted((DATA / "questions").glob("development*.yaml"))]
    questions = {question.id: question.q for file in files for question in (load(file))}
    if os.environ.get("BMSQL_TEST_PARITY") != "all":
        every = [question for file in files for question in load(file)]
        questions = {question.id: question.q for question in sample(every, PART)}
    parity = compare(queries(Agent(), questions), "bmsql.biomedsql", facts, Limits(seconds=30))
    print(parity.summary())  # noqa: T201 - for -s
    unexplained = [one for one in parity.differences if not explained(one.kind, one.detail)]
    assert not unexplained, parity.summary()


def explained(kind: str, detail: str) -> bool:
    """Whether a difference is one of the emulator's known gaps."""
    return kind == "error" and ("Could not ORDER BY column" in detail or "Ambiguous reference to column name" in detail)
