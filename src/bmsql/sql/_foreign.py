"""Operators and clauses that other systems have and BigQuery has not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bmsql.sql._fixes import text, upper
from bmsql.sql._source import Source, problem_at
from bmsql.types import Problem

_OPERATORS = {
    "%": ("BigQuery has no % operator.", "Use MOD(a, b)."),
    "~": ("BigQuery has no ~ operator for patterns.", "Use REGEXP_CONTAINS(text, pattern)."),
    "~*": ("BigQuery has no ~* operator.", "Use REGEXP_CONTAINS(text, '(?i)pattern')."),
    "!~": ("BigQuery has no !~ operator.", "Use NOT REGEXP_CONTAINS(text, pattern)."),
    "!~*": ("BigQuery has no !~* operator.", "Use NOT REGEXP_CONTAINS(text, '(?i)pattern')."),
    "~~": ("BigQuery has no ~~ operator.", "Use LIKE."),
    "~~*": ("BigQuery has no ~~* operator.", "Use LOWER(text) LIKE LOWER(pattern)."),
    "!~~": ("BigQuery has no !~~ operator.", "Use NOT LIKE."),
    "!~~*": ("BigQuery has no !~~* operator.", "Use LOWER(text) NOT LIKE LOWER(pattern)."),
    "<=>": ("BigQuery has no <=> operator.", "Use IS NOT DISTINCT FROM."),
    "&&": ("BigQuery has no && operator.", "Use AND."),
    "->>": ("BigQuery has no ->> operator.", "Use JSON_VALUE(x, '$.name')."),
    "->": ("BigQuery has no -> operator.", "Use JSON_QUERY(x, '$.name')."),
    "::": ("BigQuery has no :: operator.", "Use CAST(x AS type)."),
}
_WORDS = {
    "ILIKE": ("BigQuery has no ILIKE.", "Use LOWER(text) LIKE LOWER(pattern)."),
    "RLIKE": ("BigQuery has no RLIKE.", "Use REGEXP_CONTAINS(text, pattern)."),
    "REGEXP": ("BigQuery has no REGEXP operator.", "Use REGEXP_CONTAINS(text, pattern)."),
    "COLLATE": ("BigQuery has no COLLATE operator.", "Compare LOWER(text) with LOWER(text)."),
    "GLOB": ("BigQuery has no GLOB.", "Use LIKE or REGEXP_CONTAINS."),
    "NOTNULL": ("BigQuery has no NOTNULL.", "Use IS NOT NULL."),
    "ISNULL": ("BigQuery has no ISNULL.", "Use IS NULL."),
}
_WITH = {
    "ROLLUP": "Write GROUP BY ROLLUP(a, b).",
    "CUBE": "Write GROUP BY CUBE(a, b).",
    "TIES": "Use QUALIFY RANK() OVER (ORDER BY ...) <= n.",
}
_NUMBER = re.compile(r"[0-9.]+")
_BEHIND_VALUE = ("word", "quoted", "string", "number")


def foreign_operators(source: Source) -> Iterator[Problem]:
    """`a % b`, `a ~ 'x'`, `a RLIKE 'x'`."""
    tokens = source.tokens
    for index, token in enumerate(tokens):
        if token.kind == "op" and token.text in _OPERATORS:
            if token.text == "~" and not (
                index and (tokens[index - 1].kind in _BEHIND_VALUE or tokens[index - 1].text == ")")
            ):
                continue
            message, hint = _OPERATORS[token.text]
            yield source.problem_on(token, "foreign-operator", message, hint)
        elif (
            token.upper in _WORDS
            and index
            and (tokens[index - 1].kind in _BEHIND_VALUE or tokens[index - 1].text in (")", "]"))
        ):
            if tokens[index - 1].upper in ("SELECT", "BY", "AS", "WHERE", "AND", "OR", "ON", "DISTINCT") or text(
                source, index + 1
            ) in ("(", ".", ","):
                continue
            if token.upper == "COLLATE" and source.tokens[index + 1 : index + 2] and tokens[index + 1].kind == "string":
                continue
            message, hint = _WORDS[token.upper]
            yield source.problem_on(token, "foreign-operator", message, hint)
        elif token.text == "/" and text(source, index + 1) == "/":
            yield problem_at(
                source.text,
                "foreign-operator",
                "BigQuery has no // operator.",
                token.start,
                token.end + 1,
                "Use DIV(a, b).",
            )


def foreign_clauses(source: Source) -> Iterator[Problem]:
    """`INTERSECT ALL`, `CROSS APPLY`, `WITHIN GROUP`, `SIMILAR TO`, `LIKE ... ESCAPE`."""
    tokens = source.tokens
    for index, token in enumerate(tokens):
        following = tokens[index + 1].upper if index + 1 < len(tokens) else ""
        found = ("", "")
        if token.upper in ("INTERSECT", "EXCEPT") and following == "ALL":
            found = (f"BigQuery has no {token.upper} ALL.", f"Use {token.upper} DISTINCT.")
        elif token.upper in ("CROSS", "OUTER") and following == "APPLY":
            found = (f"BigQuery has no {token.upper} APPLY.", "Use CROSS JOIN UNNEST(...) or a subquery.")
        elif token.upper == "WITH" and following in ("ROLLUP", "CUBE", "TOTALS", "TIES"):
            found = (f"BigQuery has no WITH {following}.", _WITH.get(following, "Drop it."))
        elif token.upper == "LIMIT" and upper(source, index + 2) == "BY":
            found = ("BigQuery has no LIMIT ... BY.", "Use QUALIFY ROW_NUMBER() OVER (PARTITION BY ...) <= n.")
        elif token.upper == "IF" and following not in ("(", "") and index and tokens[index - 1].text != ".":
            found = ("IF is a function.", "Write IF(condition, value, otherwise).")
        elif token.upper == "TABLESAMPLE" and not _is_sample(source, index):
            found = ("TABLESAMPLE is incomplete.", "Write TABLESAMPLE SYSTEM (10 PERCENT).")
        elif token.upper == "WITHIN" and following == "GROUP":
            found = ("BigQuery has no WITHIN GROUP.", "Write STRING_AGG(x, ',' ORDER BY x).")
        elif token.upper == "SIMILAR" and following == "TO":
            found = ("BigQuery has no SIMILAR TO.", "Use REGEXP_CONTAINS(text, pattern).")
        elif token.upper == "ESCAPE" and index and tokens[index - 1].kind == "string":
            found = ("BigQuery's LIKE has no ESCAPE.", "Escape with a backslash: LIKE 'a\\\\_b'.")
        elif token.upper == "FILTER" and text(source, index + 1) == "(" and index and tokens[index - 1].text == ")":
            found = ("BigQuery has no FILTER clause.", "Use COUNTIF(condition), or an IF inside the aggregate.")
        if found[0]:
            yield source.problem_on(token, "foreign-clause", found[0], found[1])


def _is_sample(source: Source, index: int) -> bool:
    method, opening, share, unit, closing = (text(source, index + step).upper() for step in range(1, 6))
    return (method, opening, unit, closing) == ("SYSTEM", "(", "PERCENT", ")") and (
        not _NUMBER.fullmatch(share) or float(share) <= 100
    )
