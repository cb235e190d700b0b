"""The server for a model that is played by hand: what it writes, what it serves, and from where it goes on."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from benchmarks.model_by_hand import fingerprint, main, readable, serve
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from bmsql.errors import ModelRequestError, ModelUnavailableError
from bmsql.reasoners.chat import ChatClient, Message, Reply, Request, Way

# Servers in processes of their own.
pytestmark = pytest.mark.all

ROOT = Path(__file__).resolve().parents[2]


class Gene(BaseModel):
    """A gene."""

    symbol: str


@contextmanager
def running(folder: Path, **options: Any) -> Iterator[str]:
    """The base URL of a server over a folder."""
    server = serve(folder, **options)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def player(folder: Path, say: Callable[[dict[str, Any]], str | None], ending: str = "txt") -> Iterator[list[str]]:
    """Plays the model: puts a reply beside each request that it has one for; yields the names of those seen."""
    seen: list[str] = []
    stop = threading.Event()

    def play() -> None:
        while not stop.wait(0.02):
            for path in sorted(folder.glob("*.request.json")):
                stem = path.name.removesuffix(".request.json")
                if stem not in seen and (reply := say(json.loads(path.read_text()))) is not None:
                    seen.append(stem)
                    (folder / f"{stem}.reply.{ending}").write_text(reply)

    thread = threading.Thread(target=play)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


def client(url: str, **options: Any) -> ChatClient:
    return ChatClient(
        ChatOpenAI(model="by-hand", base_url=url, api_key="x"), **{"attempts": 1, "seconds": 30, **options}
    )


def request(text: str, schema: type[BaseModel] | None = None) -> Request:
    return Request("draft", (Message(role="user", content=text),), schema)


def last(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def post(url: str, data: bytes) -> tuple[int, Any]:
    """Status and body of a raw request."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=10) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_many_requests_at_once_each_get_their_own_reply(tmp_path: Path) -> None:
    async def ask(url: str) -> list[Reply[Any]]:
        asking = client(url)
        return await asyncio.gather(*(asking.acomplete(request(f"question {n}")) for n in range(32)))

    with running(tmp_path) as url, player(tmp_path, lambda body: f"reply to {last(body)}") as seen:
        replies = asyncio.run(ask(url))
    assert [reply.value for reply in replies] == [f"reply to question {n}" for n in range(32)]
    assert len(seen) == 32
    assert sorted(int(stem.split("-")[0]) for stem in seen) == list(range(1, 33))


def test_identical_requests_share_one_file_and_its_reply(tmp_path: Path) -> None:
    async def ask(url: str) -> list[Reply[Any]]:
        asking = client(url)
        ways = [asking.acomplete(request("same")) for _ in range(5)]
        return await asyncio.gather(*ways, asking.acomplete(request("same"), on_text=[].append))

    with running(tmp_path) as url, player(tmp_path, lambda body: "once"):
        assert [reply.value for reply in asyncio.run(ask(url))] == ["once"] * 6
    assert len(list(tmp_path.glob("*.request.json"))) == 1


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with running(tmp_path) as url:
        with player(tmp_path, lambda body: "first" if last(body) == "one" else None):
            assert client(url).complete(request("one")).value == "first"
            with pytest.raises(ModelUnavailableError):
                client(url, seconds=0.5).complete(request("two"))
        status = json.loads(urllib.request.urlopen(url.removesuffix("/v1") + "/", timeout=10).read())
        assert [stem.split("-")[0] for stem in status["waiting"]] == ["0002"]
    # Another server over the same folder: what is there is served at once, and the numbers go on.
    with running(tmp_path) as url:
        assert client(url, seconds=5).complete(request("one")).value == "first"
        with player(tmp_path, lambda body: None if last(body) == "one" else "later"):
            assert client(url).complete(request("two")).value == "later"
            assert client(url).complete(request("three")).value == "later"
    assert sorted(path.name[:4] for path in tmp_path.glob("*.request.json")) == ["0001", "0002", "0003"]


def test_playing_back_fails_where_nothing_is_stored_and_writes_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as url, player(tmp_path, lambda body: "stored"):
        client(url).complete(request("one"))
    before = sorted(tmp_path.iterdir())
    with running(tmp_path, play=True) as url:
        assert client(url).complete(request("one")).value == "stored"
        with pytest.raises(ModelRequestError, match="no reply is stored"):
            client(url).complete(request("two"))
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("ending", ["json", "txt", "md"])
def test_objects_come_in_the_form_that_is_asked_for(tmp_path: Path, ending: str) -> None:
    with running(tmp_path) as url, player(tmp_path, lambda body: '{"symbol": "BIN1"}', ending):
        reply = client(url).complete(request("a gene", Gene))
        model = ChatOpenAI(model="by-hand", base_url=url, api_key="x")
        called = model.bind_tools([Gene]).invoke("a gene")
    assert (reply.value, reply.way) == (Gene(symbol="BIN1"), Way.NATIVE)
    assert reply.usage.prompt_tokens > 0
    assert [call["args"] for call in called.tool_calls] == [{"symbol": "BIN1"}]


