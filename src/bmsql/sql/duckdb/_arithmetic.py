"""Arithmetic: what overflows is an error, dates count days, NUMERIC keeps nine decimals."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql.duckdb._compare import bare
from bmsql.sql.duckdb._kinds import NAMES, kind, source, unsupported
from bmsql.sql.duckdb._template import template, verbatim

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div)


def arithmetic(node: exp.Expr) -> exp.Expr:
    """`+ - * /` on numbers, dates and intervals; a FLOAT64 result that overflows is an error."""
    left, right = kind(node.this), kind(node.expression)
    pair = left + right
    minus = isinstance(node, exp.Sub)
    if isinstance(node, (exp.Add, exp.Sub)):
        sign = "-" if minus else "+"
        if pair == "DI" or (pair == "ID" and not minus):
            date, days = (node.this, node.expression) if left == "D" else (node.expression, node.this)
            return template(f"({{d}} {sign} CAST({{n!r}} AS INTEGER))", "D", d=date, n=days)
        if left in "DXT" and right == "V":
            return template(f"({{d}} {sign} {{v}})", "T" if left == "T" else "X", d=node.this, v=node.expression)
    if set(pair) - set("IFN0?"):
        raise unsupported(
            f"DuckDB is not known to compute {source(node)} ({NAMES[left]}, {NAMES[right]}) as BigQuery does"
        )
    floats = [side for side in (node.this, node.expression) if kind(side) == "F"]
    # BigQuery reads a decimal literal beside a NUMERIC as NUMERIC.
    if "N" in pair and all(isinstance(bare(side), exp.Literal) for side in floats):
        return _numeric(node)
    if kind(node) != "F" or _parent_arithmetic(node):
        return node
    return _overflow_checked(node)


def _numeric(node: exp.Expr) -> exp.Expr:
    """NUMERIC keeps 9 decimals, halves away from zero; DuckDB divides decimals as DOUBLE, so integers are divided."""
    if isinstance(node, exp.Div):
        scaled = "CAST(CAST({%s} AS DECIMAL(38, 9)) * CAST(1000000000 AS DECIMAL(10, 0)) AS HUGEINT)"
        a, b = scaled % "l", scaled % "r"
        quotient = f"((2 * abs({a}) * 1000000000 + abs({b})) // (2 * abs({b})))"
        sign = f"CASE WHEN ({a} < 0) <> ({b} < 0) THEN -1 ELSE 1 END"
        digits = f"CAST({quotient} * {sign} AS DECIMAL(38, 0)) * CAST('0.000000001' AS DECIMAL(9, 9))"
        return template(f"CAST({digits} AS DECIMAL(38, 9))", "N", l=node.this, r=node.expression)
    symbol = "+" if isinstance(node, exp.Add) else "-" if isinstance(node, exp.Sub) else "*"
    number = "CAST({%s} AS DECIMAL(38, 9))"
    text = f"CAST({number % 'l'} {symbol} {number % 'r'} AS DECIMAL(38, 9))"
    return template(text, "N", l=node.this, r=node.expression)


def _parent_arithmetic(node: exp.Expr) -> bool:
    parent = node.parent
    while isinstance(parent, (exp.Paren, exp.Neg)):
        parent = parent.parent
    return isinstance(parent, _ARITHMETIC)


def _overflow_checked(node: exp.Expr) -> exp.Expr:
    """An infinite result of finite operands is an error in BigQuery; checked where one can arise."""
    leaves: list[exp.Expr] = []
    if not _can_overflow(node, leaves):
        return node
    values = [leaf for leaf in leaves if not isinstance(leaf, exp.Literal)]
    if not values:
        return verbatim("CASE WHEN isinf({x}) THEN {fail:double overflow} ELSE {x} END", "F", x=node)
    finite = " AND ".join(f"NOT isinf(CAST({{v{i}}} AS DOUBLE))" for i in range(len(values)))
    operands = {f"v{i}": value.copy() for i, value in enumerate(values)}
    return verbatim(
        f"CASE WHEN isinf({{x}}) AND {finite} THEN {{fail:double overflow}} ELSE {{x}} END", "F", x=node, **operands
    )


def _can_overflow(node: exp.Expr, leaves: list[exp.Expr]) -> bool:
    node = bare(node)
    if isinstance(node, exp.Neg):
        return _can_overflow(node.this, leaves)
    if not isinstance(node, _ARITHMETIC):
        leaves.append(node)
        return False
    inner = [_can_overflow(side, leaves) for side in (node.this, node.expression)]
    if any(inner) or kind(node) != "F":
        return any(inner)
    left, right = _size(node.this), _size(node.expression)
    if isinstance(node, exp.Mul):
        return left > 1 and right > 1 and left * right > 1e300
    if isinstance(node, exp.Div):
        divisor = bare(node.expression)
        tiny = kind(divisor) == "F" and not (isinstance(divisor, exp.Literal) and abs(float(divisor.this)) >= 1)
        return tiny and left > 0
    return min(left, right) > 1e290


def _size(node: exp.Expr) -> float:
    """An upper bound of a number's size."""
    node = bare(node)
    if isinstance(node, exp.Literal) and not node.is_string:
        return abs(float(node.this))
    return 1e19 if kind(node) == "I" else 1.8e308


def negate(node: exp.Expr) -> exp.Expr:
    """A negated integer literal is one literal: 9223372036854775808 alone is no INT64."""
    if isinstance(node.this, exp.Literal) and not node.this.is_string and not str(node.this.this).startswith("-"):
        return exp.Literal(this=f"-{node.this.this}", is_string=False)
    if isinstance(bare(node.this), exp.Literal) and kind(node.this) == "I":
        # DuckDB makes -(-9223372036854775808) a HUGEINT.
        return template("(0 - {x})", "I", x=node.this)
    if kind(node.this) not in "IFN?0":
        raise unsupported(f"DuckDB is not known to compute {source(node)} as BigQuery does")
    return node


RULES = (*((operator, arithmetic) for operator in _ARITHMETIC), (exp.Neg, negate))
