"""A scripted HTTP server on loopback, one thread per connection."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.servers._answers import Answer, Cut, Hang, Html, Reset, Say, Status


@dataclass(frozen=True)
class Received:
    """A request that came in."""

    path: str
    headers: dict[str, str]
    body: Any
    at: float = field(default_factory=time.monotonic)


Script = Sequence[Answer] | Callable[[Received], Answer] | Answer


class ModelServer:
    """Serves one provider's wire format on loopback; `url` is its base.

    script: one answer for all requests; a list with one for each, the last of which is repeated; or a
    function of the request, called in the request's own thread. `received` are the requests so far.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.received: list[Received] = []
        self.connections = 0
        # Answer with a whole reply also where a stream is asked for.
        self.no_streams = False
        # Set when a client closed its connection while it was to wait for its answer.
        self.gone = threading.Event()
        # Set by the first request.
        self.arrived = threading.Event()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        """The base address, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def restart(self, script: Script) -> None:
        """Begin anew with another script."""
        with self._lock:
            self.script, self.received = script, []
            self.gone.clear()
            self.arrived.clear()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def serve(self, handler: _Handler, path: str, body: Any) -> None:
        """Answer one request as the script says."""
        request = Received(path, {key.lower(): value for key, value in handler.headers.items()}, body)
        with self._lock:
            self.received.append(request)
            self.arrived.set()
            turn, script = len(self.received) - 1, self.script
        if callable(script):
            answer: Answer = script(request)
        elif isinstance(script, Sequence):
            answer = script[min(turn, len(script) - 1)]
        else:
            answer = script
        stream = self.streams(request) and not self.no_streams
        match answer:
            case Hang(seconds):
                self._wait(handler, seconds)
                handler.close_connection = True
            case Status():
                handler.send_json(answer.code, self.error(answer), answer.headers)
            case Html(text):
                handler.send_body(200, text.encode(), "text/html")
            case Cut():
                whole = json.dumps(self.body(Say("never seen"), request)).encode()
                if stream:
                    events = [f"data: {json.dumps(event)}\n\n" for event in self.events(Say("never seen"), request)]
                    handler.send_stream([events[0], events[1][: len(events[1]) // 2] + "\n\n"])
                else:
                    handler.send_body(200, whole[: len(whole) // 2], "application/json")
            case Reset():
                events = [f"data: {json.dumps(event)}\n\n" for event in self.events(Say("half of it"), request)]
                handler.reset(events[:2] if stream else None)
            case _:
                if isinstance(answer, Say) and answer.delay:
                    self._wait(handler, answer.delay)
                if stream:
                    handler.send_stream(
                        [f"data: {json.dumps(event)}\n\n" for event in self.events(answer, request)] + self.stream_end()
                    )
                else:
                    handler.send_json(200, self.body(answer, request))

    def _wait(self, handler: _Handler, seconds: float) -> None:
        """Wait, but not for a client that is gone."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._stopped.is_set():
            readable, _, _ = select.select([handler.connection], [], [], min(0.05, max(0.0, end - time.monotonic())))
            if readable and not handler.connection.recv(1, socket.MSG_PEEK):
                self.gone.set()
                raise ConnectionAbortedError

    @abstractmethod
    def streams(self, request: Received) -> bool:
        """Whether a stream of events is asked for."""

    @abstractmethod
    def body(self, answer: Answer, request: Received) -> Any:
        """The body of an answer."""

    @abstractmethod
    def events(self, answer: Answer, request: Received) -> list[Any]:
        """The events of a streamed answer; at least two for a text of several words."""

    @abstractmethod
    def error(self, status: Status) -> Any:
        """The body of an HTTP error."""

    def stream_end(self) -> list[str]:
        """What ends a stream."""
        return []


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away: that is what they are meant to do."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    model_server: ModelServer

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.model_server.connections += 1

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.model_server.serve(self, self.path, json.loads(text or b"null"))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base
        """Keep the output of the tests quiet."""

    def send_json(self, code: int, value: Any, headers: Any = None) -> None:
        self.send_body(code, json.dumps(value).encode(), "application/json", headers)

    def send_body(self, code: int, body: bytes, kind: str, headers: Any = None) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def send_stream(self, events: Iterable[str]) -> None:
        self._begin_stream()
        for event in events:
            self._send_chunk(event.encode())
        self._send_chunk(b"")

    def reset(self, events: Iterable[str] | None) -> None:
        """Send some of the body, then reset the connection."""
        if events is None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"id": "1", ')
            self.wfile.flush()
        else:
            self._begin_stream()
            for event in events:
                self._send_chunk(event.encode())
        # Time for the client to read it: a reset discards what lies in its buffer.
        time.sleep(0.03)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # `close` alone would wait for the files that were made of the socket.
        os.close(self.connection.detach())
        self.close_connection = True

    def _begin_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def _handler(server: ModelServer) -> type[_Handler]:
    return type("Handler", (_Handler,), {"model_server": server})
