"""A server on this machine that answers like BigQuery, as far as loading goes; DuckDB holds the tables.

It takes resumable uploads of parquet, load, copy and query jobs, tables and their rows; what it is told to fail,
it fails.
"""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import duckdb
import pyarrow.parquet as pq

KINDS = {"BIGINT": "INTEGER", "DOUBLE": "FLOAT", "VARCHAR": "STRING", "BOOLEAN": "BOOLEAN"}


@dataclass
class BigQuery:
    """The datasets of one project.

    fail: what fails, as `load TABLE`, `copy TABLE` or `dataset`, with the status; lose: rows that a load drops.
    """

    datasets: dict[str, dict[str, Any]] = field(default_factory=dict)
    meta: dict[str, dict[str, Any]] = field(default_factory=dict)
    jobs: list[dict[str, Any]] = field(default_factory=list)
    fail: dict[str, int] = field(default_factory=dict)
    lose: int = 0
    log: list[str] = field(default_factory=list)
    url: str = ""

    def __post_init__(self) -> None:
        self.db = duckdb.connect()
        self.lock = threading.Lock()
        self.uploads: list[tuple[dict[str, Any], bytearray]] = []

    def tables(self) -> list[str]:
        return sorted(self.meta)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self.db.execute(sql).fetchall()

    def load(self, job: dict[str, Any], content: bytes) -> None:
        config = job["configuration"]["load"]
        name = config["destinationTable"]["tableId"]
        assert (config["sourceFormat"], config["writeDisposition"]) == ("PARQUET", "WRITE_TRUNCATE")
        table = pq.read_table(io.BytesIO(content))
        table = table.slice(0, max(0, table.num_rows - self.lose))
        self.db.register("loaded", table)
        self.db.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT * FROM loaded')
        self.db.unregister("loaded")
        self.meta[name] = {"schema": config.get("schema", {}), "clustering": config.get("clustering")}

    def copy(self, job: dict[str, Any]) -> None:
        config = job["configuration"]["copy"]
        source, target = config["sourceTables"][0]["tableId"], config["destinationTable"]["tableId"]
        assert config["writeDisposition"] == "WRITE_TRUNCATE"
        self.db.execute(f'CREATE OR REPLACE TABLE "{target}" AS SELECT * FROM "{source}"')
        self.meta[target] = dict(self.meta[source])

    def query(self, job: dict[str, Any]) -> None:
        config = job["configuration"]["query"]
        sql = re.sub(r"`[\w.-]+\.(\w+)`", r'"\1"', config["query"])
        sql, clustered = re.subn(r" CLUSTER BY table_name, key", "", sql)
        assert clustered == 1
        (parameter,) = config["queryParameters"]
        values = [each["value"] for each in parameter["parameterValue"]["arrayValues"]]
        sql = sql.replace("IN UNNEST(@replaced)", f"IN ({', '.join(repr(value) for value in values)})")
        self.db.execute(sql)
        self.meta.setdefault("_row_sources", {})

    def resource(self, name: str) -> dict[str, Any]:
        (count,) = self.db.execute(f'SELECT count(*) FROM "{name}"').fetchall()[0]
        reference = {"projectId": "lab-project", "datasetId": "lab", "tableId": name}
        kept = {key: self.meta[name].get(key) for key in ("description", "expirationTime")}
        return {
            "tableReference": reference,
            "id": f"lab-project:lab.{name}",
            "type": "TABLE",
            "numRows": str(count),
            "schema": self.schema(name),
            **{key: value for key, value in kept.items() if value},
        }

    def schema(self, name: str) -> dict[str, Any]:
        described = self.db.execute(f'DESCRIBE "{name}"').fetchall()
        return {
            "fields": [{"name": row[0], "type": KINDS.get(row[1], row[1]), "mode": "NULLABLE"} for row in described]
        }


