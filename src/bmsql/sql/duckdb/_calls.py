"""Functions by table: find the row for a call, check its arguments, and make the DuckDB call."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from bmsql.sql.duckdb._kinds import NAMES, TYPES, is_string, kind, source, unsupported
from bmsql.sql.duckdb._tables import AGGREGATES, ROWS, Row
from bmsql.sql.duckdb._template import Template, aggregate, template

_ACCEPTS = {"n": "IF", "*": "IFNSBODXTMARJV"}
_COERCED = {"D": "DATE", "X": "TIMESTAMP", "T": "TIMESTAMPTZ", "M": "TIME"}
#: Details of a sqlglot node that say nothing about the call, or are checked by its own rule.
_SILENT = {
    "safe", "coalesce", "binary", "with_tz", "is_string", "big_int", "null_if_pos_overflow", "null_if_no_match",
    "empty_if_group_missing", "scalar_only", "ignore_nulls", "is_left", "null_propagation", "fold",
}  # fmt: skip

_Signature = tuple[tuple[str, str], ...]


def _index(rows: tuple[Row, ...]) -> dict[object, list[tuple[_Signature, str, str]]]:
    index: dict[object, list[tuple[_Signature, str, str]]] = {}
    for node, signature, result, text in rows:
        pairs = tuple((name, letters) for name, _, letters in (part.partition(":") for part in signature.split()))
        index.setdefault(node, []).append((pairs, result, text))
    return index


_INDEX = _index(ROWS)
_AGGREGATES = _index(AGGREGATES)


def arguments(node: exp.Expr) -> dict[str, exp.Expr]:
    """The arguments of a call by name; of a call that sqlglot does not know, by position."""
    if isinstance(node, exp.Anonymous):
        return {str(i): argument for i, argument in enumerate(node.expressions)}
    return dict(_given(node))


def _given(node: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    for name, value in node.args.items():
        if isinstance(value, list):
            if len(value) == 1:
                yield name, value[0]
            elif value:
                yield name, exp.Tuple(expressions=value)
        elif isinstance(value, exp.Expr):
            yield name, value
        elif value and name not in _SILENT:
            yield name, exp.Literal.string(str(value))


def call(node: exp.Expr) -> Template | None:
    """The DuckDB call for a node of the tables; None when it stands in none of them."""
    key: object = str(node.this).upper() if isinstance(node, exp.Anonymous) else type(node)
    found = _INDEX.get(key)
    aggregates = found is None
    found = found if found is not None else _AGGREGATES.get(key)
    if found is None:
        return None
    given = arguments(node)
    for pairs, result, text in found:
        if [name for name, _ in pairs] == list(given) or {name for name, _ in pairs} == set(given):
            operands = _fit(pairs, given, alone=len(found) == 1)
            if operands is not None:
                made = aggregate(text, **operands) if aggregates else template(text, **operands)
                made.type = given[result[1:]].type if result.startswith("=") else TYPES.get(result, node.type)
                return made
    kinds = ", ".join(NAMES[kind(argument)] for argument in given.values())
    raise unsupported(f"DuckDB is not known to compute {source(node)} ({kinds}) as BigQuery does")


def _fit(pairs: _Signature, given: dict[str, exp.Expr], *, alone: bool) -> dict[str, exp.Expr] | None:
    operands: dict[str, exp.Expr] = {}
    for name, letters in pairs:
        argument = given[name]
        letter = kind(argument)
        accepted = _ACCEPTS.get(letters, letters)
        if letter == "0" or letter in accepted or (letter == "?" and (alone or letters == "*")):
            operands[name] = argument
        elif is_string(argument) and (target := next((c for c in accepted if c in _COERCED), "")):
            operands[name] = template(f"CAST({{x}} AS {_COERCED[target]})", target, x=argument)
        else:
            return None
    return operands
