"""Work that must not keep an event loop waiting."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

# Queries wait for a database, and reasoners without coroutines for whatever they wait for.
_WAITING = 32


async def in_thread(function: Callable[[], Any]) -> Any:
    """The result of `function`, called in a thread with the caller's context variables."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_pool(), context.run, function)


@cache
def _pool() -> ThreadPoolExecutor:
    # A pool of our own: the loop's default one has few threads where there are few cores.
    return ThreadPoolExecutor(max_workers=_WAITING, thread_name_prefix="bmsql")
