"""The embedded knowledge base for the builder, and its rows as plain tables for SQL written by hand."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from bmsql.backends import Backend, open_backend
from bmsql.bench.factory._run import GoldRunner
from bmsql.semantic import SemanticModel, load_semantic_model
from tests.offline.embedded import facts


@pytest.fixture(scope="session")
def backend() -> Iterator[Backend]:
    opened = open_backend("embedded")
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def model() -> SemanticModel:
    return load_semantic_model()


@pytest.fixture(scope="session")
def runner(backend: Backend) -> GoldRunner:
    return GoldRunner(backend)


@pytest.fixture(scope="session")
def facts_tables() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = facts()
    yield connection
    connection.close()
