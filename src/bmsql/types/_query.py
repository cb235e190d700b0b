"""Queries on their way: drafts, what validation and execution made of them, and their records."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidatorFunctionWrapHandler, WrapValidator

from bmsql.types._base import Frozen
from bmsql.types._catalog import ColumnInfo

_MINT = object()
_TUPLES = {tuple}


class Draft(Frozen):
    """SQL as its author wrote it."""

    sql: str
    author: Literal["plan", "model", "user", "rule"] = "plan"
    note: str = ""


class Problem(Frozen):
    """Why a query was rejected: what is wrong, where (1-based), and what would be right."""

    code: str
    message: str
    line: int | None = None
    column: int | None = None
    snippet: str = ""
    suggestion: str = ""


class Fix(Frozen):
    """A change made to a draft because its meaning was certain; always reported."""

    code: str
    message: str
    before: str = ""
    after: str = ""


class ValidatedQuery(Frozen):
    """A query that passed validation; the only thing a backend executes.

    Made by `bmsql.sql.validate` alone: construct it elsewhere and it raises.
    """

    sql: str
    tables: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    mint: Any = Field(default=None, exclude=True, repr=False)

    def model_post_init(self, context: object) -> None:
        if self.mint is not _MINT:
            raise TypeError("a ValidatedQuery is made by bmsql.sql.validate only")


class Rejected(Frozen):
    """A query that did not pass validation."""

    sql: str
    problems: tuple[Problem, ...]
    fixes: tuple[Fix, ...] = ()


class Limits(Frozen):
    """What one query may use. `rows` caps what is fetched, not what is counted.

    rows: rows fetched per query, at most 10 million; seconds: wall time, then the query is cancelled,
    at most a week; memory_mb: the embedded database's memory, on BigQuery that of the rows fetched, at
    most 16 TiB; bytes_billed: BigQuery's budget per query, in bytes, at most 1 EiB; ladder_bytes: on
    BigQuery, a query that only measures (counts without each convention, evidence keys) may read so many
    bytes, else it is left out and the answer says so; 0 leaves all out; model_seconds: what all calls of
    a chat model for one question may take together, waits between tries included, at most a week.
    """

    rows: int = Field(default=1000, gt=0, le=10_000_000)
    seconds: float = Field(default=60.0, gt=0, le=7 * 86_400, allow_inf_nan=False)
    memory_mb: int = Field(default=1024, gt=0, le=16 * 1024**2)
    model_seconds: float = Field(default=180.0, gt=0, le=7 * 86_400, allow_inf_nan=False)
    bytes_billed: int = Field(default=20 * 1024**3, gt=0, le=1024**6)
    ladder_bytes: int = Field(default=2 * 1024**3, ge=0, le=1024**6)


def _as_they_are(rows: Any, check: ValidatorFunctionWrapHandler) -> Any:
    # Cells are whatever the database gave, so there is nothing to check in tuples, and thousands need no copy.
    return rows if type(rows) is tuple and set(map(type, rows)) <= _TUPLES else check(rows)


Rows = Annotated[tuple[tuple[Any, ...], ...], WrapValidator(_as_they_are)]


class QueryResult(Frozen):
    """Rows of a query, capped: `truncated` is True when there were more than were fetched.

    bytes_processed, bytes_billed, cost (US dollars): None where the backend does not meter them.
    """

    columns: tuple[ColumnInfo, ...]
    rows: Rows
    truncated: bool = False
    seconds: float = 0.0
    bytes_processed: int | None = None
    bytes_billed: int | None = None
    cost: float | None = None

    def names(self) -> list[str]:
        """The column names; a repeated one gets `_2`, `_3`, ..."""
        names: list[str] = []
        for column in self.columns:
            name, n = column.name, 1
            while name in names:
                n += 1
                name = f"{column.name}_{n}"
            names.append(name)
        return names

    def dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries, under the names of `names`."""
        names = self.names()
        return [dict(zip(names, row, strict=True)) for row in self.rows]


class ExecutionFailed(Frozen):
    """The database refused or failed a query: its own message, kept for the repair step."""

    sql: str
    message: str
    kind: str = "ExecutionError"
    remedy: str = ""


class RanQuery(Frozen):
    """A query with its result: the general or the refined one."""

    sql: str
    result: QueryResult


class ConventionRecord(Frozen):
    """What was done about one convention, and what difference it made.

    `predicate` is SQL; `rows_without` is the row count with this rule left out and all else kept;
    `rows_with` the count with all rules. Both are None where they were not measured.
    """

    rule: str
    status: Literal["applied", "complement", "corrected", "already", "stated", "waived", "judged", "unmet"]
    table: str = ""
    source: str = ""
    predicate: str = ""
    reason: str = ""
    citation: str = ""
    words: str = ""
    profile: str = ""
    rows_without: int | None = None
    rows_with: int | None = None


class Review(Frozen):
    """The verdict of the refine node on the rows of this pass."""

    sufficient: bool
    reason: str = ""
    change: str = ""


class StepUsage(Frozen):
    """Model usage of one step; zero throughout for the offline reasoner."""

    step: str
    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    estimated: bool = False
    seconds: float = 0.0

    def plus(self, other: StepUsage) -> StepUsage:
        """Both together, under this step's name; estimated where either is."""
        numbers = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "seconds")
        sums = {name: getattr(self, name) + getattr(other, name) for name in numbers}
        return self.model_copy(update={**sums, "estimated": self.estimated or other.estimated})


class Usage(Frozen):
    """What an answer cost: model calls by step, queries, bytes and seconds.

    bytes_processed, bytes_billed, cost (US dollars): of this question's queries; total_bytes_billed,
    total_cost: of all that the agent's backend has run so far. None where the backend meters nothing.
    """

    steps: tuple[StepUsage, ...] = ()
    queries: int = 0
    query_seconds: float = 0.0
    bytes_processed: int | None = None
    bytes_billed: int | None = None
    cost: float | None = None
    total_bytes_billed: int | None = None
    total_cost: float | None = None
    seconds: float = 0.0


class TraceEntry(Frozen):
    """One node entered: when (seconds since the start), for how long, with what outcome."""

    node: str
    started: float
    seconds: float
    outcome: str
    detail: dict[str, Any] = Field(default_factory=dict)
