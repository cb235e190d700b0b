"""One request on its way: the two drivers, synchronous and not, that run the policy."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from tenacity import AsyncRetrying, Retrying

from bmsql.errors import BmsqlError, ModelError, QueryCancelledError
from bmsql.reasoners.chat._core import Core
from bmsql.reasoners.chat._faults import Fault, FaultError, Kind, read_fault
from bmsql.reasoners.chat._messages import Reply, Request
from bmsql.reasoners.chat._policy import Call, ask, finish_reason
from bmsql.reasoners.chat._providers import is_gemini, is_openai
from bmsql.reasoners.chat._retry import Limits, to_error
from bmsql.reasoners.chat._structured import WayUnsupported
from bmsql.reasoners.chat._unicode import encodable, whole_characters
from bmsql.reasoners.chat._usage import Tally

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.runnables import RunnableConfig

# A look into the cache: it waits for a file.
Lookup: TypeAlias = Callable[[], object]
# From the thread that calls: ("text", the text so far) as it grows, then ("message", ...) or ("error", ...).
_News: TypeAlias = "queue.SimpleQueue[tuple[str, Any]]"
# Seconds between two looks at whether the caller has cancelled.
_LOOK = 0.05


class Run:
    """One request on its way."""

    def __init__(
        self,
        core: Core,
        request: Request,
        config: RunnableConfig | None,
        on_text: Callable[[str], None] | None,
        cancel: threading.Event | None,
        deadline: float | None,
    ) -> None:
        self.core, self.request, self.on_text, self.cancel = core, request, on_text, cancel
        self.started = time.monotonic()
        self.limits = Limits(self.started + core.seconds if deadline is None else deadline, core.attempts, core.timeout)
        self.tally = Tally(request.step)
        self._config = config
        self._theirs: Exception | None = None

    def steps(self) -> Generator[Call | Lookup, Any, Reply[Any]]:
        """What there is to do: calls of the model, and looking into the cache; is sent what came of it."""
        cache, core = self.core.cache, self.core
        if cache is not None and (known := (yield partial(cache.get, core.identity, self.request))) is not None:
            if self.on_text is not None and known.text:
                self.on_text(known.text)
            return known  # type: ignore[no-any-return]
        try:
            reply = yield from ask(
                self.request,
                core.memory,
                name=core.name,
                tally=self.tally,
                stream=self.on_text is not None,
                responses=core.adapted.may_use_responses(),
            )
        except FaultError as e:
            raise self._spent(to_error(e.fault, core.name, self.limits)) from (e.__cause__ or e)
        except ModelError as e:
            self._spent(e)
            raise
        reply = replace(reply, usage=self.tally.usage(time.monotonic() - self.started))
        if cache is not None:
            yield partial(cache.put, core.identity, self.request, reply)
        return reply

    def _spent(self, error: BmsqlError) -> BmsqlError:
        """The error with what the step has cost."""
        if isinstance(error, ModelError):
            error.usage = self.tally.usage(time.monotonic() - self.started)
        return error

    def check(self) -> None:
        """Raise QueryCancelledError when the caller has given up."""
        if self.cancel is not None and self.cancel.is_set():
            raise QueryCancelledError("The question was cancelled.")

    def config(self) -> RunnableConfig:
        """The caller's, with the name under which traces show the step."""
        from langchain_core.runnables.config import merge_configs

        step = self.request.step
        ours: RunnableConfig = {"run_name": f"bmsql.{step}", "tags": ["bmsql"], "metadata": {"bmsql_step": step}}
        return merge_configs(self._config, ours)

    # Synchronous.

    def make(self, step: Call | Lookup) -> Any:
        """What comes of a step: of a call, with its retries, the message, FaultError or WayUnsupported."""
        if not isinstance(step, Call):
            return step()
        try:
            return self._try(step)
        except WayUnsupported as e:
            return e
        except FaultError as e:
            failed = [e]
        try:
            return Retrying(**self.limits.retrying(self._sleep))(self._retry, step, failed)
        except (FaultError, WayUnsupported) as e:
            return e

    def _retry(self, call: Call, failed: list[FaultError]) -> AIMessage:
        """A try as the retries count them: the first was made before them, as most calls need no other."""
        if failed:
            raise failed.pop()
        return self._try(call)

    def _sleep(self, seconds: float) -> None:
        if self.cancel is None:
            time.sleep(seconds)
        else:
            self.cancel.wait(seconds)

    def _try(self, call: Call) -> AIMessage:
        """One try in a thread of its own: the deadline holds and `cancel` is heard whatever the provider does."""
        self.check()
        seconds = self.limits.attempt()
        if seconds <= 0:
            raise FaultError(Fault(Kind.TIMEOUT, "the time is used up"))
        model, messages, arguments = self.core.prepare(call, seconds, asynchronous=False)
        stop = threading.Event()
        news: _News = queue.SimpleQueue()

        def work() -> None:
            try:
                if call.stream:
                    found = self._stream(model, messages, arguments, news, stop)
                else:
                    found = model.invoke(messages, self.config(), **arguments)
                news.put(("message", found))
            except BaseException as e:  # noqa: BLE001 - handed over to the thread that waits
                news.put(("error", e))

        threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True, name="bmsql-model").start()
        try:
            message = self._await(news, time.monotonic() + seconds)
        finally:
            stop.set()
        return _whole(message, model, call)

    def _await(self, news: _News, end: float) -> Any:
        """The message that the other thread sends; what it sends before is shown here, in the caller's thread."""
        while True:
            left = end - time.monotonic()
            try:
                kind, value = news.get(timeout=max(0.0, left if self.cancel is None else min(left, _LOOK)))
            except queue.Empty:
                self.check()
                if left <= 0:
                    raise FaultError(Fault(Kind.TIMEOUT, "no reply in time")) from None
                continue
            if kind == "message":
                return value
            if kind == "error":
                _raise(value)
            self.check()
            if self.on_text is not None:
                self.on_text(value)

    def _stream(self, model: Any, messages: Any, arguments: Any, news: _News, stop: threading.Event) -> Any:
        whole: Any = None
        with contextlib.closing(model.stream(messages, self.config(), **arguments)) as chunks:
            for chunk in chunks:
                if stop.is_set():
                    break
                whole = chunk if whole is None else whole + chunk
                if chunk.text:
                    news.put(("text", whole_characters(whole.text)))
        return whole

    # Asynchronous.

    async def amake(self, step: Call | Lookup) -> Any:
        """As `make`, asynchronously."""
        if not isinstance(step, Call):
            return await asyncio.to_thread(step)
        try:
            return await self._atry(step)
        except WayUnsupported as e:
            return e
        except FaultError as e:
            failed = [e]
        try:
            return await AsyncRetrying(**self.limits.retrying(self._asleep))(self._aretry, step, failed)
        except (FaultError, WayUnsupported) as e:
            return e

    async def _aretry(self, call: Call, failed: list[FaultError]) -> AIMessage:
        if failed:
            raise failed.pop()
        return await self._atry(call)

    async def _asleep(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.check()
            await asyncio.sleep(left if self.cancel is None else min(left, _LOOK))

    async def _atry(self, call: Call) -> AIMessage:
        self.check()
        seconds = self.limits.attempt()
        if seconds <= 0:
            raise FaultError(Fault(Kind.TIMEOUT, "the time is used up"))
        model, messages, arguments = self.core.prepare(call, seconds, asynchronous=True)
        try:
            async with asyncio.timeout(seconds):
                work = self._acall(call, model, messages, arguments)
                message = await (work if self.cancel is None else self._watched(work))
        except Exception as e:
            if e is self._theirs:
                raise
            _raise(e)
        return _whole(message, model, call)

    async def _acall(self, call: Call, model: Any, messages: Any, arguments: Any) -> Any:
        if not call.stream:
            return await model.ainvoke(messages, self.config(), **arguments)
        whole: Any = None
        async with contextlib.aclosing(model.astream(messages, self.config(), **arguments)) as chunks:
            async for chunk in chunks:
                whole = chunk if whole is None else whole + chunk
                if chunk.text:
                    self._show(whole_characters(whole.text))
        return whole

    def _show(self, text: str) -> None:
        """Show the text so far; what the caller's function raises is none of the model's faults."""
        try:
            if self.on_text is not None:
                self.on_text(text)
        except Exception as e:
            self._theirs = e
            raise

    async def _watched(self, work: Any) -> Any:
        """The result of `work`, which is cancelled when the event of the caller is set."""
        task = asyncio.ensure_future(work)
        try:
            while True:
                await asyncio.wait({task}, timeout=_LOOK)
                if task.done():
                    return task.result()
                self.check()
        finally:
            if not task.done():
                task.cancel()
                # Until its connection is closed.
                await asyncio.wait({task}, timeout=1)


def _raise(error: BaseException) -> NoReturn:
    """Raise what a call failed with as a fault; what is ours or no failure is raised as it is."""
    if isinstance(error, BmsqlError | FaultError) or not isinstance(error, Exception):
        raise error
    raise FaultError(read_fault(error)) from error


def _whole(message: Any, model: BaseChatModel, call: Call) -> AIMessage:
    """The message, where it came whole. Raises FaultError."""
    from langchain_core.messages import AIMessage

    if not isinstance(message, AIMessage):
        raise FaultError(Fault(Kind.MALFORMED, "the stream held no message"))
    # A stream that just ends looks like a reply; these two always say why they end.
    if call.stream and message.text and not finish_reason(message) and (is_openai(model) or is_gemini(model)):
        raise FaultError(Fault(Kind.CONNECTION, "the stream ended early"))
    return encodable(message)
