"""A server on this machine that answers like the Hugging Face hub, as far as fetching a dataset goes."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """What the server holds and how it misbehaves.

    files: content by path; large: those that the hub keeps apart, with a SHA-256 as ETag; cut: how many bytes
    of a first answer are sent before the connection breaks; status: what the listing answers.
    """

    files: dict[str, bytes]
    revisions: dict[str, str] = field(default_factory=lambda: {"main": COMMIT, "v1": COMMIT, COMMIT: COMMIT})
    large: bool = True
    cut: int = 0
    status: int = 200
    code: str = ""
    damaged: bool = False
    log: list[str] = field(default_factory=list)
    url: str = ""

    def listing(self, sha: str) -> dict[str, object]:
        siblings = []
        for name, content in self.files.items():
            entry: dict[str, object] = {"rfilename": name, "size": len(content), "blobId": self.etag(content)}
            if self.large:
                digest = hashlib.sha256(content).hexdigest()
                entry["lfs"] = {"sha256": digest, "size": len(content), "pointerSize": 128}
            siblings.append(entry)
        return {"id": "owner/name", "sha": sha, "siblings": siblings, "private": False, "tags": [], "downloads": 0}

    def etag(self, content: bytes) -> str:
        return hashlib.sha256(content).hexdigest() if self.large else hashlib.sha1(content).hexdigest()


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub at `hub.url` while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            hub.log.append(f"{self.command} {self.path} {self.headers.get('Range', '')}".strip())

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, *, body: bool) -> None:
            path = unquote(self.path.partition("?")[0])
            if path.startswith("/api/datasets/"):
                revision = path.partition("/revision/")[2] or "main"
                if hub.status != 200 or revision not in hub.revisions:
                    status, code = (hub.status, hub.code) if hub.status != 200 else (404, "RevisionNotFound")
                    return self.send(status, b"{}", {"X-Error-Code": code} if code else {}, body)
                content = json.dumps(hub.listing(hub.revisions[revision])).encode()
                return self.send(200, content, {"Content-Type": "application/json"}, body)
            name = path.partition("/resolve/")[2].partition("/")[2]
            if name not in hub.files:
                return self.send(404, b"", {"X-Error-Code": "EntryNotFound"}, body)
            return self.file(hub.files[name], body)

        def file(self, content: bytes, body: bool) -> None:
            headers = {"ETag": f'"{hub.etag(content)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
            start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")[0])
            sent = (content if not hub.damaged else bytes(len(content)))[start:]
            if body and hub.cut and not start:
                self.send_response(200)
                for key, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(sent[: hub.cut])
                self.wfile.flush()
                self.close_connection = True
                hub.cut = 0
                return None
            if start:
                headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
            return self.send(206 if start else 200, sent, headers, body)

        def send(self, status: int, content: bytes, headers: dict[str, str], body: bool) -> None:
            self.send_response(status)
            for key, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(key, value)
            self.end_headers()
            if body:
                self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
