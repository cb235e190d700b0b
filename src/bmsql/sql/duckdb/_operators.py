"""Operators: comparisons with NaN, arithmetic that overflows, LIKE, conditionals."""

from __future__ import annotations

from typing import cast

from sqlglot import exp

from bmsql.sql.duckdb._kinds import NAMES, is_string, kind, require_same, source, unsupported
from bmsql.sql.duckdb._template import template, verbatim

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div)


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


def like(node: exp.Expr) -> exp.Expr:
    """`\\` escapes in BigQuery's LIKE always, in DuckDB's only when told."""
    pattern = node.expression
    negated = bool(node.args.get("negate"))
    if isinstance(pattern, (exp.Any, exp.All)):
        inner = pattern.this
        patterns = inner.expressions if isinstance(inner, exp.Tuple) else [bare(inner)]
        if any(isinstance(p, (exp.Unnest, exp.Query, exp.Array)) or kind(p) not in "S0?" for p in patterns):
            raise unsupported(
                "LIKE ANY and LIKE ALL over an array or a subquery are not translated", "List the patterns."
            )
        parts = [_like(node.this if i == 0 else node.this.copy(), p, negated) for i, p in enumerate(patterns)]
        joined = exp.or_(*parts, copy=False) if isinstance(pattern, exp.Any) else exp.and_(*parts, copy=False)
        return exp.paren(joined, copy=False)
    require_strings(node, node.this, pattern)
    return _like(node.this, pattern, negated)


def _like(this: exp.Expr, pattern: exp.Expr, negated: bool) -> exp.Expr:
    word = "NOT LIKE" if negated else "LIKE"
    if is_string(pattern) and "\\" not in pattern.this:
        return template(f"({{x}} {word} {{p}})", "O", x=this, p=pattern)
    return template(f"({{x}} {word} {{p}} ESCAPE '\\')", "O", x=this, p=pattern)


def require_strings(node: exp.Expr, *operands: exp.Expr) -> None:
    """Refuse anything but STRING, where DuckDB would cast."""
    if any(kind(operand) not in "S0?" for operand in operands):
        raise unsupported(f"DuckDB is not known to compute {source(node)} as BigQuery does: it takes STRING only")


def nullif(node: exp.Expr) -> exp.Expr:
    """NULLIF of NaN and NaN is NaN."""
    require_same((node.this, node.expression), "NULLIF")
    if may_be_nan(node.this) and may_be_nan(node.expression):
        return template(
            "CASE WHEN {a} = {b} AND NOT isnan({a}) THEN NULL ELSE {a} END", "F", a=node.this, b=node.expression
        )
    return node


def coalesce(node: exp.Expr) -> exp.Expr:
    """COALESCE and IFNULL: one type throughout."""
    require_same((node.this, *node.expressions), "COALESCE")
    return node


def conditional(node: exp.Expr) -> exp.Expr:
    """IF as CASE."""
    if isinstance(node.parent, exp.Case) and node.arg_key == "ifs":
        return node
    false = node.args.get("false") or exp.Null()
    require_same((node.args["true"], false), "IF")
    return template("CASE WHEN {c} THEN {t} ELSE {f} END", c=node.this, t=node.args["true"], f=false)


def case(node: exp.Expr) -> exp.Expr:
    """CASE: one type throughout; `CASE x WHEN NaN` never matches."""
    default = node.args.get("default")
    results = [branch.args["true"] for branch in node.args["ifs"]]
    require_same([*results, default] if default is not None else results, "CASE")
    operand = node.this
    if operand is not None:
        require_same([operand, *(branch.this for branch in node.args["ifs"])], "CASE")
        if may_be_nan(operand) and any(may_be_nan(branch.this) for branch in node.args["ifs"]):
            raise unsupported("CASE over FLOAT64 expressions compares NaN otherwise", "Write CASE WHEN x = y.")
    return node


def extreme(node: exp.Expr) -> exp.Expr:
    """GREATEST and LEAST: NULL when any is NULL, NaN when any is NaN."""
    values = [node.this, *node.expressions]
    name = "greatest" if isinstance(node, exp.Greatest) else "least"
    require_same(values, name.upper())
    nulls = " OR ".join(f"{{v{i}}} IS NULL" for i in range(len(values)))
    sign = "-" if name == "least" and any(kind(value) == "F" for value in values) else ""
    inner = ", ".join(f"{sign}{{v{i}}}" for i in range(len(values)))
    call = f"(-greatest({inner}))" if sign else f"{name}({inner})"
    return template(f"CASE WHEN {nulls} THEN NULL ELSE {call} END", **{f"v{i}": v for i, v in enumerate(values)})


def concat(node: exp.Expr) -> exp.Expr:
    """`||` and CONCAT: strings, with other values as BigQuery casts them; bytes; arrays."""
    from bmsql.sql.duckdb._casts import to_string

    parts = node.expressions if isinstance(node, exp.Concat) else [node.this, node.expression]
    kinds = {kind(part) for part in parts}
    if "A" in kinds:
        nulls = " OR ".join(f"{{p{i}}} IS NULL" for i in range(len(parts)))
        joined = " || ".join(f"{{p{i}}}" for i in range(len(parts)))
        return template(f"CASE WHEN {nulls} THEN NULL ELSE {joined} END", **{f"p{i}": p for i, p in enumerate(parts)})
    if "B" not in kinds:
        parts = [part if kind(part) in "S0" else to_string(part) for part in parts]
    elif kinds - {"B", "0"}:
        raise unsupported(f"BigQuery does not concatenate BYTES with another type: {source(node)}")
    text = " || ".join(f"{{p{i}}}" for i in range(len(parts)))
    return template(f"({text})", "B" if "B" in kinds else "S", **{f"p{i}": p for i, p in enumerate(parts)})


def distinct_from(node: exp.Expr) -> exp.Expr:
    """IS DISTINCT FROM agrees for scalars, NaN included."""
    if {kind(node.this), kind(node.expression)} & set("ARJV"):
        raise unsupported(f"DuckDB compares nested values otherwise than BigQuery: {source(node)}")
    require_same((node.this, node.expression), "IS DISTINCT FROM")
    return node


RULES = (
    *((operator, compare) for operator in _SYMBOL),
    *((operator, arithmetic) for operator in _ARITHMETIC),
    (exp.Between, between), (exp.In, in_), (exp.Neg, negate), (exp.Like, like), (exp.Nullif, nullif),
    (exp.Coalesce, coalesce), (exp.If, conditional), (exp.Case, case), (exp.Greatest, extreme), (exp.Least, extreme),
    (exp.Concat, concat), (exp.DPipe, concat), (exp.NullSafeEQ, distinct_from), (exp.NullSafeNEQ, distinct_from),
)  # fmt: skip
