"""Questions that are asked at once take turns at the database."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from bmsql.graph._threads import Semaphores, in_thread, semaphore

# Those that compute at once: more of them only keep each other from the interpreter.
_AT_ONCE = 1 + (os.cpu_count() or 1)

_loops: Semaphores = {}


class Turn:
    """The turn of one question, taken for its queries between two calls of a model, and given back on leaving.

    Without turns, questions that begin together stay together: all of them compute, each a little at a time, and then
    all of them wait for the model. With turns the first is done sooner, and waits while the others compute.
    """

    def __init__(self) -> None:
        self._held: asyncio.Semaphore | None = None

    async def run(self, function: Callable[[], Any]) -> Any:
        """The result of a function that keeps a thread busy or waiting; the turn is kept for a next one."""
        if self._held is None:
            held = semaphore(_loops, _AT_ONCE)
            await held.acquire()
            self._held = held
        # Somebody else is let in when it takes long: a query of a remote database only waits itself.
        return await in_thread(function, late=self.give)

    def give(self) -> None:
        """Let the next question in, if this one has the turn."""
        held, self._held = self._held, None
        if held is not None:
            held.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give()
