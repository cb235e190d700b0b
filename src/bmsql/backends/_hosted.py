"""A query in a thread that its caller can do without: the caller watches it, and no second thread is needed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from bmsql.backends._watched import GRACE, TICK, Reason, Stopped, stopped_error
from bmsql.errors import BackendError

T = TypeVar("T")


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
    """Whoever has started a thread stops the queries in it by this, from outside.

    `run_watched` gives a query a thread of its own, so that its caller can leave one that does not heed its
    interrupt. Where nobody waits in the thread itself, `run` runs the query in it; `tick` is to be called again and
    again as long as the thread is wanted, and `abandon` when it no longer is. `interrupt` must not block.
    """

    def __init__(self) -> None:
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
        """As `run_watched`, in this thread."""
        before, query = self._query, _Query(interrupt, seconds, cancel)
        self._query = query
        try:
            if self._abandoned:
                raise Stopped("cancelled", ended=True)
            return action()
        except interrupted as e:
            raise Stopped(query.reason or "cancelled", ended=True) from e
        finally:
            self._query = before

    @property
    def is_busy(self) -> bool:
        """Whether a query runs that `tick` may have to stop."""
        return self._query is not None

    def tick(self) -> BackendError | None:
        """Interrupt the query if it is to be stopped; what its caller is told once it has not heeded that for long."""
        query, now = self._query, time.monotonic()
        if query is None:
            return None
        if query.reason is None:
            query.reason, query.since = query.due(now), now
        if query.reason is None:
            return None
        query.interrupt()
        if now - query.since <= GRACE:
            return None
        return stopped_error(Stopped(query.reason, ended=False), query.seconds)

    def abandon(self) -> None:
        """Stop what runs, and whatever the thread is about to run; returns at once."""
        self._abandoned = True
        if self._query is not None:
            threading.Thread(target=self._stop, name="bmsql-stop", daemon=True).start()

    def _stop(self) -> None:
        # Again and again: an interrupt before the database has begun a query is lost.
        deadline = time.monotonic() + GRACE
        while (query := self._query) is not None and time.monotonic() < deadline:
            query.reason = query.reason or "cancelled"
            query.interrupt()
            time.sleep(TICK)


_local = threading.local()


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
