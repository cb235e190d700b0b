"""How a schema is asked for, and what is remembered of a model."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, Literal

import pytest
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

from bmsql.errors import ModelRequestError
from bmsql.reasoners.chat import ChatClient, Way, forget_models
from bmsql.reasoners.chat._structured import strict_schema
from bmsql.testing import ScriptedChatModel
from tests.chat.asking import OBJECT, Gene, ask, text_of, way_of
from tests.chat.conftest import SERVERS
from tests.servers import ModelServer, Received, Say, Status


class Variant(BaseModel):
    """Another schema."""

    name: str


def test_the_ways_in_order_as_a_server_refuses_each(
    provider: str, model: BaseChatModel, serve: Callable[..., ModelServer]
) -> None:
    """What is refused is not asked for again, by this client or another one of the same model."""
    # Gemini's JSON mode is its native schema.
    order = [way for way in Way if provider == "openai" or way is not Way.JSON]
    refusals = {
        Way.NATIVE: "response_format of type json_schema / responseJsonSchema is not supported",
        Way.TOOL: "this model does not support tools",
        Way.JSON: "response_format is not supported",
    }
    server = serve([*(Status(400, refusals[way]) for way in order if way is not Way.TEXT), Say(OBJECT)])
    reply = ask(ChatClient(model))
    assert (reply.value, reply.way) == (Gene(symbol="BIN1", chromosome=2), Way.TEXT)
    assert [way_of(received) for received in server.received] == order
    assert reply.usage.calls == 1
    # Where the wire has no place for the schema, the words have.
    assert "chromosome" in text_of(server.received[-1])
    server.restart(Say(OBJECT))
    assert ask(ChatClient(model)).way is Way.TEXT
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("parameter", "options", "said"),
    [
        ("temperature", {"temperature": 0.0}, "Unsupported value: 'temperature' does not support 0.0 with this model."),
        ("max", {"max_tokens": 50}, "Unsupported parameter: max_completion_tokens / max_output_tokens"),
    ],
)
def test_a_parameter_that_is_refused_is_left_out_and_remembered(
    model: BaseChatModel, serve: Callable[..., ModelServer], parameter: str, options: dict[str, Any], said: str
) -> None:
    def needs_none(received: Received) -> Any:
        return Status(400, said) if parameter in text_of(received).lower() else Say(OBJECT)

    server = serve(needs_none)
    assert ask(ChatClient(model), **options).way is Way.NATIVE
    assert [parameter in text_of(received).lower() for received in server.received] == [True, False]
    assert ask(ChatClient(model), **options).value == Gene(**OBJECT)
    assert len(server.received) == 3


def test_a_schema_that_is_refused_is_remembered_for_itself_only(
    model: BaseChatModel, serve: Callable[..., ModelServer]
) -> None:
    server = serve([Status(400, "Invalid schema for response_format 'Gene'"), Say(OBJECT)])
    client = ChatClient(model)
    assert ask(client).way is Way.TOOL
    assert ask(client).way is Way.TOOL
    server.restart(Say({"name": "rs1"}))
    assert ask(client, Variant).way is Way.NATIVE


def test_the_strict_schema_asks_for_every_field(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    server = serve(Say(OBJECT))
    ask(ChatClient(model))
    if "response_format" in server.received[0].body:
        asked = server.received[0].body["response_format"]["json_schema"]
        assert asked["strict"] is True
        assert asked["schema"]["required"] == ["symbol", "chromosome"]
        assert asked["schema"]["additionalProperties"] is False
    else:
        asked = server.received[0].body["generationConfig"]["responseJsonSchema"]
        assert set(asked["properties"]) == {"symbol", "chromosome"}


class Inner(BaseModel):
    """A part."""

    default: int = 3


class Whole(BaseModel):
    """Fields that are named as the words of JSON schemas, defaults, and a part with a description."""

    default: str = "x"
    properties: list[str] = []
    title: str | None = None
    part: Inner = Field(default=Inner(), description="the part")


def test_the_strict_schema_keeps_every_field() -> None:
    made = strict_schema(Whole)
    assert list(made["properties"]) == made["required"] == ["default", "properties", "title", "part"]
    assert made["properties"]["part"] == {"$ref": "#/$defs/Inner"}
    assert made["$defs"]["Inner"]["required"] == ["default"]
    assert made["$defs"]["Inner"]["additionalProperties"] is made["additionalProperties"] is False
    assert "default" not in made["properties"]["default"]


def test_a_correction_says_what_is_wrong(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    server = serve([Say({"symbol": "BIN1", "chromosome": "two"}), Say(OBJECT)])
    reply = ask(ChatClient(model))
    assert reply.value == Gene(**OBJECT)
    assert (reply.usage.calls, reply.usage.prompt_tokens) == (2, 200)
    said = text_of(server.received[1])
    assert "chromosome: Input should be a valid integer" in said
    assert "two" in said


def test_prose_in_answer_to_a_schema_is_answered_with_words(
    model: BaseChatModel, serve: Callable[..., ModelServer]
) -> None:
    """A server that ignores how it is asked is asked otherwise, then and from then on."""
    server = serve([Say("On chromosome 2."), Say(OBJECT)])
    client = ChatClient(model)
    assert ask(client).way is Way.TEXT
    assert [way_of(received) for received in server.received] == [Way.NATIVE, Way.TEXT]
    assert ask(client).way is Way.TOOL


class Typed(BaseModel):
    """Types that JSON does not have."""

    day: dt.date
    pair: tuple[str, int]
    kind: Literal["a", "b"]


@pytest.mark.parametrize("methods", [("json_schema",), ("function_calling",), ("json_mode",), ()])
def test_types_that_json_does_not_have(methods: tuple[str, ...]) -> None:
    value = {"day": "2024-02-29", "pair": ["x", 1], "kind": "b"}
    model = ScriptedChatModel(replies=value, methods=methods)
    reply = ask(ChatClient(model), Typed)
    assert reply.value == Typed(day=dt.date(2024, 2, 29), pair=("x", 1), kind="b")
    assert reply.way is {"json_schema": Way.NATIVE, "function_calling": Way.TOOL, "json_mode": Way.JSON}.get(
        methods[0] if methods else "", Way.TEXT
    )


def test_a_model_that_knows_neither_schemas_nor_tools() -> None:
    reply = ask(
        ChatClient(FakeListChatModel(responses=["It is {'symbol': 'BIN1', 'chromosome': None or 2}", str(OBJECT)]))
    )
    assert (reply.value, reply.way, reply.usage.calls) == (Gene(**OBJECT), Way.TEXT, 2)
    assert reply.usage.estimated


def test_replies_of_other_shapes() -> None:
    call = {"name": "Gene", "args": OBJECT, "id": "1", "type": "tool_call"}
    broken = {"name": "Gene", "args": "{'symbol': 'BIN1', 'chromosome': 2,}", "id": "1", "error": None}
    shapes = [
        AIMessage("", tool_calls=[call]),
        AIMessage("", invalid_tool_calls=[{**broken, "type": "invalid_tool_call"}]),
        AIMessage([{"type": "text", "text": "It is\n"}, {"type": "text", "text": str([OBJECT])}]),
        AIMessage('<think>{"symbol": "no"}</think>\n```json\n{"symbol": "BIN1", "chromosome": 2}\n```'),
    ]
    client = ChatClient(ScriptedChatModel(replies=shapes))
    assert [ask(client).value for _ in shapes] == [Gene(**OBJECT)] * len(shapes)


@pytest.mark.parametrize("asked", [Gene, None])
def test_a_server_of_ones_own_that_knows_chat_completions_only(asked: type[BaseModel] | None) -> None:
    """The integration takes the Responses API for some names of models; what is missing is found out once."""
    with SERVERS["openai"](Say(OBJECT if asked else "yes")) as server:
        model: Any = ChatOpenAI(model="my-codex", base_url=f"{server.url}/v1", api_key="x")
        client = ChatClient(model)
        for _ in range(2):
            assert ask(client, asked).value == (Gene(**OBJECT) if asked else "yes")
        paths = [received.path for received in server.received]
        assert paths == ["/v1/responses", "/v1/chat/completions", "/v1/chat/completions"]


def test_what_was_learnt_can_be_forgotten(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    serve([Status(400, "response_format / responseJsonSchema is not supported"), Say(OBJECT)])
    client = ChatClient(model)
    assert ask(client).way is Way.TOOL
    forget_models()
    assert ask(client).way is Way.NATIVE


def test_nothing_is_learnt_from_a_request_that_failed(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    """A refusal that speaks of the temperature is not always about the temperature."""
    server = serve(Status(400, "cannot parse the body: 'what is the temperature?'"))
    with pytest.raises(ModelRequestError):
        ask(ChatClient(model), None, temperature=0.5)
    assert len(server.received) == 2
    server.restart(Say("yes"))
    ask(ChatClient(model), None, temperature=0.5)
    assert "0.5" in text_of(server.received[0])
