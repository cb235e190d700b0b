"""Aggregates, window functions, and the order in which values sort."""

from __future__ import annotations

from sqlglot import exp

from bmsql.errors import InvalidSqlError
from bmsql.sql.duckdb._compare import may_be_nan
from bmsql.sql.duckdb._kinds import NAMES, TYPES, kind, source, unsupported
from bmsql.sql.duckdb._strings import number
from bmsql.sql.duckdb._template import Template, aggregate, template, verbatim


def _in_window(node: exp.Expr) -> bool:
    parent = node.parent
    while isinstance(parent, (exp.IgnoreNulls, exp.RespectNulls)):
        parent = parent.parent
    return isinstance(parent, exp.Window)


def count(node: exp.Expr) -> exp.Expr:
    """COUNT of one expression."""
    if node.expressions or (isinstance(node.this, exp.Distinct) and len(node.this.expressions) != 1):
        raise unsupported("COUNT takes one expression", "Use COUNT(DISTINCT CONCAT(...)).")
    if kind(node.this) == "R":
        raise unsupported("COUNT of a STRUCT is not translated")
    return node


def count_if(node: exp.Expr) -> exp.Expr:
    """COUNTIF of no rows is 0."""
    this = node.this
    distinct = "DISTINCT " if isinstance(this, exp.Distinct) else ""
    condition = this.expressions[0] if isinstance(this, exp.Distinct) else this
    return aggregate(f"count({distinct}CASE WHEN {{c}} THEN 1 END)", "I", c=condition)


def sum_(node: exp.Expr) -> exp.Expr:
    """SUM of INT64 is INT64, and overflows."""
    letter = kind(node.this)
    if letter not in "IFN?0":
        raise InvalidSqlError(f"BigQuery has no SUM of {NAMES[letter]}.", remedy="Use COUNTIF for a BOOL, or CAST.")
    if letter == "I" and not _in_window(node):
        return aggregate("CAST(sum({x}) AS BIGINT)", "I", x=node.this)
    if letter == "N" and not _in_window(node):
        return aggregate("CAST(sum({x}) AS DECIMAL(38, 9))", "N", x=node.this)
    return aggregate("sum({x})", letter if letter in "IFN" else "", x=node.this)


def extreme(node: exp.Expr) -> exp.Expr:
    """MIN and MAX: NaN wins both in BigQuery; in DuckDB it is the greatest."""
    letter = kind(node.this)
    name = "max" if isinstance(node, exp.Max) else "min"
    if letter in "ARJ":
        raise InvalidSqlError(f"BigQuery has no {name.upper()} of {NAMES[letter]}.")
    if name == "min" and may_be_nan(node.this) and not isinstance(node.this, exp.Distinct):
        made = aggregate("max(-{x})" if _in_window(node) else "(-max(-{x}))", "F", x=node.this)
        made.args["negated"] = _in_window(node)
        return made
    return aggregate(f"{name}({{x}})", letter if letter in TYPES else "", x=node.this)


def arg_min(node: exp.Expr) -> exp.Expr:
    """MIN_BY: of a FLOAT64 key, NaN is the least."""
    if may_be_nan(node.expression):
        return aggregate("arg_max_null({x}, -{y})", x=node.this, y=node.expression)
    return aggregate("arg_min_null({x}, {y})", x=node.this, y=node.expression)


def any_value(node: exp.Expr) -> exp.Expr | None:
    """ANY_VALUE(x HAVING MAX y) is MAX_BY(x, y)."""
    having = node.this
    if not isinstance(having, exp.HavingMax):
        return None
    by = exp.ArgMax if having.args.get("max") else exp.ArgMin
    made = by(this=having.this, expression=having.expression)
    return (
        arg_min(made) if by is exp.ArgMin else aggregate("arg_max_null({x}, {y})", x=having.this, y=having.expression)
    )


def _modifiers(node: exp.Expr) -> tuple[exp.Expr, exp.Expr | None, exp.Order | None, exp.Distinct | None]:
    """The value, LIMIT, ORDER BY and DISTINCT inside an aggregate's argument."""
    this = node.this
    limit = order = distinct = None
    if isinstance(this, exp.Limit):
        this, limit = this.this, this.expression
    if isinstance(this, exp.Order):
        this, order = this.this, this
    if isinstance(this, exp.Distinct):
        this, distinct = this.expressions[0], this
    return this, limit, order, distinct


