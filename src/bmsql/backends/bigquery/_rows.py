"""Rows of a finished job as plain Python values: the same as the DuckDB backend gives for the type."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from google.cloud.bigquery import SchemaField
    from google.cloud.bigquery.table import RowIterator

Convert = Callable[[Any], Any]
# BIGNUMERIC has 77 digits at most.
_EXACT = decimal.Context(prec=80)
PAGE_ROWS = 10_000
"""Rows asked for at a time; the server sends fewer when they are large."""
_DAYS_PER_MONTH = 30  # an interval has months, Python's timedelta has none; DuckDB counts them so too


class Fetched(NamedTuple):
    """Rows, and whether there are more of them."""

    rows: tuple[tuple[Any, ...], ...]
    truncated: bool


def read_rows(
    found: RowIterator, schema: Sequence[SchemaField], *, limit: int, max_bytes: int, stop: threading.Event
) -> Fetched:
    """At most `limit` rows, and no page after the one that goes beyond `max_bytes`.

    `stop` is looked at between pages. Ask for `limit` + 1 rows, to see whether there are more.
    """
    rows: list[tuple[Any, ...]] = []
    held = 0
    for size, columns in _pages(found, schema):
        rows += zip(*columns, strict=True)
        held += size
        if len(rows) > limit or stop.is_set():
            break
        if held > max_bytes:
            return Fetched(tuple(rows), len(rows) < int(found.total_rows or 0))
    return Fetched(tuple(rows[:limit]), len(rows) > limit)


def _pages(found: RowIterator, schema: Sequence[SchemaField]) -> Iterator[tuple[int, list[list[Any]]]]:
    """Each page as its bytes in memory and its columns."""
    converters = [converter(field) for field in schema]
    if any(map(_beyond_arrow, schema)):
        for page in found.pages:
            values = [row.values() for row in page]
            columns = [list(column) for column in zip(*values, strict=True)] if values else [[] for _ in schema]
            yield len(str(values)), _converted(columns, converters)
        return
    for batch in found.to_arrow_iterable():
        yield batch.nbytes, _converted([column.to_pylist() for column in batch.columns], converters)


def _converted(columns: list[list[Any]], converters: Sequence[Convert | None]) -> list[list[Any]]:
    return [
        column if each is None else [None if value is None else each(value) for value in column]
        for column, each in zip(columns, converters, strict=True)
    ]


def _beyond_arrow(field: SchemaField) -> bool:
    """Whether the client has no Arrow type for it; for these it warns and guesses."""
    return str(field.field_type).upper() == "INTERVAL" or any(map(_beyond_arrow, field.fields))


def converter(field: SchemaField) -> Convert | None:
    """How values of a field, from Arrow or from the client's own rows, become plain; None where they are."""
    one = _single(field)
    if str(field.mode).upper() != "REPEATED" or one is None:
        return one
    return lambda values: [None if value is None else one(value) for value in values]


def _single(field: SchemaField) -> Convert | None:
    match str(field.field_type).upper():
        case "RECORD" | "STRUCT":
            return _struct(field)
        case "NUMERIC" | "BIGNUMERIC":
            return _decimal
        case "JSON":
            return lambda value: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        case "TIMESTAMP":
            return _timestamp
        case "INTERVAL":
            return _interval
        case _:
            return None


def _struct(field: SchemaField) -> Convert | None:
    parts = {child.name: each for child in field.fields if (each := converter(child)) is not None}
    if not parts:
        return None

    def convert(value: dict[str, Any]) -> dict[str, Any]:
        return {name: parts[name](item) if name in parts and item is not None else item for name, item in value.items()}

    return convert


def _decimal(value: decimal.Decimal) -> decimal.Decimal:
    """Arrow pads to the scale of the type: 1.5, not 1.500000000."""
    if not value.is_finite():
        return value
    if value == value.to_integral_value(context=_EXACT):
        return value.quantize(decimal.Decimal(1), context=_EXACT)
    return value.normalize(_EXACT)


def _timestamp(value: Any) -> Any:
    # A timestamp of more than microseconds is text, and stays it.
    return value.astimezone(dt.UTC) if isinstance(value, dt.datetime) else value


def _interval(value: Any) -> dt.timedelta:
    """From the client's relativedelta."""
    return dt.timedelta(
        days=_DAYS_PER_MONTH * (12 * value.years + value.months) + value.days,
        hours=value.hours,
        minutes=value.minutes,
        seconds=value.seconds,
        microseconds=value.microseconds,
    )
