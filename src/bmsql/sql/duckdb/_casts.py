"""CAST and SAFE_CAST, by source and target type.

DuckDB reads more texts as numbers, booleans and dates than BigQuery ('1.5' as an integer, 't' as
TRUE, '2024/01/05'), so texts are matched first; and it writes floats otherwise ('1.0', '1e+15').
"""

from __future__ import annotations

import re

from sqlglot import exp

from bmsql.sql.duckdb._kinds import NAMES, is_string, kind, kind_of, source, unsupported
from bmsql.sql.duckdb._template import Template, template

_TIME = r"[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]{0,6})?"
_DATE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_ZONE = r" ?(Z|z|UTC|[+-][0-9]{1,2}(:[0-9]{2})?| [A-Z][A-Za-z_]+/[A-Za-z_/]+)"
_DECIMAL = r"([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?"
_PATTERNS = {
    "I": (r"\s*[+-]?(0[xX][0-9a-fA-F]+|[0-9]+)\s*", "BIGINT", "int64"),
    "F": (rf"(?i)\s*[+-]?({_DECIMAL}|inf|infinity|nan)\s*", "DOUBLE", "double"),
    "N": (rf"(?i)\s*[+-]?{_DECIMAL}\s*", "DECIMAL(38, 9)", "numeric"),
    "D": (_DATE, "DATE", "date"),
    "X": (rf"{_DATE}([ Tt]{_TIME})?", "TIMESTAMP", "datetime"),
    "T": (rf"{_DATE}([ Tt]{_TIME})?({_ZONE})?", "TIMESTAMPTZ", "timestamp"),
    "M": (_TIME, "TIME", "time"),
}  # fmt: skip

_HEX = re.compile(r"\s*[+-]?0[xX]")

#: Casts that DuckDB does alike, as (from, to): the DuckDB type name.
_SAME = {
    "OI": "BIGINT", "IF": "DOUBLE", "IO": "BOOLEAN", "NF": "DOUBLE", "IN": "DECIMAL(38, 9)",
    "DX": "TIMESTAMP", "DT": "TIMESTAMPTZ", "XD": "DATE", "XT": "TIMESTAMPTZ", "TD": "DATE", "TX": "TIMESTAMP",
    "XM": "TIME",
}  # fmt: skip
_SECONDS = (
    "CASE WHEN extract('microsecond' FROM {x}) % 1000000 = 0 THEN '' "
    "WHEN extract('microsecond' FROM {x}) % 1000 = 0 THEN substring(strftime({x}, '.%f'), 1, 4) "
    "ELSE strftime({x}, '.%f') END"
)
_TO_STRING = {
    "I": "CAST({x} AS VARCHAR)", "D": "CAST({x} AS VARCHAR)", "O": "CAST({x} AS VARCHAR)",
    # As C's %.15g, or %.17g where that does not read back; adding 0 turns -0 into 0.
    "F": (
        "CASE WHEN CAST(printf('%.15g', {x} + 0e0) AS DOUBLE) = {x} THEN printf('%.15g', {x} + 0e0) "
        "ELSE printf('%.17g', {x}) END"
    ),
    "N": "regexp_replace(regexp_replace(CAST({x} AS VARCHAR), '0+$', ''), '\\.$', '')",
    "X": "(strftime({x}, '%Y-%m-%d %H:%M:%S') || " + _SECONDS + ")",
    "T": (
        "(strftime({x} AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S') || "
        + _SECONDS.replace("strftime({x},", "strftime({x} AT TIME ZONE 'UTC',")
        + " || '+00')"
    ),
    "B": "CASE WHEN {x} IS NULL THEN NULL WHEN TRY(decode({x})) IS NULL THEN {fail:invalid UTF-8} ELSE decode({x}) END",
}  # fmt: skip


def to_string(node: exp.Expr) -> Template:
    """A value as BigQuery's CAST(... AS STRING) writes it."""
    text = _TO_STRING.get(kind(node))
    if text is None:
        raise unsupported(f"DuckDB is not known to write {NAMES[kind(node)]} as text as BigQuery does: {source(node)}")
    return template(text, "S", x=node)


