"""Arrays, structs and their elements."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql.duckdb._dates import interval, temporal
from bmsql.sql.duckdb._kinds import TYPES, element_kind, kind, require_same, source, unsupported
from bmsql.sql.duckdb._strings import int_literal, never_null, number
from bmsql.sql.duckdb._template import Template, template, verbatim

_OUTSIDE = "{fail:Array index is out of bounds}"


def array(node: exp.Expr) -> exp.Expr:
    """Array literals of one type, whose structs take the first one's field names; ARRAY(subquery)."""
    items = node.expressions
    if len(items) == 1 and isinstance(items[0], exp.Query):
        _keep_order(items[0])
        return verbatim("ARRAY({q})", q=items[0])
    require_same(items, "array")
    names = next((item.args["field_names"] for item in items if item.args.get("field_names")), None)
    if names:
        items = [_renamed(item, names) for item in items]
    if any(item.args.get("field_names", names) != names for item in items):
        raise unsupported(f"DuckDB unites structs by name, BigQuery by position: {source(node)}")
    node.set("expressions", items)
    return node


def _renamed(item: exp.Expr, names: tuple[str, ...]) -> exp.Expr:
    fields = item.expressions if isinstance(item, exp.Tuple) else item.args.get("fields")
    return item if fields is None or len(fields) != len(names) else struct_of(names, fields)


def _keep_order(query: exp.Expr) -> None:
    """ARRAY(SELECT x FROM UNNEST(a) AS x) keeps the order of a: DuckDB must be told."""
    if not isinstance(query, exp.Select) or any(query.args.get(k) for k in ("order", "group", "distinct", "joins")):
        return
    source_ = query.args["from_"].this if query.args.get("from_") else None
    if isinstance(source_, exp.Unnest) and not any(t.args.get("aggregate") for t in query.find_all(Template)):
        alias = source_.args["alias"]
        if not source_.args.get("offset"):
            source_.set("offset", True)
            alias.append("columns", exp.to_identifier("_o", quoted=True))
        column = exp.column(
            exp.to_identifier(alias.columns[1].name, quoted=True), table=exp.to_identifier(alias.name, quoted=True)
        )
        query.set("order", exp.Order(expressions=[exp.Ordered(this=column, nulls_first=True)]))


def struct_of(names: tuple[str, ...], fields: list[exp.Expr]) -> Template:
    """A struct with names, or a row where it has none."""
    if not any(names):
        made = template(
            f"row({', '.join(f'{{f{i}}}' for i in range(len(fields)))})", **{f"f{i}": f for i, f in enumerate(fields)}
        )
    else:
        named = [name or f"_field_{i + 1}" for i, name in enumerate(names)]
        quoted = ['"' + name.replace('"', '""').replace("{", "{{").replace("}", "}}") + '"' for name in named]
        pairs = ", ".join(f"{name} := {{f{i}}}" for i, name in enumerate(quoted))
        made = template(f"struct_pack({pairs})", **{f"f{i}": f for i, f in enumerate(fields)})
    made.args["field_names"] = tuple(names) if any(names) else ()
    made.args["fields"] = fields
    return made


def struct(node: exp.Expr) -> exp.Expr:
    """STRUCT(...): a field is named by its alias, or by its column."""
    names: list[str] = []
    fields: list[exp.Expr] = []
    for item in node.expressions:
        if isinstance(item, exp.PropertyEQ):
            names.append(str(item.this.meta.get("spelled") or item.this.name))
            fields.append(item.expression)
        else:
            names.append("")
            fields.append(item)
    return struct_of(tuple(names), fields)


def element(node: exp.Expr) -> exp.Expr:
    """`a[OFFSET(i)]` and its kin: out of range is an error, or NULL with SAFE_."""
    if kind(node.this) != "A" or len(node.expressions) != 1:
        raise unsupported(f"Only arrays are indexed: {source(node)}", "Use JSON_VALUE for JSON.")
    index = node.expressions[0]
    base = int(node.args.get("offset") or 0)
    safe = bool(node.args.get("safe"))
    known = number(index)
    letter = element_kind(node)
    if kind(index) not in "I0?":
        raise unsupported(f"An array is indexed with INT64: {source(node)}")
    if known is not None:
        at = known - base + 1
        inside = f"len({{a}}) >= {at}" if at >= 1 else "FALSE"
        got = f"({{a}})[{at}]"
        if safe:
            made = template(got, a=node.this) if at >= 1 else template("NULL")
        else:
            made = template(
                f"CASE WHEN {{a}} IS NULL THEN NULL WHEN {inside} THEN {got} ELSE {_OUTSIDE} END",
                a=node.this,
            )
    else:
        at_text = "{i!r}" if base else "{i!r} + 1"
        otherwise = "NULL" if safe else _OUTSIDE
        made = template(
            "CASE WHEN {a} IS NULL OR {i} IS NULL THEN NULL "
            f"WHEN {at_text} BETWEEN 1 AND len({{a}}) THEN ({{a}})[{at_text}] ELSE {otherwise} END",
            a=node.this,
            i=index,
        )
    if letter in TYPES:
        made.type = TYPES[letter]
    return made


