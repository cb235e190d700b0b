"""The exact cache: what finds an entry and what does not, threads and processes, and a damaged file."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import BaseModel

from bmsql.errors import ConfigurationError, ModelRefusedError
from bmsql.reasoners.chat import ChatClient, DraftCache, Message, Request
from bmsql.testing import ScriptedChatModel


class Gene(BaseModel):
    """A gene."""

    symbol: str


class Renamed(BaseModel):
    """A gene."""

    symbol: str
    name: str = ""


WHERE = (Message(role="user", content="Where is BIN1?"),)
REQUEST = Request("draft", WHERE, Gene)
OBJECT = {"symbol": "BIN1"}


def model(**options: object) -> ScriptedChatModel:
    return ScriptedChatModel(**{"replies": OBJECT, "base_url": "scripted://cache", **options})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "drafts.sqlite"


def test_a_hit_costs_no_call_and_says_so(path: Path) -> None:
    asked = model()
    first = ChatClient(asked, cache=DraftCache(path)).complete(REQUEST)
    assert (first.cached, first.usage.calls) == (False, 1)
    # Another client, and asynchronously.
    again = asyncio.run(ChatClient(asked, cache=DraftCache(path)).acomplete(REQUEST))
    assert (again.value, again.cached, again.usage.calls) == (first.value, True, 0)
    assert (again.usage.prompt_tokens, again.usage.step) == (0, "draft")
    assert len(asked.calls) == 1


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, messages=(Message(role="user", content="Where is APOE?"),)),
        replace(REQUEST, messages=(Message(role="system", content="Where is BIN1?"),)),
        replace(REQUEST, schema=Renamed),
        replace(REQUEST, schema=None),
        replace(REQUEST, step="repair"),
        replace(REQUEST, temperature=0.5),
        replace(REQUEST, max_tokens=99),
        replace(REQUEST, sample=1),
    ],
)
def test_another_request_is_another_entry(path: Path, other: Request) -> None:
    client = ChatClient(model(), cache=DraftCache(path))
    client.complete(REQUEST)
    assert client.complete(other).cached is False
    assert client.complete(other).cached is True


def test_another_model_or_version_is_another_entry(path: Path) -> None:
    ChatClient(model(), cache=DraftCache(path, version="1")).complete(REQUEST)
    assert ChatClient(model(), cache=DraftCache(path, version="1")).complete(REQUEST).cached
    assert not ChatClient(model(), cache=DraftCache(path, version="2")).complete(REQUEST).cached
    assert not ChatClient(model(model_name="another"), cache=DraftCache(path, version="1")).complete(REQUEST).cached


def test_text_from_the_cache_is_shown_too(path: Path) -> None:
    client = ChatClient(model(replies="two words"), cache=DraftCache(path))
    request, seen = Request("answer", WHERE), []
    client.complete(request)
    client.complete(request, on_text=seen.append)
    assert seen == ["two words"]


def test_failures_are_not_kept(path: Path) -> None:
    from langchain_core.messages import AIMessage

    refusal = AIMessage("", additional_kwargs={"refusal": "no"})
    client = ChatClient(model(replies=[refusal, OBJECT]), cache=DraftCache(path))
    with pytest.raises(ModelRefusedError):
        client.complete(REQUEST)
    assert client.complete(REQUEST).cached is False


@pytest.mark.parametrize(
    "damage", [b"this is no database at all, whatever its name says", b"SQLite format 3\0" + b"x" * 9000]
)
def test_a_damaged_file_is_set_aside(path: Path, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)
    client = ChatClient(model(), cache=DraftCache(path))
    assert client.complete(REQUEST).value == Gene(symbol="BIN1")
    assert client.complete(REQUEST).cached is True
    assert path.with_name("drafts.sqlite.damaged").read_bytes() == damage
    assert "damaged" in caplog.text


def test_a_damaged_entry_is_asked_for_anew(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    client = ChatClient(model(), cache=DraftCache(path))
    client.complete(REQUEST)
    with sqlite3.connect(path) as connection:
        connection.execute('UPDATE replies SET reply = \'{"value": {"symbol": 3}\'')
    assert client.complete(REQUEST).cached is False
    assert client.complete(REQUEST).cached is True
    assert "asked for anew" in caplog.text


def test_a_file_that_cannot_be_written_costs_no_question(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = DraftCache(path)
    path.mkdir()
    client = ChatClient(model(), cache=cache)
    assert client.complete(REQUEST).value == Gene(symbol="BIN1")
    assert "cannot be used" in caplog.text


def test_a_path_that_cannot_be_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is a folder"):
        DraftCache(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="cannot be made"):
        DraftCache(tmp_path / "file" / "drafts.sqlite")


@pytest.mark.all
def test_threads_and_processes_at_once(path: Path) -> None:
    code = f"""
import sys
from bmsql.reasoners.chat import DraftCache, Identity, Message, Reply, Request
from bmsql.types import StepUsage
cache, identity = DraftCache({str(path)!r}), Identity("k", "m", "s")
for number in range(40):
    request = Request("draft", (Message(role="user", content=f"{{sys.argv[1]}} {{number}}"),))
    cache.put(identity, request, Reply(f"{{number}}", StepUsage(step="draft")))
    assert cache.get(identity, request).value == f"{{number}}"
"""
    processes = [subprocess.Popen([sys.executable, "-c", code, str(number)]) for number in range(2)]
    client = ChatClient(model(replies=lambda call: call.prompt), cache=DraftCache(path))
    requests = [Request("draft", (Message(role="user", content=str(number % 10)),)) for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        assert [reply.value for reply in pool.map(client.complete, requests)] == [str(n % 10) for n in range(60)]
    assert [process.wait(60) for process in processes] == [0, 0]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT COUNT(*) FROM replies").fetchone() == (2 * 40 + 10,)
