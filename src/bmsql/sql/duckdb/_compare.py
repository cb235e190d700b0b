"""Comparisons: NaN, rows of fields, arrays and types that BigQuery does not compare."""

from __future__ import annotations

from typing import cast

from sqlglot import exp

from bmsql.sql.duckdb._kinds import NAMES, kind, require_same, source, unsupported
from bmsql.sql.duckdb._template import template, verbatim


def bare(node: exp.Expr) -> exp.Expr:
    """A node without the parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def may_be_nan(node: exp.Expr) -> bool:
    """Whether a value can be NaN: a FLOAT64 that is not a literal."""
    inner = bare(node)
    inner = bare(inner.this) if isinstance(inner, exp.Neg) else inner
    return kind(node) == "F" and not isinstance(inner, exp.Literal)


def compare(node: exp.Expr) -> exp.Expr:
    """BigQuery: every comparison with NaN is false, save `!=`. DuckDB: NaN equals itself and is greatest."""
    left, right = node.this, node.expression
    mine, theirs = _fields(left), _fields(right)
    if mine is not None and theirs is not None:
        return _compare_rows(node, mine, theirs)
    for side in (left, right):
        if kind(side) in "ARJV":
            raise unsupported(f"DuckDB compares {NAMES[kind(side)]} values otherwise than BigQuery: {source(node)}")
    require_same((left, right), f"operator {_SYMBOL[type(node)]}")
    return _nan_safe(node, left, right)


_SYMBOL: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
}


def _nan_safe(node: exp.Expr, left: exp.Expr, right: exp.Expr) -> exp.Expr:
    symbol = _SYMBOL[type(node)]
    nans = (may_be_nan(left), may_be_nan(right))
    # One guarded side is enough for = and !=; for the others, the side on which a NaN would win.
    if symbol in ("=", "!="):
        guarded = "l" if all(nans) else ""
    else:
        guarded = "l" if symbol in (">", ">=") else "r"
        if symbol in (">=", "<=") and all(nans):
            guarded = "l" if symbol == ">=" else "r"
        guarded = guarded if nans["lr".index(guarded)] else ""
    if not guarded:
        return node
    if symbol == "!=":
        return template("CASE WHEN isnan({l}) AND {r} IS NOT NULL THEN TRUE ELSE {l} <> {r} END", "O", l=left, r=right)
    other = right if guarded == "l" else left
    if isinstance(bare(other), exp.Literal) or _only_filters(node):
        return template(f"({{l!r}} {symbol} {{r!r}} AND NOT isnan({{{guarded}}}))", "O", l=left, r=right)
    # With a NULL on the other side the comparison stays NULL.
    null = "r" if guarded == "l" else "l"
    return template(
        f"({{l!r}} {symbol} {{r!r}} AND (NOT isnan({{{guarded}}}) OR {{{null}}} IS NULL))", "O", l=left, r=right
    )


def _only_filters(node: exp.Expr) -> bool:
    """Whether a condition only keeps rows, so that NULL and FALSE are one."""
    parent = node.parent
    while isinstance(parent, (exp.And, exp.Paren)):
        parent = parent.parent
    return isinstance(parent, (exp.Where, exp.Having, exp.Qualify, exp.Join))


def _fields(node: exp.Expr) -> list[exp.Expr] | None:
    node = bare(node)
    values = node.args.get("fields")
    if values is None and isinstance(node, exp.Tuple):
        values = node.expressions
    return cast("list[exp.Expr] | None", values)


def _compare_rows(node: exp.Expr, left: list[exp.Expr], right: list[exp.Expr]) -> exp.Expr:
    """`(a, b) = (c, d)` field by field: DuckDB's own treats a NULL field as a value."""
    if len(left) != len(right) or not isinstance(node, (exp.EQ, exp.NEQ)):
        raise unsupported(f"DuckDB compares STRUCT values otherwise than BigQuery: {source(node)}")
    parts = [compare(typed(exp.EQ(this=a.copy(), expression=b.copy()))) for a, b in zip(left, right, strict=True)]
    both = exp.paren(exp.and_(*parts, copy=False), copy=False)
    return exp.Not(this=both) if isinstance(node, exp.NEQ) else both


