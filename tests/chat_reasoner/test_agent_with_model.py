"""An agent with a chat model: streams, tasks, threads, the cache, and how a model is opened. No model is called."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from bmsql import Agent
from bmsql.errors import ConfigurationError, CredentialsError, ModelOutputError
from bmsql.testing import ScriptedCall, ScriptedChatModel
from bmsql.types import Answer
from tests.chat_reasoner.conftest import SAYS_NOTHING, Ask
from tests.chat_reasoner.scripts import AD, AGREES, BIN1, GOOD, INCOMPLETE, steps_of

# -- streaming, tasks, cache ----------------------------------------------------------------------


def test_stream_gives_nodes_messages_sql_and_the_text_as_it_grows(scripted: Ask) -> None:
    bad = f"SELECT UUID, SNP, pvalue FROM {AD}"
    agent, _ = scripted({"plan": INCOMPLETE, "draft": bad, "repair": GOOD})
    events = list(agent.stream(BIN1))
    assert [event.kind for event in events].count("answer") == 1
    assert events[-1].kind == "answer"
    texts = [event.text for event in events if event.kind == "text"]
    assert texts
    assert texts[-1] == SAYS_NOTHING
    rejected = next(event for event in events if event.outcome == "rejected")
    assert any("pvalue" in message for message in rejected.messages)
    assert any(event.sql == bad for event in events)


async def test_a_slow_model_does_not_block_the_loop(scripted: Ask) -> None:
    agent, _ = scripted({"plan": AGREES}, model={"delay": 0.3})
    agent.ask(BIN1)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    answers = await agent.abatch([BIN1] * 8, concurrency=8)
    ticking.cancel()
    assert all(isinstance(answer, Answer) for answer in answers)
    assert ticks > 20


async def test_cancelling_the_task_cancels_the_call(scripted: Ask) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def never(call: ScriptedCall) -> float:
        loop.call_soon_threadsafe(begun.set)
        return 30

    agent, chat = scripted({"plan": AGREES}, model={"delay": never})
    task = asyncio.create_task(agent.aask(BIN1))
    await asyncio.wait_for(begun.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    assert steps_of(chat) == ["plan"]


async def test_one_failed_question_loses_no_other(scripted: Ask) -> None:
    def plan(call: ScriptedCall) -> Any:
        return ModelOutputError("prose.") if "APOE" in call.prompt.rpartition("QUESTION")[2] else AGREES

    agent, _ = scripted({"plan": plan})
    results = await agent.abatch([BIN1, "SNPs near APOE in AD", BIN1], concurrency=3)
    assert [type(result) for result in results] == [Answer, ModelOutputError, Answer]


def test_one_agent_serves_threads_loops_and_tasks(scripted: Ask) -> None:
    agent, _ = scripted({"plan": AGREES})

    async def two() -> list[Answer]:
        return list(await asyncio.gather(agent.aask(BIN1), agent.aask("Which drugs target DRD2?")))

    first = agent.ask(BIN1)
    again = asyncio.run(two())
    more = asyncio.run(two())
    threaded = agent.batch([BIN1, "Which drugs target DRD2?"], concurrency=2)
    for results in (again, more, threaded):
        assert isinstance(results[0], Answer)
        assert isinstance(results[1], Answer)
        assert results[0].rows == first.rows
        assert results[1].rows
        assert results[1].rows != first.rows


def test_the_exact_cache_saves_the_calls(scripted: Ask, tmp_path: Any) -> None:
    steps = {"plan": INCOMPLETE, "draft": GOOD}
    same = {"cache": tmp_path / "replies.sqlite", "model": {"base_url": "http://one"}}
    agent, _ = scripted(steps, **same)
    first = agent.ask(BIN1)
    agent, chat = scripted(steps, **same)
    second = agent.ask(BIN1)
    assert chat.calls == []
    assert second.rows == first.rows
    assert sum(usage.calls for usage in second.usage.steps) == 0
    agent, chat = scripted(
        steps, cache=tmp_path / "replies.sqlite", model={"base_url": "http://one"}, profile="biomedsql"
    )
    agent.ask(BIN1)
    assert chat.calls


def test_callbacks_and_names_reach_each_call(scripted: Ask) -> None:
    from langchain_core.callbacks import BaseCallbackHandler

    seen: list[tuple[str, tuple[str, ...]]] = []

    class Watching(BaseCallbackHandler):
        def on_chat_model_start(self, serialized: Any, messages: Any, *, tags: Any = None, **given: Any) -> None:
            seen.append((given.get("name") or "", tuple(tags or ())))

    agent, _ = scripted({"plan": AGREES})
    agent.ask(BIN1, config={"callbacks": [Watching()], "tags": ["mine"]})
    assert [name for name, _ in seen] == ["bmsql.plan", "bmsql.answer"]
    assert all("mine" in tags for _, tags in seen)


# -- settings -------------------------------------------------------------------------------------


def test_it_is_said_aloud_once_what_the_model_is_sent(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="bmsql"):
        for _ in range(2):
            Agent(model=ScriptedChatModel(model_name="aloud")).close()
        Agent(model=ScriptedChatModel(model_name="aloud"), send_rows=False).close()
    said = [(record.levelno, record.getMessage()) for record in caplog.records if "aloud" in record.getMessage()]
    assert [level for level, _ in said] == [logging.WARNING, logging.INFO, logging.WARNING]
    assert "rows; send_rows=False keeps the rows here" in said[0][1]
    assert "no rows" in said[2][1]


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ("gpt-5", ConfigurationError, "names no provider"),
        ("nosuch:model", ConfigurationError, "nosuch"),
        ("openai:gpt-5", CredentialsError, "OPENAI_API_KEY"),
        ("google_genai:gemini", CredentialsError, "GOOGLE_API_KEY"),
        (object(), ConfigurationError, "no reasoner"),
    ],
)
def test_a_model_that_cannot_be_opened_is_one_clear_error(
    given: Any, error: type[Exception], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(error, match=says):
        Agent(model=given)


def test_a_key_alone_chooses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with Agent() as agent:
        assert agent.dependencies.reasoner.name == "offline"
