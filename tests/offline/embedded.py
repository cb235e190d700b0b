"""The scorer over the embedded knowledge base, with gold on the package's facts in memory."""

from __future__ import annotations

import io

import duckdb
import pyarrow.parquet as pq
from benchmarks.mutations.gold import TABLES

from bmsql import Agent
from bmsql.data import facts_manifest, read_facts_file
from tests.offline.scoring import Scorer


def facts() -> duckdb.DuckDBPyConnection:
    """The facts as plain DuckDB tables."""
    connection = duckdb.connect()
    for table in facts_manifest().tables:
        connection.register("given", pq.read_table(io.BytesIO(read_facts_file(table))))
        connection.execute(f'CREATE TABLE "{table.name}" AS SELECT * FROM given')
        connection.unregister("given")
    return connection


def embedded_scorer() -> Scorer:
    """A scorer that asks an agent of default settings."""
    return Scorer(Agent(), facts(), TABLES, "UUID")
