"""A LangChain chat model that says what it is told to."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.base import LangSmithParams
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig, RunnableMap, RunnablePassthrough
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, Field, PrivateAttr

from bmsql.errors import ReasonerError

_instances = itertools.count(1)
# UTF-8 bytes per token of the counts that it reports.
_BYTES_PER_TOKEN = 4
# Where bmsql's calls say which step they are made for.
_STEP = "bmsql_step"


@dataclass(frozen=True)
class ScriptedCall:
    """One call of the model: the messages, what was bound or given with them, and the step it was made for.

    step: such as `draft`, where bmsql makes the call; empty otherwise. arguments: tools, response
    format, temperature and the like.
    """

    messages: tuple[BaseMessage, ...]
    step: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        """The texts of all messages, a blank line between them."""
        return "\n\n".join(message.text for message in self.messages)


class _Script:
    """Where the script stands; shared by all copies of a model."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.calls: list[ScriptedCall] = []
        self.turns: dict[str, int] = {}


class ScriptedChatModel(BaseChatModel):
    """A chat model whose every reply is scripted.

    replies: one reply for all calls, a list with one for each call (a further call raises
    ReasonerError), or a function of the `ScriptedCall`. A reply is a text; an object (a dict or a
    pydantic model), which comes as JSON or, where a tool is bound, as a call of it; an `AIMessage`,
    which is returned as it is; an exception, which is raised; or a function that makes one of these.
    steps: such scripts for single steps of bmsql, by the step's name, used before `replies`.

    delay: seconds that a call takes, or a function of the call; asynchronous calls do not block.
    usage: whether it reports tokens (UTF-8 bytes / 4), as providers do. methods: the ways of
    `with_structured_output` that it supports. base_url: stands for the address of a server; what
    bmsql learns of a model holds for all of the same name and address, and each instance has its own.

    `calls` records each call, in order. Safe in threads and event loops.
    """

    replies: Any = ""
    steps: Mapping[str, Any] = Field(default_factory=dict)
    delay: Any = 0.0
    usage: bool = True
    methods: tuple[str, ...] = ("json_schema", "function_calling", "json_mode")
    model_name: str = "model"
    base_url: str = Field(default_factory=lambda: f"scripted://{next(_instances)}")
    temperature: float | None = None
    max_tokens: int | None = None
    _script: _Script = PrivateAttr(default_factory=_Script)

    @property
    def calls(self) -> list[ScriptedCall]:
        """The calls so far."""
        with self._script.lock:
            return list(self._script.calls)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name, "base_url": self.base_url}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        return LangSmithParams(ls_provider="scripted", ls_model_name=self.model_name, ls_model_type="chat")

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any) -> Runnable[Any, Any]:
        """The model with tools, the first of which an object is given to."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], tool_choice=tool_choice, **kwargs)

    def with_structured_output(
        self,
        schema: dict[str, Any] | type,
        *,
        include_raw: bool = False,
        method: str = "json_schema",
        strict: bool | None = None,
        **kwargs: Any,
    ) -> Runnable[Any, Any]:
        """The model with a schema, in one of its `methods`. Raises ValueError for another one."""
        if method not in self.methods:
            raise ValueError(f"this model knows {', '.join(self.methods) or 'no method'}, not {method}")
        if method == "function_calling":
            return super().with_structured_output(schema, include_raw=include_raw)
        llm = self.bind(response_format=_response_format(schema, method))
        parser: Runnable[Any, Any] = (
            PydanticOutputParser(pydantic_object=schema)
            if isinstance(schema, type) and issubclass(schema, BaseModel)
            else JsonOutputParser()
        )
        if not include_raw:
            return llm | parser
        parsed = RunnablePassthrough.assign(parsed=itemgetter("raw") | parser, parsing_error=lambda _: None)
        failed = RunnablePassthrough.assign(parsed=lambda _: None)
        return RunnableMap(raw=llm) | parsed.with_fallbacks([failed], exception_key="parsing_error")

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        call = self._record(messages, run_manager, kwargs)
        time.sleep(self._seconds(call))
        return ChatResult(generations=[ChatGeneration(message=self._reply(call))])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        call = self._record(messages, run_manager, kwargs)
        await asyncio.sleep(self._seconds(call))
        return ChatResult(generations=[ChatGeneration(message=self._reply(call))])

    def stream(
        self,
        input: Any,  # noqa: A002 - LangChain's name
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> Iterator[AIMessageChunk]:
        """The reply in pieces."""
        # LangChain gives `_stream` no run manager, so the step travels with the arguments.
        yield from super().stream(input, config, stop=stop, **{**kwargs, _STEP: _step_of(config)})

    async def astream(
        self,
        input: Any,  # noqa: A002 - LangChain's name
        config: RunnableConfig | None = None,
        *,
        stop: list[str] | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AIMessageChunk]:
        """As `stream`, without blocking."""
        async for chunk in super().astream(input, config, stop=stop, **{**kwargs, _STEP: _step_of(config)}):
            yield chunk

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        call = self._record(messages, run_manager, kwargs)
        chunks = _chunks(self._reply(call))
        for chunk in chunks:
            time.sleep(self._seconds(call) / len(chunks))
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        call = self._record(messages, run_manager, kwargs)
        chunks = _chunks(self._reply(call))
        for chunk in chunks:
            await asyncio.sleep(self._seconds(call) / len(chunks))
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _record(self, messages: list[BaseMessage], run_manager: Any, arguments: dict[str, Any]) -> ScriptedCall:
        set_here = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        arguments = dict(arguments)
        streamed = arguments.pop(_STEP, "")
        step = str((getattr(run_manager, "metadata", None) or {}).get(_STEP, streamed))
        given = {name: value for name, value in {**set_here, **arguments}.items() if value is not None}
        call = ScriptedCall(tuple(messages), step, given)
        with self._script.lock:
            self._script.calls.append(call)
        return call

    def _seconds(self, call: ScriptedCall) -> float:
        return float(self.delay(call) if callable(self.delay) else self.delay)

    def _reply(self, call: ScriptedCall) -> AIMessage:
        key = call.step if call.step in self.steps else ""
        reply = self._next(key, self.steps[key] if key else self.replies)
        if callable(reply) and not isinstance(reply, BaseException | BaseModel):
            reply = reply(call)
        if isinstance(reply, BaseException):
            raise reply
        message = reply if isinstance(reply, AIMessage) else _message(reply, call)
        return message if message.usage_metadata or not self.usage else _counted(message, call)

    def _next(self, key: str, script: Any) -> Any:
        if not isinstance(script, list | tuple):
            return script
        with self._script.lock:
            turn = self._script.turns.get(key, 0)
            self._script.turns[key] = turn + 1
        if turn >= len(script):
            raise ReasonerError(
                f"The script has {len(script)} replies{f' for {key!r}' if key else ''}, and this is call {turn + 1}.",
                remedy="Add replies to the script, or give a function.",
            )
        return script[turn]


def _step_of(config: RunnableConfig | None) -> str:
    return str(((config or {}).get("metadata") or {}).get(_STEP, ""))


def _response_format(schema: dict[str, Any] | type, method: str) -> dict[str, Any]:
    if method == "json_mode":
        return {"type": "json_object"}
    function = convert_to_openai_tool(schema)["function"]
    return {"type": "json_schema", "json_schema": {"name": function["name"], "schema": function["parameters"]}}


def _message(reply: Any, call: ScriptedCall) -> AIMessage:
    """The message for a text or an object, in the form that the call asks for."""
    ended = {"finish_reason": "stop"}
    if isinstance(reply, str):
        return AIMessage(reply, response_metadata=ended)
    if isinstance(reply, BaseModel):
        reply = reply.model_dump(mode="json")
    if tools := call.arguments.get("tools"):
        made = {"name": tools[0]["function"]["name"], "args": dict(reply), "id": "call_1", "type": "tool_call"}
        return AIMessage("", tool_calls=[made], response_metadata={"finish_reason": "tool_calls"})
    return AIMessage(json.dumps(reply, ensure_ascii=False), response_metadata=ended)


def _counted(message: AIMessage, call: ScriptedCall) -> AIMessage:
    said = message.text + "".join(json.dumps(tool_call["args"]) for tool_call in message.tool_calls)
    sent = sum(_tokens(item.text) for item in call.messages)
    usage = UsageMetadata(input_tokens=sent, output_tokens=_tokens(said), total_tokens=sent + _tokens(said))
    return message.model_copy(update={"usage_metadata": usage})


def _tokens(text: str) -> int:
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)


def _chunks(message: AIMessage) -> list[ChatGenerationChunk]:
    """A message in pieces: a word each, and at the end what is not text."""
    words = message.text.split(" ")
    texts = [word if place == 0 else f" {word}" for place, word in enumerate(words)]
    last = AIMessageChunk(
        content="",
        tool_calls=message.tool_calls,
        usage_metadata=message.usage_metadata,
        response_metadata=message.response_metadata,
        additional_kwargs=message.additional_kwargs,
        chunk_position="last",
    )
    return [ChatGenerationChunk(message=item) for item in (*(AIMessageChunk(content=text) for text in texts), last)]
