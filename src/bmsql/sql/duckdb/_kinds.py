"""Types as one letter each: what the rules of translation tell apart.

I INT64, F FLOAT64, N NUMERIC, S STRING, B BYTES, O BOOL, D DATE, X DATETIME, T TIMESTAMP, M TIME,
A ARRAY, R STRUCT, J JSON, V INTERVAL, 0 an untyped NULL, ? not known.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from bmsql.errors import InvalidSqlError, UnsupportedSqlError

_D = exp.DType
_LETTERS: dict[object, str] = {
    _D.BIGINT: "I", _D.INT: "I", _D.SMALLINT: "I", _D.TINYINT: "I",
    _D.DOUBLE: "F", _D.FLOAT: "F", _D.DECIMAL: "N",
    _D.VARCHAR: "S", _D.TEXT: "S", _D.CHAR: "S",
    _D.BINARY: "B", _D.VARBINARY: "B", _D.BLOB: "B",
    _D.BOOLEAN: "O", _D.DATE: "D", _D.TIMESTAMP: "X", _D.DATETIME: "X", _D.TIMESTAMPNTZ: "X",
    _D.TIMESTAMPTZ: "T", _D.TIMESTAMPLTZ: "T", _D.TIME: "M",
    _D.ARRAY: "A", _D.LIST: "A", _D.STRUCT: "R", _D.JSON: "J", _D.INTERVAL: "V", _D.NULL: "0",
}  # fmt: skip
NAMES = {
    "I": "INT64", "F": "FLOAT64", "N": "NUMERIC", "S": "STRING", "B": "BYTES", "O": "BOOL", "D": "DATE",
    "X": "DATETIME", "T": "TIMESTAMP", "M": "TIME", "A": "ARRAY", "R": "STRUCT", "J": "JSON",
    "V": "INTERVAL", "0": "NULL", "?": "an unknown type",
}  # fmt: skip
TYPES = {
    "I": exp.DataType(this=_D.BIGINT), "F": exp.DataType(this=_D.DOUBLE), "N": exp.DataType(this=_D.DECIMAL),
    "S": exp.DataType(this=_D.VARCHAR), "B": exp.DataType(this=_D.BINARY), "O": exp.DataType(this=_D.BOOLEAN),
    "D": exp.DataType(this=_D.DATE), "X": exp.DataType(this=_D.TIMESTAMP), "T": exp.DataType(this=_D.TIMESTAMPTZ),
    "M": exp.DataType(this=_D.TIME), "J": exp.DataType(this=_D.JSON),
}  # fmt: skip
_FAMILIES = {"I": "n", "F": "n", "N": "n", "D": "d", "X": "d"}


def kind_of(data_type: exp.DataType | None) -> str:
    """The letter of a type."""
    return "?" if data_type is None else _LETTERS.get(data_type.this, "?")


def kind(node: exp.Expr) -> str:
    """The letter of an expression's type; of `DISTINCT x`, that of x."""
    if isinstance(node, exp.Null):
        return "0"
    if isinstance(node, exp.Distinct) and node.expressions:
        return kind(node.expressions[0])
    return kind_of(node.type)


def element_kind(node: exp.Expr) -> str:
    """The letter of an array's elements."""
    inner = node.type.expressions if node.type is not None and kind(node) == "A" else ()
    return kind_of(inner[0]) if inner and isinstance(inner[0], exp.DataType) else "?"


def source(node: exp.Expr) -> str:
    """A short BigQuery text of a node, for messages."""
    # A node whose children are rewritten already has no BigQuery text any more.
    rewritten = any(inner.args.get("names") is not None for inner in node.walk())
    name = "Template" if node.args.get("names") is not None else type(node).__name__
    try:
        text = name if rewritten else node.sql("bigquery")
    except (UnsupportedError, ValueError):
        # The parser reads more than the generator writes, such as JSON paths with slices.
        text = name
    return text if len(text) <= 60 else text[:57] + "..."


def unsupported(what: str, remedy: str = "") -> UnsupportedSqlError:
    """The error for what DuckDB cannot do as BigQuery does."""
    return UnsupportedSqlError(
        f"{what}.", remedy=remedy or "Write it with other functions, or run the query on BigQuery."
    )


def is_string(node: exp.Expr) -> bool:
    """A string literal: BigQuery coerces it to dates and times."""
    return isinstance(node, exp.Literal) and bool(node.is_string)


def family(node: exp.Expr, letter: str = "") -> str:
    """Types that compare with one another share a family; `*` compares with anything."""
    letter = letter or kind(node)
    if letter in "?0ARV" or (letter == "S" and is_string(node)):
        return "*"
    return _FAMILIES.get(letter, letter)


def require_same(nodes: Iterable[exp.Expr], what: str) -> None:
    """Refuse operands that BigQuery does not compare or unite, where DuckDB would cast in silence."""
    seen: dict[str, exp.Expr] = {}
    dates = False
    strings: exp.Expr | None = None
    for node in nodes:
        f = family(node)
        if f == "*":
            strings = node if is_string(node) else strings
            continue
        dates = dates or f in "dTMB"
        seen.setdefault(f, node)
    if strings is not None and not dates and seen and "S" not in seen:
        seen["S"] = strings
    if len(seen) > 1:
        kinds = " and ".join(NAMES[kind(node)] for node in list(seen.values())[:2])
        raise InvalidSqlError(f"BigQuery has no {what} for {kinds}.", remedy="Convert one side with CAST or SAFE_CAST.")
