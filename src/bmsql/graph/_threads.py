"""Work that must not keep an event loop waiting."""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from bmsql.backends._hosted import Host, hosting
from bmsql.backends._workers import Workers
from bmsql.errors import BackendError

# Queries wait for a database, and reasoners without coroutines for whatever they wait for.
_WAITING = 32
# Seconds after which work takes long.
_LONG = 0.02

Semaphores = dict[asyncio.AbstractEventLoop, asyncio.Semaphore]
_loops: Semaphores = {}


async def in_thread(function: Callable[[], Any], late: Callable[[], None] | None = None) -> Any:
    """The result of `function`, called in a thread with the caller's context variables.

    Queries in it are stopped when their time is over, when they are cancelled, and when the caller is. One that does
    not heed that raises QueryTimeoutError here, and not in `function`. late: called once the work takes long.
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
        self._host = Host(self._leave)
        self._result: Any = None
        self._error: BaseException | None = None

    async def outcome(self) -> Any:
        """Start the thread and wait."""
        _workers().start(self._work, self._ended)
        timer = self._loop.call_later(_LONG, self._late) if self._late is not None else None
        try:
            return await self._future
        except asyncio.CancelledError:
            self._host.abandon()
            raise
        finally:
            if timer is not None:
                timer.cancel()

    def _work(self) -> None:
        try:
            with hosting(self._host):
                self._result = self._context.run(self._function)
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._error = error

    def _ended(self) -> None:
        self._tell(self._settle)

    def _leave(self, error: BackendError) -> None:
        """What does not heed its interrupt keeps its thread, and nobody waits for it."""
        self._tell(partial(self._fail, error))

    def _tell(self, news: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(news)
        except RuntimeError:  # the loop has been closed, so that nobody waits any more
            self._host.abandon()

    def _settle(self) -> None:
        if self._error is not None:
            self._fail(self._error)
        elif not self._future.done():
            self._future.set_result(self._result)

    def _fail(self, error: BaseException) -> None:
        if isinstance(error, StopIteration):  # which a future cannot hold
            error = RuntimeError(f"StopIteration({error.value!r})")
        if not self._future.done():
            self._future.set_exception(error)


def semaphore(loops: Semaphores, count: int) -> asyncio.Semaphore:
    """The semaphore of the running event loop in `loops`, for so many at once."""
    loop = asyncio.get_running_loop()
    found = loops.get(loop)
    if found is None:
        # A semaphore that was waited for holds its loop, so that the closed ones do not go by themselves.
        for known in list(loops):
            if known.is_closed():
                loops.pop(known, None)
        loops[loop] = found = asyncio.Semaphore(count)
    return found


@cache
def _workers() -> Workers:
    return Workers(_WAITING)


if hasattr(os, "register_at_fork"):
    # The threads stay with the parent.
    os.register_at_fork(after_in_child=_workers.cache_clear)
