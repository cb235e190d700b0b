"""JSON functions over texts and JSON values: a bad document gives NULL, not an error."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql.duckdb._kinds import element_kind, kind, source, unsupported
from bmsql.sql.duckdb._template import template


def _numbers_kept(got: str) -> str:
    """DuckDB rewrites numbers (1.50 as 1.5), BigQuery keeps their text: whether all of `got` stand in the document."""
    numbers = r"regexp_extract_all({0}, '-?[0-9]+[0-9.eE+\-]*')"
    return f"list_has_all({numbers.format('CAST({x} AS VARCHAR)')}, {numbers.format(got)})"


_REWRITTEN = "{fail:DuckDB would rewrite a number of this JSON}"


def path_text(node: exp.Expr | None) -> str:
    """A JSON path in DuckDB's syntax, as the inside of a literal in a template."""
    if node is None:
        return "$"
    if not isinstance(node, exp.JSONPath):
        raise unsupported("A JSON path is translated as a literal only")
    text = ""
    for item in node.expressions:
        if isinstance(item, exp.JSONPathRoot):
            text += "$"
        elif isinstance(item, exp.JSONPathKey) and isinstance(item.this, str) and '"' not in item.this:
            text += f'."{item.this}"'
        elif isinstance(item, exp.JSONPathSubscript) and isinstance(item.this, int) and item.this >= 0:
            text += f"[{item.this}]"
        else:
            raise unsupported("A JSON path is translated with keys and positions only")
    return text.replace("'", "''").replace("{", "{{").replace("}", "}}")


def _document(node: exp.Expr) -> exp.Expr:
    if kind(node.this) not in "SJ0":
        raise unsupported(f"JSON is read from STRING and JSON only: {source(node)}")
    document: exp.Expr = node.this
    return document


def scalar(node: exp.Expr) -> exp.Expr:
    """JSON_VALUE: the text of a scalar, NULL for the rest."""
    path = path_text(node.args.get("expression"))
    got = f"json_extract_string({{x}}, '{path}')"
    of_type = f"json_type({{x}}, '{path}')"
    return template(
        f"CASE WHEN NOT json_valid({{x}}) OR {of_type} IN ('OBJECT', 'ARRAY', 'NULL') THEN NULL "
        f"WHEN {of_type} = 'DOUBLE' AND NOT {_numbers_kept(got)} THEN {_REWRITTEN} ELSE {got} END",
        "S",
        x=_document(node),
    )


def query(node: exp.Expr) -> exp.Expr:
    """JSON_QUERY: the document below a path, NULL for null."""
    path = path_text(node.args.get("expression"))
    got = f"CAST(json_extract({{x}}, '{path}') AS VARCHAR)"
    return template(
        f"CASE WHEN NOT json_valid({{x}}) OR json_type({{x}}, '{path}') = 'NULL' THEN NULL "
        f"WHEN NOT {_numbers_kept(got)} THEN {_REWRITTEN} ELSE {got} END",
        "J" if kind(node.this) == "J" else "S",
        x=_document(node),
    )


def array(node: exp.Expr) -> exp.Expr:
    """JSON_QUERY_ARRAY: the items as documents; JSON_VALUE_ARRAY: scalars, or NULL when one is none."""
    path = path_text(node.args.get("expression"))
    found = f"json_extract({{x}}, '{path}')"
    items = f"CAST({found} AS JSON[])"
    guard = (
        f"CASE WHEN NOT json_valid({{x}}) OR COALESCE(json_type({{x}}, '{path}'), '') <> 'ARRAY' THEN NULL "
        f"WHEN NOT {_numbers_kept(f'CAST({found} AS VARCHAR)')} THEN {_REWRITTEN} "
    )
    if isinstance(node, exp.JSONValueArray):
        nested = f"len(list_filter({items}, lambda e: json_type(e) IN ('OBJECT', 'ARRAY'))) > 0"
        text = f"{guard}WHEN {nested} THEN NULL ELSE list_transform({items}, lambda e: e ->> '$') END"
    else:
        text = f"{guard}ELSE list_transform({items}, lambda e: COALESCE(CAST(e AS VARCHAR), 'null')) END"
    return template(text, x=_document(node))


def to_json_string(node: exp.Expr) -> exp.Expr:
    """TO_JSON_STRING of integers, strings, booleans, dates and arrays of them."""
    letter = kind(node.this)
    inner = element_kind(node.this) if letter == "A" else letter
    if inner not in "SOID" or node.args.get("options") is not None or len([v for v in node.args.values() if v]) > 1:
        raise unsupported(f"DuckDB writes this JSON otherwise than BigQuery: {source(node)}")
    if inner == "I":
        # Beyond 2^53 BigQuery writes a string.
        value = "CASE WHEN abs({0}) <= 9007199254740992 THEN CAST({0} AS VARCHAR) ELSE '\"' || {0} || '\"' END"
        if letter == "I":
            return template("COALESCE(" + value.format("{x}") + ", 'null')", "S", x=node.this)
        items = "list_transform({x}, lambda e: COALESCE(" + value.format("e") + ", 'null'))"
        return template(
            f"CASE WHEN {{x}} IS NULL THEN 'null' ELSE '[' || array_to_string({items}, ',') || ']' END",
            "S",
            x=node.this,
        )
    return template("COALESCE(CAST(to_json({x}) AS VARCHAR), 'null')", "S", x=node.this)


def parse_json(node: exp.Expr) -> exp.Expr:
    """PARSE_JSON and JSON literals."""
    if kind(node.this) not in "S0":
        raise unsupported(f"{source(node)} is not translated")
    return template("CAST({x} AS JSON)", "J", x=node.this)


RULES = (
    (exp.JSONExtractScalar, scalar),
    (exp.JSONExtract, query),
    (exp.JSONExtractArray, array),
    (exp.JSONValueArray, array),
    (exp.JSONFormat, to_json_string),
    (exp.ParseJSON, parse_json),
)
