"""Reading single conditions out of a syntax tree: which column they speak of, and what they keep."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from bmsql.conventions._values import Kept
from bmsql.types import Scalar

_FLIPPED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
}
_ARITHMETIC: dict[type[exp.Expr], Callable[[float, float], float]] = {
    exp.Add: lambda a, b: a + b,
    exp.Sub: lambda a, b: a - b,
    exp.Mul: lambda a, b: a * b,
    exp.Div: lambda a, b: a / b,
    exp.Pow: lambda a, b: a**b,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """A condition on one column.

    subject: what stands compared, the column with the casts or the MIN or MAX (`extreme`) around it.
    """

    column: exp.Column
    kept: Kept
    subject: exp.Expr
    extreme: str = ""


def read_condition(node: exp.Expr) -> Reading | None:
    """The condition on one column that `node` is, or None where it is anything else."""
    node = bare(node)
    if isinstance(node, exp.Not):
        inner = read_condition(node.this)
        negated = inner.kept.negated() if inner else None
        return Reading(inner.column, negated, inner.subject, inner.extreme) if inner and negated else None
    if isinstance(node, exp.Column):
        return None if isinstance(node.this, exp.Star) else Reading(node, Kept(points=frozenset({True})), node)
    if type(node) in _FLIPPED:
        return _comparison(node)
    if isinstance(node, exp.Between):
        return _between(node)
    if isinstance(node, exp.In):
        return _in_list(node)
    if isinstance(node, exp.Is) and isinstance(node.expression, exp.Boolean):
        return _reading(node.this, Kept(points=frozenset({bool(node.expression.this)})))
    return None


def _reading(side: exp.Expr, kept: Kept | None) -> Reading | None:
    subject = _subject(side)
    return Reading(subject[0], kept, bare(side), subject[1]) if subject and kept else None


def bare(node: exp.Expr) -> exp.Expr:
    """`node` without parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def constant(node: exp.Expr) -> Scalar | None:
    """The value of a constant expression (literals, signs, arithmetic, POW, LOG10, casts), or None."""
    node = bare(node)
    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else _to_number(node.this)
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Cast | exp.TryCast):
        value = constant(node.this)
        return _to_number(value) if isinstance(value, str) and node.to.this in exp.DataType.NUMERIC_TYPES else value
    if isinstance(node, exp.Neg):
        value = _numeric(node.this)
        return -value if value is not None else None
    return _computed(node)


def _computed(node: exp.Expr) -> float | None:
    if isinstance(node, exp.Log) and node.expression is not None:
        base, value = _numeric(node.this), _numeric(node.expression)
        if base is not None and value is not None and base > 0 and value > 0 and base != 1:
            return math.log10(value) / math.log10(base)
        return None
    if type(node) in _ARITHMETIC:
        left, right = _numeric(node.this), _numeric(node.expression)
        if left is not None and right is not None:
            try:
                # 0.05 / 1000000 is 5.0000000000000004e-08 in binary, and means 5e-8.
                return float(f"{_ARITHMETIC[type(node)](left, right):.12g}")
            except (ArithmeticError, TypeError, ValueError):
                return None
    return None


def _to_number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None


def _numeric(node: exp.Expr) -> float | None:
    value = constant(node)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _subject(node: exp.Expr) -> tuple[exp.Column, str] | None:
    """The column under casts and parentheses, with MIN or MAX if it is inside one."""
    extreme = ""
    while True:
        node = bare(node)
        if isinstance(node, exp.Cast | exp.TryCast):
            node = node.this
        elif isinstance(node, exp.Min | exp.Max) and not extreme and not node.expressions:
            extreme, node = ("MIN" if isinstance(node, exp.Min) else "MAX"), node.this
        else:
            return (node, extreme) if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star) else None


def _comparison(node: exp.Expr) -> Reading | None:
    straight, flipped = type(node), _FLIPPED[type(node)]
    for side, other, kind in ((node.this, node.expression, straight), (node.expression, node.this, flipped)):
        if _subject(side):
            if isinstance(bare(other), exp.Parameter | exp.Placeholder):
                kept = _kept(kind, 0.0)
                return _reading(side, replace(kept, form="parameter") if kept else None)
            value = constant(other)
            return _reading(side, _kept(kind, value) if value is not None else None)
        logged = _logged(side)
        if logged:
            return _log_comparison(logged, kind, constant(other))
    return None


def _kept(kind: type[exp.Expr], value: Scalar) -> Kept | None:
    if kind is exp.EQ:
        return Kept(points=frozenset({value}))
    if kind is exp.NEQ:
        return Kept(points=frozenset({not value})) if isinstance(value, bool) else Kept(excluded=frozenset({value}))
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if kind in {exp.LT, exp.LTE}:
        return Kept(high=float(value), high_in=kind is exp.LTE)
    return Kept(low=float(value), low_in=kind is exp.GTE)


@dataclass(frozen=True, slots=True)
class _Logged:
    column: exp.Column
    negative: bool
    base: float


def _logged(node: exp.Expr) -> _Logged | None:
    """The column of `LOG10(column)`, `-LOG10(column)` or `LN(column)`; under SAFE. too."""
    node, negative = bare(node), False
    if isinstance(node, exp.Neg):
        node, negative = bare(node.this), True
    elif isinstance(node, exp.Mul) and (-1.0 in (constant(node.this), constant(node.expression))):
        factor_first = constant(node.this) == -1.0
        node, negative = bare(node.expression if factor_first else node.this), True
    if isinstance(node, exp.SafeFunc):
        node = node.this
    argument, base = _logarithm(node)
    subject = _subject(argument) if argument is not None else None
    return _Logged(subject[0], negative, base) if subject else None


def _logarithm(node: exp.Expr) -> tuple[exp.Expr | None, float]:
    """The argument and the base of a logarithm to base 10 or e."""
    if isinstance(node, exp.Log) and node.expression is not None and constant(node.this) == 10:
        return node.expression, 10.0
    if isinstance(node, exp.Ln) or (isinstance(node, exp.Log) and node.expression is None):
        return node.this, math.e
    return None, 10.0


def _log_comparison(logged: _Logged, kind: type[exp.Expr], value: Scalar | None) -> Reading | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or kind in {exp.EQ, exp.NEQ}:
        return None
    try:
        bound = logged.base ** (-value if logged.negative else value)
    except OverflowError:
        return None
    kept = _kept(_FLIPPED[kind] if logged.negative else kind, bound)
    return Reading(logged.column, replace(kept, form="log"), logged.column) if kept else None


def _between(node: exp.Between) -> Reading | None:
    low, high = constant(node.args["low"]), constant(node.args["high"])
    if isinstance(low, int | float) and isinstance(high, int | float):
        return _reading(node.this, Kept(low=float(low), high=float(high), low_in=True, high_in=True, form="between"))
    return None


def _in_list(node: exp.In) -> Reading | None:
    values = [constant(item) for item in node.expressions]
    if not values or any(value is None for value in values) or node.args.get("query"):
        return None
    return _reading(node.this, Kept(points=frozenset(value for value in values if value is not None)))