@contextmanager
def serving(bigquery: BigQuery) -> Iterator[BigQuery]:  # noqa: C901
    """The server at `bigquery.url` while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            bigquery.log.append(f"{self.command} {urlsplit(self.path).path}")

        def handle_any(self) -> None:
            with bigquery.lock:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = unquote(urlsplit(self.path).path)
                try:
                    if path.startswith("/upload/"):
                        self.upload(body)
                    else:
                        self.api(path.partition("/projects/lab-project/")[2], json.loads(body) if body else {})
                except Exception as error:  # noqa: BLE001
                    # The client would try for minutes where no answer comes.
                    self.refuse(400, f"the test server failed: {error!r}")

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

        def upload(self, body: bytes) -> None:
            if self.command == "POST":
                bigquery.uploads.append((json.loads(body), bytearray()))
                return self.send({}, headers={"Location": f"{bigquery.url}/upload/{len(bigquery.uploads) - 1}"})
            job, content = bigquery.uploads[int(self.path.rpartition("/")[2])]
            content += body
            total = self.headers["Content-Range"].rpartition("/")[2]
            if total == "*" or len(content) < int(total):
                return self.send({}, 308, {"Range": f"bytes=0-{len(content) - 1}"})
            name = job["configuration"]["load"]["destinationTable"]["tableId"]
            if status := bigquery.fail.get(f"load {name}"):
                return self.refuse(status, f"no loading into {name}")
            bigquery.load(job, bytes(content))
            return self.done(job)

        def api(self, rest: str, body: dict[str, Any]) -> None:
            parts = rest.split("/")
            if parts[0] == "jobs":
                return self.job(parts, body)
            if parts[0] == "queries":
                return self.send({"jobComplete": True, "totalRows": "0", "jobReference": self.reference(parts[1])})
            if status := bigquery.fail.get("dataset"):
                return self.refuse(status, "Access Denied: no bigquery.datasets.create")
            if self.command == "POST":
                name = body["datasetReference"]["datasetId"]
                known = name in bigquery.datasets
                bigquery.datasets.setdefault(name, body)
                return self.refuse(409, "Already Exists") if known else self.send(body)
            if parts[2:] == []:
                return self.send(bigquery.datasets[parts[1]])
            if parts[2:] == ["tables"]:
                return self.send({"tables": [bigquery.resource(name) for name in bigquery.tables()]})
            return self.table(parts[1], parts[3], parts[4:], body)

        def table(self, dataset: str, name: str, more: list[str], body: dict[str, Any]) -> None:
            if dataset not in bigquery.datasets:
                return self.refuse(404, f"Not found: Dataset {dataset}")
            if name not in bigquery.meta:
                return self.refuse(404, f"Not found: Table {name}")
            if self.command == "DELETE":
                del bigquery.meta[name]
                bigquery.db.execute(f'DROP TABLE "{name}"')
                return self.send({})
            if self.command == "PATCH":
                bigquery.meta[name].update(body)
            if more == ["data"]:
                rows = bigquery.rows(f'SELECT * FROM "{name}"')
                cells = [{"f": [{"v": value} for value in row]} for row in rows]
                return self.send({"rows": cells, "totalRows": str(len(cells))})
            return self.send(bigquery.resource(name))

        def job(self, parts: list[str], body: dict[str, Any]) -> None:
            if self.command == "GET":
                return self.send(next(job for job in bigquery.jobs if job["jobReference"]["jobId"] == parts[1]))
            config = body["configuration"]
            if "copy" in config:
                name = config["copy"]["destinationTable"]["tableId"]
                if status := bigquery.fail.get(f"copy {name}"):
                    return self.refuse(status, f"no copying to {name}")
                bigquery.copy(body)
            else:
                bigquery.query(body)
            return self.done(body)

        def reference(self, job: str) -> dict[str, str]:
            return {"projectId": "lab-project", "jobId": job, "location": "EU"}

        def done(self, job: dict[str, Any]) -> None:
            job["status"] = {"state": "DONE"}
            job["statistics"] = {"query": {"statementType": "CREATE_TABLE_AS_SELECT"}}
            job.setdefault("jobReference", {}).update(location="EU")
            bigquery.jobs.append(job)
            return self.send(job)

        def refuse(self, status: int, message: str) -> None:
            reasons = {403: "accessDenied", 404: "notFound", 409: "duplicate"}
            errors = [{"reason": reasons.get(status, "invalid"), "message": message}]
            return self.send({"error": {"code": status, "message": message, "errors": errors}}, status)

        def send(self, document: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> None:
            content = json.dumps(document).encode()
            self.send_response(status)
            for key, value in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    bigquery.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield bigquery
    finally:
        server.shutdown()
        server.server_close()
