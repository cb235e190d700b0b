"""The second wall: what happens when a hostile statement reaches the database after all."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from bmsql.backends import DuckDBBackend
from bmsql.backends._statement import select
from bmsql.errors import ExecutionError
from tests.yaml_files import read_yaml

_CASES = read_yaml(Path(__file__).with_name("hostile.yaml"))
_STATEMENTS = [pytest.param(sql, id=f"{group}: {sql[:60]}") for group, sqls in _CASES.items() for sql in sqls]
_SECRET = "the secret of the file"
_SETTINGS = (
    "SELECT name, value FROM duckdb_settings() WHERE name IN ('memory_limit', 'threads', 'enable_external_access', "
    "'lock_configuration', 'autoinstall_known_extensions', 'autoload_known_extensions', 'allow_unsigned_extensions', "
    "'allow_community_extensions', 'allowed_directories', 'TimeZone', 'temp_directory', 'python_enable_replacements', "
    "'custom_extension_repository', 'ieee_floating_point_ops') ORDER BY name"
)
_CONTENT = "SELECT count(*), sum(n), sum(x), string_agg(id || coalesce(name, '')) FROM Items"
_OBJECTS = (
    "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE database_name = 'bmsql_data' ORDER BY ALL"
)


def _state(backend: DuckDBBackend) -> list[object]:
    def read(cursor: duckdb.DuckDBPyConnection) -> list[object]:
        return [cursor.execute(sql).fetchall() for sql in (_SETTINGS, _CONTENT, _OBJECTS)]

    return backend._run(read, 10)


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    secret = tmp_path / "secret.csv"
    secret.write_text(f"{_SECRET}\n")
    out = tmp_path / "out"
    out.mkdir()
    return {"secret": str(secret), "out": str(out)}


@pytest.mark.parametrize("statement", _STATEMENTS)
def test_a_statement_on_the_bare_connection_reaches_nothing(
    sample: DuckDBBackend, sample_file: Path, places: dict[str, str], statement: str
) -> None:
    before, content = _state(sample), sample_file.read_bytes()
    listing = sorted(sample_file.parent.rglob("*"))
    instance = sample._instance
    assert instance is not None
    seen = ""
    cursor = instance.lend()
    try:
        seen = str(cursor.execute(statement.format(**places)).fetchall())
    except duckdb.Error as e:
        seen = "" if _SECRET not in str(e) else "leaked in the message"
    finally:
        instance.take_back(cursor, keep=False)
    assert _SECRET not in seen
    assert "leaked" not in seen
    assert _state(sample) == before
    assert sample_file.read_bytes() == content
    assert sorted(sample_file.parent.rglob("*")) == listing


_HARMLESS = "SELECT 1 -- ; comment"


@pytest.mark.parametrize("statement", [case for case in _STATEMENTS if case.values[0] != _HARMLESS])
def test_a_statement_in_place_of_the_query_is_refused(
    sample: DuckDBBackend, places: dict[str, str], statement: str
) -> None:
    sql = statement.format(**places)
    with pytest.raises(ExecutionError) as caught:
        sample._run(lambda cursor: cursor.execute(select(cursor, sql)).fetchall(), 10)
    assert _SECRET not in str(caught.value)


def test_a_comment_is_no_second_statement(sample: DuckDBBackend) -> None:
    assert sample._run(lambda cursor: cursor.execute(select(cursor, _HARMLESS)).fetchall(), 10) == [(1,)]


def test_python_variables_are_not_tables(sample: DuckDBBackend) -> None:
    import pyarrow

    leaked = pyarrow.table({"a": [_SECRET]})
    assert leaked.num_rows == 1
    with pytest.raises(ExecutionError, match="leaked"):
        sample._run(lambda cursor: cursor.execute("SELECT * FROM leaked").fetchall(), 10)


def test_memory_limit_holds_and_nothing_is_spilled(sample_file: Path) -> None:
    from bmsql.types import Limits

    listing = sorted(sample_file.parent.rglob("*"))
    with (
        DuckDBBackend(sample_file, limits=Limits(memory_mb=40)) as backend,
        pytest.raises(ExecutionError, match="40 MiB of memory"),
    ):
        backend._run(lambda c: c.execute("SELECT i FROM range(50000000) r(i) ORDER BY hash(i)").fetchone(), 30)
    assert sorted(sample_file.parent.rglob("*")) == listing
