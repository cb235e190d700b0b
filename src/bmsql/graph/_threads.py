"""Work that must not keep an event loop waiting."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from bmsql.backends._hosted import Host, hosting
from bmsql.backends._workers import Workers

# Queries wait for a database, and reasoners without coroutines for whatever they wait for.
_WAITING = 32
# Seconds between two looks at work under way: where it is a query that may have to be stopped, and else.
_WATCHED, _LEFT_ALONE = 0.02, 0.1

_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


async def in_thread(function: Callable[[], Any], late: Callable[[], None] | None = None) -> Any:
    """The result of `function`, called in a thread with the caller's context variables.

    Queries in it are stopped when their time is over, when they are cancelled, and when the caller is. late: called
    now and then once the work has taken a while.
    """
    async with semaphore(_loops, _WAITING):
        return await _Call(function, late).outcome()


class _Call:
    """A function in a thread, and the future that waits for it."""

    def __init__(self, function: Callable[[], Any], late: Callable[[], None] | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[Any] = self._loop.create_future()
        self._function, self._late = function, late
        self._context = contextvars.copy_context()
        self._host = Host()
        self._result: Any = None
        self._error: BaseException | None = None

    async def outcome(self) -> Any:
        """Start the thread and wait."""
        _workers().start(self._work, self._ended)
        self._timer = self._loop.call_later(_WATCHED, self._look)
        try:
            return await self._future
        except asyncio.CancelledError:
            self._host.abandon()
            raise
        finally:
            self._timer.cancel()

    def _work(self) -> None:
        try:
            with hosting(self._host):
                self._result = self._context.run(self._function)
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._error = error

    def _ended(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._settle)
        except RuntimeError:  # the loop has been closed, so that nobody waits any more
            self._host.abandon()

    def _settle(self) -> None:
        if self._future.done():
            return
        if isinstance(self._error, StopIteration):  # which a future cannot hold
            self._future.set_exception(RuntimeError(f"StopIteration({self._error.value!r})"))
        elif self._error is not None:
            self._future.set_exception(self._error)
        else:
            self._future.set_result(self._result)

    def _look(self) -> None:
        if self._late is not None:
            self._late()
        error = self._host.tick()
        if error is None:
            self._timer = self._loop.call_later(_WATCHED if self._host.is_busy else _LEFT_ALONE, self._look)
        elif not self._future.done():
            # What does not heed its interrupt keeps its thread, and nobody waits for it.
            self._future.set_exception(error)


def semaphore(loops: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore], count: int) -> asyncio.Semaphore:
    """The semaphore of the running event loop in `loops`, for so many at once."""
    loop = asyncio.get_running_loop()
    found = loops.get(loop)
    if found is None:
        loops[loop] = found = asyncio.Semaphore(count)
    return found


@cache
def _workers() -> Workers:
    return Workers(_WAITING)


if hasattr(os, "register_at_fork"):
    # The threads stay with the parent.
    os.register_at_fork(after_in_child=_workers.cache_clear)
