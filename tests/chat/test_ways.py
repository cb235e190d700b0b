"""How a schema is asked for, what is remembered of a model, and what is counted."""

from __future__ import annotations

import asyncio
import datetime as dt
import functools
import itertools
from collections.abc import Callable
from typing import Any, Literal

import pytest
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from bmsql.errors import ModelOutputError, ModelRefusedError, ModelRequestError, ReasonerError
from bmsql.reasoners.chat import ChatClient, Message, Reply, Request, Way
from bmsql.reasoners.chat._adapt import Adapted
from bmsql.testing import ScriptedChatModel
from bmsql.types import StepUsage
from tests.chat.conftest import SERVERS, connect
from tests.servers import ModelServer, Received, Say, Status

WHERE = (Message(role="system", content="You know genes."), Message(role="user", content="Where is BIN1?"))
OBJECT = {"symbol": "BIN1", "chromosome": 2}


class Gene(BaseModel):
    """A gene and where it lies."""

    symbol: str
    chromosome: int = 0


class Variant(BaseModel):
    """Another schema."""

    name: str


def ask(client: ChatClient, schema: type[BaseModel] | None = Gene, **options: Any) -> Reply[Any]:
    return client.complete(Request("draft", WHERE, schema, **options))


def way_of(received: Received) -> Way:
    """How a request over either wire asks for its schema."""
    body = received.body
    config = body.get("generationConfig", {})
    if "responseJsonSchema" in config or body.get("response_format", {}).get("type") == "json_schema":
        return Way.NATIVE
    if body.get("tools"):
        return Way.TOOL
    return Way.JSON if body.get("response_format") else Way.TEXT


def text_of(received: Received) -> str:
    return str(received.body)


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


def test_more_room_once_where_the_request_set_the_limit(
    model: BaseChatModel, serve: Callable[..., ModelServer]
) -> None:
    server = serve([Say(OBJECT, cut=True), Say(OBJECT)])
    assert ask(ChatClient(model), max_tokens=30).value == Gene(**OBJECT)
    assert ["30" in text_of(item) for item in server.received] == [True, False]
    assert "60" in text_of(server.received[1])
    server.restart(Say(OBJECT, cut=True))
    with pytest.raises(ModelOutputError, match="cut off"):
        ask(ChatClient(model), max_tokens=30)
    assert len(server.received) == 2


@pytest.mark.parametrize("way", [Way.NATIVE, Way.TOOL])
def test_a_reply_that_was_cut_off_is_never_taken_for_whole(
    model: BaseChatModel, serve: Callable[..., ModelServer], way: Way
) -> None:
    """Also where what is there happens to parse."""
    refusal = [Status(400, "json_schema is not supported")] if way is Way.TOOL else []
    serve([*refusal, Say('{"symbol": "BIN1", "chromosome": 2}xx{}', cut=True)])
    with pytest.raises(ModelOutputError, match="cut off"):
        ask(ChatClient(model))