def _ordered(order: exp.Order | None, *, distinct: bool) -> list[exp.Expr]:
    if order is None:
        return []
    keys = list(order.expressions)
    # DISTINCT wants to be ordered by its own value alone.
    return [key for key in keys if not key.args.get("nan_key")] if distinct else keys


def _order_text(keys: list[exp.Expr]) -> tuple[str, dict[str, exp.Expr]]:
    operands = {f"k{i}": key for i, key in enumerate(keys)}
    return (" ORDER BY " + ", ".join(f"{{{name}}}" for name in operands) if keys else ""), operands


def array_agg(node: exp.Expr) -> exp.Expr:
    """ARRAY_AGG with DISTINCT, ORDER BY and LIMIT; IGNORE NULLS stands around it."""
    value, limit, order, distinct = _modifiers(node)
    text, keys = _order_text(_ordered(order, distinct=distinct is not None))
    word = "DISTINCT " if distinct is not None else ""
    made = aggregate(f"list({word}{{x}}{text})", x=value, **keys)
    if limit is not None:
        size = number(limit)
        if not size or _in_window(node):
            raise unsupported("ARRAY_AGG's LIMIT must be a literal of at least 1")
        made.args["limit"] = size
    return _limited(made) if not isinstance(node.parent, exp.IgnoreNulls) else made


def _limited(made: Template) -> Template:
    size = made.args.get("limit")
    if size is not None:
        made.set("text", f"({made.args['text']})[1:{size}]")
    return made


def ignore_nulls(node: exp.Expr) -> exp.Expr:
    """IGNORE NULLS of ARRAY_AGG as a filter; of window functions as it is."""
    inner = node.this
    if isinstance(inner, Template):
        text = inner.args["text"]
        if text.startswith("list("):
            inner.set("text", f"{text} FILTER (WHERE {{x}} IS NOT NULL)")
            inner.args["never_null"] = True
            return _limited(inner)
        if text.startswith(("quantile_", "any_value(")):
            return inner
    if isinstance(inner, (exp.FirstValue, exp.LastValue, exp.NthValue, exp.Lag, exp.Lead)):
        return node
    raise unsupported(f"IGNORE NULLS is not translated here: {source(node)}")


def respect_nulls(node: exp.Expr) -> exp.Expr:
    """RESPECT NULLS is the default of what takes it, save of the percentiles."""
    inner = node.this
    if isinstance(inner, (exp.FirstValue, exp.LastValue, exp.NthValue)):
        return inner
    if isinstance(inner, Template) and "list(" in inner.args["text"]:
        return inner
    raise unsupported(f"RESPECT NULLS is not translated here: {source(node)}")


def string_agg(node: exp.Expr) -> exp.Expr:
    """STRING_AGG with DISTINCT, ORDER BY and LIMIT."""
    value, limit, order, distinct = _modifiers(node)
    if kind(value) not in "S?0":
        raise unsupported(f"STRING_AGG is translated for STRING only: {source(node)}", "CAST to STRING.")
    separator = node.args.get("separator") or exp.Literal.string(",")
    text, keys = _order_text(_ordered(order, distinct=distinct is not None))
    word = "DISTINCT " if distinct is not None else ""
    if limit is None:
        return aggregate(f"string_agg({word}{{x}}, {{s}}{text})", "S", x=value, s=separator, **keys)
    size = number(limit)
    if not size or _in_window(node):
        raise unsupported("STRING_AGG's LIMIT must be a literal of at least 1")
    listed = f"(list({word}{{x}}{text}) FILTER (WHERE {{x}} IS NOT NULL))[1:{size}]"
    return aggregate(f"array_to_string({listed}, {{s}})", "S", x=value, s=separator, **keys)


def corr(node: exp.Expr) -> exp.Expr:
    """CORR of one pair is NULL."""
    if _in_window(node) or {kind(node.this), kind(node.expression)} - set("IF"):
        raise unsupported(f"{source(node)} is not translated")
    text = "CASE WHEN regr_count({x}, {y}) > 1 THEN corr({x}, {y}) END"
    return aggregate(text, "F", x=node.this, y=node.expression)


