"""A loopback server that speaks the part of BigQuery's REST API that the real client uses.

Queries run on DuckDB, through our own translation. What an emulator lacks is played here: exact bytes,
budgets, quota and permission errors, failing requests, slow jobs and their cancelling, credentials.
"""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import parse_qs, unquote, urlsplit

import duckdb

from tests.servers.bigquery_sql import Database, Refused, api_field, api_value, message_of

Json = dict[str, Any]
MIB = 1024**2
_P = r"/bigquery/v2/projects/(?P<project>[^/]+)"
ROUTES: tuple[tuple[str, str, str], ...] = (
    ("GET", rf"{_P}/datasets/(?P<dataset>[^/]+)", "datasets.get"),
    ("GET", rf"{_P}/datasets/(?P<dataset>[^/]+)/tables", "tables.list"),
    ("GET", rf"{_P}/datasets/(?P<dataset>[^/]+)/tables/(?P<table>[^/]+)", "tables.get"),
    ("POST", rf"{_P}/jobs", "jobs.insert"),
    ("GET", rf"{_P}/jobs/(?P<job>[^/]+)", "jobs.get"),
    ("POST", rf"{_P}/jobs/(?P<job>[^/]+)/cancel", "jobs.cancel"),
    ("GET", rf"{_P}/queries/(?P<job>[^/]+)", "jobs.getQueryResults"),
    ("POST", r"/token", "token"),
)


@dataclass
class Job:
    """A query job; `config` as it was sent."""

    id: str
    config: Json
    project: str
    location: str
    done: threading.Event = field(default_factory=threading.Event)
    stop: threading.Event = field(default_factory=threading.Event)
    error: Refused | None = None
    schema: list[Json] = field(default_factory=list)
    rows: list[Json] = field(default_factory=list)
    processed: int = 0
    billed: int = 0
    cached: bool = False
    interrupt: Callable[[], None] = lambda: None

    @property
    def labels(self) -> dict[str, str]:
        return self.config.get("labels", {})

    @property
    def query(self) -> Json:
        return self.config["query"]

    def end(self, seconds: float) -> None:
        """Stop it, and wait until it has: an interrupt before the database has begun the query is lost."""
        self.stop.set()
        deadline = time.monotonic() + seconds
        while not self.done.is_set() and time.monotonic() < deadline:
            self.interrupt()
            self.done.wait(0.02)


@dataclass
class Fault:
    """What the next calls of a method meet instead of, or after, being carried out."""

    method: str
    times: int
    refused: Refused | None = None
    lost: bool = False


