"""One query job on the server: started, waited for, read, or cancelled."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from bmsql.backends._watched import Stopped, run_watched
from bmsql.backends.bigquery._errors import is_vendor_error
from bmsql.backends.bigquery._retry import tried
from bmsql.backends.bigquery._rows import PAGE_ROWS, Fetched, read_rows
from bmsql.backends.bigquery._schema import columns_of
from bmsql.errors import BackendError, ExecutionError, QueryCancelledError, QueryTimeoutError
from bmsql.types import ColumnInfo, Limits

if TYPE_CHECKING:
    from google.cloud.bigquery import Client, QueryJob, QueryJobConfig

T = TypeVar("T")
_log = logging.getLogger(__name__)

# Of one request; the first page of a large result takes longest.
_CALL_SECONDS = 60.0
_CANCEL_SECONDS = 5.0
# How often the server is asked whether a job has ended: soon at first, then less and less.
_FIRST_POLL, _SLOWER, _LONGEST_POLL = 0.02, 1.5, 1.0
# The server ends a job by itself should this process die; never before the limit that we watch.
_SERVER_GRACE_SECONDS = 30.0


class Place(NamedTuple):
    """Where jobs run: who is billed, in which location, over which default dataset, under which name."""

    client: Client
    billing_project: str
    location: str
    default_dataset: str
    name: str


class Done(NamedTuple):
    """What a finished job returned and used."""

    columns: tuple[ColumnInfo, ...]
    fetched: Fetched
    processed: int
    billed: int


class Dry(NamedTuple):
    """What a dry run says of a query; `statement` is empty where the server does not say."""

    columns: tuple[ColumnInfo, ...]
    bytes_processed: int
    statement: str
    tables: int
    upper_bound: bool


class _Interrupted(Exception):  # noqa: N818 - a signal inside this module
    """The run heeded a request to stop."""


def dry_run_job(
    place: Place, sql: str, labels: Mapping[str, str], parameters: Sequence[Any] = (), *, seconds: float
) -> Dry:
    """What the server says of a query without running it; costs nothing. seconds: for its answer."""
    job = place.client.query(
        sql,
        job_config=_config(place, labels, parameters, dry_run=True, use_query_cache=False),
        project=place.billing_project,
        location=place.location or None,
        retry=None,  # type: ignore[arg-type]  # this layer is `tried`
        job_retry=None,
        timeout=min(_CALL_SECONDS, seconds),
    )
    # The client has no property for it yet.
    statistics: dict[str, Any] = getattr(job, "_properties", {}).get("statistics", {}).get("query", {})
    return Dry(
        columns=columns_of(job.schema or ()),
        bytes_processed=int(job.total_bytes_processed or 0),
        statement=str(job.statement_type or ""),
        tables=len(job.referenced_tables or ()),
        upper_bound=statistics.get("totalBytesProcessedAccuracy") == "UPPER_BOUND",
    )


def run_job(
    place: Place,
    sql: str,
    limits: Limits,
    *,
    seconds: float,
    labels: Mapping[str, str],
    parameters: Sequence[Any] = (),
    cancel: threading.Event | None = None,
    check: Callable[[], None] | None = None,
    billed: Callable[[int, int], None],
) -> Done:
    """Run a query on the server within `limits` and `seconds`; cancelled there when it is stopped here.

    check: called before the job is started; what it raises is raised. billed: told the bytes processed
    and billed, also those of a job that was stopped, where they are known.
    Raises BackendError and its children.
    """
    config = _config(
        place,
        labels,
        parameters,
        maximum_bytes_billed=limits.bytes_billed,
        job_timeout_ms=int((seconds + _SERVER_GRACE_SECONDS) * 1000),
    )
    run = _Run(place, sql, config, limits, billed, check)
    return watched(lambda: tried(run.go_on, name=place.name, seconds=seconds, stop=run.stop), run, seconds, cancel)


def watched(action: Callable[[], T], run: _Run, seconds: float, cancel: threading.Event | None) -> T:
    """`action` in a thread of its own, stopped at the time limit or when `cancel` is set."""
    if cancel is not None and cancel.is_set():
        raise QueryCancelledError("The query was cancelled before it began.")
    try:
        return run_watched(action, run.interrupt, seconds=seconds, cancel=cancel, interrupted=_Interrupted)
    except Stopped as e:
        raise _stopped(e, seconds, run.job_id) from e


def _stopped(stopped: Stopped, seconds: float, job_id: str) -> BackendError:
    job = f" The job {job_id} was cancelled on the server." if job_id else ""
    if stopped.reason == "timeout":
        return QueryTimeoutError(
            f"The query did not end within {seconds:g} s and was stopped.{job}",
            remedy="Ask for less, or raise the time limit.",
        )
    return QueryCancelledError(f"The query was cancelled.{job}")


def _config(place: Place, labels: Mapping[str, str], parameters: Sequence[Any], **options: Any) -> QueryJobConfig:
    from google.cloud.bigquery import QueryJobConfig

    return QueryJobConfig(
        default_dataset=place.default_dataset,
        labels=dict(labels),
        query_parameters=list(parameters),
        use_legacy_sql=False,
        **options,
    )


@dataclass
class _Run:
    """A job with what has been done about it, so that a failed request can be made again where it failed."""

    place: Place
    sql: str
    config: QueryJobConfig
    limits: Limits
    billed: Callable[[int, int], None]
    check: Callable[[], None] | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    job_id: str = ""
    job: QueryJob | None = None
    _cancelling: threading.Thread | None = None
    _asking: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def go_on(self) -> Done:
        """Check and start the job, unless it runs; wait for its end; read its rows."""
        try:
            if self.check is not None:
                self.check()
                self.check = None
            job = self.job = self.job or self._start()
            self._wait(job)
            return self._read(job)
        except Exception as e:
            if self.stop.is_set() and is_vendor_error(e):
                raise _Interrupted from e
            raise

    def _start(self) -> QueryJob:
        from google.api_core.exceptions import Conflict

        self._heed()
        place, again = self.place, bool(self.job_id)
        # An id of ours: when the answer to the request is lost, the same job is found again, not run twice.
        self.job_id = self.job_id or f"bmsql_{uuid.uuid4().hex}"
        try:
            job = place.client.query(
                self.sql,
                job_config=self.config,
                job_id=self.job_id,
                project=place.billing_project,
                location=place.location or None,
                retry=None,  # type: ignore[arg-type]  # this layer is `tried`
                job_retry=None,
                timeout=_CALL_SECONDS,
            )
        except Conflict:
            if not again:
                raise
            return place.client.get_job(  # type: ignore[return-value]  # the id is that of a query
                self.job_id,
                project=place.billing_project,
                location=place.location or None,
                retry=None,  # type: ignore[arg-type]
                timeout=_CALL_SECONDS,
            )
        return job

    def _wait(self, job: QueryJob) -> None:
        pause = _FIRST_POLL
        while not job.done(retry=None, timeout=_CALL_SECONDS):  # type: ignore[arg-type]
            self._heed()
            self.stop.wait(pause)
            pause = min(pause * _SLOWER, _LONGEST_POLL)
        self._heed()
        error = job.exception()  # type: ignore[no-untyped-call]
        if error is not None:
            # Should the failure pass by itself, the query is run as another job.
            self.job, self.job_id = None, ""
            raise error

    def _read(self, job: QueryJob) -> Done:
        if job.statement_type not in (None, "SELECT"):
            raise ExecutionError("Only a single SELECT is run.")
        wanted = self.limits.rows + 1
        found = job.result(
            page_size=min(wanted, PAGE_ROWS),
            max_results=wanted,
            retry=None,
            job_retry=None,
            timeout=_CALL_SECONDS,
        )
        schema = list(found.schema)
        fetched = read_rows(
            found,  # never the iterator of a statement without rows
            schema,
            limit=self.limits.rows,
            max_bytes=self.limits.memory_mb * 1024**2,
            stop=self.stop,
        )
        self._heed()
        processed, billed = _bytes(job)
        self.billed(processed, billed)
        return Done(columns_of(schema), fetched, processed, billed)

    def _heed(self) -> None:
        """Stop when asked to; the job may have been started since the request to cancel it."""
        if self.stop.is_set():
            self.interrupt()
            if self._cancelling is not None:
                self._cancelling.join(_CANCEL_SECONDS)
            raise _Interrupted

    def interrupt(self) -> None:
        """Ask the run to stop, and the server to cancel the job; returns at once."""
        self.stop.set()
        # Who waits and who watches may both ask, and what is joined must have been started.
        with self._asking:
            if self._cancelling is None and self.job_id and self.job is not None:
                thread = threading.Thread(target=self._cancel, name="bmsql-cancel", daemon=True)
                thread.start()
                self._cancelling = thread

    def _cancel(self) -> None:
        place = self.place
        try:
            job = place.client.cancel_job(
                self.job_id,
                project=place.billing_project,
                location=place.location or None,
                retry=None,  # type: ignore[arg-type]
                timeout=_CANCEL_SECONDS,
            )
        except Exception as e:
            if not is_vendor_error(e):
                raise
            # The server ends it at its own time limit, which the job was given.
            _log.warning("the job %s could not be cancelled on the server: %s", self.job_id, e)
        else:
            # What a cancelled job had read may be billed.
            processed, billed = _bytes(job)
            if billed:
                self.billed(processed, billed)


def _bytes(job: Any) -> tuple[int, int]:
    """Bytes processed and billed; a result from the cache is free."""
    return int(job.total_bytes_processed or 0), int(job.total_bytes_billed or 0)
