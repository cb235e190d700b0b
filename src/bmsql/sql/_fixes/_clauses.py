"""Repairs of clauses of other systems."""

from __future__ import annotations

from bmsql.sql._fixes._base import Repair, replace, text, upper
from bmsql.sql._source import Edit, Source
from bmsql.types import Catalog, Fix

_SET_WORDS = ("UNION", "INTERSECT", "EXCEPT")


def top(source: Source, catalog: Catalog) -> list[Repair]:
    """`SELECT TOP 10 a FROM t` -> `SELECT a FROM t LIMIT 10`."""
    for index, token in enumerate(source.tokens):
        if token.upper != "TOP" or upper(source, index - 1) not in ("SELECT", "DISTINCT", "ALL"):
            continue
        wrapped = text(source, index + 1) == "("
        at = index + (2 if wrapped else 1)
        if at >= len(source.tokens) or source.tokens[at].kind != "number" or not text(source, at).isdigit():
            continue
        last = at + (1 if wrapped else 0)
        if (
            (wrapped and text(source, last) != ")")
            or upper(source, last + 1) in ("PERCENT", "WITH", "FROM")
            or text(source, last + 1) == ","
        ):
            continue
        end = _end_of_select(source, index)
        if end is None:
            continue
        number = text(source, at)
        cut = Edit(
            token.start, source.tokens[last + 1].start if last + 1 < len(source.tokens) else source.tokens[last].end, ""
        )
        place = source.tokens[end].end
        fix = Fix(
            code="top",
            message="TOP is written as LIMIT at the end.",
            before=source.text[token.start : cut.end].strip(),
            after=f"LIMIT {number}",
        )
        return [Repair([cut, Edit(place, place, f" LIMIT {number}")], fix)]
    return []


def _end_of_select(source: Source, index: int) -> int | None:
    """Index of the last token of the SELECT around `index`; None when LIMIT or a set operation follows."""
    tokens = source.tokens
    while index < len(tokens):
        token = tokens[index]
        if token.text in ("(", "["):
            partner = source.partners.get(index)
            if partner is None:
                return None
            index = partner
        elif token.text in (")", "]", ";"):
            return index - 1
        elif token.upper in ("LIMIT", "FETCH", "INTERSECT", "UNION") or (
            token.upper == "EXCEPT" and text(source, index - 1) != "*"
        ):
            return None
        index += 1
    return len(tokens) - 1


def limit_comma(source: Source, catalog: Catalog) -> list[Repair]:
    """`LIMIT 5, 10` -> `LIMIT 10 OFFSET 5`."""
    repairs: list[Repair] = []
    for index, token in enumerate(source.tokens):
        if (
            token.upper == "LIMIT"
            and text(source, index + 2) == ","
            and text(source, index + 1).isdigit()
            and text(source, index + 3).isdigit()
        ):
            after = f"LIMIT {text(source, index + 3)} OFFSET {text(source, index + 1)}"
            repairs.append(replace(source, index, index + 3, after, "limit-comma", "LIMIT takes its offset by OFFSET."))
    return repairs


def fetch_first(source: Source, catalog: Catalog) -> list[Repair]:
    """`OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY` -> `LIMIT 10 OFFSET 5`."""
    repairs: list[Repair] = []
    for index, token in enumerate(source.tokens):
        if token.upper != "FETCH" or upper(source, index + 1) not in ("FIRST", "NEXT"):
            continue
        number = text(source, index + 2) if text(source, index + 2).isdigit() else "1"
        at = index + (3 if text(source, index + 2).isdigit() else 2)
        if upper(source, at) not in ("ROW", "ROWS") or upper(source, at + 1) != "ONLY":
            continue
        first, after = index, f"LIMIT {number}"
        if (
            upper(source, index - 3) == "OFFSET"
            and text(source, index - 2).isdigit()
            and upper(source, index - 1) in ("ROW", "ROWS")
        ):
            first, after = index - 3, f"LIMIT {number} OFFSET {text(source, index - 2)}"
        repairs.append(replace(source, first, at + 1, after, "fetch-first", "FETCH FIRST is written as LIMIT."))
    return repairs


def implicit_unnest(source: Source, catalog: Catalog) -> list[Repair]:
    """`FROM t, t.tags AS x WITH OFFSET` -> `FROM t, UNNEST(t.tags) AS x WITH OFFSET`: the parser needs UNNEST."""
    repairs: list[Repair] = []
    for index, token in enumerate(source.tokens):
        if token.upper != "WITH" or upper(source, index + 1) != "OFFSET":
            continue
        last = index - 1
        if text(source, last - 1) != "." and last > 1 and source.tokens[last].kind == "word":
            last -= 2 if upper(source, last - 1) == "AS" else 1
        first = last
        while first >= 2 and text(source, first - 1) == "." and source.tokens[first - 2].kind in ("word", "quoted"):
            first -= 2
        if first < last and (text(source, first - 1) == "," or upper(source, first - 1) == "JOIN"):
            path = source.text[source.tokens[first].start : source.tokens[last].end]
            repairs.append(
                replace(
                    source,
                    first,
                    last,
                    f"UNNEST({path})",
                    "implicit-unnest",
                    "An array in FROM is written with UNNEST.",
                )
            )
    return repairs


def bare_set_operation(source: Source, catalog: Catalog) -> list[Repair]:
    """`UNION` -> `UNION DISTINCT`, `MINUS` -> `EXCEPT DISTINCT`: standard SQL means DISTINCT."""
    repairs: list[Repair] = []
    for index, token in enumerate(source.tokens):
        following = upper(source, index + 1)
        if token.upper == "MINUS" and following == "SELECT" and index > 1:
            repairs.append(
                replace(
                    source,
                    index,
                    index,
                    "EXCEPT DISTINCT",
                    "set-operation",
                    "MINUS is called EXCEPT DISTINCT in BigQuery.",
                )
            )
        elif token.upper in _SET_WORDS and index > 1 and text(source, index - 1) != "*":
            bare = following == "SELECT" or (
                text(source, index + 1) == "(" and upper(source, index + 2) in ("SELECT", "WITH")
            )
            if bare:
                after = f"{token.upper} DISTINCT"
                repairs.append(
                    replace(
                        source,
                        index,
                        index,
                        after,
                        "set-operation",
                        f"{token.upper} alone means {after}, which BigQuery wants written.",
                    )
                )
    return repairs
