"""What is kept between queries of a DuckDB file: threads, cursors, parsed statements. Nothing else may stay."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path

import duckdb
import pytest

from bmsql.backends import DuckDBBackend, _duckdb, _instances, _statement
from bmsql.backends._duckdb_file import read_tables
from bmsql.backends._instances import Instance
from bmsql.backends._lease import Lease
from bmsql.backends._statement import Translated
from bmsql.backends._workers import Workers
from bmsql.errors import BackendUnavailableError, ExecutionError, QueryTimeoutError
from bmsql.types import Limits, ValidatedQuery

Query = Callable[[str], ValidatedQuery]
Cursor = duckdb.DuckDBPyConnection

_ENDLESS = "SELECT count(*) FROM range(1000000000000)"
_mark: ContextVar[str] = ContextVar("mark", default="")


def _instance(backend: DuckDBBackend) -> Instance:
    assert backend._instance is not None
    return backend._instance


def _connections(backend: DuckDBBackend) -> int:
    """How many connections the file has: the instance's own and the cursors, that of this question among them."""
    rows: list[tuple[int]] = backend._run(lambda c: c.execute("FROM duckdb_connection_count()").fetchall(), 10)
    return rows[0][0]


def _threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "bmsql-query"}


def _soon(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 5
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()


def test_a_thousand_queries_in_turn_need_one_thread_and_one_cursor(sample: DuckDBBackend, query: Query) -> None:
    others = _threads()
    seen = set()
    for number in range(1000):
        sql = f"SELECT id FROM Items WHERE n = {number % 5}"
        assert sample.execute(query(sql), Limits()).rows == ((f"item_{number % 5}",),)
        seen |= _threads() - others
    assert len(seen) == 1
    assert (len(_instance(sample).idle), _connections(sample)) == (1, 2)


def test_many_at_once_leave_few_behind(sample: DuckDBBackend, query: Query) -> None:
    others = _threads()
    start = threading.Barrier(32)
    count = query("SELECT count(*) AS n FROM Items AS a JOIN Items AS b ON a.n = b.n")

    def ask(_: int) -> set[object]:
        start.wait()
        return {sample.execute(count, Limits()).rows for _ in range(10)}

    with ThreadPoolExecutor(32) as pool:
        assert list(pool.map(ask, range(32))) == [{((2000,),)}] * 32
    assert _soon(lambda: len(_threads() - others) <= _instances._KEPT)
    assert 1 <= len(_instance(sample).idle) <= _instances._KEPT
    assert _connections(sample) == len(_instance(sample).idle) + 1


def test_closing_ends_the_idle_threads_and_cursors(sample_file: Path, query: Query) -> None:
    others = _threads()
    backend, second = DuckDBBackend(sample_file), DuckDBBackend(sample_file)
    backend.execute(query("SELECT 1 AS one"), Limits())
    instance = _instance(backend)
    backend.close()
    assert len(_threads() - others) == len(instance.idle) == 1  # they are the second's too
    second.close()
    assert _threads() - others == set()
    assert instance.idle == []
    with pytest.raises(BackendUnavailableError, match="has been closed"):
        instance.lend()
    with pytest.raises(duckdb.ConnectionException):
        instance.connection.execute("SELECT 1")


def test_a_query_that_outlives_closing_takes_its_thread_and_cursor_with_it(sample_file: Path) -> None:
    others = _threads()
    backend = DuckDBBackend(sample_file)
    instance = _instance(backend)
    begun, go_on = threading.Event(), threading.Event()

    def slow(cursor: Cursor) -> list[tuple[object, ...]]:
        begun.set()
        go_on.wait(10)
        return cursor.execute("SELECT count(*) FROM Items").fetchall()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(backend._run, slow, 60)
        begun.wait(10)
        backend.close()
        with DuckDBBackend(sample_file) as again:
            assert _instance(again) is not instance
        go_on.set()
        assert running.result() == [(2000,)]
    assert _soon(lambda: _threads() == others)
    assert (instance.working, instance.idle) == (0, [])
    with pytest.raises(duckdb.ConnectionException):
        instance.connection.execute("SELECT 1")


def test_a_late_interrupt_does_not_reach_the_next_query(sample: DuckDBBackend) -> None:
    instance = _instance(sample)
    with Lease(instance) as first:
        first.execute("SELECT 1").fetchall()
    late = Lease(instance)
    with late as cursor:
        cursor.execute("SELECT 1").fetchall()
        late.finished = True
    stop = threading.Event()

    def interrupt() -> None:
        while not stop.is_set():
            late.interrupt()

    with ThreadPoolExecutor(1) as pool:
        interrupting = pool.submit(interrupt)
        try:
            with Lease(instance) as after:
                assert after is cursor
                for _ in range(20):
                    assert after.execute("SELECT sum(i) FROM range(1000000) r(i)").fetchall() == [(499999500000,)]
        finally:
            stop.set()
        interrupting.result()


def test_a_cursor_that_was_interrupted_serves_nobody_again(sample: DuckDBBackend) -> None:
    instance = _instance(sample)
    lease = Lease(instance)
    lease.interrupt()  # before it is entered: of no effect
    with lease as cursor:
        assert cursor.execute("SELECT 1").fetchall() == [(1,)]
        lease.interrupt()  # after its query, which is a result all the same
        lease.finished = True
    assert instance.idle == []
    with pytest.raises(duckdb.ConnectionException):
        cursor.execute("SELECT 1")


def test_limits_that_run_out_as_queries_end_stop_no_other_query(sample: DuckDBBackend) -> None:
    """Limits all around the time that a query takes, in four threads, between queries that have none to fear."""
    sql = "SELECT sum(i * 2) FROM range(300000) r(i)"
    expected = [(89999700000,)]

    def ask(seconds: float) -> list[tuple[object, ...]]:
        return sample._run(lambda cursor: cursor.execute(sql).fetchall(), seconds)

    def hurry(thread: int) -> tuple[int, int]:
        stopped = ended = 0
        for step in range(100):
            started = time.perf_counter()
            assert ask(60) == expected
            usual = time.perf_counter() - started  # just now, with as much going on beside it
            try:
                assert ask(usual * (step % 20 + thread / 4) / 10) == expected
                ended += 1
            except QueryTimeoutError:
                stopped += 1
        return stopped, ended

    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(hurry, range(4)))
    assert sum(stopped for stopped, _ in counts) > 20
    assert sum(ended for _, ended in counts) > 20
    assert _instance(sample).working == 0


