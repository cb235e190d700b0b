"""A model played by hand: an OpenAI-compatible server that asks a folder instead of a model.

Each request is written to the folder, and waits until its reply is put beside it. So any model that
cannot be reached from here, or a person, can be the model, and a run can be played again later.

python benchmarks/model_by_hand.py FOLDER [--port 8399] [--play] [--wait SECONDS]

    0001-3f2a9c01d4e5.request.json    what was sent
    0001-3f2a9c01d4e5.prompt.md       the same to read: messages, and the schema that the reply must match
    0001-3f2a9c01d4e5.reply.txt       put here by whoever plays: what the model says (.md is the same)
    0001-3f2a9c01d4e5.reply.json      or: an object that the model says

A JSON object, in either file, is given as the tool call or the message that the request asks for. A
`.reply.json` with `choices` is sent as it is, and one with `error` is sent as an error, with its
`status`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import select
import socket
import sys
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

# Parts of a request that say how it is sent, not what is asked.
NOT_ASKED = {"stream", "stream_options", "user", "metadata", "store", "timeout"}
REPLY_ENDINGS = (".reply.json", ".reply.txt", ".reply.md")
MODEL = "by-hand"
# Seconds between two looks into the folder, and without a change until a reply counts as written.
LOOK, SETTLED = 0.1, 0.2
# Seconds between two signs of life on a stream that waits.
SIGN_OF_LIFE = 5.0


class WireError(Exception):
    """An answer other than a reply: an HTTP status and what is wrong."""

    def __init__(self, status: int, message: str, body: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = body or {"error": {"message": message, "type": "model_by_hand", "param": None, "code": None}}


def fingerprint(request: dict[str, Any]) -> str:
    """The same for requests that ask the same thing."""
    asked = {name: value for name, value in request.items() if name not in NOT_ASKED}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]


class Folder:
    """The requests and replies in a folder. Safe in threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        found = (re.fullmatch(r"(\d+)-([0-9a-f]{12})\.request\.json", item.name) for item in path.iterdir())
        # Of a run before: its numbers go on, and its replies are served at once.
        self._numbers = {match[2]: int(match[1]) for match in found if match}

    def stem(self, request: dict[str, Any], *, write: bool = True) -> str | None:
        """The name that a request and its reply share; the request is written when it is new."""
        mark = fingerprint(request)
        with self._lock:
            if mark in self._numbers:
                return f"{self._numbers[mark]:04d}-{mark}"
            if not write:
                return None
            number = max(self._numbers.values(), default=0) + 1
            stem = f"{number:04d}-{mark}"
            self._write(f"{stem}.prompt.md", readable(request))
            self._write(f"{stem}.request.json", json.dumps(request, indent=2, ensure_ascii=False) + "\n")
            self._numbers[mark] = number
            print(f"{stem}: waits for its reply", flush=True)
            return stem

    def reply(self, stem: str) -> Any:
        """What was put there as the reply to a request: a text, an object, or None while there is nothing whole."""
        for ending in REPLY_ENDINGS:
            path = self.path / f"{stem}{ending}"
            try:
                if time.time() - path.stat().st_mtime < SETTLED:
                    continue
                text = path.read_text(encoding="utf-8")
                return json.loads(text) if ending.endswith("json") else text.strip("\n")
            except FileNotFoundError:
                continue
            except ValueError as e:
                raise WireError(500, f"{path.name} cannot be read: {e}") from e
        return None

    def waiting(self) -> list[str]:
        """The requests without a reply."""
        with self._lock:
            stems = sorted(f"{number:04d}-{mark}" for mark, number in self._numbers.items())
        return [stem for stem in stems if not any((self.path / f"{stem}{ending}").exists() for ending in REPLY_ENDINGS)]

    def _write(self, name: str, text: str) -> None:
        """Write a file at once, so that nobody reads half of it."""
        part = self.path / f".{name}.part"
        part.write_text(text, encoding="utf-8")
        part.replace(self.path / name)


