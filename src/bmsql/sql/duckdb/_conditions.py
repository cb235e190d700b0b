"""LIKE, CONCAT, and the conditional expressions."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql.duckdb._casts import to_string
from bmsql.sql.duckdb._compare import bare, may_be_nan
from bmsql.sql.duckdb._kinds import is_string, kind, require_same, source, unsupported
from bmsql.sql.duckdb._template import template


def like(node: exp.Expr) -> exp.Expr:
    r"""`\` escapes in BigQuery's LIKE always, in DuckDB's only when told."""
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


RULES = (
    (exp.Like, like), (exp.Nullif, nullif), (exp.Coalesce, coalesce), (exp.If, conditional), (exp.Case, case),
    (exp.Greatest, extreme), (exp.Least, extreme), (exp.Concat, concat), (exp.DPipe, concat),
)  # fmt: skip
