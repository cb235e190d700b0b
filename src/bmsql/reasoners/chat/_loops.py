"""Connections of an event loop: each loop has its own, and they are closed when it ends.

Pooled connections belong to the loop that opened them; another one that uses them fails with "Event
loop is closed". Google's SDK keeps a pool for each loop but never closes one; OpenAI's keeps one for
all, shared by all models of the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
import threading
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bmsql.reasoners.chat._providers import is_gemini, is_openai

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


@dataclass(frozen=True)
class Held:
    """A model, and the copies of it that were made for some parameters."""

    model: BaseChatModel
    copies: dict[Any, BaseChatModel] = field(default_factory=dict)


_Entry = tuple[Held, AsyncGenerator[None, None]]


class LoopPools:
    """A model for each event loop that asks for one. Safe in threads."""

    def __init__(self, held: Held) -> None:
        self._held, self._model = held, held.model
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Entry] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def for_running_loop(self) -> Held:
        """The model, or its copy for the running loop where its connections cannot be shared."""
        if not (is_openai(self._model) or is_gemini(self._model)):
            return self._held
        loop = asyncio.get_running_loop()
        with self._lock:
            entry = self._by_loop.get(loop)
        # Only this loop's own thread makes its entry.
        if entry is None:
            model, close = _openai_copy(self._model) if is_openai(self._model) else _gemini(self._model, loop)
            held = self._held if model is self._model else Held(model)
            entry = held, _at_end_of_loop(close)
            with self._lock:
                self._by_loop[loop] = entry
        return entry[0]


def _at_end_of_loop(close: Callable[[], Awaitable[None]]) -> AsyncGenerator[None, None]:
    """Have `close` run when the running loop ends: it finishes the asynchronous generators that it knows."""

    async def wait() -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await close()

    generator = wait()
    with contextlib.suppress(StopIteration):
        # To its `yield`, where it waits; nothing is awaited on the way.
        generator.__anext__().send(None)
    return generator


def _openai_copy(model: BaseChatModel) -> tuple[BaseChatModel, Callable[[], Awaitable[None]]]:
    """A copy whose asynchronous connections are its own; a client that the user made is kept."""
    root: Any = getattr(model, "root_async_client", None)
    if root is None or getattr(model, "http_async_client", None) is not None:
        return model, _nothing
    import openai

    client = openai.DefaultAsyncHttpxClient(base_url=root.base_url, timeout=root.timeout, verify=_trusted())
    fresh = root.with_options(http_client=client)
    copy = model.model_copy(update={"root_async_client": fresh, "async_client": fresh.chat.completions})
    return copy, client.aclose


@functools.cache
def _trusted() -> Any:
    """The certificates that the SDK's HTTP library trusts: reading them takes 35 ms, too long for each event loop."""
    import openai

    library = sys.modules[openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0]]
    return library.create_ssl_context()


def _gemini(
    model: BaseChatModel, loop: asyncio.AbstractEventLoop
) -> tuple[BaseChatModel, Callable[[], Awaitable[None]]]:
    """The model itself; closing takes this loop's pool out of the SDK's client, which has no public way to."""
    clients = getattr(getattr(getattr(model, "client", None), "_api_client", None), "_async_httpx_client", None)
    place = weakref.ref(loop)

    async def close() -> None:
        pools, ended = getattr(clients, "_loop_clients", None), place()
        pool = pools.pop(ended, None) if isinstance(pools, dict) and ended is not None else None
        if pool is not None:
            await pool.aclose()

    return model, close


async def _nothing() -> None:
    """Nothing is to be closed."""