def readable(request: dict[str, Any]) -> str:
    """A request as a person reads it."""
    parts = [f"# {message.get('role')}\n\n{content(message)}" for message in request["messages"]]
    if (schema := wanted(request)) is not None:
        parts.append(f"# The reply must match\n\n```json\n{json.dumps(schema, indent=2)}\n```")
    return "\n\n".join(parts) + "\n"


def content(message: dict[str, Any]) -> str:
    """The text of a message."""
    held = message.get("content")
    if isinstance(held, list):
        return "\n".join(str(block.get("text", block)) if isinstance(block, dict) else str(block) for block in held)
    return str(held if held is not None else json.dumps(message.get("tool_calls")))


def wanted(request: dict[str, Any]) -> Any:
    """The schema that a request asks for, or None."""
    if request.get("tools"):
        return request["tools"][0]["function"].get("parameters")
    return ((request.get("response_format") or {}).get("json_schema") or {}).get("schema")


@dataclass(frozen=True)
class Spoken:
    """What the model says: a message, and why it ends."""

    message: dict[str, Any]
    finish: str

    @classmethod
    def of(cls, reply: Any, request: dict[str, Any]) -> Spoken:
        """In the form that the request asks for."""
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        if request.get("tools") and is_object(text):
            function = {"name": request["tools"][0]["function"]["name"], "arguments": text}
            call = {"id": "call_1", "type": "function", "function": function}
            return cls({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")
        return cls({"role": "assistant", "content": text}, "stop")

    def size(self) -> int:
        """Its tokens: UTF-8 bytes / 4, as nobody counts them."""
        return -(-len(json.dumps(self.message, ensure_ascii=False).encode()) // 4)


def is_object(text: str) -> bool:
    """Whether a text is a JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def body_of(reply: Any, request: dict[str, Any], stem: str) -> dict[str, Any]:
    """The body of a chat completion. Raises WireError for a reply that is an error."""
    if isinstance(reply, dict) and "error" in reply:
        raise WireError(int(reply.get("status", 500)), str(reply["error"]), {"error": reply["error"]})
    if isinstance(reply, dict) and "choices" in reply:
        return reply
    spoken = Spoken.of(reply, request)
    sent = -(-len("".join(content(message) for message in request["messages"]).encode()) // 4)
    return {
        "id": f"chatcmpl-{stem}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.get("model", MODEL),
        "choices": [{"index": 0, "message": spoken.message, "finish_reason": spoken.finish}],
        "usage": {"prompt_tokens": sent, "completion_tokens": spoken.size(), "total_tokens": sent + spoken.size()},
    }


def events_of(body: dict[str, Any], request: dict[str, Any]) -> list[dict[str, Any]]:
    """A chat completion as the events of a stream: a word each."""
    frame = {**{name: body.get(name) for name in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    events = []
    for choice in body["choices"]:
        message, place = choice["message"], choice.get("index", 0)
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": word} for word in re.findall(r"\s*\S+|\s+", message.get("content") or "")]
        calls = message.get("tool_calls") or []
        deltas += [{"tool_calls": [{**call, "index": number}]} for number, call in enumerate(calls)]
        deltas += [{"refusal": message["refusal"]}] if message.get("refusal") else []
        choices = [{"index": place, "delta": delta, "finish_reason": None} for delta in deltas]
        choices.append({"index": place, "delta": {}, "finish_reason": choice.get("finish_reason", "stop")})
        events += [{**frame, "choices": [item]} for item in choices]
    if (request.get("stream_options") or {}).get("include_usage") and body.get("usage"):
        events.append({**frame, "choices": [], "usage": body["usage"]})
    return events


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    folder: Folder
    play = False
    wait: float | None = None

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base
        """Say nothing for each request; `Folder` says what waits."""

    def do_GET(self) -> None:
        """The models, and what waits."""
        if self.path.rstrip("/") == "/v1/models":
            self.send_json(200, {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "you"}]})
        elif self.path == "/":
            self.send_json(200, {"folder": str(self.folder.path), "waiting": self.folder.waiting()})
        else:
            self.send_json(404, WireError(404, f"there is no {self.path} here").body)

    def do_POST(self) -> None:
        """A chat completion."""
        try:
            request = self.read()
            if request.get("stream"):
                self.stream(request)
            else:
                self.send_json(200, self.completion(request, alive=None))
        except WireError as e:
            self.send_json(e.status, e.body)
        except ConnectionError:
            # The client is gone; its request stays, and it may come again for the reply.
            self.close_connection = True

    def read(self) -> dict[str, Any]:
        """The request, where it is one."""
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.split("?")[0].rstrip("/") != "/v1/chat/completions":
            raise WireError(404, f"there is no {self.path} here; POST to /v1/chat/completions")
        try:
            request = json.loads(text)
        except ValueError as e:
            raise WireError(400, f"the body is no JSON: {e}") from e
        messages = request.get("messages") if isinstance(request, dict) else None
        if not isinstance(messages, list) or not messages or not all(isinstance(item, dict) for item in messages):
            raise WireError(400, "the body needs a list of `messages`")
        return request

    def completion(self, request: dict[str, Any], *, alive: Any) -> dict[str, Any]:
        """The body for a request, as soon as its reply is there. `alive` is called now and then while it waits."""
        stem = self.folder.stem(request, write=not self.play)
        began = told = time.monotonic()
        while True:
            reply = self.folder.reply(stem) if stem else None
            if stem and reply is not None:
                return body_of(reply, request, stem)
            if self.play:
                raise WireError(404, f"no reply is stored for the request {stem or fingerprint(request)}")
            if self.wait is not None and time.monotonic() - began > self.wait:
                raise WireError(504, f"no reply was put there for {stem} within {self.wait:g} s")
            self.pause()
            if alive is not None and time.monotonic() - told > SIGN_OF_LIFE:
                told = time.monotonic()
                alive()

    def pause(self) -> None:
        """Wait a moment; raises ConnectionError when the client is gone."""
        readable_now, _, _ = select.select([self.connection], [], [], LOOK)
        if readable_now:
            if not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionAbortedError
            time.sleep(LOOK)

    def stream(self, request: dict[str, Any]) -> None:
        """The reply as server-sent events; a comment now and then while it waits, so that no client gives up."""
        started = False

        def begin() -> None:
            nonlocal started
            if not started:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                started = True

        def alive() -> None:
            begin()
            self.send_chunk(": waiting\n\n")

        try:
            body = self.completion(request, alive=alive)
        except WireError as e:
            if not started:
                raise
            self.send_chunk(f"data: {json.dumps(e.body)}\n\n")
        else:
            begin()
            for event in events_of(body, request):
                self.send_chunk(f"data: {json.dumps(event)}\n\n")
        self.send_chunk("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def send_chunk(self, text: str) -> None:
        """Send a piece of a stream."""
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def send_json(self, status: int, value: Any) -> None:
        """Send a whole body."""
        data = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    """As many requests at once as clients send."""

    daemon_threads = True
    request_queue_size = 512


def serve(folder: Path, *, port: int = 0, play: bool = False, wait: float | None = None) -> Server:
    """A server on loopback that is ready to run; port 0 takes a free one."""
    handler = type("BoundHandler", (Handler,), {"folder": Folder(folder), "play": play, "wait": wait})
    return Server(("127.0.0.1", port), handler)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Serve a model that is played by hand.")
    parser.add_argument("folder", type=Path, help="where requests are written, and replies are put")
    parser.add_argument("--port", type=int, default=8399)
    parser.add_argument("--play", action="store_true", help="serve stored replies only; a request without one fails")
    parser.add_argument(
        "--wait", type=float, help="seconds after which a request without a reply fails; default: never"
    )
    given = parser.parse_args(arguments)
    try:
        server = serve(given.folder, port=given.port, play=given.play, wait=given.wait)
    except OSError as e:
        print(f"it cannot be served: {e}", file=sys.stderr)
        return 1
    print(f"OPENAI_BASE_URL=http://127.0.0.1:{server.server_address[1]}/v1  model: openai:{MODEL}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print(f"{len(server.RequestHandlerClass.folder.waiting())} requests still wait")  # type: ignore[attr-defined]
    finally:
        server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
