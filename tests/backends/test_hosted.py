"""Queries in a thread that its caller can do without: stopped in time, and left where they do not heed it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest

from bmsql.backends import DuckDBBackend, _hosted
from bmsql.backends._hosted import Host, current_host, hosting
from bmsql.backends._lease import Lease
from bmsql.backends._watched import Stopped
from bmsql.errors import ExecutionError, QueryCancelledError, QueryTimeoutError
from bmsql.graph import _threads
from bmsql.graph._threads import in_thread
from bmsql.types import Limits, ValidatedQuery

Query = Callable[[str], ValidatedQuery]

ENDLESS = "SELECT count(*) FROM range(1000000000000)"


def working(backend: DuckDBBackend) -> int:
    assert backend._instance is not None
    return backend._instance.working


async def soon(found: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not found() and time.monotonic() < deadline:  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0.02)
    return found()


def endless(backend: DuckDBBackend, seconds: float = 60, cancel: threading.Event | None = None) -> Any:
    return backend._run(lambda cursor: cursor.execute(ENDLESS).fetchall(), seconds, cancel)


async def test_a_query_runs_in_the_thread_that_was_started_for_it(sample: DuckDBBackend, query: Query) -> None:
    threads: list[int] = []

    def work() -> Any:
        threads.append(threading.get_ident())
        assert current_host() is not None
        return sample._run(
            lambda cursor: threads.append(threading.get_ident()) or cursor.execute("SELECT 1").fetchall(), 9
        )

    assert await in_thread(work) == [(1,)]
    assert threads[0] == threads[1] != threading.get_ident()
    assert current_host() is None
    # Whoever calls the backend itself waits in its own thread, so that the query has another.
    threads.clear()
    assert sample._run(lambda cursor: threads.append(threading.get_ident()), 9) is None
    assert threads[0] != threading.get_ident()


async def test_a_query_is_stopped_when_its_time_is_over(sample: DuckDBBackend) -> None:
    began = time.monotonic()
    with pytest.raises(QueryTimeoutError, match=r"within 0\.1 s and was stopped\. Ask"):
        await in_thread(lambda: endless(sample, 0.1))
    assert time.monotonic() - began < 3
    assert working(sample) == 0


async def test_the_event_stops_a_query_and_the_loop_goes_on(sample: DuckDBBackend) -> None:
    cancel = threading.Event()
    task = asyncio.ensure_future(in_thread(lambda: endless(sample, cancel=cancel)))
    ticks = 0
    while ticks < 10:
        await asyncio.sleep(0.01)
        ticks += 1
    assert not task.done()
    cancel.set()
    with pytest.raises(QueryCancelledError, match="was cancelled"):
        await asyncio.wait_for(task, 5)
    assert working(sample) == 0


async def test_a_cancelled_task_stops_its_query_and_begins_no_other(sample: DuckDBBackend) -> None:
    begun: list[str] = []

    def two() -> None:
        for name in ("first", "second"):
            begun.append(name)
            try:
                endless(sample)
            except QueryCancelledError:
                begun.append("stopped")

    task = asyncio.ensure_future(in_thread(two))
    assert await soon(lambda: working(sample) == 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await soon(lambda: working(sample) == 0)
    assert await soon(lambda: len(begun) == 4)
    assert begun == ["first", "stopped", "second", "stopped"]


async def test_what_does_not_heed_the_interrupt_is_left_alone(
    sample: DuckDBBackend, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_hosted, "GRACE", 0.1)
    go_on, ended = threading.Event(), threading.Event()

    def deaf(cursor: object) -> str:
        go_on.wait(20)
        ended.set()
        return "late"

    later: list[object] = []

    def two() -> None:
        try:
            sample._run(deaf, 0.05)
            sample._run(later.append, 60)
        except QueryCancelledError as error:
            later.append(str(error))

    with pytest.raises(QueryTimeoutError, match="has not heeded that yet"):
        await in_thread(two)
    # Others are not kept waiting by it.
    one = await in_thread(lambda: sample.execute(query("SELECT 1 AS one"), Limits()))
    assert one.rows == ((1,),)
    go_on.set()
    assert await soon(ended.is_set)
    assert await soon(lambda: working(sample) == 0)
    # The thread is on its own, and begins no other query that nobody would stop.
    assert await soon(lambda: later == ["The query was cancelled."])


async def test_an_interrupt_that_comes_too_soon_is_repeated(
    sample: DuckDBBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = Lease.interrupt, []

    def late(self: Lease) -> None:
        calls.append(self)
        if len(calls) > 3:
            real(self)

    monkeypatch.setattr(Lease, "interrupt", late)
    with pytest.raises(QueryTimeoutError):
        await in_thread(lambda: endless(sample, 0.05))
    assert len(calls) > 3


def test_a_loop_that_was_closed_leaves_no_query_running(sample: DuckDBBackend) -> None:
    async def leave() -> None:
        task = asyncio.ensure_future(in_thread(lambda: endless(sample)))
        assert await soon(lambda: working(sample) == 1)
        del task  # asyncio.run cancels what is left

    asyncio.run(leave())
    deadline = time.monotonic() + 5
    while working(sample) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert working(sample) == 0


@pytest.mark.parametrize("closed", [True, False])
def test_a_query_is_stopped_in_time_although_the_loop_does_not_run(sample: DuckDBBackend, closed: bool) -> None:
    async def start() -> None:
        tasks.append(asyncio.ensure_future(in_thread(lambda: endless(sample, 0.5))))
        assert await soon(lambda: working(sample) == 1)

    tasks: list[asyncio.Future[object]] = []
    loop = asyncio.new_event_loop()
    loop.run_until_complete(start())
    if closed:
        loop.close()
    deadline = time.monotonic() + 5
    while working(sample) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert working(sample) == 0
    if not closed:
        with pytest.raises(QueryTimeoutError):
            loop.run_until_complete(tasks[0])
        loop.close()


def test_the_watching_thread_waits_and_is_woken(sample: DuckDBBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_hosted, "_IDLE_TICKS", 1)
    for _ in range(3):
        time.sleep(0.2)  # by now it waits
        with pytest.raises(QueryTimeoutError):
            asyncio.run(in_thread(lambda: endless(sample, 0.05)))
    assert _hosted._watch._hosts == set()


def test_a_query_that_cannot_be_interrupted_keeps_no_other_from_being_stopped(
    sample: DuckDBBackend, caplog: pytest.LogCaptureFixture
) -> None:
    async def both() -> None:
        go_on = threading.Event()

        def broken() -> None:
            raise OSError("gone")

        def stuck() -> object:
            host = current_host()
            assert host is not None
            return host.run(lambda: go_on.wait(20), broken, seconds=0, cancel=None, interrupted=KeyError)

        first = asyncio.ensure_future(in_thread(stuck))
        assert await soon(lambda: "could not be interrupted" in caplog.text)
        with pytest.raises(QueryTimeoutError):
            await in_thread(lambda: endless(sample, 0.1))
        go_on.set()
        assert await first is True

    asyncio.run(both())


def test_semaphores_of_closed_loops_are_let_go() -> None:
    async def contended() -> None:
        await asyncio.gather(*(in_thread(lambda: time.sleep(0.001)) for _ in range(40)))

    for _ in range(5):
        asyncio.run(contended())
    assert len(_threads._loops) <= 2


async def test_errors_results_and_variables_come_back(sample: DuckDBBackend, query: Query) -> None:
    name: ContextVar[str] = ContextVar("name", default="")
    name.set("mine")
    assert await in_thread(name.get) == "mine"
    with pytest.raises(ExecutionError):
        await in_thread(lambda: sample.execute(query("SELECT CAST('x' AS INT64) AS n"), Limits()))
    with pytest.raises(RuntimeError, match="StopIteration"):
        await in_thread(lambda: next(iter(())))


async def test_many_at_once_do_not_mix(sample: DuckDBBackend, query: Query) -> None:
    async def one(number: int) -> bool:
        result = await in_thread(lambda: sample.execute(query(f"SELECT {number} AS n"), Limits()))
        return bool(result.rows == ((number,),))

    assert all(await asyncio.gather(*map(one, range(100))))
    assert working(sample) == 0


def test_a_host_that_was_left_begins_nothing() -> None:
    host, begun = Host(lambda error: None), []
    host.abandon()
    with hosting(host), pytest.raises(Stopped) as stopped:
        host.run(lambda: begun.append(1), lambda: None, seconds=1, cancel=None, interrupted=KeyError)
    assert (stopped.value.reason, stopped.value.ended, begun) == ("cancelled", True, [])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    script = """
import asyncio, os
from bmsql.backends._hosted import current_host
from bmsql.graph._threads import in_thread
assert asyncio.run(in_thread(lambda: 1)) == 1
def in_a_hosted_thread():
    child = os.fork()
    if not child:
        os._exit(0 if current_host() is None else 1)
    return os.waitpid(child, 0)[1]
assert asyncio.run(in_thread(in_a_hosted_thread)) == 0
child = os.fork()
if not child:
    os._exit(0 if asyncio.run(asyncio.wait_for(in_thread(lambda: 2), 10)) == 2 else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], timeout=60, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
