"""Models as plain data for the state, and back."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from bmsql.types import Answer, Problem, QueryResult, RanQuery

Data = dict[str, Any]
_COLUMNS = {"columns"}
_RESULTS = {"general", "refined"}


def pack(model: BaseModel) -> Data:
    """A model without database values as plain data."""
    return model.model_dump(mode="json")


def pack_result(result: QueryResult) -> Data:
    """A result as plain data; the rows are its own, with values, such as dates, as the database gave them."""
    return {
        "columns": result.model_dump(include=_COLUMNS)["columns"],
        "rows": result.rows,
        "truncated": result.truncated,
        "seconds": result.seconds,
        "bytes_processed": result.bytes_processed,
        "bytes_billed": result.bytes_billed,
        "cost": result.cost,
    }


def pack_answer(answer: Answer) -> Data:
    """An answer as plain data; its rows, which may be many, are those of the answer and no copies."""
    small = answer.model_dump(exclude=_RESULTS)
    for name in _RESULTS:
        ran: RanQuery | None = getattr(answer, name)
        small[name] = ran and {"sql": ran.sql, "result": pack_result(ran.result)}
    return {name: small[name] for name in Answer.model_fields}


def load_run(data: Data | None) -> RanQuery | None:
    """The query with its result that `data` holds."""
    return RanQuery.model_validate(data) if data else None


def problem_text(problem: Problem) -> str:
    """A problem in one line: place, message, suggestion."""
    place = f"line {problem.line}, column {problem.column}: " if problem.line is not None else ""
    return f"{place}{problem.message} {problem.suggestion}".strip()
