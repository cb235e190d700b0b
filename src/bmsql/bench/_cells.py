"""Rows in JSON's types, so that what is stored is what is compared."""

from __future__ import annotations

import decimal
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from bmsql.bench._types import Cell, Ran, Rows
from bmsql.types import QueryResult, RanQuery, to_json


def cell(value: object) -> Cell:
    """A database value as JSON stores it.

    Numbers stay numbers (a NUMERIC becomes an integer where it is whole, else a float), NaN and infinities become
    text, dates ISO 8601; arrays and structs become JSON text, so that they can be members of a set.
    """
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, int):  # of any size: Python reads it back as written
        return value
    plain = to_json(value)
    return json.dumps(plain, sort_keys=True) if isinstance(plain, list | dict) else plain


def cells(rows: Iterable[Sequence[object]]) -> Rows:
    """Rows as JSON stores them."""
    return tuple(tuple(cell(value) for value in row) for row in rows)


def ran(query: RanQuery) -> Ran:
    """An answer's query with its result, as a record keeps it."""
    result: QueryResult = query.result
    return Ran(
        sql=query.sql,
        columns=tuple(column.name for column in result.columns),
        rows=cells(result.rows),
        truncated=result.truncated,
    )


def is_number(value: Any) -> bool:
    """Whether a cell is a finite number; a truth value is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