def typed(node: exp.Expr) -> exp.Expr:
    """A new condition with its type."""
    node.type = exp.DataType(this=exp.DType.BOOLEAN)
    return node


def between(node: exp.Expr) -> exp.Expr:
    """A NaN upper bound is above everything in DuckDB."""
    require_same((node.this, node.args["low"], node.args["high"]), "BETWEEN")
    if kind(node.this) == "F" and may_be_nan(node.args["high"]):
        return template(
            "({x} >= {l} AND {x} <= {h} AND (NOT isnan({h}) OR {x} IS NULL))",
            "O",
            x=node.this,
            l=node.args["low"],
            h=node.args["high"],
        )
    return node


def in_(node: exp.Expr) -> exp.Expr:
    """`x IN (...)`, `x IN UNNEST(array)`, `x IN (SELECT ...)`."""
    this, values = node.this, node.expressions
    fields = _fields(this)
    if fields is not None:
        rows = [_fields(value) for value in values]
        if not rows or any(row is None for row in rows):
            raise unsupported(f"DuckDB compares STRUCT values otherwise than BigQuery: {source(node)}")
        parts = [_compare_rows(exp.EQ(), fields, row) for row in rows if row is not None]
        return exp.paren(exp.or_(*parts, copy=False), copy=False)
    if kind(this) in "ARJV":
        raise unsupported(f"DuckDB compares {NAMES[kind(this)]} values otherwise than BigQuery: {source(node)}")
    unnest = node.args.get("unnest")
    if unnest is not None:
        return _in_array(node, this, unnest.expressions[0])
    require_same((this, *values), "IN")
    if kind(this) == "F" and any(may_be_nan(value) for value in values):
        parts = [compare(typed(exp.EQ(this=this.copy(), expression=value))) for value in values]
        return exp.paren(exp.or_(*parts, copy=False), copy=False)
    if kind(this) == "F" and node.args.get("query") is not None:
        return verbatim("({n} AND NOT isnan({x}))", "O", n=exp.paren(node, copy=False), x=this.copy())
    return node


def _in_array(node: exp.Expr, this: exp.Expr, array: exp.Expr) -> exp.Expr:
    """An empty or NULL array gives FALSE, and a NULL among the elements makes a miss NULL."""
    if kind(this) == "F" and may_be_nan(this):
        raise unsupported(f"DuckDB finds NaN in an array, BigQuery does not: {source(node)}")
    literal = isinstance(this, exp.Literal)
    if literal and (array.args.get("never_null") or _all_literals(array)):
        return template("COALESCE(list_contains({a}, {x!r}), FALSE)", "O", a=array, x=this)
    return template(
        "CASE WHEN {a} IS NULL OR len({a}) = 0 THEN FALSE WHEN list_contains({a}, {x}) THEN TRUE "
        "WHEN {x} IS NULL OR len({a}) <> list_count({a}) THEN NULL ELSE FALSE END",
        "O", a=array, x=this,
    )  # fmt: skip


def _all_literals(array: exp.Expr) -> bool:
    return isinstance(array, exp.Array) and all(isinstance(item, exp.Literal) for item in array.expressions)


def distinct_from(node: exp.Expr) -> exp.Expr:
    """IS DISTINCT FROM agrees for scalars, NaN included."""
    if {kind(node.this), kind(node.expression)} & set("ARJV"):
        raise unsupported(f"DuckDB compares nested values otherwise than BigQuery: {source(node)}")
    require_same((node.this, node.expression), "IS DISTINCT FROM")
    return node


RULES = (
    *((operator, compare) for operator in _SYMBOL),
    (exp.Between, between),
    (exp.In, in_),
    (exp.NullSafeEQ, distinct_from),
    (exp.NullSafeNEQ, distinct_from),
)
