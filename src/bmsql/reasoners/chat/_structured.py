"""A reply of a schema: how each way asks for it, and how the instance is read from what comes back."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from bmsql.reasoners.chat._extract import find_json
from bmsql.reasoners.chat._messages import Message, Way
from bmsql.reasoners.chat._providers import is_gemini, is_openai
from bmsql.reasoners.chat._unicode import whole_characters

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

_METHODS = {Way.NATIVE: "json_schema", Way.TOOL: "function_calling", Way.JSON: "json_mode"}


# Parts of a JSON schema that map names to schemas.
_OF_NAMES = {"properties", "$defs"}


class WayUnsupported(Exception):  # noqa: N818 - not an error: the next way is taken
    """The integration cannot ask in this way."""


class NoJson(ValueError):  # noqa: N818 - reads as what it is
    """There is nothing of JSON in the reply."""


def call_arguments(model: BaseChatModel, schema: type[BaseModel], way: Way) -> dict[str, Any]:
    """What a call must be given so that the reply comes in `way`. Raises WayUnsupported.

    The integration itself says so: these are the arguments that its `with_structured_output` binds.
    Its parser is left out, as it fails on what can still be read, and loses the usage.
    """
    if way is Way.TEXT:
        return {}
    _check(model, way)
    given: Any = schema
    options: dict[str, Any] = {"method": _METHODS[way]}
    if way is Way.NATIVE and is_openai(model):
        given, options["strict"] = strict_schema(schema), True
    try:
        with warnings.catch_warnings():
            # OpenAI's warns that it takes another method for an old model; the reply is read either way.
            warnings.simplefilter("ignore")
            chain: Any = model.with_structured_output(given, **options)
    except (RuntimeError, ValueError, TypeError, KeyError) as e:
        # Whether it says "not implemented" (a RuntimeError) or that it knows no such method.
        raise WayUnsupported(str(e)) from e
    bound = getattr(chain, "first", chain)
    arguments = getattr(bound, "kwargs", None)
    if not isinstance(arguments, dict) or not arguments:
        raise WayUnsupported(f"{type(model).__name__} does not tell how it asks for a schema")
    # For tracing only, and LangChain would convert the schema for it at each call.
    return {name: value for name, value in arguments.items() if name != "ls_structured_output_format"}


def _check(model: BaseChatModel, way: Way) -> None:
    from langchain_core.language_models import BaseChatModel

    profile = getattr(model, "profile", None) or {}
    if way is Way.NATIVE and profile.get("structured_output") is False:
        raise WayUnsupported("its profile says that it has no structured output")
    if way is Way.TOOL and profile.get("tool_calling") is False:
        raise WayUnsupported("its profile says that it calls no tools")
    if way is Way.JSON and is_gemini(model):
        raise WayUnsupported("its JSON mode is its native schema")
    if way is not Way.TOOL and type(model).with_structured_output is BaseChatModel.with_structured_output:
        raise WayUnsupported("it knows tool calls only")


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema as strict decoding wants it: every property required, and no others.

    A field with a default thus becomes one that the model must fill, for which it may repeat the default.
    """
    made: dict[str, Any] = _strict(schema.model_json_schema())
    made.setdefault("title", schema.__name__)
    made.setdefault("description", (schema.__doc__ or schema.__name__).strip().splitlines()[0])
    return made


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    made = {
        # The keys of these are names, and may be any word.
        key: {name: _strict(inner) for name, inner in value.items()} if key in _OF_NAMES else _strict(value)
        for key, value in node.items()
        if key != "default"
    }
    if "$ref" in made:
        # Nothing may stand beside a reference.
        return {"$ref": made["$ref"]}
    if isinstance(made.get("properties"), dict):
        made["additionalProperties"] = False
        made["required"] = list(made["properties"])
    return made


def instructions(schema: type[BaseModel]) -> str:
    """The words that ask for a schema where the wire has no place for it."""
    return (
        "Reply with one JSON object and nothing else: no prose, no code fence. It must match this JSON schema:\n"
        + json.dumps(schema.model_json_schema(), separators=(",", ":"))
    )


def with_instructions(messages: tuple[Message, ...], schema: type[BaseModel]) -> tuple[Message, ...]:
    """The messages, asking for the schema at the end of the last one of the user."""
    *before, last = messages
    if last.role != "user":
        return (*messages, Message(role="user", content=instructions(schema)))
    return (*before, Message(role="user", content=f"{last.content}\n\n{instructions(schema)}"))


def read_reply(message: AIMessage, schema: type[BaseModel]) -> BaseModel:
    """The instance in a reply, wherever the model put it. Raises ValidationError, NoJson."""
    failure: ValidationError | None = None
    for value in _values(message):
        try:
            # As JSON: so a list fills a tuple, and a text a date, also under strict validation.
            return schema.model_validate_json(whole_characters(json.dumps(value, ensure_ascii=False)))
        except ValidationError as e:
            failure = failure or e
    if failure is not None:
        raise failure
    raise NoJson("the reply holds no JSON object")


def _values(message: AIMessage) -> list[Any]:
    found: list[Any] = [call["args"] for call in message.tool_calls]
    texts = [call.get("args") or "" for call in message.invalid_tool_calls]
    texts.append(message.text)
    written = [value for text in texts if text and (value := find_json(text)) is not None]
    # Some wrap the one object in a list.
    return found + [value[0] if isinstance(value, list) and len(value) == 1 else value for value in written]


def complaint(error: ValidationError | NoJson, schema: type[BaseModel], *, with_schema: bool) -> str:
    """What is said to the model about its reply, so that it can correct it."""
    if isinstance(error, ValidationError):
        lines = [
            f"- {'.'.join(map(str, problem['loc'])) or 'the object'}: {problem['msg']}" for problem in error.errors()
        ]
        text = "Your reply does not match the schema:\n" + "\n".join(lines[:10])
    else:
        text = "Your reply holds no whole JSON object."
    return f"{text}\n{instructions(schema) if with_schema else 'Reply again, with these corrected.'}"