def approx_quantiles(node: exp.Expr) -> exp.Expr:
    """APPROX_QUANTILES, exact."""
    size = number(node.expression)
    if size is None or size < 1 or size > 1000 or isinstance(node.this, exp.Distinct):
        raise unsupported("APPROX_QUANTILES is translated for a literal number only")
    points = ", ".join(f"{i / size!r}e0" if "e" not in repr(i / size) else repr(i / size) for i in range(size + 1))
    return aggregate(f"quantile_disc({{x}}, [{points}])", x=node.this)


def approx_top(node: exp.Expr) -> exp.Expr:
    """APPROX_TOP_COUNT, exact: the commonest values first, NULL among them."""
    size = number(node.expression)
    if size is None or kind(node.this) not in "SID":
        raise unsupported("APPROX_TOP_COUNT is translated for STRING, INT64 and DATE and a literal number only")
    pairs = (
        "list_transform(map_entries(histogram({x})), lambda e: struct_pack(c := CAST(e.value AS BIGINT), v := e.key))"
    )
    nulls = "CASE WHEN count(*) > count({x}) THEN [struct_pack(c := count(*) - count({x}), v := NULL)] ELSE [] END"
    named = 'lambda e: struct_pack("value" := e.v, "count" := e.c)'
    text = f"list_transform(list_sort(list_concat({pairs}, {nulls}), 'DESC'), {named})[1:{size}]"
    return aggregate(text, x=node.this)


def percentile(node: exp.Expr) -> exp.Expr:
    """PERCENTILE_CONT and PERCENTILE_DISC over a window."""
    name = "quantile_cont" if isinstance(node, exp.PercentileCont) else "quantile_disc"
    at = node.expression
    if not isinstance(at, exp.Literal) or kind(node.this) not in "IF":
        raise unsupported(f"{source(node)} is translated for a number and a literal percentile only")
    value = "CAST({x} AS DOUBLE)" if name == "quantile_cont" else "{x}"
    return aggregate(
        f"{name}({value}, {float(at.this)!r}e0)", "F" if name == "quantile_cont" else kind(node.this), x=node.this
    )


def window(node: exp.Expr) -> exp.Expr:
    """The window around an aggregate: its sum overflows too, its MIN is negated back."""
    inner = node.this
    spec = node.args.get("spec")
    if (
        spec is not None
        and spec.args.get("kind") == "RANGE"
        and any(isinstance(spec.args.get(k), exp.Expr) for k in ("start", "end"))
    ):
        order = node.args.get("order")
        if order is not None:
            order.set("expressions", [key for key in order.expressions if not key.args.get("nan_key")])
    if isinstance(inner, Template):
        if inner.args.get("negated"):
            return verbatim("(-{w})", "F", w=node)
        if inner.args["text"] == "sum({x})" and kind(inner) == "I":
            return verbatim("CAST({w} AS BIGINT)", "I", w=node)
        if not inner.args.get("aggregate"):
            raise unsupported(f"{source(node)} is not translated as a window function")
    return node


def order(node: exp.Expr) -> exp.Expr:
    """NULL, then NaN, then the numbers: a FLOAT64 key gets a key for NaN before it."""
    keys: list[exp.Expr] = []
    for key in node.expressions:
        descending = bool(key.args.get("desc"))
        if key.args.get("nulls_first") is None:
            key.set("nulls_first", not descending)
        if kind(key.this) in "ARJ":
            raise unsupported(f"BigQuery does not order by {NAMES[kind(key.this)]}")
        if may_be_nan(key.this):
            nan = template("isnan({x})", "O", x=key.this.copy())
            extra = exp.Ordered(this=nan, desc=not descending, nulls_first=bool(key.args.get("nulls_first")))
            extra.args["nan_key"] = True
            keys.append(extra)
        keys.append(key)
    node.set("expressions", keys)
    return node


RULES = (
    (exp.Count, count), (exp.CountIf, count_if), (exp.Sum, sum_), (exp.Min, extreme), (exp.Max, extreme),
    (exp.ArgMin, arg_min), (exp.AnyValue, any_value), (exp.ArrayAgg, array_agg), (exp.IgnoreNulls, ignore_nulls),
    (exp.RespectNulls, respect_nulls), (exp.GroupConcat, string_agg), (exp.Corr, corr),
    (exp.ApproxQuantiles, approx_quantiles), (exp.ApproxTopK, approx_top), (exp.PercentileCont, percentile),
    (exp.PercentileDisc, percentile), (exp.Window, window), (exp.Order, order),
)  # fmt: skip
