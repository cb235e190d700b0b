"""Broken syntax."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from sqlglot import exp

Damage = Callable[[exp.Query, str], Iterator[str]]


def _each(pattern: str, replacement: str) -> Damage:
    """Each place of the pattern, changed alone."""

    def damage(tree: exp.Query, sql: str) -> Iterator[str]:
        for found in re.finditer(pattern, sql):
            yield sql[: found.start()] + found.expand(replacement) + sql[found.end() :]

    return damage


def _limit_first(tree: exp.Query, sql: str) -> Iterator[str]:
    found = re.search(r"( ORDER BY .*)( LIMIT \d+)$", sql)
    if found:
        yield sql[: found.start()] + found[2] + found[1]


def _where_after_order(tree: exp.Query, sql: str) -> Iterator[str]:
    found = re.search(r"( WHERE .*)( ORDER BY [^()]*)$", sql)
    if found and "LIMIT" not in found[2] and "UNION" not in sql:
        yield sql[: found.start()] + found[2] + found[1]


DAMAGES: dict[str, Damage] = {
    "a bracket left out": _each(r"\)", ""),
    "a bracket too many": _each(r"\)", "))"),
    "a comma left out": _each(r"(?<=\w), (?=\w)", " "),
    "a comma too many": _each(r"(?<=\w), (?=\w)", ",, "),
    "FROM left out": _each(r" FROM ", " "),
    "FROM misspelt": _each(r" FROM ", " FORM "),
    "WHERE misspelt": _each(r" WHERE ", " WEHRE "),
    "WHERE twice": _each(r" AND ", " WHERE "),
    "AND at the end": _each(r"(?<= WHERE )(.*)$", r"\1 AND"),
    "AND twice": _each(r" AND ", " AND AND "),
    "a quote left out": _each(r"'", ""),
    "an operator left out": _each(r" (=|<|>) ", " "),
    "SELECT misspelt": _each(r"^SELECT", "SELCT"),
    "ORDER without BY": _each(r"ORDER BY", "ORDER"),
    "a number cut off": _each(r"5e-8", "5e-"),
    "LIMIT before ORDER BY": _limit_first,
    "WHERE after ORDER BY": _where_after_order,
    "half of it": lambda tree, sql: iter([sql[: len(sql) // 2]]),
}
