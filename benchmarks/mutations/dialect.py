"""SQL of other dialects, and what models put around SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sqlglot import exp

Damage = Callable[[exp.Query, str], Iterator[str]]


def _text(change: Callable[[str], str]) -> Damage:
    def damage(tree: exp.Query, sql: str) -> Iterator[str]:
        yield change(sql)

    return damage


def _cast(tree: exp.Query, sql: str) -> Iterator[str]:
    for name in ("p_SMR_multi", "chr_38", "max_phase_for_ind"):
        changed = re.sub(rf"\b{name} (=|<|>)", rf"{name}::FLOAT64 \1", sql)
        if changed != sql:
            yield changed


def _ilike(tree: exp.Query, sql: str) -> Iterator[str]:
    changed = re.sub(r"LOWER\((\w+)\) LIKE", r"\1 ILIKE", sql)
    if changed != sql:
        yield changed


def _top(tree: exp.Query, sql: str) -> Iterator[str]:
    found = re.search(r" LIMIT (\d+)$", sql)
    if found and sql.startswith("SELECT ") and "UNION" not in sql:
        rest = sql[: found.start()].removeprefix("SELECT ")
        head = "SELECT DISTINCT " if rest.startswith("DISTINCT ") else "SELECT "
        yield f"{head}TOP {found[1]} {rest.removeprefix('DISTINCT ')}"


def _fetch_first(tree: exp.Query, sql: str) -> Iterator[str]:
    found = re.search(r" LIMIT (\d+)$", sql)
    if found:
        yield f"{sql[: found.start()]} FETCH FIRST {found[1]} ROWS ONLY"


def _double_quoted(tree: exp.Query, sql: str) -> Iterator[str]:
    for column in sorted({column.name for column in tree.find_all(exp.Column)} - {"gene"}):
        changed = re.sub(rf"(?<![\w'.%]){column}(?= (?:=|<|>|IN|BETWEEN|IS)\b|(?= [=<>]))", f'"{column}"', sql)
        if changed != sql:
            yield changed


def _not_null(tree: exp.Query, sql: str) -> Iterator[str]:
    if "IS NOT NULL" in sql:
        yield sql.replace("IS NOT NULL", "!= NULL")


def _is_null(tree: exp.Query, sql: str) -> Iterator[str]:
    if "IS NULL" in sql:
        yield sql.replace("IS NULL", "= NULL")


def _bare_dashes(sql: str) -> str:
    return sql.replace("`", "")


DAMAGES: dict[str, Damage] = {
    "a fence and prose": _text(lambda sql: f"Here is the query:\n\n```sql\n{sql};\n```\nIt lists what was asked."),
    "prose without a fence": _text(lambda sql: f"Sure! Here is the query:\n{sql}"),
    "a trailing remark": _text(lambda sql: f"{sql};\n\nThis query answers the question."),
    "table names alone": _text(lambda sql: sql.replace("`bmsql.biomedsql.", "`")),
    "half-qualified tables": _text(lambda sql: sql.replace("`bmsql.biomedsql.", "`biomedsql.")),
    "table names in lower case": _text(
        lambda sql: re.sub(r"`bmsql\.biomedsql\.(\w+)`", lambda match: f"`bmsql.biomedsql.{match[1].lower()}`", sql)
    ),
    "no backticks": _text(_bare_dashes),
    "double-quoted tables": _text(lambda sql: re.sub(r"`bmsql\.biomedsql\.(\w+)`", r'"\1"', sql)),
    "a :: cast": _cast,
    "ILIKE": _ilike,
    "TOP n": _top,
    "FETCH FIRST": _fetch_first,
    "double-quoted columns": _double_quoted,
    "!= NULL": _not_null,
    "= NULL": _is_null,
}
