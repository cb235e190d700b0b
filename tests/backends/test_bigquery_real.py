"""The contract on BigQuery itself, for those who have a project: BMSQL_TEST_BIGQUERY=bigquery://project/dataset.

It makes a table of 2,000 rows in that dataset, queries it for less than a cent, and removes it. The account needs
roles/bigquery.jobUser and roles/bigquery.dataEditor.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import pytest_socket

from bmsql.backends import BigQueryBackend
from bmsql.backends.bigquery._url import options_of
from bmsql.types import Limits
from tests.backends.contract import BackendContract, Case
from tests.backends.test_bigquery_emulator import parquet

URL = os.environ.get("BMSQL_TEST_BIGQUERY", "")
TABLE = "bmsql_contract"

pytestmark = [
    pytest.mark.all,
    pytest.mark.skipif(not URL, reason="BMSQL_TEST_BIGQUERY names no dataset of BigQuery"),
    pytest.mark.enable_socket,
]


@pytest.fixture(scope="module")
def table(sample_template: Path) -> Iterator[str]:
    """The sample's main table in the dataset."""
    from google.cloud import bigquery

    pytest_socket.enable_socket()
    pytest_socket._remove_restrictions()
    with duckdb.connect(str(sample_template), read_only=True) as connection:
        content = parquet(connection, "FROM Items")
    options = options_of(URL)
    client = bigquery.Client(project=options.get("billing_project") or options["project"])
    name = f"{options['project']}.{options['dataset']}.{TABLE}"
    config = bigquery.LoadJobConfig(source_format="PARQUET", write_disposition="WRITE_TRUNCATE")
    client.load_table_from_file(io.BytesIO(content), name, job_config=config).result(timeout=120)
    yield TABLE
    client.delete_table(name, not_found_ok=True)


class TestContract(BackendContract):
    """What every backend must do, on BigQuery."""

    @pytest.fixture
    def case(self, table: str) -> Iterator[Case]:
        options = options_of(URL) | {"catalogue_cache_hours": 0, "limits": Limits(bytes_billed=1024**3)}
        with BigQueryBackend(**options) as backend:
            yield Case(backend, table=table, rows=2000, key="id", text="name", number="x", source=None)