def test_what_does_not_heed_the_interrupt_keeps_its_thread_and_cursor_to_itself(
    sample: DuckDBBackend, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bmsql.backends._watched.GRACE", 0.1)
    one, others = query("SELECT 1 AS one"), _threads()
    sample.execute(one, Limits())
    connections = _connections(sample)
    go_on = threading.Event()
    held: list[object] = []

    def deaf(cursor: Cursor) -> None:
        held.extend((threading.current_thread(), cursor))
        go_on.wait(20)

    with pytest.raises(QueryTimeoutError, match="has not heeded that yet"):
        sample._run(deaf, 0.05)
    for _ in range(20):
        started = time.perf_counter()
        thread, cursor = sample._run(lambda cursor: (threading.current_thread(), cursor), 5)
        assert time.perf_counter() - started < 2
        assert thread is not held[0]
        assert cursor is not held[1]
    assert len(_threads() - others) == 2
    assert _connections(sample) == connections + 1
    go_on.set()
    assert _soon(lambda: _connections(sample) == connections)
    assert held[1] not in _instance(sample).idle


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("SELECT no_such_column FROM Items", ExecutionError),
        ("SELECT error('x') FROM Items", ExecutionError),
        (_ENDLESS, QueryTimeoutError),
    ],
)
def test_the_cursor_of_a_query_that_failed_is_not_kept(sample: DuckDBBackend, sql: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        sample._run(lambda cursor: cursor.execute(sql).fetchall(), 0.3)
    assert _instance(sample).idle == []
    assert _connections(sample) == 2
    assert sample._run(lambda cursor: cursor.execute("SELECT count(*) FROM Items").fetchall(), 5) == [(2000,)]


def test_rows_that_were_not_asked_for_are_let_go(sample: DuckDBBackend, query: Query) -> None:
    instance = _instance(sample)
    # Another cursor looks: a query on the same one would end what the last has left.
    observer = instance.lend()
    rows = "SELECT REPEAT(a.id, 20) AS x FROM Items AS a JOIN Items AS b ON a.n < 10"

    def used() -> int:
        sql = "SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory() WHERE tag <> 'BASE_TABLE'"
        found: list[tuple[int]] = observer.execute(sql).fetchall()
        return found[0][0]

    before = used()
    for limit in (1, 2047, 2048, 19_999, 20_000):
        truncated = sample.execute(query(rows), Limits(rows=limit)).truncated
        assert truncated is (limit < 20_000)
        assert len(instance.idle) == (0 if truncated else 1)
        assert used() <= before
    instance.take_back(observer, keep=False)


@pytest.mark.parametrize("method", ["catalog", "dry_run", "execute", "distinct_pairs", "sources_of", "fingerprint"])
def test_lookups_leave_their_cursor_for_the_next(sample: DuckDBBackend, query: Query, method: str) -> None:
    sample.catalog()
    before = list(_instance(sample).idle)
    assert len(before) == 1
    {
        "catalog": lambda: sample._run(read_tables, 5),
        "dry_run": lambda: sample.dry_run(query("SELECT id FROM Items")),
        "execute": lambda: sample.execute(query("SELECT id FROM Items"), Limits(rows=2000)),
        "distinct_pairs": lambda: sample.distinct_pairs("Items", ["id", "name"], limit=3),
        "sources_of": lambda: sample.sources_of("Items", ["item_1"]),
        "fingerprint": lambda: sample.table_fingerprint("Items", ["id"]),
    }[method]()
    assert _instance(sample).idle == before
    if method != "dry_run":  # which has no result
        assert before[0].fetchone() is None


def test_a_statement_is_parsed_once_and_refused_each_time(
    sample: DuckDBBackend, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    real = _statement.select
    monkeypatch.setattr(_statement, "select", lambda cursor, sql: parsed.append(sql) or real(cursor, sql))
    for _ in range(3):
        sample.dry_run(query("SELECT max(n) AS n FROM Items"))
        assert sample.execute(query("SELECT max(n) AS n FROM Items"), Limits()).rows == ((1999,),)
    assert len(parsed) == 1
    dropping = Translated("DROP TABLE Items")
    for _ in range(2):
        with pytest.raises(ExecutionError, match="Only a single SELECT"):
            sample._run(lambda cursor: cursor.execute(dropping.statement(cursor)).fetchall(), 5)


def test_one_statement_serves_many_threads(sample: DuckDBBackend, query: Query) -> None:
    asked = query("SELECT SUM(n) AS total, MAX(id) AS last FROM Items WHERE n BETWEEN 10 AND 99")
    with ThreadPoolExecutor(8) as pool:
        results = {result.rows for result in pool.map(lambda _: sample.execute(asked, Limits()), range(400))}
    assert results == {((sum(range(10, 100)), "item_99"),)}


def test_nothing_of_a_query_stays_in_its_thread(sample: DuckDBBackend) -> None:
    class Result:
        pass

    def make(cursor: Cursor) -> tuple[Result, threading.Thread, str]:
        seen = _mark.get()
        _mark.set("left behind")
        return Result(), threading.current_thread(), seen

    found, first, _ = sample._run(make, 5)
    result = weakref.ref(found)
    del found
    assert _soon(lambda: result() is None)
    _, second, seen = sample._run(make, 5)
    assert (second, seen) == (first, "")


_FORK = """
import gc, os, sys
from concurrent.futures import ThreadPoolExecutor
from bmsql.backends import DuckDBBackend
from bmsql.sql import validate
from bmsql.types import Limits

backend = DuckDBBackend(sys.argv[1])
count = validate("SELECT COUNT(*) AS n FROM Items", backend.catalog())
with ThreadPoolExecutor(4) as pool:
    list(pool.map(lambda _: backend.execute(count, Limits()), range(40)))
instance, idle = backend._instance, list(backend._instance.idle)
assert idle
child = os.fork()
if child == 0:
    ok = True
    if sys.argv[2] == "ask":
        rows = [backend.execute(count, Limits(seconds=20)).rows for _ in range(3)]
        now = backend._instance
        ok = rows == [((2000,),)] * 3 and now is not instance and len(now.idle) == 1 and now.idle[0] not in idle
    backend.close()
    gc.collect()
    os._exit(0 if ok and instance.idle == idle else 1)
assert os.waitpid(child, 0)[1] == 0
assert backend.execute(count, Limits()).rows == ((2000,),)
assert set(backend._instance.idle) == set(idle)
print("end")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("then", ["ask", "close"])
def test_a_forked_child_inherits_no_thread_and_no_cursor(sample_file: Path, then: str) -> None:
    # In a process of its own: what other tests have left open does not survive a fork.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _FORK, str(sample_file), then]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["end"], "")


@pytest.mark.parametrize("ending", ["idle", "closed", "busy", "deaf"])
def test_nothing_keeps_the_interpreter_from_ending(sample_file: Path, ending: str) -> None:
    code = f"""
import threading, time
from bmsql.backends import DuckDBBackend, _watched
from bmsql.errors import QueryTimeoutError
_watched.GRACE = 0.1
backend = DuckDBBackend({str(sample_file)!r})
assert backend.distinct_values("Items", "name", limit=1) == ["alpha"]
actions = {{
    "busy": lambda cursor: cursor.execute({_ENDLESS!r}).fetchall(),
    "deaf": lambda cursor: time.sleep(60),
}}
if {ending!r} == "closed":
    backend.close()
if {ending!r} in actions:
    try:
        backend._run(actions[{ending!r}], 0.1)
    except QueryTimeoutError:
        print("stopped")
print("end", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout.split()[-1:], done.stderr) == (0, ["end"], "")
    assert ("stopped" in done.stdout) is (ending in ("busy", "deaf"))


class _Log:
    """Work that says when it ran and in which thread."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.ended = threading.Event()

    def __call__(self) -> None:
        self.threads.append(threading.current_thread())


def test_workers_keep_as_many_threads_as_they_are_told_to() -> None:
    workers = Workers(kept=2)
    gate = threading.Barrier(6)
    logs = [_Log() for _ in range(5)]

    def together(log: _Log) -> Callable[[], None]:
        def work() -> None:
            log()
            gate.wait(10)

        return work

    for log in logs:
        workers.start(together(log), log.ended.set)
    gate.wait(10)
    assert all(log.ended.wait(10) for log in logs)
    used = {thread for log in logs for thread in log.threads}
    assert len(used) == 5
    assert _soon(lambda: sum(thread.is_alive() for thread in used) == 2)
    for _ in range(20):
        log = _Log()
        workers.start(log, log.ended.set)
        assert log.ended.wait(10)
        assert set(log.threads) <= used
    workers.close()
    assert not any(thread.is_alive() for thread in used)
    idle: list[int] = []
    workers = Workers(kept=2)
    last = _Log()
    workers.start(last, lambda: (idle.append(len(workers._idle)), last.ended.set())[-1])
    assert last.ended.wait(10)
    assert idle == [1]  # who waits for the end finds the thread free
    workers.close()
    late = _Log()
    workers.start(late, late.ended.set)  # by one who had not seen that they were closed
    assert late.ended.wait(10)
    assert _soon(lambda: not late.threads[0].is_alive())
    workers.close()


@pytest.mark.parametrize(("small", "given", "expected"), [(2**40, None, 1), (0, None, "cores"), (2**40, 3, 3)])
def test_a_small_file_is_read_by_one_thread(
    sample_file: Path, monkeypatch: pytest.MonkeyPatch, small: int, given: int | None, expected: int | str
) -> None:
    monkeypatch.setattr(_duckdb, "_SMALL", small)
    with DuckDBBackend(sample_file, threads=given) as backend:
        found = backend._run(lambda cursor: cursor.execute("SELECT current_setting('threads')").fetchall(), 10)
    assert found == [(min(os.cpu_count() or 1, 4) if expected == "cores" else expected,)]