class FakeBigQuery:
    """The server; `with FakeBigQuery() as server: Client(client_options={"api_endpoint": server.url})`.

    jobs: those that were started, in order. calls: methods with their bodies. hold: seconds that each job
    takes at least. page_rows: rows per page at most. token: what requests must bring, if anything.
    """

    def __init__(self, project: str = "lab-project", location: str = "EU", *, data: Database | None = None) -> None:
        self.project, self.location = project, location
        self.data = data or Database(project)
        self.jobs: dict[str, Job] = {}
        self.calls: list[tuple[str, Json]] = []
        self.hold = 0.0
        self.page_rows = 100_000
        self.token = ""
        self.use_cache = False
        self.answers: dict[str, tuple[list[Json], list[list[Any]]]] = {}
        self._faults: list[Fault] = []
        self._job_faults: list[Refused] = []
        self._cache: dict[str, Job] = {}
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"fake": self})
        self._http = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for job in self.jobs.values():
            job.end(5)
        self._http.shutdown()
        self._http.server_close()

    def fail(self, method: str, status: int, reason: str, message: str, times: int = 1) -> None:
        """Let the next `times` calls of a method (`dryRun` apart from `jobs.insert`) fail."""
        self._faults.append(Fault(method, times, Refused(status, reason, message)))

    def lose(self, method: str, times: int = 1) -> None:
        """Carry out the next `times` calls of a method, but send no answer."""
        self._faults.append(Fault(method, times, lost=True))

    def fail_job(self, reason: str, message: str, times: int = 1) -> None:
        """Let the next `times` jobs end in an error."""
        self._job_faults += [Refused(0, reason, message)] * times

    def called(self, method: str) -> list[Json]:
        """The bodies of the calls of a method."""
        return [body for name, body in self.calls if name == method]

    # -- methods ----------------------------------------------------------------------------------

    def call(self, method: str, names: dict[str, str], query: dict[str, str], body: Json) -> tuple[Json, bool]:
        """The answer to a call, and whether it gets lost."""
        if method == "jobs.insert" and body.get("configuration", {}).get("dryRun"):
            method = "dryRun"
        with self._lock:
            self.calls.append((method, body or dict(query)))
            fault = next((one for one in self._faults if one.method == method and one.times), None)
            if fault is not None:
                fault.times -= 1
        if fault is not None and fault.refused is not None:
            raise fault.refused
        handlers: dict[str, Callable[[], Json]] = {
            "datasets.get": lambda: self._dataset(names["dataset"]),
            "tables.list": lambda: self._tables(names["dataset"], query),
            "tables.get": lambda: self._table(names["dataset"], names["table"]),
            "dryRun": lambda: self._dry(names["project"], body),
            "jobs.insert": lambda: self._insert(names["project"], body),
            "jobs.get": lambda: self._job(self._found(names["job"], query)),
            "jobs.cancel": lambda: {"kind": "bigquery#jobCancelResponse", "job": self._cancelled(names["job"], query)},
            "jobs.getQueryResults": lambda: self._results(self._found(names["job"], query), query),
            "token": lambda: {"access_token": self.token or "any", "expires_in": 3600, "token_type": "Bearer"},
        }
        return handlers[method](), bool(fault and fault.lost)

    def _dataset(self, dataset: str) -> Json:
        if dataset not in {place for place, _ in self.data.tables}:
            raise Refused(404, "notFound", f"Not found: Dataset {self.project}:{dataset}")
        return {"datasetReference": {"projectId": self.project, "datasetId": dataset}, "location": self.location}

    def _tables(self, dataset: str, query: dict[str, str]) -> Json:
        self._dataset(dataset)
        names = [name for place, name in self.data.tables if place == dataset and not name.endswith("*")]
        start, size = int(query.get("pageToken", 0)), int(query.get("maxResults", 50))
        shown = names[start : start + size]
        items = [{"tableReference": self._reference(dataset, name), "type": "TABLE"} for name in shown]
        more = {"nextPageToken": str(start + size)} if start + size < len(names) else {}
        return {"tables": items, "totalItems": len(names), **more}

    def _reference(self, dataset: str, table: str) -> Json:
        return {"projectId": self.project, "datasetId": dataset, "tableId": table}

    def _table(self, dataset: str, name: str) -> Json:
        table = self.data.tables.get((dataset, name))
        if table is None:
            raise Refused(404, "notFound", f"Not found: Table {self.project}:{dataset}.{name}")
        meta = dict(table.meta)
        told = meta.pop("columns", {})
        fields = [{**one, **({"description": told[one["name"]]} if one["name"] in told else {})}
                  for one in self.data.schema(dataset, name)]  # fmt: skip
        rows = {} if table.view else {"numRows": str(self.data.rows(dataset, name)), "numBytes": "4096"}
        return {
            "id": f"{self.project}:{dataset}.{name}",
            "tableReference": self._reference(dataset, name),
            "type": "VIEW" if table.view else "TABLE",
            "schema": {"fields": fields},
            "lastModifiedTime": "1700000000000",
            **rows,
            **meta,
        }

    def _prepared(self, body: Json) -> tuple[Any, list[tuple[str, str]], str]:
        query = body["configuration"]["query"]
        default = query.get("defaultDataset", {}).get("datasetId", "")
        parameters = {one["name"]: _parameter(one) for one in query.get("queryParameters", ())}
        tree, read = self.data.prepared(query["query"], default, parameters)
        return tree, read, self.data.translated(tree, query["query"])

    def _dry(self, project: str, body: Json) -> Json:
        sql = body["configuration"]["query"]["query"]
        statistics: Json = {"statementType": "SELECT", "totalBytesProcessed": "0"}
        if sql in self.answers:
            statistics["schema"] = {"fields": self.answers[sql][0]}
        else:
            tree, read, duck = self._prepared(body)
            try:
                relation = self.data.cursor().sql(duck)
            except duckdb.Error as e:
                raise Refused(400, "invalidQuery", message_of(e, sql)) from e
            size = self.data.size(tree)
            fields = [api_field(name, kind) for name, kind in zip(relation.columns, relation.types, strict=True)]
            clustered = any(self.data.tables[place].meta.get("clustering") for place in read)
            statistics |= {
                "schema": {"fields": fields},
                "totalBytesProcessed": str(size),
                "totalBytesProcessedAccuracy": "UPPER_BOUND" if clustered else "PRECISE",
                "referencedTables": [self._reference(*place) for place in dict.fromkeys(read)],
            }
        total = statistics["totalBytesProcessed"]
        return {
            "jobReference": {"projectId": project, "location": self.location},
            "configuration": body["configuration"],
            "status": {"state": "DONE"},
            "statistics": {"totalBytesProcessed": total, "query": statistics},
        }

    def _insert(self, project: str, body: Json) -> Json:
        reference = body["jobReference"]
        job_id = reference.get("jobId") or uuid.uuid4().hex
        location = reference.get("location") or self.location
        if location != self.location:
            raise Refused(
                404, "notFound", f"Not found: Dataset {self.project}:any was not found in location {location}"
            )
        with self._lock:
            if job_id in self.jobs:
                raise Refused(409, "duplicate", f"Already Exists: Job {project}:{location}.{job_id}")
            job = self.jobs[job_id] = Job(job_id, body["configuration"], project, location)
        threading.Thread(target=self._work, args=(job, body), daemon=True).start()
        job.done.wait(0.02)
        return self._job(job)

    def _work(self, job: Job, body: Json) -> None:
        begun = time.monotonic()
        try:
            with self._lock:
                planned = self._job_faults.pop(0) if self._job_faults else None
            if planned is not None:
                raise planned
            self._execute(job, body)
            while time.monotonic() < begun + self.hold and not job.stop.wait(0.01):
                pass
            if job.stop.is_set():
                raise Refused(0, "stopped", "Job execution was cancelled: User requested cancellation")
        except Refused as e:
            job.error, job.rows = e, []
        finally:
            job.done.set()

    def _execute(self, job: Job, body: Json) -> None:
        sql = job.query["query"]
        if sql in self.answers:
            job.schema, values = self.answers[sql]
            job.rows = [{"f": [{"v": value} for value in row]} for row in values]
            return
        known = self._cache.get(sql) if self.use_cache else None
        if known is not None:
            job.schema, job.rows, job.cached = known.schema, known.rows, True
            return
        tree, read, duck = self._prepared(body)
        size = self.data.size(tree)
        billed = max(size, 10 * MIB * len(set(read))) if size else 0
        cap = int(job.query.get("maximumBytesBilled") or 0)
        if cap and billed > cap:
            raise Refused(
                0, "bytesBilledLimitExceeded",
                f"Query exceeded limit for bytes billed: {cap}. {billed} or higher required.",
            )  # fmt: skip
        cursor = self.data.cursor()
        job.interrupt = cursor.interrupt
        try:
            cursor.execute(duck)
            described = cursor.description or []
            rows = cursor.fetchall()
        except duckdb.InterruptException as e:
            raise Refused(0, "stopped", "Job execution was cancelled: User requested cancellation") from e
        except duckdb.Error as e:
            raise Refused(0, "invalidQuery", message_of(e, sql)) from e
        job.schema = [api_field(column[0], column[1]) for column in described]
        job.rows = [
            {"f": [{"v": api_value(value, column[1])} for value, column in zip(row, described, strict=True)]}
            for row in rows
        ]
        job.processed, job.billed = size, billed
        self._cache[sql] = job

    def _found(self, job_id: str, query: dict[str, str]) -> Job:
        job = self.jobs.get(job_id)
        if job is None or query.get("location", job.location) != job.location:
            raise Refused(404, "notFound", f"Not found: Job {self.project}:{job_id}")
        return job

    def _job(self, job: Job) -> Json:
        status: Json = {"state": "DONE" if job.done.is_set() else "RUNNING"}
        if job.error is not None and job.done.is_set():
            result = {"reason": job.error.reason, "location": "query", "message": job.error.message}
            status |= {"errorResult": result, "errors": [result]}
        query: Json = {
            "statementType": "SELECT",
            "totalBytesProcessed": str(job.processed),
            "totalBytesBilled": str(job.billed),
            "cacheHit": job.cached,
        }
        return {
            "id": f"{job.project}:{job.location}.{job.id}",
            "jobReference": {"projectId": job.project, "jobId": job.id, "location": job.location},
            "configuration": job.config,
            "status": status,
            "statistics": {"totalBytesProcessed": str(job.processed), "query": query},
        }

    def _cancelled(self, job_id: str, query: dict[str, str]) -> Json:
        job = self._found(job_id, query)
        job.end(5)
        return self._job(job)

    def _results(self, job: Job, query: dict[str, str]) -> Json:
        answer: Json = {"jobReference": self._job(job)["jobReference"], "jobComplete": False}
        if not job.done.wait(int(query.get("timeoutMs", 10_000)) / 1000):
            return answer
        if job.error is not None:
            raise Refused(job.error.status or 400, job.error.reason, job.error.message)
        start = int(query.get("pageToken") or query.get("startIndex") or 0)
        size = min(int(query.get("maxResults", self.page_rows)), self.page_rows)
        rows = job.rows[start : start + size]
        more = {"pageToken": str(start + size)} if start + size < len(job.rows) else {}
        return answer | {
            "jobComplete": True,
            "schema": {"fields": job.schema},
            "totalRows": str(len(job.rows)),
            "totalBytesProcessed": str(job.processed),
            "cacheHit": job.cached,
            "rows": rows,
            **more,
        }


