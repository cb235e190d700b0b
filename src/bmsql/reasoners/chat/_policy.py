"""The policy of one request, without I/O: a generator that yields calls and is sent their replies.

Two drivers, one synchronous and one asynchronous, run it (`_client`). Retries of passing faults
are theirs; here a reply is judged: refused, cut off, or not of the schema, and what to ask next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from bmsql.errors import ModelOutputError, ModelRefusedError, ModelRequestError
from bmsql.reasoners.chat._faults import Fault, FaultError, Kind
from bmsql.reasoners.chat._messages import Message, Reply, Request, Way
from bmsql.reasoners.chat._structured import NoJson, WayUnsupported, complaint, read_reply, with_instructions
from bmsql.reasoners.chat._usage import Tally

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

    from bmsql.reasoners.chat._memory import ModelMemory

# Reasons for the end, over all providers, in lower case.
_CUT_OFF = {"length", "max_tokens", "max_output_tokens", "model_length"}
_REFUSED = {
    "content_filter", "safety", "prohibited_content", "blocklist", "spii", "recitation", "refusal", "image_safety",
    "language",
}  # fmt: skip
# What a server's refusal of a request speaks of.
_OF_PARAMETER: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("stream_options", re.compile(r"stream_options|stream options|include_usage", re.IGNORECASE)),
    ("stream", re.compile(r"\bstream(ing)?\b", re.IGNORECASE)),
    ("temperature", re.compile(r"temperature", re.IGNORECASE)),
    ("max_tokens", re.compile(r"max_?(completion_|output_)?_?tokens|maxOutputTokens|num_predict", re.IGNORECASE)),
)
_OF_TOOLS = re.compile(r"\btools?\b|tool[_ ]|function[_ ]?call|functions?\b|function_declarations", re.IGNORECASE)
_OF_FORMAT = re.compile(
    r"response_?(format|schema|mime_?type|json_?schema)|json[_ ]?(schema|mode|object)|structured[_ ]output|grammar"
    r"|guided|output_?format",
    re.IGNORECASE,
)
_OF_SCHEMA = re.compile(
    r"invalid schema|schema .*(invalid|not (valid|permitted|supported|allowed))|grammar", re.IGNORECASE
)


@dataclass(frozen=True)
class Call:
    """One call that the driver shall make, with its retries."""

    messages: tuple[Message, ...]
    way: Way = Way.TEXT
    schema: type[BaseModel] | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    stream: bool = False
    dropped: frozenset[str] = frozenset()


@dataclass
class _Course:
    """Where a request stands."""

    call: Call
    corrected: bool = False
    enlarged: bool = False
    unstreamed: bool = False


def ask(
    request: Request, memory: ModelMemory, *, name: str, tally: Tally, stream: bool
) -> Generator[Call, AIMessage | FaultError | WayUnsupported, Reply[Any]]:
    """Yields calls, is sent what came of them, and returns the value.

    Raises ModelOutputError and ModelRefusedError, and FaultError where nothing can be done about a fault.
    """
    course = _Course(_first_call(request, memory, stream))
    while True:
        call = course.call
        message = yield call
        if isinstance(message, WayUnsupported):
            course.call = _in_way(call, request, _next_way(call.way, request, memory))
            continue
        if isinstance(message, FaultError):
            tally.add_reported(message.fault.usage)
            course.call = _after_fault(message, course, request, memory, name)
            continue
        tally.add(message, (item.content for item in call.messages))
        finish = finish_reason(message)
        _check_refusal(message, finish, name)
        if finish.lower() in _CUT_OFF:
            course.call = _enlarged(course, name, message.text)
            continue
        if request.schema is None:
            if not message.text.strip():
                course.call = _again(course, name)
                continue
            if course.unstreamed:
                memory.drop_parameter("stream")
            return Reply(message.text, tally.usage(), Way.TEXT, finish, message.text)
        try:
            value = read_reply(message, request.schema)
        except (ValidationError, NoJson) as e:
            course.call = _corrected(course, request, memory, message, e, name)
            continue
        return Reply(value, tally.usage(), call.way, finish, raw_text(message))


def _first_call(request: Request, memory: ModelMemory, stream: bool) -> Call:
    call = Call(
        request.messages,
        schema=request.schema,
        temperature=request.temperature,
        max_tokens=request.max_tokens,
        stream=stream and request.schema is None and memory.takes("stream"),
        dropped=frozenset(name for name, _ in _OF_PARAMETER if not memory.takes(name)),
    )
    return call if request.schema is None else _in_way(call, request, memory.ways(request.schema.__name__)[0])


def _in_way(call: Call, request: Request, way: Way) -> Call:
    messages = request.messages
    if way in {Way.JSON, Way.TEXT} and request.schema is not None:
        messages = with_instructions(messages, request.schema)
    return replace(call, way=way, messages=messages)


def _next_way(way: Way, request: Request, memory: ModelMemory) -> Way:
    order = list(Way)
    left = memory.ways(request.schema.__name__ if request.schema else "")
    return next((item for item in left if order.index(item) > order.index(way)), Way.TEXT)


def _after_fault(error: FaultError, course: _Course, request: Request, memory: ModelMemory, name: str) -> Call:
    """The call without what the server refused, which is remembered; raises where nothing can be left out."""
    fault, call = error.fault, course.call
    if fault.kind is Kind.TRUNCATED:
        return _enlarged(course, name, "")
    if fault.kind is Kind.REQUEST:
        if parameter := _refused_parameter(fault, call):
            memory.drop_parameter(parameter)
            return replace(call, dropped=call.dropped | {parameter}, stream=call.stream and parameter != "stream")
        if call.way is not Way.TEXT and _refuses_way(fault, call.way):
            schema = request.schema.__name__ if request.schema and _OF_SCHEMA.search(fault.message) else ""
            memory.drop_way(call.way, schema)
            return _in_way(call, request, _next_way(call.way, request, memory))
    if fault.kind is Kind.MALFORMED and call.stream:
        # Some servers answer a request for a stream with a whole reply.
        course.unstreamed = True
        return replace(call, stream=False)
    # Some servers break over what they do not know, and say so.
    if fault.kind is Kind.SERVER and call.way is not Way.TEXT and _refuses_way(fault, call.way):
        memory.drop_way(call.way)
        return _in_way(call, request, _next_way(call.way, request, memory))
    raise error


def _refused_parameter(fault: Fault, call: Call) -> str:
    for parameter, pattern in _OF_PARAMETER:
        said = pattern.search(fault.parameter) if fault.parameter else pattern.search(fault.message)
        sent = call.stream if parameter in {"stream", "stream_options"} else True
        if said and sent and parameter not in call.dropped:
            return parameter
    return ""


def _refuses_way(fault: Fault, way: Way) -> bool:
    text = f"{fault.parameter} {fault.message}"
    return bool((_OF_TOOLS if way is Way.TOOL else _OF_FORMAT).search(text))


def _check_refusal(message: AIMessage, finish: str, name: str) -> None:
    said = message.additional_kwargs.get("refusal") or _refusal_block(message)
    feedback = message.response_metadata.get("prompt_feedback") or {}
    blocked = feedback.get("block_reason") if isinstance(feedback, dict) else None
    blocked = getattr(blocked, "value", blocked)
    why = said or (f"blocked: {blocked}" if blocked else "") or (finish if finish.lower() in _REFUSED else "")
    if why:
        raise ModelRefusedError(
            f"{name} declined to answer: {' '.join(str(why).split())[:300]}",
            model=name,
            remedy="Word the question otherwise, or use another model.",
        )


def _refusal_block(message: AIMessage) -> str:
    if isinstance(message.content, str):
        return ""
    blocks = [block for block in message.content if isinstance(block, dict) and block.get("type") == "refusal"]
    return " ".join(str(block.get("refusal") or "refused") for block in blocks)


def _enlarged(course: _Course, name: str, text: str) -> Call:
    """The call with twice the room, once, where the request had set it."""
    call = course.call
    if course.enlarged or call.max_tokens is None or "max_tokens" in call.dropped:
        raise ModelOutputError(
            f"{name} was cut off at its limit of tokens.",
            model=name,
            output=text,
            remedy="Raise the limit of tokens, or use a model that needs fewer to think.",
        )
    course.enlarged = True
    return replace(call, max_tokens=2 * call.max_tokens)


def _again(course: _Course, name: str) -> Call:
    """The same call after an empty reply, once."""
    if course.corrected:
        raise ModelOutputError(
            f"{name} returned an empty reply, twice.", model=name, remedy="Ask again, or use another model."
        )
    course.corrected = True
    # Not streamed: OpenAI's integration loses a refusal that comes in a stream.
    return replace(course.call, stream=False)


def _corrected(
    course: _Course,
    request: Request,
    memory: ModelMemory,
    message: AIMessage,
    error: ValidationError | NoJson,
    name: str,
) -> Call:
    """The call that tells the model what is wrong with its reply, once."""
    call, schema, text = course.call, request.schema, raw_text(message)
    if not text.strip():
        return _again(course, name)
    if schema is None or course.corrected:
        why = "is no JSON object" if isinstance(error, NoJson) else f"does not match: {_first_problem(error)}"
        raise ModelOutputError(
            f"{name} was asked for a {schema.__name__ if schema else 'text'}, but its reply {why}.",
            model=name,
            output=text,
            remedy="Use a model that supports structured output.",
        ) from error
    course.corrected = True
    way = call.way
    if isinstance(error, NoJson) and way is not Way.TEXT and "{" not in text:
        # It was asked in a way that it does not heed; words are always heard.
        memory.drop_way(way)
        way = Way.TEXT
    said = Message(role="assistant", content=text)
    correction = Message(role="user", content=complaint(error, schema, with_schema=way is not call.way))
    return replace(call, way=way, messages=(*call.messages, said, correction))


def _first_problem(error: ValidationError | NoJson) -> str:
    if isinstance(error, NoJson):
        return str(error)
    problem = error.errors()[0]
    return f"{'.'.join(map(str, problem['loc'])) or 'the object'}: {problem['msg']}"


def finish_reason(message: AIMessage) -> str:
    """The provider's word for why the reply ended."""
    data = message.response_metadata
    incomplete = data.get("incomplete_details")
    inner = incomplete.get("reason") if isinstance(incomplete, dict) else None
    return str(inner or data.get("finish_reason") or data.get("stop_reason") or data.get("done_reason") or "")


def raw_text(message: AIMessage) -> str:
    """What the model wrote: its text, or the arguments of its tool call."""
    if message.text or not (message.tool_calls or message.invalid_tool_calls):
        return message.text
    calls = [json.dumps(call["args"], ensure_ascii=False) for call in message.tool_calls]
    return "\n".join([*calls, *(str(call.get("args") or "") for call in message.invalid_tool_calls)])


def refuse(fault: Fault, name: str) -> ModelRequestError:
    """The error for a request that the server does not take."""
    if fault.kind is Kind.TOO_LONG:
        return ModelRequestError(
            f"the prompt is too long for {name}: {fault.message}",
            model=name,
            status=fault.status,
            remedy="Use a model with a larger context.",
        )
    return ModelRequestError(
        f"the server of {name} refused the request: {fault.message}",
        model=name,
        status=fault.status,
        remedy="Check the model's name and options.",
    )
