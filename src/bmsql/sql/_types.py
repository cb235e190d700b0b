"""BigQuery's types and what converts into what without a cast."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, Optional

from sqlglot import exp

ARRAY = "ARRAY"
STRUCT = "STRUCT"
# Kinds that are no types of values: a date part, and what is not known.
PART = "part"

_NUMERIC_RANK = {"INT64": 0, "NUMERIC": 1, "BIGNUMERIC": 2, "FLOAT64": 3}
_TIMES = frozenset(("DATE", "DATETIME", "TIMESTAMP", "TIME"))
_ALIASES = {
    "INT": "INT64", "INTEGER": "INT64", "BIGINT": "INT64", "SMALLINT": "INT64", "TINYINT": "INT64", "BYTEINT": "INT64",
    "DECIMAL": "NUMERIC", "BIGDECIMAL": "BIGNUMERIC", "BOOLEAN": "BOOL", "FLOAT": "FLOAT64",
}  # fmt: skip
# Names of types that CAST takes.
TYPES = frozenset((
    *_ALIASES, "INT64", "FLOAT64", "NUMERIC", "BIGNUMERIC", "BOOL", "STRING", "BYTES", "DATE", "DATETIME", "TIME",
    "TIMESTAMP", "INTERVAL", "JSON", "GEOGRAPHY", "ARRAY", "STRUCT", "RANGE",
)) - {"FLOAT"}  # fmt: skip
_OF_SQLGLOT = {
    "BIGINT": "INT64", "INT": "INT64", "SMALLINT": "INT64", "TINYINT": "INT64", "DOUBLE": "FLOAT64", "FLOAT":
    "FLOAT64", "DECIMAL": "NUMERIC", "BIGDECIMAL": "BIGNUMERIC", "BOOLEAN": "BOOL", "TEXT": "STRING", "VARCHAR":
    "STRING", "CHAR": "STRING", "BINARY": "BYTES", "VARBINARY": "BYTES", "TIMESTAMPTZ": "TIMESTAMP", "TIMESTAMP":
    "DATETIME", "DATETIME": "DATETIME", "DATE": "DATE", "TIME": "TIME", "JSON": "JSON", "GEOGRAPHY": "GEOGRAPHY",
    "INTERVAL": "INTERVAL", "RANGE": "RANGE",
}  # fmt: skip


class Type(NamedTuple):
    """A type; kind `?` is not known, `NULL` the type of a bare NULL, `part` a date part."""

    kind: str
    element: Optional[Type] = None  # noqa: UP045  # a NamedTuple cannot name itself in a union at run time
    fields: tuple[tuple[str, Type], ...] = ()

    @property
    def unknown(self) -> bool:
        """Nothing is known about it, so nothing is said against it."""
        return self.kind == "?"

    @property
    def numeric(self) -> bool:
        """A number of any kind."""
        return self.kind in _NUMERIC_RANK

    def field(self, name: str) -> Type | None:
        """A STRUCT's field by name, ignoring case."""
        return next((kind for field, kind in self.fields if field.lower() == name.lower()), None)

    def __str__(self) -> str:
        if self.kind == ARRAY:
            return f"ARRAY<{self.element}>" if self.element is not None and not self.element.unknown else ARRAY
        if self.kind == STRUCT and self.fields:
            return f"STRUCT<{', '.join(f'{name} {kind}'.strip() for name, kind in self.fields)}>"
        return self.kind


UNKNOWN = Type("?")
NULL = Type("NULL")
BOOL = Type("BOOL")
INT64 = Type("INT64")
FLOAT64 = Type("FLOAT64")
STRING = Type("STRING")
BYTES = Type("BYTES")


@cache
def parse_type(text: str) -> Type:
    """A type from its text: `ARRAY<STRUCT<a INT64, b STRING>>`, or a type variable."""
    text = text.strip()
    upper = text.upper()
    if upper.startswith("ARRAY<") and text.endswith(">"):
        return Type(ARRAY, element=parse_type(text[6:-1]))
    if upper.startswith("STRUCT<") and text.endswith(">"):
        fields = []
        for part in _split(text[7:-1]):
            name, _, kind = part.strip().partition(" ")
            fields.append((name, parse_type(kind)) if kind else ("", parse_type(name)))
        return Type(STRUCT, fields=tuple(fields))
    base = upper.partition("(")[0].strip()
    if base in _ALIASES:
        return Type(_ALIASES[base])
    return Type(text if text in ("any", PART) else base)


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += (char in "<(") - (char in ">)")
        if char == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def of_datatype(node: exp.Expr) -> Type:
    """A type from sqlglot's node of a CAST or a typed literal."""
    if isinstance(node, exp.ColumnDef):
        return of_datatype(node.args["kind"])
    if not isinstance(node, exp.DataType):
        return UNKNOWN
    name = node.this.value if isinstance(node.this, exp.DType) else str(node.this)
    if name == ARRAY:
        return Type(ARRAY, element=of_datatype(node.expressions[0]) if node.expressions else UNKNOWN)
    if name == STRUCT:
        return Type(
            STRUCT,
            fields=tuple((f.name if isinstance(f, exp.ColumnDef) else "", of_datatype(f)) for f in node.expressions),
        )
    return Type(_OF_SQLGLOT.get(name, "?"))