def _parameter(one: Json) -> Any:
    value = one["parameterValue"]
    if "arrayValues" in value:
        return [item["value"] for item in value["arrayValues"]]
    return value["value"]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


class _Handler(BaseHTTPRequestHandler):
    fake: ClassVar[FakeBigQuery]
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self._answer(json.loads(raw) if raw else {})
        except json.JSONDecodeError:
            self._answer({})

    def _answer(self, body: Json) -> None:
        url = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        try:
            for verb, pattern, method in ROUTES:
                found = re.fullmatch(pattern, url.path)
                if verb == self.command and found:
                    self._check_token(method)
                    names = {name: unquote(value) for name, value in found.groupdict().items()}
                    answer, lost = self.fake.call(method, names, query, body)
                    if lost:
                        self.close_connection = True
                        self.connection.close()
                        return
                    self._send(200, answer)
                    return
            raise Refused(404, "notFound", f"{self.command} {url.path} is not played here")
        except Refused as e:
            details = {"reason": e.reason, "message": e.message, "domain": "global", "location": "query"}
            self._send(e.status or 400, {"error": {"code": e.status, "message": e.message, "errors": [details]}})

    def _check_token(self, method: str) -> None:
        wanted = self.fake.token
        if method != "token" and wanted and self.headers.get("Authorization") != f"Bearer {wanted}":
            raise Refused(401, "authError", "Request had invalid authentication credentials.")

    def _send(self, status: int, answer: Json) -> None:
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        self.wfile.flush()
