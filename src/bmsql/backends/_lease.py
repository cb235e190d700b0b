"""A cursor of an open file, for one query."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING

from bmsql.backends._instances import Instance

if TYPE_CHECKING:
    import duckdb


class Lease:
    """A cursor for one query, entered and left by the thread that runs it, interrupted by any other.

    The cursor serves another query afterwards only if `finished` was set, and nobody has interrupted this one:
    an interrupt that comes as a query ends must not stop the next.
    """

    def __init__(self, instance: Instance) -> None:
        self.finished = False
        self._instance = instance
        self._cursor: duckdb.DuckDBPyConnection | None = None
        self._interrupted = False
        self._lock = threading.Lock()

    def interrupt(self) -> None:
        """Interrupt what the cursor does; nothing before the lease is entered, and once it has been left."""
        with self._lock:
            if self._cursor is not None:
                self._interrupted = True
                self._cursor.interrupt()

    def __enter__(self) -> duckdb.DuckDBPyConnection:
        cursor = self._instance.lend()
        with self._lock:
            self._cursor = cursor
        return cursor

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            cursor, self._cursor = self._cursor, None
        if cursor is not None:
            self._instance.take_back(cursor, keep=self.finished and not self._interrupted)