def cast(node: exp.Expr) -> exp.Expr:
    """CAST and SAFE_CAST."""
    if node.args.get("format") is not None:
        raise unsupported("CAST with FORMAT is not translated", "Use FORMAT_DATE, PARSE_DATE or FORMAT.")
    this, to = node.this, node.args["to"]
    source_kind, target = kind(this), kind_of(to)
    if to.args.get("expressions") and target in "SNB":
        raise unsupported("Parameterized types are not translated", "Cast to the plain type.")
    safe = isinstance(node, exp.TryCast)
    made = _cast(node, this, source_kind, target, to)
    if safe and isinstance(made, Template):
        made.set("safe", True)
    return made


def _cast(node: exp.Expr, this: exp.Expr, source_kind: str, target: str, to: exp.DataType) -> exp.Expr:
    pair = source_kind + target
    if target in "AR":
        if source_kind not in (target, "0") or (target == "R" and "fields" not in this.args):
            raise unsupported(
                f"DuckDB is not known to cast {NAMES[source_kind]} to {to.sql('bigquery')} as BigQuery does"
            )
        if (
            source_kind == "A"
            and this.type is not None
            and this.type.expressions
            and kind_of(this.type.expressions[0]) not in "?0"
        ):
            inner = kind_of(this.type.expressions[0]), kind_of(to.expressions[0])
            if inner[0] != inner[1] and inner != ("I", "F") and inner[0] != "R":
                raise unsupported(f"BigQuery does not cast between these arrays: {source(node)}")
        return template(f"CAST({{x}} AS {to.sql('duckdb')})", x=this)
    if source_kind == target or source_kind == "0":
        return template(f"CAST({{x!r}} AS {_name(target, to)})", target if target in _PATTERNS else "", x=this)
    if source_kind == "S" and target in _PATTERNS:
        return _parse(this, target)
    if pair == "SO":
        return template(
            "CASE lower({x}) WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE ELSE "
            "CASE WHEN {x} IS NOT NULL THEN {fail:Bad bool value} END END", "O", x=this,
        )  # fmt: skip
    if pair == "SB":
        return template("encode({x})", "B", x=this)
    if pair in ("FI", "NI"):
        return template("CAST(round({x}) AS BIGINT)", "I", x=this)
    if pair == "FN":
        return template("CAST(printf('%.15g', {x}) AS DECIMAL(38, 9))", "N", x=this)
    if pair in _SAME:
        return template(f"CAST({{x!r}} AS {_SAME[pair]})", target, x=this)
    if target == "S" and source_kind in _TO_STRING:
        return to_string(this)
    raise unsupported(
        f"DuckDB is not known to cast {NAMES[source_kind]} to {to.sql('bigquery')} as BigQuery does: {source(node)}"
    )


def _name(target: str, to: exp.DataType) -> str:
    if target == "N":
        return "DECIMAL(38, 9)"
    if target == "?":
        raise unsupported(f"The type {to.sql('bigquery')} is not translated")
    return to.sql("duckdb")


def _parse(this: exp.Expr, target: str) -> Template:
    """A text as a value, when it is written as BigQuery wants it."""
    pattern, name, word = _PATTERNS[target]
    if is_string(this) and re.fullmatch(pattern, this.this, re.ASCII) and not _HEX.match(this.this):
        return template(f"CAST({{x}} AS {name})", target, x=this)
    # DuckDB reads hexadecimals without a sign and without white space only.
    value = f"CAST({{x}} AS {name})"
    if target == "I":
        value = (
            "CASE WHEN contains(lower({x}), 'x') THEN CAST(regexp_replace({x}, '[\\s+-]', '', 'g') AS BIGINT) "
            f"* CASE WHEN contains({{x}}, '-') THEN -1 ELSE 1 END ELSE {value} END"
        )
    pattern = pattern.replace("{", "{{").replace("}", "}}")
    return template(
        f"CASE WHEN {{x}} IS NULL THEN NULL WHEN regexp_full_match({{x}}, '{pattern}') THEN {value} "
        f"ELSE {{fail:Bad {word} value}} END",
        target, x=this,
    )  # fmt: skip


def string_function(node: exp.Expr) -> exp.Expr:
    """STRING(x): of a date or time, or of JSON."""
    if kind(node.this) not in "DXT" or node.args.get("zone") is not None:
        raise unsupported(f"{source(node)} is not translated")
    return to_string(node.this)


RULES = ((exp.Cast, cast), (exp.TryCast, cast), (exp.String, string_function))