def coerces(source: Type, target: Type, literal: bool = False) -> bool:
    """Whether a value of `source` stands where `target` is wanted, without a cast."""
    if source.unknown or target.unknown or source.kind == "NULL" or source == target:
        return True
    if source.numeric and target.numeric:
        if _NUMERIC_RANK[source.kind] <= _NUMERIC_RANK[target.kind]:
            return True
        return literal and source.kind == "FLOAT64" and target.kind in ("NUMERIC", "BIGNUMERIC")
    if literal and source.kind == "STRING":
        return target.kind in _TIMES or target.kind == "BYTES"
    if source.kind == "DATE":
        return target.kind == "DATETIME"
    if source.kind == ARRAY and target.kind == ARRAY:
        if source.element is None or target.element is None or source.element.unknown or target.element.unknown:
            return True
        return source.element == target.element or (literal and coerces(source.element, target.element, True))
    if source.kind == STRUCT and target.kind == STRUCT and len(source.fields) == len(target.fields):
        return all(coerces(a, b, literal) for (_, a), (_, b) in zip(source.fields, target.fields, strict=True))
    return False


def common(left: Type, right: Type, left_literal: bool = False, right_literal: bool = False) -> Type | None:
    """The type both sides become, or None when they cannot be brought together."""
    if left.kind == "NULL" or left.unknown:
        return right
    if coerces(left, right, left_literal):
        return right
    if coerces(right, left, right_literal):
        return left
    return None


_CASTS = {
    "INT64": "BOOL INT64 NUMERIC BIGNUMERIC FLOAT64 STRING",
    "NUMERIC": "INT64 NUMERIC BIGNUMERIC FLOAT64 STRING",
    "BIGNUMERIC": "INT64 NUMERIC BIGNUMERIC FLOAT64 STRING",
    "FLOAT64": "INT64 NUMERIC BIGNUMERIC FLOAT64 STRING",
    "BOOL": "BOOL INT64 STRING",
    "STRING": "BOOL INT64 NUMERIC BIGNUMERIC FLOAT64 STRING BYTES DATE DATETIME TIME TIMESTAMP INTERVAL RANGE",
    "BYTES": "BYTES STRING",
    "DATE": "STRING DATE DATETIME TIMESTAMP",
    "DATETIME": "STRING DATE DATETIME TIME TIMESTAMP",
    "TIME": "STRING TIME",
    "TIMESTAMP": "STRING DATE DATETIME TIME TIMESTAMP",
    "INTERVAL": "STRING INTERVAL",
    "JSON": "JSON",
    "GEOGRAPHY": "GEOGRAPHY",
}


def castable(source: Type, target: Type, literal: bool = False) -> bool:
    """Whether CAST converts `source` into `target`."""
    if source.unknown or target.unknown or source.kind == "NULL":
        return True
    if source.kind in (ARRAY, STRUCT) or target.kind in (ARRAY, STRUCT):
        return source.kind == target.kind
    if literal and source.kind == "STRING":
        return target.kind != "GEOGRAPHY"
    return source.kind not in _CASTS or target.kind in _CASTS[source.kind].split()


def comparable(left: Type, right: Type, left_literal: bool = False, right_literal: bool = False) -> bool:
    """Whether `=` and its like take both."""
    if left.unknown or right.unknown or "NULL" in (left.kind, right.kind):
        return True
    if left.kind == right.kind == STRUCT:
        if len(left.fields) != len(right.fields):
            return not (left.fields and right.fields)
        return all(comparable(a, b, True, True) for (_, a), (_, b) in zip(left.fields, right.fields, strict=True))
    if {left.kind, right.kind} == {"TIMESTAMP", "DATE"} or {left.kind, right.kind} == {"TIMESTAMP", "DATETIME"}:
        return False
    return common(left, right, left_literal, right_literal) is not None
