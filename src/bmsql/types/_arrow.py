"""Query results as Arrow tables and data frames, typed as the database types them."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bmsql.errors import MissingDependencyError
from bmsql.types._base import to_json
from bmsql.types._query import QueryResult

if TYPE_CHECKING:
    import pandas
    import pyarrow


def arrow_table(result: QueryResult | None) -> pyarrow.Table:
    """The rows of `result` with one Arrow type per BigQuery type; an empty table for None.

    Types Arrow has no counterpart for (JSON, GEOGRAPHY, RANGE, INTERVAL) become text. A repeated
    column name gets `_2`, `_3`, ... as in the rows.
    """
    import pyarrow

    if result is None:
        return pyarrow.table({})
    columns = result.columns
    cells: list[tuple[Any, ...]] = list(zip(*result.rows, strict=True)) or [() for _ in columns]
    arrays = [_array(column.type, values) for column, values in zip(columns, cells, strict=True)]
    return pyarrow.Table.from_arrays(arrays, names=result.names())


def arrow_type(bigquery: str) -> pyarrow.DataType:
    """The Arrow type for a BigQuery type such as `FLOAT64` or `ARRAY<STRUCT<a INT64, b STRING>>`."""
    import pyarrow as pa

    name, arguments = _split(bigquery)
    simple: dict[str, Callable[[], pyarrow.DataType]] = {
        "INT64": pa.int64,
        "FLOAT64": pa.float64,
        "BOOL": pa.bool_,
        "BYTES": pa.binary,
        "DATE": pa.date32,
        "TIME": lambda: pa.time64("us"),
        "DATETIME": lambda: pa.timestamp("us"),
        "TIMESTAMP": lambda: pa.timestamp("us", tz="UTC"),
        "NUMERIC": lambda: pa.decimal128(38, 9),
        "BIGNUMERIC": lambda: pa.decimal256(76, 38),
    }
    if name == "ARRAY":
        return pa.list_(arrow_type(arguments[0]))
    if name == "STRUCT":
        return pa.struct([(field, arrow_type(kind)) for field, kind in map(_field, arguments)])
    return simple.get(name, pa.string)()


def data_frame(table: pyarrow.Table) -> pandas.DataFrame:
    """`table` as a pandas data frame.

    Raises:
        MissingDependencyError: pandas is not installed.
    """
    try:
        import pandas  # noqa: F401
    except ImportError as e:
        raise MissingDependencyError(
            "pandas is not installed.", remedy="Install it: pip install 'bmsql[pandas]'."
        ) from e
    return table.to_pandas()


def _array(bigquery: str, values: tuple[Any, ...]) -> pyarrow.Array:
    import pyarrow as pa

    kind = arrow_type(bigquery)
    try:
        return pa.array([_plain(value, kind) for value in values], type=kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        # A type the database names differently from what it returns must not cost the rows.
        return pa.array([None if value is None else _text(value) for value in values], type=pa.string())


def _plain(value: Any, kind: pyarrow.DataType) -> Any:
    """`value` as pyarrow takes it for `kind`."""
    import pyarrow as pa

    if value is None:
        return None
    if pa.types.is_string(kind):
        return _text(value)
    if pa.types.is_list(kind):
        return [_plain(item, kind.value_type) for item in value]
    if pa.types.is_struct(kind):
        return {field.name: _plain(value.get(field.name), field.type) for field in kind}
    if pa.types.is_date(kind) and isinstance(value, dt.datetime):
        return value.date()
    return value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    plain = to_json(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _split(bigquery: str) -> tuple[str, list[str]]:
    """`ARRAY<INT64>` as `("ARRAY", ["INT64"])`, `NUMERIC(10, 2)` as `("NUMERIC", [])`."""
    name, bracket, rest = bigquery.strip().partition("<")
    if not bracket:
        return name.partition("(")[0].strip().upper(), []
    parts, depth, start = [], 0, 0
    body = rest[: rest.rfind(">")] if ">" in rest else rest
    for index, character in enumerate(body):
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            parts.append(body[start:index])
            start = index + 1
    return name.strip().upper(), [part.strip() for part in (*parts, body[start:])]


def _field(text: str) -> tuple[str, str]:
    name, _, kind = text.partition(" ")
    return name.strip("`"), kind or "STRING"
