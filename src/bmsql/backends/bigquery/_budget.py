"""The budget: what is refused before it costs anything, and how that is said."""

from __future__ import annotations

from collections.abc import Sequence

from bmsql.backends._base import Spent
from bmsql.backends.bigquery._job import Dry
from bmsql.backends.bigquery._spending import Meter, billed_at_least
from bmsql.errors import BudgetExceededError, ExecutionError
from bmsql.types import Limits, TableInfo, money_text, size_text

_MIB = 1024**2


def check_dry_run(dry: Dry, limits: Limits, meter: Meter, tables: Sequence[TableInfo]) -> None:
    """Raise when the server would run something else than a SELECT, or for more than the budget.

    tables: those that the query reads, where they are known.
    """
    if dry.statement not in ("", "SELECT"):
        raise ExecutionError(f"Only a single SELECT is run, not {dry.statement}.")
    billed = billed_at_least(dry.bytes_processed, dry.tables)
    if billed > limits.bytes_billed:
        raise BudgetExceededError(
            f"The query would read {size_text(billed)} and cost about {money_text(meter.cost(billed))}; the budget is "
            f"{size_text(limits.bytes_billed)} ({money_text(meter.cost(limits.bytes_billed))}) a query."
            f"{_overestimate(dry, tables)}{_so_far(meter.spent)}",
            remedy=f"{_cheaper(tables)}Or raise the limit: bytes_billed={_rounded(billed)}.",
        )


def _overestimate(dry: Dry, tables: Sequence[TableInfo]) -> str:
    names = [table.name for table in tables if table.clustered_by]
    if names:
        columns = ", ".join(dict.fromkeys(column for table in tables for column in table.clustered_by))
        clustered = f"{', '.join(names)} is clustered by {columns}"
        return f" It may read less: {clustered}, and BigQuery estimates as if it were not."
    return " It may read less: the estimate is an upper bound." if dry.upper_bound else ""


def _so_far(spent: Spent) -> str:
    if not spent.queries:
        return ""
    many = "query was" if spent.queries == 1 else "queries were"
    return f" So far {spent.queries} {many} billed {size_text(spent.bytes_billed)} ({money_text(spent.cost)})."


def _cheaper(tables: Sequence[TableInfo]) -> str:
    parts = [f"{table.partitioned_by} of {table.name}" for table in tables if table.partitioned_by]
    if parts:
        return f"Read fewer columns, or filter on {' or '.join(parts)}. "
    return "Read fewer columns: BigQuery bills whole columns, whatever LIMIT says. "


def _rounded(count: int) -> int:
    """The next whole MiB, as BigQuery rounds what it bills."""
    return -(-count // _MIB) * _MIB
