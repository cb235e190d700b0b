"""What a reply is worth: cut off, refused, streamed, counted; and whose client and errors are whose."""

from __future__ import annotations

import asyncio
import functools
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from bmsql.errors import ModelOutputError, ModelRefusedError, ModelRequestError, ReasonerError
from bmsql.reasoners.chat import ChatClient, Request, Way
from bmsql.reasoners.chat._adapt import Adapted
from bmsql.testing import ScriptedChatModel
from bmsql.types import StepUsage
from tests.chat.asking import OBJECT, WHERE, Gene, ask, text_of
from tests.chat.conftest import SERVERS, connect
from tests.servers import ModelServer, Say, Status


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
