"""A backend over one dataset of BigQuery, and further ones where allowed."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, Self

from bmsql.backends._base import DryRun, Spent
from bmsql.backends._duckdb_file import KEY_SOURCES, ROW_SOURCES, did_you_mean
from bmsql.backends._labels import current_labels
from bmsql.backends.bigquery import _lookups
from bmsql.backends.bigquery._budget import check_dry_run
from bmsql.backends.bigquery._catalog import Introspected, introspect
from bmsql.backends.bigquery._catalog_cache import CatalogCache
from bmsql.backends.bigquery._client import make_client, require_package
from bmsql.backends.bigquery._job import Done, Dry, Place, dry_run_job, run_job
from bmsql.backends.bigquery._labels import clean_labels
from bmsql.backends.bigquery._retry import tried
from bmsql.backends.bigquery._spending import LIST_PRICE, Meter
from bmsql.backends.bigquery._url import check_dataset, check_project, options_of
from bmsql.errors import BackendUnavailableError, ConfigurationError, InvalidSqlError
from bmsql.types import Catalog, Closing, Limits, QueryResult, TableInfo, ValidatedQuery

if TYPE_CHECKING:
    from google.auth.credentials import Credentials
    from google.cloud.bigquery import Client

APP = "bmsql"
DEFAULT_CACHE_HOURS = 24.0
# Dry runs that are remembered, so that a query is not checked before every run of it.
_REMEMBERED = 256
# The tables that name the sources of rows, and how many of them may fit one key.
SOURCES = frozenset({KEY_SOURCES, ROW_SOURCES})
_SOURCES_OF_A_KEY = 10


class BigQueryBackend(Closing):
    """Tables and views of a BigQuery dataset.

    project, dataset: where the data lie. billing_project: who pays, by default the client's project, else
    `project`. client: a `google.cloud.bigquery.Client` of your own, in place of credentials, location and
    endpoint. credentials: of google-auth, or the path of a credentials file; by default Google's
    application default ones. location: of the jobs; by default the dataset's. allowed_datasets: further
    datasets that queries may read, as `dataset` or `project.dataset`. labels: on every job, beside `app`.
    price_per_tib: US dollars, for the costs told. catalogue_cache_hours: how long the catalogue on disk
    is believed; 0 keeps none. limits: of dry runs, lookups and the catalogue. endpoint: another address
    than BigQuery's own, such as an emulator's.

    Nothing is sent before the first use. Raises ConfigurationError for a wrong option, CredentialsError
    without usable credentials, MissingDependencyError without google-cloud-bigquery.
    """

    def __init__(
        self,
        project: str | None = None,
        dataset: str = "",
        *,
        client: Client | None = None,
        credentials: Credentials | str | Path | None = None,
        location: str = "",
        billing_project: str = "",
        allowed_datasets: Sequence[str] = (),
        labels: Mapping[str, str] | None = None,
        price_per_tib: float = LIST_PRICE,
        catalogue_cache_hours: float = DEFAULT_CACHE_HOURS,
        limits: Limits | None = None,
        endpoint: str = "",
    ) -> None:
        if client is not None and (credentials is not None or endpoint):
            raise ConfigurationError(
                "client= was given together with credentials= or endpoint=.", remedy="A client has its own: give one."
            )
        self.project = check_project(project or (client.project if client is not None else project))
        self.dataset = check_dataset(dataset)
        self.billing_project = check_project(
            billing_project or (client.project if client is not None else self.project), "billing_project"
        )
        if isinstance(catalogue_cache_hours, bool) or not 0 <= catalogue_cache_hours < 1e6:
            raise ConfigurationError(
                f"catalogue_cache_hours is {catalogue_cache_hours!r}.", remedy="Give hours, or 0 to keep nothing."
            )
        self.limits = limits or Limits()
        self._others = _places(allowed_datasets, self.project, self.dataset)
        self._labels = {"app": APP, **clean_labels(labels or {})}
        self._meter = Meter(price_per_tib)
        self._owns_client = client is None
        if client is None:
            client = make_client(
                project=self.billing_project, credentials=credentials, location=location, endpoint=endpoint
            )
        else:
            require_package()
        self._client: Client | None = client
        self._location = location or client.location or ""
        self._cache = CatalogCache(
            tuple(".".join(place) for place in ((self.project, self.dataset), *self._others)),
            _account(client, self.billing_project),
            catalogue_cache_hours,
        )
        self._lock = threading.RLock()
        self._introspected: Introspected | None = None
        self._dry_runs: OrderedDict[str, Dry] = OrderedDict()

    @classmethod
    def from_url(cls, url: str, *, limits: Limits | None = None) -> Self:
        """The backend that `bigquery://project/dataset?...` names; see `PARAMETERS`."""
        return cls(**options_of(url), limits=limits)

    @property
    def name(self) -> str:
        """What the user would write to open it, without the parameters."""
        return f"bigquery://{self.project}/{self.dataset}"

    @property
    def dialect(self) -> Literal["bigquery"]:
        """The dialect of the queries that it takes."""
        return "bigquery"

    @property
    def spent(self) -> Spent:
        """What all its queries have cost so far, by the statistics of their jobs."""
        return self._meter.spent

    def catalog(self) -> Catalog:
        """The tables and views that can be read; see `bmsql.backends.bigquery` for what they tell."""
        return self._introspect().catalog

    def refresh(self) -> None:
        """Read the catalogue anew at its next use, whatever is kept on disk."""
        with self._lock:
            self._cache.forget()
            self._introspected = None
            self._dry_runs.clear()

    def dry_run(self, query: ValidatedQuery) -> DryRun:
        """Let BigQuery check a query and say how many bytes it would read; free. See `Backend.dry_run`."""
        _check_validated(query)
        dry = self._dry(query.sql)
        return DryRun(
            columns=dry.columns,
            bytes_processed=dry.bytes_processed,
            cost=self._meter.cost(dry.bytes_processed),
            upper_bound=dry.upper_bound or any(table.clustered_by for table in self._tables_of(query)),
        )

    def execute(self, query: ValidatedQuery, limits: Limits, *, cancel: threading.Event | None = None) -> QueryResult:
        """Run a query that a dry run found to be within the budget. See `Backend.execute`.

        Raises BudgetExceededError before anything is spent, QuotaExceededError, PermissionDeniedError,
        CredentialsError, and what the protocol names.
        """
        _check_validated(query)
        started = perf_counter()
        done = self._run(query.sql, limits, cancel=cancel, tables=self._tables_of(query))
        return QueryResult(
            columns=done.columns,
            rows=done.fetched.rows,
            truncated=done.fetched.truncated,
            seconds=perf_counter() - started,
            bytes_processed=done.processed,
            bytes_billed=done.billed,
            cost=self._meter.cost(done.billed),
        )

    def distinct_values(self, table: str, column: str, *, limit: int) -> list[str]:
        """The distinct values of a column as text, by one aggregate query. See `Backend.distinct_values`."""
        return [value for (value,) in self.distinct_pairs(table, [column], limit=limit) if value is not None]

    def distinct_pairs(self, table: str, columns: Sequence[str], *, limit: int) -> list[tuple[str | None, ...]]:
        """The distinct combinations of columns as text, sorted, by one query. See `Backend.distinct_pairs`."""
        info = self._table(table)
        sql = _lookups.distinct_sql(self.catalog(), info, columns, limit)
        done = self._run(sql, self.limits.model_copy(update={"rows": limit}), tables=(info,))
        return list(done.fetched.rows)

    def sources_of(self, table: str, keys: Sequence[str]) -> dict[str, str]:
        """The source of each row, by evidence key; empty where the dataset does not record sources."""
        self._table(table)
        records = self._introspect().records & SOURCES
        if not keys or not records:
            return {}
        sql, parameters = _lookups.sources_sql(self.catalog(), table, keys, records)
        limits = self.limits.model_copy(update={"rows": _SOURCES_OF_A_KEY * len(keys)})
        return dict(self._run(sql, limits, parameters=parameters).fetched.rows)

    def table_fingerprint(self, table: str, columns: Sequence[str]) -> str:
        """From the time of change, rows and bytes of a table, as of the catalogue in use; reads no rows.

        Raises InvalidSqlError when the catalogue has no such table.
        """
        return self._introspect().states[self._table(table).name]

    def fingerprint(self) -> str:
        """From the times of change, rows and bytes of the tables, as of the catalogue in use."""
        return hashlib.sha256("\n".join(self._introspect().states.values()).encode()).hexdigest()

    def close(self) -> None:
        """Let go of the connections. Calling it again does nothing."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None and self._owns_client:
            client.close()  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.project!r}, {self.dataset!r}, billing_project={self.billing_project!r})"

    def _run(
        self,
        sql: str,
        limits: Limits,
        *,
        cancel: threading.Event | None = None,
        parameters: Sequence[Any] = (),
        tables: Sequence[TableInfo] = (),
    ) -> Done:
        """A job within the limits, once its dry run has shown that it is."""
        place, labels = self._place(), self._job_labels()

        def check() -> None:
            dry = self._remembered(sql) or self._remember(
                sql, dry_run_job(place, sql, labels, parameters, seconds=limits.seconds)
            )
            check_dry_run(dry, limits, self._meter, tables)

        return run_job(
            place,
            sql,
            limits,
            seconds=limits.seconds,
            labels=labels,
            parameters=parameters,
            cancel=cancel,
            check=check,
            billed=self._meter.add,
        )

    def _dry(self, sql: str) -> Dry:
        place, labels = self._place(), self._job_labels()
        seconds = self.limits.seconds
        return self._remembered(sql) or self._remember(
            sql, tried(lambda: dry_run_job(place, sql, labels, seconds=seconds), name=self.name, seconds=seconds)
        )

    def _remembered(self, sql: str) -> Dry | None:
        with self._lock:
            return self._dry_runs.get(sql)

    def _remember(self, sql: str, dry: Dry) -> Dry:
        with self._lock:
            self._dry_runs[sql] = dry
            while len(self._dry_runs) > _REMEMBERED:
                self._dry_runs.popitem(last=False)
        return dry

    def _job_labels(self) -> dict[str, str]:
        return {**self._labels, **clean_labels(current_labels())}

    def _open_client(self) -> Client:
        with self._lock:
            if self._client is None:
                raise BackendUnavailableError(f"The backend {self.name} has been closed.", remedy="Open it again.")
            return self._client

    def _place(self) -> Place:
        client = self._open_client()
        return Place(
            client=client,
            billing_project=self.billing_project,
            location=self._location or self._introspect().location,
            default_dataset=f"{self.project}.{self.dataset}",
            name=self.name,
        )

    def _introspect(self) -> Introspected:
        client = self._open_client()
        with self._lock:
            if self._introspected is None:
                found = self._cache.load()
                if found is None:
                    found = introspect(
                        client, self.project, self.dataset, self._others, name=self.name, seconds=self.limits.seconds
                    )
                    self._cache.save(found)
                self._introspected = found
            return self._introspected

    def _table(self, table: str) -> TableInfo:
        tables = self.catalog().by_name
        if table not in tables:
            raise InvalidSqlError(f"{self.name} has no table {table!r}.", remedy=did_you_mean(table, list(tables)))
        return tables[table]

    def _tables_of(self, query: ValidatedQuery) -> tuple[TableInfo, ...]:
        known = self.catalog().by_name
        return tuple(known[name] for name in query.tables if name in known)


def _check_validated(query: object) -> None:
    if not isinstance(query, ValidatedQuery):
        raise TypeError("a backend runs a ValidatedQuery, not text: see bmsql.sql.validate")


def _places(datasets: Sequence[str], project: str, dataset: str) -> tuple[tuple[str, str], ...]:
    """Further datasets as project and dataset, without the backend's own."""
    if isinstance(datasets, str):
        raise ConfigurationError("allowed_datasets is one text.", remedy="Give a list of datasets.")
    places: dict[tuple[str, str], None] = {}
    for each in datasets:
        owner, _, name = str(each).rpartition(".")
        places[check_project(owner or project), check_dataset(name)] = None
    places.pop((project, dataset), None)
    return tuple(places)


def _account(client: Client, billing_project: str) -> str:
    """What tells apart accounts that may see different tables."""
    credentials = getattr(client, "_credentials", None)
    email = getattr(credentials, "service_account_email", "") or getattr(credentials, "account", "")
    address = getattr(getattr(client, "_connection", None), "API_BASE_URL", "")
    return "\n".join((billing_project, str(email or ""), str(address)))
