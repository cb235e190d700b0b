"""The public scripted chat model, as users script it."""

from __future__ import annotations

import asyncio
import doctest
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from pydantic import BaseModel

import bmsql.testing
from bmsql.errors import ReasonerError
from bmsql.reasoners.chat import ChatClient, Message, Request
from bmsql.testing import ScriptedCall, ScriptedChatModel


class Gene(BaseModel):
    """A gene."""

    symbol: str


def test_its_documentation_runs() -> None:
    assert doctest.testmod(bmsql.testing) == doctest.TestResults(failed=0, attempted=9)


def test_a_user_of_the_scripted_reasoner_loads_no_langchain() -> None:
    code = "import sys, bmsql.testing; bmsql.testing.ScriptedReasoner(); sys.exit('langchain_core' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_texts_objects_messages_exceptions_and_functions() -> None:
    model = ScriptedChatModel(
        replies=[
            "text",
            {"a": 1},
            Gene(symbol="BIN1"),
            AIMessage("as it is", response_metadata={"finish_reason": "length"}),
            lambda call: f"{len(call.messages)} messages",
            ConnectionResetError("gone"),
        ]
    )
    assert model.invoke("1").text == "text"
    assert model.invoke("2").text == '{"a": 1}'
    assert model.invoke("3").text == '{"symbol": "BIN1"}'
    assert model.invoke("4").response_metadata["finish_reason"] == "length"
    assert model.invoke([SystemMessage("s"), HumanMessage("u")]).text == "2 messages"
    with pytest.raises(ConnectionResetError, match="gone"):
        model.invoke("6")
    with pytest.raises(ReasonerError, match="6 replies, and this is call 7"):
        model.invoke("7")
    assert [call.prompt for call in model.calls] == ["1", "2", "3", "4", "s\n\nu", "6", "7"]


def test_one_reply_for_all_calls_and_scripts_for_steps() -> None:
    model = ScriptedChatModel(replies="other", steps={"plan": ["first", "second"], "answer": lambda call: call.step})
    client = ChatClient(model, attempts=1)
    words = (Message(role="user", content="?"),)
    said = [client.complete(Request(step, words)).value for step in ("plan", "review", "answer", "plan", "review")]
    assert said == ["first", "other", "answer", "second", "other"]
    assert [call.step for call in model.calls] == ["plan", "review", "answer", "plan", "review"]
    with pytest.raises(ReasonerError, match="2 replies for 'plan', and this is call 3"):
        client.complete(Request("plan", words))


@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
def test_structured_output(method: str) -> None:
    model = ScriptedChatModel(replies={"symbol": "BIN1"})
    assert model.with_structured_output(Gene, method=method).invoke("?") == Gene(symbol="BIN1")
    assert asyncio.run(model.with_structured_output(Gene, method=method).ainvoke("?")) == Gene(symbol="BIN1")
    raw = model.with_structured_output(Gene, method=method, include_raw=True).invoke("?")
    assert (raw["parsed"], raw["parsing_error"]) == (Gene(symbol="BIN1"), None)
    assert isinstance(raw["raw"], AIMessage)
    wrong = ScriptedChatModel(replies={"name": "BIN1"})
    failed = wrong.with_structured_output(Gene, method=method, include_raw=True).invoke("?")
    assert failed["parsed"] is None
    with pytest.raises(ValueError, match="not"):
        ScriptedChatModel(methods=()).with_structured_output(Gene, method=method)


def test_tools() -> None:
    @tool
    def look_up(symbol: str) -> str:
        """Look up a gene."""
        return symbol

    model = ScriptedChatModel(replies=[{"symbol": "BIN1"}, "no tool needed"])
    bound = model.bind_tools([look_up])
    (call,) = bound.invoke("?").tool_calls
    assert (call["name"], call["args"]) == ("look_up", {"symbol": "BIN1"})
    assert bound.invoke("?").text == "no tool needed"
    assert model.calls[0].arguments["tools"][0]["function"]["name"] == "look_up"


def test_streaming_and_usage() -> None:
    model = ScriptedChatModel(replies="three small words")
    whole: Any = None
    chunks = list(model.stream("question"))
    for chunk in chunks:
        whole = chunk if whole is None else whole + chunk
    assert len(chunks) == 4
    assert whole.text == "three small words"
    assert whole.usage_metadata == {"input_tokens": 2, "output_tokens": 5, "total_tokens": 7}

    async def collect() -> list[str]:
        return [chunk.text async for chunk in model.astream("question")]

    assert "".join(asyncio.run(collect())) == "three small words"
    assert ScriptedChatModel(replies="a", usage=False).invoke("?").usage_metadata is None


def test_delays_do_not_block_the_loop() -> None:
    model = ScriptedChatModel(replies=lambda call: call.prompt, delay=lambda call: 0.4)

    async def many() -> list[str]:
        return [message.text for message in await asyncio.gather(*(model.ainvoke(str(n)) for n in range(20)))]

    began = time.monotonic()
    assert asyncio.run(many()) == [str(n) for n in range(20)]
    assert 0.4 <= time.monotonic() - began < 4


def test_threads_share_one_script() -> None:
    model = ScriptedChatModel(replies=[str(number) for number in range(200)])
    with ThreadPoolExecutor(8) as pool:
        said = {message.text for message in pool.map(model.invoke, ["?"] * 200)}
    assert said == {str(number) for number in range(200)}
    assert len(model.calls) == 200


def test_each_instance_is_learnt_of_by_itself() -> None:
    words = (Message(role="user", content="?"),)
    stubborn = ScriptedChatModel(replies="prose for ever")
    with pytest.raises(ReasonerError):
        ChatClient(stubborn).complete(Request("plan", words, Gene))
    other = ScriptedChatModel(replies={"symbol": "BIN1"})
    ChatClient(other).complete(Request("plan", words, Gene))
    assert "response_format" in other.calls[0].arguments
    assert isinstance(other.calls[0], ScriptedCall)
