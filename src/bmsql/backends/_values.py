"""DuckDB's types by their BigQuery names, and its values as plain Python values."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb.sqltypes import DuckDBPyType

Converter = Callable[[Any], Any]

_INTEGERS = ("tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint")
# A timestamp without a time zone is BigQuery's DATETIME; only the one with a zone is a TIMESTAMP.
_NAMES = {
    **dict.fromkeys((*_INTEGERS, "uhugeint"), "INT64"),
    **dict.fromkeys(("varchar", "enum", "uuid", "bit", "time with time zone"), "STRING"),
    **dict.fromkeys(("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), "DATETIME"),
    "float": "FLOAT64",
    "double": "FLOAT64",
    "boolean": "BOOL",
    "blob": "BYTES",
    "date": "DATE",
    "time": "TIME",
    "timestamp with time zone": "TIMESTAMP",
    "interval": "INTERVAL",
    "json": "JSON",
    "variant": "JSON",
    "bignum": "BIGNUMERIC",
    "geometry": "GEOGRAPHY",
    '"null"': "INT64",  # what BigQuery calls the type of a bare NULL
    "null": "INT64",
}
# The widest that NUMERIC holds: 29 digits before the point and 9 after it.
_NUMERIC_INTEGER, _NUMERIC_SCALE = 29, 9


def bigquery_type(kind: DuckDBPyType) -> str:
    """The BigQuery name of a DuckDB type; a type that BigQuery lacks keeps its own name."""
    name = str(kind).lower()
    # JSON is an alias of VARCHAR, and keeps its name only in the text form.
    if name in _NAMES:
        return _NAMES[name]
    match kind.id:
        case "list" | "array":
            return f"ARRAY<{bigquery_type(_child(kind, 'child'))}>"
        case "struct":
            fields = (f"{field} {bigquery_type(child)}" for field, child in _children(kind).items())
            return f"STRUCT<{', '.join(fields)}>"
        case "map":
            key, value = (bigquery_type(_child(kind, part)) for part in ("key", "value"))
            return f"ARRAY<STRUCT<key {key}, value {value}>>"
        case "decimal":
            digits, scale = (int(str(size)) for _, size in kind.children)
            fits = scale <= _NUMERIC_SCALE and digits - scale <= _NUMERIC_INTEGER
            return "NUMERIC" if fits else "BIGNUMERIC"
        case other:
            return _NAMES.get(other, str(kind).upper())


def converter(kind: DuckDBPyType) -> Converter | None:
    """How values of a type become plain ones; None where they already are.

    Arrays become lists, structs dictionaries, maps lists of key and value, UUIDs text.
    """
    match kind.id:
        case "uuid":
            return lambda value: str(value) if isinstance(value, uuid.UUID) else value
        case "list" | "array":
            return _each(converter(_child(kind, "child")))
        case "struct":
            fields = {field: each for field, child in _children(kind).items() if (each := converter(child))}
            return _fields(fields) if fields else None
        case "map":
            return _pairs(converter(_child(kind, "key")), converter(_child(kind, "value")))
        case _:
            return None


def convert_rows(rows: list[tuple[Any, ...]], kinds: list[DuckDBPyType]) -> tuple[tuple[Any, ...], ...]:
    """Rows with their values made plain; untouched where no column needs it."""
    converters = [converter(kind) for kind in kinds]
    if not any(converters):
        return tuple(rows)
    return tuple(
        tuple(
            value if each is None or value is None else each(value) for value, each in zip(row, converters, strict=True)
        )
        for row in rows
    )


def _child(kind: DuckDBPyType, name: str) -> DuckDBPyType:
    return _children(kind)[name]


def _children(kind: DuckDBPyType) -> dict[str, DuckDBPyType]:
    # Of a fixed-size array the children hold its size too, which is no type.
    return {name: child for name, child in kind.children if not isinstance(child, int | list)}


def _each(item: Converter | None) -> Converter:
    if item is None:
        return list
    return lambda values: [None if value is None else item(value) for value in values]


def _fields(fields: dict[str, Converter]) -> Converter:
    def convert(value: dict[str, Any]) -> dict[str, Any]:
        return {
            name: fields[name](item) if name in fields and item is not None else item for name, item in value.items()
        }

    return convert


def _pairs(key: Converter | None, value: Converter | None) -> Converter:
    def one(each: Converter | None, item: Any) -> Any:
        return item if each is None or item is None else each(item)

    return lambda entries: [{"key": one(key, k), "value": one(value, v)} for k, v in entries.items()]
