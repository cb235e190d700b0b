"""A query in a thread that its caller can do without: it is watched from outside, and no second thread is needed."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from bmsql.backends._watched import GRACE, TICK, Reason, Stopped, stopped_error
from bmsql.errors import BackendError

T = TypeVar("T")
log = logging.getLogger(__name__)

# Ticks without a query after which the watching thread waits to be woken.
_IDLE_TICKS = 50


class _Query:
    """What runs, until when, and why and since when it is being stopped."""

    __slots__ = ("cancel", "deadline", "interrupt", "reason", "seconds", "since")

    def __init__(self, interrupt: Callable[[], None], seconds: float, cancel: threading.Event | None) -> None:
        self.interrupt, self.seconds, self.cancel = interrupt, seconds, cancel
        self.deadline = time.monotonic() + seconds
        self.reason: Reason | None = None
        self.since = 0.0

    def due(self, now: float) -> Reason | None:
        if self.cancel is not None and self.cancel.is_set():
            return "cancelled"
        return "timeout" if now >= self.deadline else None


class Host:
    """Stops the queries of one thread, whose caller can do without the thread.

    `run_watched` gives a query a thread of its own, so that its caller can leave one that does not heed its
    interrupt. Where nobody waits in the thread itself, `run` runs the query in it. leave: told the error when a
    query has not heeded its interrupt for too long; from then on the thread is on its own, and begins no other.
    """

    def __init__(self, leave: Callable[[BackendError], None]) -> None:
        self._leave = leave
        self._query: _Query | None = None
        self._abandoned = False

    def run(
        self,
        action: Callable[[], T],
        interrupt: Callable[[], None],
        *,
        seconds: float,
        cancel: threading.Event | None,
        interrupted: type[BaseException],
    ) -> T:
        """As `run_watched`, in this thread. `interrupt` must not block."""
        if self._abandoned:
            raise Stopped("cancelled", ended=True)
        before, query = self._query, _Query(interrupt, seconds, cancel)
        self._query = query
        _watch.add(self)
        try:
            return action()
        except interrupted as e:
            raise Stopped(query.reason or "cancelled", ended=True) from e
        finally:
            self._query = before
            if before is None:
                _watch.remove(self)

    def tick(self) -> None:
        """Interrupt the query if it is to be stopped: again and again, as an interrupt that comes too soon is lost."""
        query, now = self._query, time.monotonic()
        if query is None:
            return
        if query.reason is None:
            query.reason, query.since = "cancelled" if self._abandoned else query.due(now), now
        if query.reason is None:
            return
        query.interrupt()
        if now - query.since > GRACE and not self._abandoned:
            self._abandoned = True
            self._leave(stopped_error(Stopped(query.reason, ended=False), query.seconds))

    def abandon(self) -> None:
        """Stop what runs, and whatever the thread is about to run; returns at once."""
        self._abandoned = True


class _Watch:
    """A thread that ticks for all hosts with a query; it needs no event loop, which may stop or be kept busy."""

    def __init__(self) -> None:
        self._hosts: set[Host] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, host: Host) -> None:
        with self._lock:
            self._hosts.add(host)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="bmsql-watch", daemon=True)
                self._thread.start()
        if not self._wake.is_set():
            self._wake.set()

    def remove(self, host: Host) -> None:
        with self._lock:
            self._hosts.discard(host)

    def _run(self) -> None:
        idle = 0
        while True:
            with self._lock:
                hosts = list(self._hosts)
                idle = 0 if hosts else idle + 1
                if idle > _IDLE_TICKS:
                    self._wake.clear()
            if idle > _IDLE_TICKS:
                self._wake.wait()
                idle = 0
                continue
            for host in hosts:
                try:
                    host.tick()
                except Exception:  # one that cannot be stopped must not keep the others from being stopped
                    log.exception("a query could not be interrupted")
            time.sleep(TICK)


_watch = _Watch()
_local = threading.local()


def _after_fork() -> None:
    # The threads, and who waits for this one, stay with the parent.
    global _watch  # noqa: PLW0603
    _watch = _Watch()
    _local.host = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def hosting(host: Host) -> Iterator[None]:
    """Queries in this thread are run by `host`."""
    _local.host = host
    try:
        yield
    finally:
        _local.host = None


def current_host() -> Host | None:
    """Who runs the queries of this thread, if anybody does."""
    found: Host | None = getattr(_local, "host", None)
    return found
