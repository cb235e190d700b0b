"""Models as plain data for the state, and back."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from bmsql.types import Problem, QueryResult, RanQuery

Data = dict[str, Any]
_COLUMNS = {"columns"}


def pack(model: BaseModel) -> Data:
    """A model without database values as plain data."""
    return model.model_dump(mode="json")


def pack_result(result: QueryResult) -> Data:
    """A result as plain data; the values stay what the database gave, such as dates and decimals."""
    return {
        "columns": result.model_dump(mode="json", include=_COLUMNS)["columns"],
        "rows": [list(row) for row in result.rows],
        "truncated": result.truncated,
        "seconds": result.seconds,
        "bytes_processed": result.bytes_processed,
        "bytes_billed": result.bytes_billed,
        "cost": result.cost,
    }


def load_run(data: Data | None) -> RanQuery | None:
    """The query with its result that `data` holds."""
    return RanQuery.model_validate(data) if data else None


def problem_text(problem: Problem) -> str:
    """A problem in one line: place, message, suggestion."""
    place = f"line {problem.line}, column {problem.column}: " if problem.line is not None else ""
    return f"{place}{problem.message} {problem.suggestion}".strip()
