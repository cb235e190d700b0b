"""BigQuery's schemas as columns with types in the words of GoogleSQL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bmsql.types import ColumnInfo

if TYPE_CHECKING:
    from google.cloud.bigquery import SchemaField

# The API still speaks of the types of legacy SQL.
_NAMES = {"INTEGER": "INT64", "FLOAT": "FLOAT64", "BOOLEAN": "BOOL", "RECORD": "STRUCT"}


def columns_of(schema: Iterable[SchemaField]) -> tuple[ColumnInfo, ...]:
    """The columns of a table or result; the description names those of nested fields too."""
    return tuple(
        ColumnInfo(name=field.name, type=type_name(field), description=" ".join(_descriptions(field, "")))
        for field in schema
    )


def type_name(field: SchemaField) -> str:
    """A type such as `ARRAY<STRUCT<gene STRING, p FLOAT64>>`; precision and length are left out."""
    name = _NAMES.get(str(field.field_type).upper(), str(field.field_type).upper())
    if name == "STRUCT":
        name = f"STRUCT<{', '.join(f'{_written(child.name)} {type_name(child)}' for child in field.fields)}>"
    elif name == "RANGE" and field.range_element_type is not None:
        name = f"RANGE<{field.range_element_type.element_type}>"
    return f"ARRAY<{name}>" if str(field.mode).upper() == "REPEATED" else name


def _written(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"


def _descriptions(field: SchemaField, path: str) -> list[str]:
    here = f"{path}{field.name}"
    own = [f"{here}: {field.description}" if path else field.description] if field.description else []
    return own + [text for child in field.fields for text in _descriptions(child, f"{here}.")]