def test_usage_is_the_providers_report(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    serve(Say("yes", usage=(120, 80, 30, 10)))
    for on_text in (None, [].append):
        usage = ChatClient(model).complete(Request("answer", WHERE), on_text=on_text).usage
        assert usage == StepUsage(
            step="answer",
            calls=1,
            prompt_tokens=120,
            cached_tokens=80,
            completion_tokens=30,
            reasoning_tokens=10,
            seconds=usage.seconds,
        )
        assert usage.seconds > 0


def test_usage_is_estimated_where_none_is_reported(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    serve(Say("äöü!", usage=None))
    usage = ask(ChatClient(model), None).usage
    # 15 bytes and 14 bytes; three letters of 2 bytes and one of 1.
    assert (usage.prompt_tokens, usage.completion_tokens, usage.estimated) == (4 + 4, 2, True)


def test_text_grows_as_it_comes(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    serve(Say("BIN1 lies on chromosome 2."))
    seen: list[str] = []
    reply = ChatClient(model).complete(Request("answer", WHERE), on_text=seen.append)
    assert seen[-1] == reply.value == "BIN1 lies on chromosome 2."
    assert len(seen) == 5
    assert all(after.startswith(before) for before, after in itertools.pairwise(seen))


def test_callbacks_tags_and_names_pass_through() -> None:
    from langchain_core.callbacks import BaseCallbackHandler

    class Seen(BaseCallbackHandler):
        def __init__(self) -> None:
            self.runs: list[tuple[str, list[str]]] = []

        def on_chat_model_start(self, serialized: Any, messages: Any, **options: Any) -> None:
            self.runs.append((options["name"], options["tags"]))

    seen = Seen()
    client = ChatClient(ScriptedChatModel(replies="yes"))
    config: Any = {"callbacks": [seen], "tags": ["mine"], "run_name": "theirs"}
    client.complete(Request("plan", WHERE), config=config)
    ((name, tags),) = seen.runs
    assert name == "bmsql.plan"
    assert {"mine", "bmsql"} <= set(tags)


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


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", additional_kwargs={"refusal": "no"}),
        AIMessage([{"type": "refusal", "refusal": "no"}]),
        AIMessage("", response_metadata={"finish_reason": "content_filter"}),
        AIMessage("", response_metadata={"finish_reason": "SAFETY"}),
        AIMessage("", response_metadata={"stop_reason": "refusal"}),
        AIMessage("", response_metadata={"prompt_feedback": {"block_reason": "SAFETY"}}),
    ],
)
def test_refusals_of_all_providers(message: AIMessage) -> None:
    for schema in (Gene, None):
        model = ScriptedChatModel(replies=message)
        with pytest.raises(ModelRefusedError):
            ask(ChatClient(model), schema)
        assert len(model.calls) == 1


@pytest.mark.parametrize(
    "metadata",
    [
        {"finish_reason": "length"},
        {"finish_reason": "MAX_TOKENS"},
        {"stop_reason": "max_tokens"},
        {"done_reason": "length"},
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
    ],
)
def test_cut_off_by_all_providers(metadata: dict[str, Any]) -> None:
    model = ScriptedChatModel(replies=AIMessage('{"symbol": "BI"}', response_metadata=metadata))
    with pytest.raises(ModelOutputError, match="cut off") as raised:
        ask(ChatClient(model))
    assert raised.value.output == '{"symbol": "BI"}'


def test_our_own_errors_pass_as_they_are_and_others_are_mapped() -> None:
    client = ChatClient(ScriptedChatModel(replies=["a"]))
    ask(client, None)
    with pytest.raises(ReasonerError, match="1 replies, and this is call 2"):
        ask(client, None)

    class OddError(Exception):
        pass

    with pytest.raises(ReasonerError) as raised:
        ask(ChatClient(ScriptedChatModel(replies=OddError("of a provider nobody knows"))), None)
    assert isinstance(raised.value.__cause__, OddError)
    assert "of a provider nobody knows" in raised.value.message


def test_a_bad_request_names_the_model_and_the_status(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    serve(Status(404, "no such model"))
    with pytest.raises(ModelRequestError) as raised:
        ask(ChatClient(model))
    assert raised.value.model.endswith(":scripted")
    assert raised.value.status == 404


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_what_the_callers_own_function_raises_is_the_callers(asynchronous: bool) -> None:
    model = ScriptedChatModel(replies="one two three")
    client, request = ChatClient(model), Request("answer", WHERE)

    def break_off(text: str) -> None:
        raise ValueError(f"I have seen enough: {text}")

    def ask_so() -> None:
        if asynchronous:
            asyncio.run(client.acomplete(request, on_text=break_off))
        else:
            client.complete(request, on_text=break_off)

    with pytest.raises(ValueError, match=r"enough: one$"):
        ask_so()
    assert len(model.calls) == 1


def test_an_error_tells_what_the_step_has_cost(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    serve(Say({"chromosome": 2}, usage=(100, 40, 20, 5)))
    with pytest.raises(ModelOutputError) as raised:
        ask(ChatClient(model))
    usage = raised.value.usage
    assert usage is not None
    assert (usage.step, usage.calls, usage.prompt_tokens, usage.completion_tokens) == ("draft", 2, 200, 40)
    serve(Say(OBJECT, cut=True, usage=(100, 40, 20, 5)))
    with pytest.raises(ModelOutputError, match="cut off") as raised:
        ask(ChatClient(model), max_tokens=20)
    usage = raised.value.usage
    assert usage is not None
    assert (usage.calls, usage.prompt_tokens, usage.cached_tokens, usage.reasoning_tokens) == (2, 200, 80, 10)


def test_no_usage_in_streams_where_the_user_said_so(serve: Callable[..., ModelServer], provider: str) -> None:
    if provider != "openai":
        pytest.skip("a setting of OpenAI's integration")
    server = serve(Say("yes"))
    model = connect(provider, server.url, stream_usage=False)
    usage = ChatClient(model).complete(Request("answer", WHERE), on_text=[].append).usage
    assert usage.estimated
    assert "stream_options" not in server.received[0].body


def test_a_server_that_does_not_stream(provider: str, model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    """It answers with a whole reply, which is found out once."""
    server = serve(Say("whole"))
    server.no_streams = True
    try:
        client, seen = ChatClient(model, attempts=1), []
        for _ in range(2):
            assert client.complete(Request("answer", WHERE), on_text=seen.append).value == "whole"
    finally:
        server.no_streams = False
    if provider == "openai":
        assert len(server.received) == 3


def test_copies_share_the_users_connections(provider: str) -> None:
    with SERVERS[provider](Say("yes")) as server:
        model = connect(provider, server.url)
        for _ in range(3):
            assert ask(ChatClient(model), None).value == "yes"
        assert server.connections == 1


def test_a_client_of_the_users_own_is_kept() -> None:
    import httpx2

    class Counting(httpx2.AsyncClient):
        sent = 0

        async def send(self, *arguments: Any, **options: Any) -> Any:
            Counting.sent += 1
            return await super().send(*arguments, **options)

    with SERVERS["openai"](Say("yes")) as server:
        model = connect("openai", server.url, http_async_client=Counting())
        # The second time its connection belongs to a loop that is gone; there is none other, and it is tried again.
        for _ in range(2):
            assert asyncio.run(ChatClient(model).acomplete(Request("answer", WHERE))).value == "yes"
    assert Counting.sent >= 2


def test_retries_of_other_sdks_are_switched_off_too() -> None:
    """Of an integration that keeps its clients elsewhere than OpenAI's, and makes one when it is first used."""
    import openai

    class Other(ScriptedChatModel):
        max_retries: int = 7
        completions: Any = None
        made: Any = None

        @functools.cached_property
        def _lazy_client(self) -> Any:
            return openai.OpenAI(api_key="x", max_retries=self.max_retries)

    root = openai.OpenAI(api_key="x", max_retries=7)
    model = Other(completions=root.chat.completions, made=root)
    assert model._lazy_client.max_retries == 7
    quiet: Any = Adapted(model).model
    assert quiet.completions._client.max_retries == quiet.made.max_retries == quiet._lazy_client.max_retries == 0
    assert quiet.made._client is root._client
    assert (model.max_retries, root.max_retries, model._lazy_client.max_retries) == (7, 7, 7)