def array_concat(node: exp.Expr) -> exp.Expr:
    """ARRAY_CONCAT: NULL when any is NULL."""
    parts = [node.this, *node.expressions]
    nulls = " OR ".join(f"{{p{i}}} IS NULL" for i in range(len(parts)))
    joined = " || ".join(f"{{p{i}}}" for i in range(len(parts)))
    return template(f"CASE WHEN {nulls} THEN NULL ELSE {joined} END", **{f"p{i}": p for i, p in enumerate(parts)})


def generate_array(node: exp.Expr) -> exp.Expr:
    """GENERATE_ARRAY of integers or floats; a step of 0 is an error."""
    start, end, step = node.args["start"], node.args["end"], node.args.get("step") or int_literal(1)
    kinds = {kind(start), kind(end), kind(step)} - {"0"}
    if kinds <= {"I"}:
        text = "CASE WHEN {s!r} = 0 THEN {fail:Sequence step cannot be 0} ELSE generate_series({a}, {b}, {s}) END"
    elif kinds <= {"I", "F"}:
        text = (
            "CASE WHEN {s} = 0 THEN {fail:Sequence step cannot be 0} "
            "WHEN {a} IS NULL OR {b} IS NULL OR {s} IS NULL THEN NULL "
            "ELSE list_transform(range(0, CAST(floor(({b} - {a}) / {s}) AS BIGINT) + 1), lambda i: {a} + i * {s}) END"
        )
    else:
        raise unsupported(f"{source(node)} is not translated")
    return never_null(template(text, a=start, b=end, s=step))


def generate_dates(node: exp.Expr) -> exp.Expr:
    """GENERATE_DATE_ARRAY and GENERATE_TIMESTAMP_ARRAY with a literal, non-zero step."""
    letter = "D" if isinstance(node, exp.GenerateDateArray) else "T"
    step = node.args.get("step")
    if not isinstance(step, Template):
        step = interval(exp.Interval(this=exp.Literal.string("1"), unit=exp.var("DAY")))
    amount = number(step.expressions[0])
    if not amount:
        raise unsupported(f"{source(node)} is translated for a literal step that is not 0 only")
    a, b = temporal(node.args["start"], letter)[0], temporal(node.args["end"], letter)[0]
    target = {"D": "DATE[]", "T": "TIMESTAMPTZ[]"}[letter]
    return never_null(template(f"CAST(generate_series({{a}}, {{b}}, {{s}}) AS {target})", a=a, b=b, s=step))


def range_bucket(node: exp.Expr) -> exp.Expr:
    """RANGE_BUCKET: how many bounds are at most x; the bounds ascend."""
    if kind(node.this) not in "IDS" or element_kind(node.expression) not in (kind(node.this), "?"):
        raise unsupported(f"{source(node)} is not translated")
    text = "CASE WHEN {x} IS NOT NULL THEN len(list_filter({a}, lambda e: e <= {x})) END"
    return template(text, "I", x=node.this, a=node.expression)


def dot(node: exp.Expr) -> exp.Expr:
    """Field access: of structs only."""
    if kind(node.this) == "J" or not isinstance(node.expression, exp.Identifier):
        raise unsupported(f"{source(node)} is not translated", "Use JSON_VALUE for JSON.")
    if isinstance(node.this, (exp.Column, exp.Dot)):
        return node
    field = node.expression.name.replace("'", "''").replace("{", "{{").replace("}", "}}")
    return template(f"struct_extract({{x}}, '{field}')", x=node.this)


RULES = (
    (exp.Array, array), (exp.Struct, struct), (exp.Bracket, element), (exp.ArrayConcat, array_concat),
    (exp.GenerateSeries, generate_array), (exp.GenerateDateArray, generate_dates),
    (exp.GenerateTimestampArray, generate_dates), (exp.Dot, dot), (exp.RangeBucket, range_bucket),
)  # fmt: skip
