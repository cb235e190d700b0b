"""DuckDB files: what opens, what is shared, what is found in them."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from bmsql.backends import DuckDBBackend, _instances
from bmsql.backends._watched import Stopped, run_watched
from bmsql.errors import BackendUnavailableError, ExecutionError, QueryTimeoutError
from bmsql.types import Limits, ValidatedQuery

Query = Callable[[str], ValidatedQuery]


def test_what_cannot_be_opened_says_why(tmp_path: Path, sample_file: Path) -> None:
    text = tmp_path / "text.duckdb"
    text.write_text("no database" * 5000)
    empty = tmp_path / "empty.duckdb"
    empty.touch()
    cut = tmp_path / "cut.duckdb"
    cut.write_bytes(sample_file.read_bytes()[:20_000])
    cases = {
        tmp_path / "none.duckdb": "There is no file",
        tmp_path: "is a directory",
        text / "below.duckdb": "Not a directory",
        text: "is not a DuckDB database",
        empty: "is not a DuckDB database",
        cut: "cannot be opened",
    }
    for path, message in cases.items():
        with pytest.raises(BackendUnavailableError, match=message) as caught:
            DuckDBBackend(path)
        assert caught.value.remedy
    assert not (tmp_path / "none.duckdb").exists()


@pytest.mark.parametrize(
    ("macro", "names"),
    [
        ("lower(x) AS 'pwned'", "lower"),
        ("COUNT(x) AS 7", "count"),
        ('"+"(a, b) AS 7', r"\+"),
        ("range(x) AS TABLE SELECT 1", "range"),
        ("duckdb_functions() AS TABLE SELECT 1 AS function_name, TRUE AS internal, '' AS database_name", "duckdb_f"),
        ("mine(x) AS x", ""),
    ],
)
def test_a_macro_that_stands_in_for_a_function_is_refused(sample_file: Path, macro: str, names: str) -> None:
    with duckdb.connect(str(sample_file)) as connection:
        connection.execute(f"CREATE MACRO {macro}")
    if not names:
        DuckDBBackend(sample_file).close()
        return
    with pytest.raises(BackendUnavailableError, match=f"falsify answers: {names}") as caught:
        DuckDBBackend(sample_file)
    assert "DROP MACRO" in caught.value.remedy


def test_a_damaged_block_is_an_execution_error(tmp_path: Path, sample_file: Path, query: Query) -> None:
    content = bytearray(sample_file.read_bytes())
    start = content.index(b"alpha")
    content[start : start + 3] = b"\x00\xff\x00"
    damaged = tmp_path / "damaged.duckdb"
    damaged.write_bytes(content)
    with pytest.raises((BackendUnavailableError, ExecutionError), match=r"(?i)corrupt|checksum"):
        DuckDBBackend(damaged).execute(query("SELECT name FROM `bmsql.damaged.Items`"), Limits())


def test_a_file_with_a_writer_is_refused_with_a_remedy(sample_file: Path) -> None:
    code = f"import duckdb, sys; c = duckdb.connect({str(sample_file)!r}); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"open\n"
        with pytest.raises(BackendUnavailableError, match="open for writing"):
            DuckDBBackend(sample_file)
        writer.communicate()
    DuckDBBackend(sample_file).close()
    with (
        duckdb.connect(str(sample_file)),
        pytest.raises(BackendUnavailableError, match="open for writing"),
    ):
        DuckDBBackend(sample_file)


def test_one_file_is_opened_once_however_often_it_is_asked_for(sample_file: Path) -> None:
    link = sample_file.with_name("link.duckdb")
    link.symlink_to(sample_file)
    first, second = DuckDBBackend(sample_file), DuckDBBackend(link)
    assert first._instance is second._instance
    other = DuckDBBackend(sample_file, limits=Limits(memory_mb=100))
    assert other._instance is not first._instance
    first.close()
    assert second.catalog().tables
    second.close()
    other.close()
    assert not [key for key in _instances._registry.open if key.path == str(sample_file.resolve())]


def test_a_replaced_file_is_seen_by_who_opens_it_then(sample_file: Path, query: Query) -> None:
    old = DuckDBBackend(sample_file)
    new_file = sample_file.with_name("new.duckdb")
    with duckdb.connect(str(new_file)) as connection:
        connection.execute("CREATE TABLE Items AS SELECT 1 AS id")
    new_file.replace(sample_file)
    count = query("SELECT COUNT(*) AS n FROM `bmsql.sample.Items`")
    with old, DuckDBBackend(sample_file) as new:
        assert old.execute(count, Limits()).rows == ((2000,),)
        assert new.execute(count, Limits()).rows == ((1,),)
        assert old.fingerprint() != new.fingerprint()


def test_fingerprint_changes_with_the_data_and_not_with_reading(sample_file: Path) -> None:
    with DuckDBBackend(sample_file) as backend:
        first = backend.fingerprint()
        backend.catalog()
    with DuckDBBackend(sample_file) as backend:
        assert backend.fingerprint() == first
    with duckdb.connect(str(sample_file)) as connection:
        connection.execute("UPDATE Items SET n = -1 WHERE n = 1")
    with DuckDBBackend(sample_file) as backend:
        assert backend.fingerprint() != first


def test_catalog_of_odd_names_views_and_what_cannot_be_read(
    sample_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with duckdb.connect(str(sample_file)) as connection:
        connection.execute("CREATE VIEW Outside AS SELECT * FROM (SELECT 1 AS a) LIMIT 1")
        connection.execute("CREATE TABLE gone (a INTEGER); CREATE VIEW Dangling AS SELECT * FROM gone; DROP TABLE gone")
    with caplog.at_level(logging.WARNING, "bmsql"), DuckDBBackend(sample_file, project="p", dataset="d") as backend:
        catalog = backend.catalog()
    assert {table.name: table.rows for table in catalog.tables} == {
        "Few": None,
        "Items": 2000,
        'Odd "name': 2,
        "Outside": None,
    }
    assert catalog.qualified("Items") == "p.d.Items"
    assert "Dangling cannot be read" in caplog.text
    with DuckDBBackend(sample_file) as backend:
        assert backend.distinct_values('Odd "name', "A", limit=5) == ["1"]


def test_sources_are_empty_where_a_file_has_none(tmp_path: Path) -> None:
    path = tmp_path / "plain.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS k")
    with DuckDBBackend(path) as backend:
        assert backend.sources_of("t", ["a"]) == {}


def test_sixteen_threads_open_query_and_close(sample_file: Path, query: Query) -> None:
    start = threading.Barrier(16)

    def work(number: int) -> list[object]:
        start.wait()
        found: list[object] = []
        for _ in range(5):
            with DuckDBBackend(sample_file) as backend:
                sql = f"SELECT id, x FROM `bmsql.sample.Items` WHERE n = {number}"
                found.append(backend.execute(query(sql), Limits()).rows)
        return found

    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(work, range(16)))
    assert results == [[((f"item_{n}", n / 7),)] * 5 for n in range(16)]


def test_close_during_a_query_lets_it_end(sample_file: Path) -> None:
    backend = DuckDBBackend(sample_file)
    sql = "SELECT count(*) FROM range(300000000) r(i) WHERE i % 7 = 3"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(backend._run, lambda cursor: cursor.execute(sql).fetchone(), 60)
        time.sleep(0.1)
        backend.close()
        assert running.result() == (42857143,)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_opens_its_own(sample: DuckDBBackend, query: Query) -> None:
    count = query("SELECT COUNT(*) AS n FROM `bmsql.sample.Items`")
    assert sample.execute(count, Limits()).rows == ((2000,),)
    child = os.fork()
    if child == 0:
        ok = sample.execute(count, Limits(seconds=20)).rows == ((2000,),)
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert sample.execute(count, Limits()).rows == ((2000,),)


def test_what_does_not_heed_the_interrupt_holds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bmsql.backends._watched.GRACE", 0.1)
    release = threading.Event()
    interrupts: list[float] = []
    started = time.perf_counter()
    with pytest.raises(Stopped) as caught:
        run_watched(
            release.wait,
            lambda: interrupts.append(time.perf_counter() - started),
            seconds=0.1,
            interrupted=duckdb.InterruptException,
        )
    release.set()
    assert (caught.value.reason, caught.value.ended) == ("timeout", False)
    assert time.perf_counter() - started < 2
    assert len(interrupts) > 1
    assert min(interrupts) >= 0.1


def test_the_callers_interrupt_stops_the_query(sample: DuckDBBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: object) -> None:
        raise KeyboardInterrupt

    instance = sample._instance
    assert instance is not None
    threads = threading.active_count()
    monkeypatch.setattr("bmsql.backends._watched._wait", stop)
    with pytest.raises(KeyboardInterrupt):
        sample._run(lambda cursor: cursor.execute("SELECT count(*) FROM range(1000000000000)").fetchone(), 60)
    deadline = time.monotonic() + 5
    while instance.working and time.monotonic() < deadline:
        time.sleep(0.02)
    assert instance.working == 0
    sample.close()
    assert threading.active_count() == threads


def test_a_limit_shorter_than_the_start_of_a_query_still_stops_it(sample: DuckDBBackend) -> None:
    with pytest.raises(QueryTimeoutError):
        sample._run(lambda cursor: cursor.execute("SELECT count(*) FROM range(1000000000000)").fetchone(), 1e-6)


def test_errors_of_the_action_come_through_as_they_are(sample: DuckDBBackend) -> None:
    def fail(cursor: duckdb.DuckDBPyConnection) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sample._run(fail, 5)


def test_an_instance_that_duckdb_gave_up_is_opened_anew(sample: DuckDBBackend) -> None:
    def fatal(cursor: duckdb.DuckDBPyConnection) -> None:
        raise duckdb.FatalException("database has been invalidated")

    before = sample._instance
    with pytest.raises(ExecutionError, match="invalidated"):
        sample._run(fatal, 5)
    assert sample._run(lambda cursor: cursor.execute("SELECT count(*) FROM Items").fetchone(), 5) == (2000,)
    assert sample._instance is not before


def test_a_query_is_translated_once(sample: DuckDBBackend, query: Query, monkeypatch: pytest.MonkeyPatch) -> None:
    import bmsql.sql.duckdb

    seen: list[str] = []

    class Seen(bmsql.sql.duckdb.Translator):
        def __call__(self, sql: str) -> str:
            seen.append(sql)
            return super().__call__(sql)

    monkeypatch.setattr(bmsql.sql.duckdb, "Translator", Seen)
    for sql in ("SELECT count(*) FROM Items", "SELECT max(n) FROM Items"):
        sample.dry_run(query(sql))
        assert sample.execute(query(sql), Limits()).rows == sample.execute(query(sql), Limits()).rows
    assert seen == ["SELECT count(*) FROM Items", "SELECT max(n) FROM Items"]
