"""What operators accept, and what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from bmsql.sql._analysis._literals import check_literal
from bmsql.sql._source import Edit
from bmsql.sql._types import ARRAY, FLOAT64, STRING, STRUCT, UNKNOWN, Type, common, comparable

if TYPE_CHECKING:
    from bmsql.sql._analysis._typer import Typer

_TIMES = ("DATE", "DATETIME", "TIMESTAMP", "TIME")
_SIGNS = {
    "Add": "+",
    "Sub": "-",
    "Mul": "*",
    "Div": "/",
    "EQ": "=",
    "NEQ": "!=",
    "GT": ">",
    "GTE": ">=",
    "LT": "<",
    "LTE": "<=",
}


def is_literal(node: exp.Expr | None) -> bool:
    """Whether a value is written out, so that it takes the type of what it meets."""
    while isinstance(node, (exp.Neg, exp.Paren)):
        node = node.this
    return isinstance(node, (exp.Literal, exp.RawString, exp.Null))


def comparison(
    typer: Typer,
    node: exp.Expr,
    left: exp.Expr,
    right: exp.Expr,
    left_type: Type,
    right_type: Type,
    operator: str = "",
    right_literal: bool = False,
) -> None:
    """Record a problem, or a repair, when two values cannot be compared."""
    right_literal = right_literal or is_literal(right)
    if comparable(left_type, right_type, is_literal(left), right_literal):
        check_literal(typer, left, right_type)
        check_literal(typer, right, left_type)
        return
    if _literal_repaired(typer, left, right, left_type) or _literal_repaired(typer, right, left, right_type):
        return
    sign = operator or _SIGNS.get(type(node).__name__, "=")
    typer.context.problem_at(
        node,
        "type-mismatch",
        f"{sign} compares {left_type} with {right_type}.",
        _advice(left, right, left_type, right_type),
    )


def _literal_repaired(typer: Typer, value: exp.Expr, literal: exp.Expr, kind: Type) -> bool:
    """A quoted TRUE, FALSE or number beside a BOOL or a number means itself without quotes."""
    if not isinstance(literal, exp.Literal) or not literal.is_string or isinstance(value, exp.Literal):
        return False
    text = str(literal.this).strip()
    if kind.kind == "BOOL" and text.upper() in ("TRUE", "FALSE"):
        replacement = text.upper()
    elif (kind.kind == "INT64" and text.isascii() and text.isdigit() and len(text) < 19) or (
        kind.kind == "FLOAT64" and _is_number(text)
    ):
        replacement = text
    else:
        return False
    start, end = literal.meta.get("start"), literal.meta.get("end")
    if start is None or end is None:
        return False
    written = typer.context.source.text[start : end + 1]
    typer.context.edit(
        Edit(start, end + 1, replacement),
        "literal-type",
        f"A {kind} is compared with {replacement}, not with a text.",
        written,
    )
    return True


def _is_number(text: str) -> bool:
    if not text.isascii() or not text[:1].isdigit() or "_" in text or text[-1:] == ".":
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True


def _advice(left: exp.Expr, right: exp.Expr, left_type: Type, right_type: Type) -> str:
    for value, other, kind, other_kind in ((left, right, left_type, right_type), (right, left, right_type, left_type)):
        if kind.kind == "STRING" and other_kind.numeric:
            if isinstance(other, exp.Literal):
                return f"Write the value as a text: '{other.this}'."
            name = value.sql(dialect="bigquery")
            text = other.sql(dialect="bigquery")
            return f"Convert one side: SAFE_CAST({name} AS {other_kind}), or CAST({text} AS STRING)."
        if kind.kind == "BOOL":
            return f"{value.sql(dialect='bigquery')} is TRUE or FALSE: write it alone, or compare it with TRUE."
        if kind.kind == ARRAY:
            return "Use value IN UNNEST(array)."
    return "Convert one side with CAST."


def arithmetic(typer: Typer, node: exp.Expr, left: Type, right: Type) -> Type:
    """The type of `+ - * /`, with a problem when the operands do not go together."""
    sign = _SIGNS[type(node).__name__]
    if left.unknown or right.unknown:
        return UNKNOWN
    kinds = (left.kind, right.kind)
    if "NULL" in kinds:
        return right if left.kind == "NULL" else left
    if left.numeric and right.numeric:
        both = common(left, right) or UNKNOWN
        return FLOAT64 if sign == "/" and both.kind == "INT64" else both
    if sign in "+-":
        if left.kind == "DATE" and right.kind == "INT64":
            return left
        if sign == "+" and left.kind == "INT64" and right.kind == "DATE":
            return right
        if left.kind in _TIMES and right.kind == "INTERVAL":
            return UNKNOWN
        if sign == "+" and left.kind == "INTERVAL" and right.kind in _TIMES:
            return UNKNOWN
        if sign == "-" and left.kind in _TIMES and left == right:
            return Type("INTERVAL")
        if left.kind == right.kind == "INTERVAL":
            return left
    elif "INTERVAL" in kinds and "INT64" in kinds and (sign == "*" or right.kind == "INT64"):
        return Type("INTERVAL")
    hint = (
        "Use || or CONCAT to join texts."
        if "STRING" in kinds and sign == "+"
        else "Convert the operand with SAFE_CAST."
    )
    if "BOOL" in kinds:
        hint = "Use COUNTIF(condition), or IF(condition, 1, 0)."
    typer.context.problem_at(node, "type-mismatch", f"{sign} does not take {left} and {right}.", hint)
    return UNKNOWN


def concatenation(typer: Typer, node: exp.Expr, left: Type, right: Type) -> Type:
    """The type of `||`."""
    if isinstance(node.this, exp.Null) or isinstance(node.expression, exp.Null):
        typer.context.problem_at(node, "concat-null", "|| with NULL is always NULL.", "Drop it.")
    if ARRAY in (left.kind, right.kind) and not (left.unknown or right.unknown or "NULL" in (left.kind, right.kind)):
        both = common(left, right)
        if both is None:
            typer.context.problem_at(
                node, "type-mismatch", f"|| does not join {left} and {right}.", "Use ARRAY_CONCAT with arrays."
            )
            return UNKNOWN
        return both
    if STRUCT in (left.kind, right.kind):
        typer.context.problem_at(node, "type-mismatch", f"|| does not join {left} and {right}.")
    return left if left.kind in ("BYTES", ARRAY) else UNKNOWN if left.unknown or right.unknown else STRING


def together(typer: Typer, nodes: list[exp.Expr], kinds: list[Type], what: str) -> Type:
    """The common type of several values, with a problem when they have none."""
    result = Type("NULL")
    literal = True
    for node, kind in zip(nodes, kinds, strict=True):
        merged = common(result, kind, literal, is_literal(node))
        if merged is None:
            typer.context.problem_at(
                node,
                "type-mismatch",
                f"In {what}, {kind} does not go with {result}.",
                "Give all the same type, with CAST where needed.",
            )
            return UNKNOWN
        literal = literal and is_literal(node)
        result = merged
    for node in nodes:
        check_literal(typer, node, result)
    return result
