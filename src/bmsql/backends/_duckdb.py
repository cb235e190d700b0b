"""A backend over a DuckDB file, opened read-only and locked down."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from bmsql.backends._base import DryRun
from bmsql.backends._duckdb_file import (
    INTERNAL,
    bigquery_columns,
    did_you_mean,
    file_fingerprint,
    quoted,
    read_tables,
)
from bmsql.backends._hosted import current_host
from bmsql.backends._instances import Instance, acquire, release
from bmsql.backends._lease import Lease
from bmsql.backends._sources import Sources
from bmsql.backends._statement import Translated
from bmsql.backends._values import convert_rows
from bmsql.backends._watched import Stopped, run_watched, stopped_error
from bmsql.errors import (
    BackendError,
    BackendUnavailableError,
    ExecutionError,
    ForbiddenSqlError,
    InvalidSqlError,
    QueryCancelledError,
    SqlSyntaxError,
)
from bmsql.types import Catalog, Closing, Limits, QueryResult, TableInfo, ValidatedQuery

if TYPE_CHECKING:
    import duckdb

    from bmsql.sql.duckdb import Translator

T = TypeVar("T")

_MAX_THREADS = 4
# Bytes of a file that one thread reads: to share so little out costs more than it saves.
_SMALL = 16 * 2**20
_TRANSLATIONS_KEPT = 128


class DuckDBBackend(Closing):
    """Tables and views of the schema `main` of a DuckDB file.

    path: the file. project, dataset: what qualifies the tables in queries (by default `bmsql` and
    the file's name without its extension). limits: `memory_mb` holds for the database as long as
    it is open, `seconds` for dry runs and lookups; `execute` is given its own. threads: for one
    query, by default one for a file of up to 16 MiB, else the number of cores, at most 4. name:
    what messages call the backend.

    The file is opened at once. Raises BackendUnavailableError when that cannot be done.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        project: str = "bmsql",
        dataset: str = "",
        limits: Limits | None = None,
        threads: int | None = None,
        name: str = "",
    ) -> None:
        self.path = Path(path).expanduser().absolute()
        self.limits = limits or Limits()
        self._project = project
        self._dataset = dataset or self.path.stem
        self._name = name or f"duckdb:///{self.path.as_posix().lstrip('/')}"
        self._threads = threads
        self._lock = threading.Lock()
        self._instance: Instance | None = self._acquire()
        self._fingerprint = file_fingerprint(self.path)
        # The catalogue, and which of the internal tables the file has.
        self._introspected: tuple[Catalog, frozenset[str]] | None = None
        # A query is tried, run and often run again: it need be translated once.
        self._translations = lru_cache(maxsize=_TRANSLATIONS_KEPT)(self._translate_text)
        self._translator: Translator | None = None
        self._sources: Sources | None = None

    @property
    def name(self) -> str:
        """What the user would write to open it."""
        return self._name

    @property
    def dialect(self) -> Literal["bigquery"]:
        """The dialect of the queries that it takes; they are translated for DuckDB."""
        return "bigquery"

    def catalog(self) -> Catalog:
        """The tables and views that can be read; read once."""
        return self._introspect()[0]

    def dry_run(self, query: ValidatedQuery) -> DryRun:
        """Translate a query and let DuckDB bind it; bytes are not metered. See `Backend.dry_run`."""
        translated = self._translate(query)

        def bind(cursor: duckdb.DuckDBPyConnection) -> DryRun:
            relation = cursor.sql(translated.statement(cursor))
            return DryRun(columns=bigquery_columns(list(zip(relation.columns, relation.types, strict=True))))

        return self._run(bind, self.limits.seconds)

    def execute(self, query: ValidatedQuery, limits: Limits, *, cancel: threading.Event | None = None) -> QueryResult:
        """Translate and run a query; `limits.memory_mb` is that of opening. See `Backend.execute`."""
        translated = self._translate(query)
        started = time.perf_counter()

        def fetch(cursor: duckdb.DuckDBPyConnection) -> QueryResult:
            cursor.execute(translated.statement(cursor))
            described = [(column[0], column[1]) for column in cursor.description or ()]
            rows = cursor.fetchmany(limits.rows + 1)  # one more than asked for, to see whether there are more
            return QueryResult(
                columns=bigquery_columns(described),
                rows=convert_rows(rows[: limits.rows], [kind for _, kind in described]),
                truncated=len(rows) > limits.rows,
                seconds=time.perf_counter() - started,
            )

        # Rows that were not asked for are still to come: DuckDB holds them until the cursor is closed.
        return self._run(fetch, limits.seconds, cancel, keep=lambda result: not result.truncated)

    def distinct_values(self, table: str, column: str, *, limit: int) -> list[str]:
        """The distinct values of a column as text, sorted, NULL left out. See `Backend.distinct_values`."""
        return [value for (value,) in self.distinct_pairs(table, [column], limit=limit) if value is not None]

    def distinct_pairs(self, table: str, columns: Sequence[str], *, limit: int) -> list[tuple[str | None, ...]]:
        """The distinct combinations of columns as text, sorted. See `Backend.distinct_pairs`."""
        names = self._column_names(table, columns)
        selected = ", ".join(f"CAST({name} AS VARCHAR)" for name in names)
        present = " OR ".join(f"{name} IS NOT NULL" for name in names)
        keys = ", ".join(str(position) for position in range(1, len(names) + 1))
        sql = f"SELECT DISTINCT {selected} FROM {quoted(table)} WHERE {present} ORDER BY {keys} LIMIT ?"  # noqa: S608
        return self._fetch(sql, [limit])

    def sources_of(self, table: str, keys: Sequence[str]) -> dict[str, str]:
        """The source of each row, by evidence key; empty where the file does not record sources."""
        self._table(table)
        if not keys:
            return {}
        recorded, sources = self._introspect()[1], self._sources
        if sources is None:
            self._sources = sources = Sources(recorded, self._fetch)
        return sources.of(table, keys)

    def fingerprint(self) -> str:
        """Of the file as it was when opened. See `Backend.fingerprint`."""
        return self._fingerprint

    def table_fingerprint(self, table: str, columns: Sequence[str]) -> str:
        """A text that changes when the values of these columns of a table change; reads them, not their order.

        Raises InvalidSqlError when the catalogue has no such table or column.
        """
        names = self._column_names(table, columns)
        # A sum tells repeated rows apart, which XOR would cancel out.
        sql = f"SELECT count(*), sum(hash({', '.join(names)})) FROM {quoted(table)}"  # noqa: S608
        rows = self._fetch(sql, [])
        return f"{rows[0][0]}:{rows[0][1] or 0}"

    def close(self) -> None:
        """Let go of the file. Calling it again does nothing."""
        with self._lock:
            instance, self._instance = self._instance, None
        if instance is not None:
            release(instance)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r}, project={self._project!r}, dataset={self._dataset!r})"

    def _fetch(self, sql: str, parameters: list[Any]) -> list[Any]:
        """All rows of a query of our own."""
        return self._run(lambda cursor: cursor.execute(sql, parameters).fetchall(), self.limits.seconds)

    def _translate(self, query: ValidatedQuery) -> Translated:
        if not isinstance(query, ValidatedQuery):
            raise TypeError("a backend runs a ValidatedQuery, not text: see bmsql.sql.validate")
        try:
            return self._translations(query.sql)
        except (SqlSyntaxError, ForbiddenSqlError, InvalidSqlError) as e:
            # Validation lets none of these through, but what binds names last refuses like a database.
            raise ExecutionError(e.message, remedy=e.remedy) from e

    def _translate_text(self, sql: str) -> Translated:
        from bmsql.sql.duckdb import Translator

        catalog, translator = self.catalog(), self._translator
        if translator is None or translator.catalog is not catalog:
            self._translator = translator = Translator(catalog)
        return Translated(translator(sql))

    def _table(self, table: str) -> TableInfo:
        tables = self.catalog().by_name
        if table not in tables:
            raise InvalidSqlError(f"{self._name} has no table {table!r}.", remedy=did_you_mean(table, list(tables)))
        return tables[table]

    def _column_names(self, table: str, columns: Sequence[str]) -> list[str]:
        """Columns of a table as DuckDB writes them."""
        info = self._table(table)
        names = []
        for column in columns:
            found = info.by_name.get(column.lower())
            if found is None:
                remedy = did_you_mean(column, [each.name for each in info.columns])
                raise InvalidSqlError(f"Table {table} has no column {column!r}.", remedy=remedy)
            names.append(quoted(found.name))
        return names

    def _introspect(self) -> tuple[Catalog, frozenset[str]]:
        with self._lock:
            known = self._introspected
        if known is None:
            found = self._run(read_tables, self.limits.seconds)
            tables = tuple(table for table in found if table.name not in INTERNAL)
            catalog = Catalog(project=self._project, dataset=self._dataset, tables=tables)
            known = (catalog, INTERNAL & {table.name for table in found})
            with self._lock:
                self._introspected = known
        return known

    def _acquire(self) -> Instance:
        threads = self._threads or _threads_for(self.path)
        return acquire(self.path, memory_mb=self.limits.memory_mb, threads=threads)

    def _current(self) -> Instance:
        """The open instance; opened anew after a fork, and after DuckDB declared it unusable."""
        with self._lock:
            instance = self._instance
            if instance is None:
                raise BackendUnavailableError(f"The backend {self._name} has been closed.", remedy="Open it again.")
            if instance.broken or instance.key.pid != os.getpid():
                self._instance = self._acquire()
                release(instance)
                # The file may have been replaced since.
                self._fingerprint, self._introspected = file_fingerprint(self.path), None
                self._translations.cache_clear()
                self._sources = None
                return self._instance
            return instance

    def _run(
        self,
        action: Callable[[duckdb.DuckDBPyConnection], T],
        seconds: float,
        cancel: threading.Event | None = None,
        *,
        keep: Callable[[T], bool] = lambda _: True,
    ) -> T:
        """`action` on a cursor of its own, watched. DuckDB's errors are mapped here and nowhere else.

        keep: by the result, whether another query may have the cursor: not when rows are left to read.
        """
        import duckdb

        if cancel is not None and cancel.is_set():
            raise QueryCancelledError("The query was cancelled before it began.")
        instance = self._current()
        lease = Lease(instance)

        def act() -> T:
            # Here, in the thread that uses it: a query that cannot be stopped outlives its caller.
            with lease as cursor:
                result = action(cursor)
                lease.finished = keep(result)
                return result

        host = current_host()
        try:
            if host is not None:
                return host.run(
                    act, lease.interrupt, seconds=seconds, cancel=cancel, interrupted=duckdb.InterruptException
                )
            return run_watched(
                act,
                lease.interrupt,
                seconds=seconds,
                cancel=cancel,
                interrupted=duckdb.InterruptException,
                start=instance.workers.start,
            )
        except Stopped as e:
            raise stopped_error(e, seconds) from e
        except duckdb.Error as e:
            raise self._failed(instance, e) from e

    def _failed(self, instance: Instance, error: duckdb.Error) -> BackendError:
        import duckdb

        match error:
            case duckdb.OutOfMemoryException():
                return ExecutionError(
                    f"The query needs more than the {self.limits.memory_mb} MiB of memory allowed: {error}",
                    remedy="Ask for less, or raise the memory limit.",
                )
            case duckdb.FatalException() | duckdb.InternalException():
                instance.broken = True
            case duckdb.ConnectionException():
                return BackendUnavailableError(f"{self._name} is not open any more: {error}", remedy="Open it again.")
        return ExecutionError(str(error))


def _threads_for(path: Path) -> int:
    try:
        size = path.stat().st_size
    except OSError:  # what is wrong with the file is told on opening it
        return 1
    return 1 if size <= _SMALL else min(os.cpu_count() or 1, _MAX_THREADS)
