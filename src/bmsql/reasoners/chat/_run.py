"""One request on its way: the two drivers, synchronous and not, that run the policy."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from tenacity import AsyncRetrying, Retrying

from bmsql.errors import BmsqlError, QueryCancelledError
from bmsql.reasoners.chat._adapt import Adapted
from bmsql.reasoners.chat._faults import Fault, FaultError, Kind, read_fault
from bmsql.reasoners.chat._memory import ModelMemory
from bmsql.reasoners.chat._messages import Message, Reply, Request, Way
from bmsql.reasoners.chat._policy import Call, ask
from bmsql.reasoners.chat._retry import Limits, to_error
from bmsql.reasoners.chat._structured import WayUnsupported, call_arguments
from bmsql.reasoners.chat._usage import Tally

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import RunnableConfig

    from bmsql.reasoners.chat._cache import DraftCache
    from bmsql.reasoners.chat._identity import Identity

# A look into the cache: it waits for a file.
Lookup: TypeAlias = Callable[[], object]
# Seconds between two looks at whether the caller has cancelled.
_LOOK = 0.05


@dataclass(frozen=True)
class Core:
    """What all requests of a client share: the model, what is known of it, and the limits."""

    name: str
    identity: Identity
    adapted: Adapted
    memory: ModelMemory
    seconds: float
    timeout: float
    attempts: int
    cache: DraftCache | None = None
    # What each way binds for each schema; making it takes about a millisecond.
    arguments: dict[tuple[Any, Way], dict[str, Any] | WayUnsupported] = field(default_factory=dict)

    def prepare(self, call: Call, seconds: float) -> tuple[BaseChatModel, list[BaseMessage], dict[str, Any]]:
        """The model, the messages and the arguments of one call. Raises WayUnsupported."""
        model = self.adapted.configured(temperature=call.temperature, max_tokens=call.max_tokens, dropped=call.dropped)
        arguments: Mapping[str, Any] = {}
        if call.schema is not None:
            key = (call.schema, call.way)
            if (found := self.arguments.get(key)) is None:
                try:
                    found = call_arguments(self.adapted.model, call.schema, call.way)
                except WayUnsupported as e:
                    found = e
                self.arguments[key] = found
            if isinstance(found, WayUnsupported):
                raise found
            arguments = found
        return model, _convert(call.messages), {**arguments, **self.adapted.call_options(seconds)}


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

    def steps(self) -> Generator[Call | Lookup, Any, Reply[Any]]:
        """What there is to do: calls of the model, and looking into the cache; is sent what came of it."""
        cache, core = self.core.cache, self.core
        if cache is not None and (known := (yield partial(cache.get, core.identity, self.request))) is not None:
            return known  # type: ignore[no-any-return]
        try:
            reply = yield from ask(
                self.request, core.memory, name=core.name, tally=self.tally, stream=self.on_text is not None
            )
        except FaultError as e:
            raise to_error(e.fault, core.name, self.limits) from (e.__cause__ or e)
        seconds = time.monotonic() - self.started
        reply = replace(reply, usage=reply.usage.model_copy(update={"seconds": seconds}))
        if cache is not None:
            yield partial(cache.put, core.identity, self.request, reply)
        return reply

    def check(self) -> None:
        """Raise QueryCancelledError when the caller has given up."""
        if self.cancel is not None and self.cancel.is_set():
            raise QueryCancelledError("The question was cancelled.")

    def config(self) -> RunnableConfig:
        """The caller's, with the name under which traces show the step."""
        from langchain_core.runnables.config import merge_configs

        return merge_configs(self._config, {"run_name": f"bmsql.{self.request.step}", "tags": ["bmsql"]})

    # Synchronous.

    def make(self, step: Call | Lookup) -> Any:
        """What comes of a step: of a call, with its retries, the message, FaultError or WayUnsupported."""
        if not isinstance(step, Call):
            return step()
        try:
            return Retrying(**self.limits.retrying(self._sleep))(self._try, step)
        except (FaultError, WayUnsupported) as e:
            return e

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
        model, messages, arguments = self.core.prepare(call, seconds)
        stop = threading.Event()
        done: queue.SimpleQueue[tuple[AIMessage | None, BaseException | None]] = queue.SimpleQueue()

        def work() -> None:
            try:
                if call.stream:
                    found = self._stream(model, messages, arguments, stop)
                else:
                    found = model.invoke(messages, self.config(), **arguments)
                done.put((found, None))
            except BaseException as e:  # noqa: BLE001 - handed over to the thread that waits
                done.put((None, e))

        threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True, name="bmsql-model").start()
        try:
            message, error = self._await(done, time.monotonic() + seconds)
        finally:
            stop.set()
        if error is not None:
            _raise(error)
        return _whole(message)

    def _await(self, done: queue.SimpleQueue[Any], end: float) -> Any:
        while True:
            left = end - time.monotonic()
            try:
                return done.get(timeout=max(0.0, left if self.cancel is None else min(left, _LOOK)))
            except queue.Empty:
                self.check()
                if left <= 0:
                    raise FaultError(Fault(Kind.TIMEOUT, "no reply in time")) from None

    def _stream(self, model: Any, messages: Any, arguments: Any, stop: threading.Event) -> Any:
        whole: Any = None
        for chunk in model.stream(messages, self.config(), **arguments):
            if stop.is_set():
                break
            whole = self._grow(whole, chunk)
        return whole

    # Asynchronous.

    async def amake(self, step: Call | Lookup) -> Any:
        """As `make`, asynchronously."""
        if not isinstance(step, Call):
            return await asyncio.to_thread(step)
        try:
            return await AsyncRetrying(**self.limits.retrying(self._asleep))(self._atry, step)
        except (FaultError, WayUnsupported) as e:
            return e

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
        model, messages, arguments = self.core.prepare(call, seconds)
        try:
            async with asyncio.timeout(seconds):
                work = self._acall(call, model, messages, arguments)
                message = await (work if self.cancel is None else self._watched(work))
        except Exception as e:  # noqa: BLE001 - every provider raises its own
            _raise(e)
        return _whole(message)

    async def _acall(self, call: Call, model: Any, messages: Any, arguments: Any) -> Any:
        if not call.stream:
            return await model.ainvoke(messages, self.config(), **arguments)
        whole: Any = None
        async for chunk in model.astream(messages, self.config(), **arguments):
            whole = self._grow(whole, chunk)
        return whole

    async def _watched(self, work: Any) -> Any:
        """The result of `work`, which is cancelled when the event of the caller is set."""
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=_LOOK)
                self.check()
            return task.result()
        finally:
            task.cancel()

    def _grow(self, whole: Any, chunk: Any) -> Any:
        whole = chunk if whole is None else whole + chunk
        if self.on_text is not None and chunk.text:
            self.on_text(whole.text)
        return whole


def _raise(error: BaseException) -> NoReturn:
    """Raise what a call failed with as a fault; what is ours or no failure is raised as it is."""
    if isinstance(error, BmsqlError | FaultError) or not isinstance(error, Exception):
        raise error
    raise FaultError(read_fault(error)) from error


def _whole(message: Any) -> AIMessage:
    from langchain_core.messages import AIMessage

    if not isinstance(message, AIMessage):
        raise FaultError(Fault(Kind.MALFORMED, "the stream held no message"))
    return message


def _convert(messages: tuple[Message, ...]) -> list[BaseMessage]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    classes = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    return [classes[message.role](content=message.content) for message in messages]
