"""Backends over the embedded knowledge base and over a small file with every kind of value."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from bmsql.backends import BigQueryBackend, DuckDBBackend, open_embedded
from bmsql.types import ValidatedQuery
from bmsql.types._query import _MINT
from tests.servers.bigquery import FakeBigQuery
from tests.servers.bigquery_sql import Database

SAMPLE = """
    CREATE TABLE Items (id VARCHAR, n BIGINT, x DOUBLE, name VARCHAR);
    INSERT INTO Items
        SELECT 'item_' || i, i, i / 7.0, ['alpha', 'beta', 'it''s', NULL][i % 4 + 1] FROM range(2000) r(i);
    CREATE TABLE "Odd ""name" (a INTEGER);
    INSERT INTO "Odd ""name" VALUES (1), (NULL);
    CREATE VIEW Few AS SELECT id, n FROM Items WHERE n < 3;
    CREATE TABLE _row_sources (table_name VARCHAR, key VARCHAR, source VARCHAR);
    INSERT INTO _row_sources SELECT 'Items', id, 'study ' || n % 2 FROM Items WHERE n < 1000;
"""


@pytest.fixture(scope="session")
def query() -> Callable[[str], ValidatedQuery]:
    """Make a query without validation: these tests are about what stands behind it."""
    return lambda sql: ValidatedQuery(sql=sql, mint=_MINT)


@pytest.fixture(scope="session")
def sample_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, made once."""
    path = tmp_path_factory.mktemp("template") / "sample.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SAMPLE)
    return path


@pytest.fixture
def sample_file(tmp_path: Path, sample_template: Path) -> Path:
    """A DuckDB file of the test's own, closed."""
    return Path(shutil.copy(sample_template, tmp_path / "sample.duckdb"))


@pytest.fixture
def sample(sample_file: Path) -> Iterator[DuckDBBackend]:
    """A backend over the sample file."""
    with DuckDBBackend(sample_file) as backend:
        yield backend


@pytest.fixture
def embedded() -> Iterator[DuckDBBackend]:
    """The embedded knowledge base."""
    with open_embedded() as backend:
        yield backend


@pytest.fixture(scope="session")
def sample_dataset(sample_template: Path) -> Database:
    """The sample as the dataset `kb`, opened once."""
    data = Database("lab-project")
    data.attach("kb", str(sample_template))
    data.catalog()
    return data


@pytest.fixture
def fake(sample_dataset: Database) -> Iterator[FakeBigQuery]:
    """A loopback BigQuery with the sample."""
    with FakeBigQuery(data=sample_dataset.copy()) as server:
        yield server


@pytest.fixture
def bigquery(fake: FakeBigQuery) -> Iterator[BigQueryBackend]:
    """The backend over it."""
    with BigQueryBackend(fake.project, "kb", endpoint=fake.url, catalogue_cache_hours=0) as backend:
        yield backend
