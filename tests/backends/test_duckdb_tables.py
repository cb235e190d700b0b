"""What tells that a table of a DuckDB file changed."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from bmsql.backends import DuckDBBackend
from bmsql.errors import InvalidSqlError


def fingerprint(path: Path, *statements: str, columns: tuple[str, ...] = ("a", "b")) -> str:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    with DuckDBBackend(path) as backend:
        return backend.table_fingerprint("t", columns)


def test_a_table_has_the_same_fingerprint_until_its_values_change(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    first = fingerprint(path, "CREATE TABLE t (a VARCHAR, b VARCHAR)", "INSERT INTO t VALUES ('x', NULL), ('y', 'z')")
    assert fingerprint(path, "CREATE TABLE other AS SELECT 1 AS c") == first
    reordered = "CREATE OR REPLACE TABLE t AS SELECT * FROM t ORDER BY a DESC"
    assert fingerprint(path, reordered) == first
    repeated = fingerprint(path, "INSERT INTO t VALUES ('x', NULL)", "INSERT INTO t VALUES ('x', NULL)")
    assert repeated != first
    assert fingerprint(path, "UPDATE t SET b = 'w' WHERE a = 'y'") not in {first, repeated}
    assert fingerprint(path, columns=("a",)) == fingerprint(path, "UPDATE t SET b = 'v'", columns=("a",))
    assert fingerprint(path, "DELETE FROM t") == "0:0"


def test_an_unknown_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    fingerprint(path, "CREATE TABLE t (a VARCHAR, b VARCHAR)")
    with DuckDBBackend(path) as backend, pytest.raises(InvalidSqlError, match="no column 'c'"):
        backend.table_fingerprint("t", ["c"])
