"""The protocol that every backend meets; `tests/backends/contract.py` holds it to its word."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from bmsql.types import Catalog, ColumnInfo, Frozen, Limits, QueryResult, ValidatedQuery


class DryRun(Frozen):
    """What a query would return and cost, found without running it.

    bytes_processed, cost (US dollars): None where the backend does not meter bytes. upper_bound: less may
    be read than `bytes_processed` says, as on clustered tables.
    """

    columns: tuple[ColumnInfo, ...]
    bytes_processed: int | None = None
    cost: float | None = None
    upper_bound: bool = False


class Spent(Frozen):
    """What all queries of a backend have cost together; `cost` in US dollars."""

    queries: int = 0
    bytes_processed: int = 0
    bytes_billed: int = 0
    cost: float = 0.0


@runtime_checkable
class Backend(Protocol):
    """One set of tables that queries run over.

    All methods may be called from several threads at once. After `close` each raises
    BackendUnavailableError.
    """

    @property
    def name(self) -> str:
        """What the user would write to open it: `embedded`, `duckdb:///path`, ..."""

    @property
    def dialect(self) -> Literal["bigquery"]:
        """The dialect of the queries that it takes, whatever runs them."""

    def catalog(self) -> Catalog:
        """The tables that a query may read, with their columns in BigQuery types."""

    def dry_run(self, query: ValidatedQuery) -> DryRun:
        """Let the database check a query without running it.

        Raises ExecutionError when the database refuses it, UnsupportedSqlError when the backend
        could not compute what BigQuery would.
        """

    def execute(self, query: ValidatedQuery, limits: Limits, *, cancel: threading.Event | None = None) -> QueryResult:
        """Run a query within `limits`; setting `cancel` stops it.

        Raises ExecutionError, QueryTimeoutError, QueryCancelledError, UnsupportedSqlError.
        """

    def distinct_values(self, table: str, column: str, *, limit: int) -> list[str]:
        """The distinct values of a column as text, sorted, NULL left out, at most `limit`.

        Raises InvalidSqlError when the catalogue has no such table or column.
        """

    def distinct_pairs(self, table: str, columns: Sequence[str], *, limit: int) -> list[tuple[str | None, ...]]:
        """The distinct combinations of two or more columns as text, sorted, at most `limit`.

        Combinations that are NULL throughout are left out. Raises InvalidSqlError when the
        catalogue has no such table or column.
        """

    def sources_of(self, table: str, keys: Sequence[str]) -> dict[str, str]:
        """The study or database that each row comes from, by evidence key; keys without one are absent.

        Raises InvalidSqlError when the catalogue has no such table.
        """

    def fingerprint(self) -> str:
        """A text that changes when the data change; for caches built from them."""

    def close(self) -> None:
        """Let go of the database. Calling it again does nothing."""


@runtime_checkable
class Metered(Protocol):
    """A backend that bills by bytes: it knows what has been spent, and so may be asked before spending."""

    @property
    def spent(self) -> Spent:
        """What its queries have cost so far."""