def test_a_stream_comes_in_words_with_usage(tmp_path: Path) -> None:
    text, seen = "Two  lines:\nBIN1, and APOE.\n", []
    with running(tmp_path) as url, player(tmp_path, lambda body: text):
        reply = client(url).complete(request("genes"), on_text=seen.append)
    assert reply.value == text.strip("\n")
    assert len(seen) == 5
    assert not reply.usage.estimated


def test_a_waiting_stream_gives_signs_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.model_by_hand.SIGN_OF_LIFE", 0.1)
    began = time.monotonic()
    with running(tmp_path) as url, player(tmp_path, lambda body: "at last" if time.monotonic() - began > 1 else None):
        # Its time limit is for each piece, and every 0.1 s there is one.
        model = ChatOpenAI(model="by-hand", base_url=url, api_key="x", timeout=0.6, max_retries=0)
        assert "".join(chunk.text for chunk in model.stream("hello")) == "at last"


def test_whole_bodies_and_errors_may_be_replies(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": None, "refusal": "I will not."}
    whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    whole["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
    error = {"error": {"message": "slow down"}, "status": 429}
    replies = {"refuse": whole, "fail": error}
    with running(tmp_path) as url, player(tmp_path, lambda body: json.dumps(replies[last(body)]), "json"):
        with pytest.raises(Exception, match="I will not"):
            client(url).complete(request("refuse"))
        with pytest.raises(ModelUnavailableError, match="slow down"):
            client(url).complete(request("fail"))


def test_a_reply_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with running(tmp_path) as url, player(tmp_path, lambda body: "{not json", "json") as seen:
        with pytest.raises(ModelUnavailableError, match="cannot be read"):
            client(url).complete(request("hello"))
        # Once it is corrected, it is served.
        (tmp_path / f"{seen[0]}.reply.json").write_text('"corrected"')
        assert client(url).complete(request("hello")).value == "corrected"


def test_waiting_can_be_limited(tmp_path: Path) -> None:
    with running(tmp_path, wait=0.2) as url, pytest.raises(ModelUnavailableError, match="no reply was put there"):
        client(url).complete(request("hello"))


@pytest.mark.parametrize(
    ("path", "data", "status", "says"),
    [
        ("/chat/completions", b"{", 400, "no JSON"),
        ("/chat/completions", b"[]", 400, "messages"),
        ("/chat/completions", b'{"messages": []}', 400, "messages"),
        ("/chat/completions", b'{"messages": [1]}', 400, "messages"),
        ("/embeddings", b"{}", 404, "/v1/embeddings"),
    ],
)
def test_what_is_no_request(tmp_path: Path, path: str, data: bytes, status: int, says: str) -> None:
    with running(tmp_path) as url:
        code, body = post(url + path, data)
    assert code == status
    assert says in body["error"]["message"]
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_can_be_read() -> None:
    body: dict[str, Any] = {
        "model": "m",
        "messages": [
            {"role": "system", "content": "You know genes."},
            {"role": "user", "content": [{"type": "text", "text": "Where is BIN1?"}]},
        ],
        "response_format": {"type": "json_schema", "json_schema": {"name": "Gene", "schema": {"title": "Gene"}}},
    }
    text = readable(body)
    assert text.startswith("# system\n\nYou know genes.\n\n# user\n\nWhere is BIN1?\n\n")
    assert '"title": "Gene"' in text
    assert fingerprint(body) == fingerprint({**body, "stream": True, "stream_options": {"include_usage": True}})
    assert fingerprint(body) != fingerprint({**body, "temperature": 1})


def test_a_port_in_use_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main([str(tmp_path), "--port", str(taken.getsockname()[1])]) == 1
    assert "cannot be served" in capsys.readouterr().err


def test_the_script_itself(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks/model_by_hand.py"), str(tmp_path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            url = line.split()[0].removeprefix("OPENAI_BASE_URL=")
            models = json.loads(urllib.request.urlopen(url + "/models", timeout=10).read())
            assert [item["id"] for item in models["data"]] == ["by-hand"]
            assert "openai:by-hand" in line
        finally:
            process.terminate()
