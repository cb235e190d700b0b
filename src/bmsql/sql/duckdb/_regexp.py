"""Regular expressions: RE2 in both; no match, groups and empty matches differ."""

from __future__ import annotations

import re
import warnings

from sqlglot import exp

from bmsql.sql.duckdb._conditions import require_strings
from bmsql.sql.duckdb._kinds import is_string, source, unsupported
from bmsql.sql.duckdb._strings import never_null, number
from bmsql.sql.duckdb._template import template


def regexp_like(node: exp.Expr) -> exp.Expr:
    """REGEXP_CONTAINS: both are RE2."""
    require_strings(node, node.this, node.expression)
    _pattern(node, literal=False)
    return template("regexp_matches({x}, {p})", "O", x=node.this, p=node.expression)


def regexp_replace(node: exp.Expr) -> exp.Expr:
    """REGEXP_REPLACE replaces every match."""
    require_strings(node, node.this, node.expression, node.args["replacement"])
    _pattern(node, literal=False)
    return template(
        "regexp_replace({x}, {p}, {r}, 'g')", "S", x=node.this, p=node.expression, r=node.args["replacement"]
    )


def regexp_extract(node: exp.Expr) -> exp.Expr:
    """REGEXP_EXTRACT: no match is NULL, where DuckDB gives an empty text."""
    pattern = _pattern(node, literal=True)
    group, inner = _group(pattern)
    this = node.this
    require_strings(node, this)
    nth = node.args.get("occurrence")
    start = node.args.get("position")
    at, count = (number(start) if start is not None else 1), (number(nth) if nth is not None else 1)
    if at is None or count is None or at < 1 or count < 1:
        raise unsupported("REGEXP_EXTRACT is translated for a literal position and occurrence of at least 1 only")
    text = "{x}" if at == 1 else f"CASE WHEN {at} > length({{x}}) THEN NULL ELSE substring({{x}}, {at}) END"
    operands = {"x": this, "p": node.expression}
    if count > 1:
        _not_empty(inner, node)
        return template(f"NULLIF(regexp_extract_all({text}, {{p}}, {group})[{count}], '')", "S", **operands)
    if not _may_be_empty(inner):
        return template(f"NULLIF(regexp_extract({text}, {{p}}, {group}), '')", "S", **operands)
    if group and re.search(r"[|?*{]|\(\?:", pattern.replace(inner, "", 1)):
        raise unsupported(f"DuckDB does not tell an empty group from a missing one: {source(node)}")
    return template(
        f"CASE WHEN regexp_matches({text}, {{p}}) THEN regexp_extract({text}, {{p}}, {group}) END", "S", **operands
    )


def regexp_extract_all(node: exp.Expr) -> exp.Expr:
    """REGEXP_EXTRACT_ALL, of patterns that match at least a character: the two differ on empty matches."""
    pattern = _pattern(node, literal=True)
    group, inner = _group(pattern)
    require_strings(node, node.this)
    _not_empty(inner, node)
    if group and re.search(r"[|?*{]", pattern.replace(inner, "", 1)):
        raise unsupported(f"DuckDB does not tell an empty group from a missing one: {source(node)}")
    return never_null(template(f"regexp_extract_all({{x}}, {{p}}, {group})", x=node.this, p=node.expression))


def _pattern(node: exp.Expr, *, literal: bool) -> str:
    pattern = node.expression
    if not is_string(pattern):
        if literal:
            raise unsupported(f"The groups of a regular expression that is not a literal are not known: {source(node)}")
        return ""
    return str(pattern.this)


def _may_be_empty(pattern: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.fullmatch(pattern, "") is not None
    except re.error:
        # RE2's own syntax (\pL, (?U)): take the careful way.
        return True


def _not_empty(pattern: str, node: exp.Expr) -> None:
    if _may_be_empty(pattern):
        raise unsupported(f"DuckDB and BigQuery differ on empty matches: {source(node)}", "Use + for *.")


def _group(pattern: str) -> tuple[int, str]:
    """The group that BigQuery extracts (0: the whole match) and its pattern; more than one is an error there."""
    spans = _groups(pattern)
    if len(spans) > 1:
        raise unsupported("BigQuery extracts with at most one capturing group", "Make the others (?:...).")
    if not spans:
        return 0, pattern
    start, end = spans[0]
    return 1, pattern[start:end]


def _groups(pattern: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    open_at: list[int | None] = []
    in_class, i = False, 0
    while i < len(pattern):
        c = pattern[i]
        if c == "\\":
            i += 1
        elif in_class:
            in_class = c != "]"
        elif c == "[":
            in_class = True
            i += 2 if pattern[i + 1 : i + 3] == "^]" else 1 if pattern[i + 1 : i + 2] == "]" else 0
        elif c == "(":
            named = re.match(r"\(\?P?<\w+>", pattern[i:])
            captures = pattern[i + 1 : i + 2] != "?" or named is not None
            open_at.append(i + (named.end() if named else 1) if captures else None)
        elif c == ")" and open_at:
            start = open_at.pop()
            if start is not None:
                found.append((start, i))
        i += 1
    return found


RULES = (
    (exp.RegexpLike, regexp_like),
    (exp.RegexpReplace, regexp_replace),
    (exp.RegexpExtract, regexp_extract),
    (exp.RegexpExtractAll, regexp_extract_all),
)
