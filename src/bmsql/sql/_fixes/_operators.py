"""Repairs of operators of other systems."""

from __future__ import annotations

from bmsql.sql._fixes._base import Repair, operand_end, operand_start, piece, primary_start, replace, text, upper
from bmsql.sql._fixes._names import TYPE_NAMES
from bmsql.sql._source import Source
from bmsql.types import Catalog


def double_colon(source: Source, catalog: Catalog) -> list[Repair]:
    """`x::INT` -> `CAST(x AS INT)`, one a round: casts may be chained."""
    for index, token in enumerate(source.tokens):
        if token.text != "::" or index == 0 or index + 1 >= len(source.tokens):
            continue
        start = primary_start(source, index - 1)
        kind = source.tokens[index + 1]
        if start is None or kind.kind != "word":
            continue
        last = index + 1
        name = TYPE_NAMES.get(kind.upper, kind.upper)
        if kind.upper == "DOUBLE" and upper(source, last + 1) == "PRECISION":
            last += 1
        if text(source, last + 1) == "(":
            closing = source.partners.get(last + 1)
            if closing is None:
                continue
            if name not in ("STRING", "FLOAT64"):
                name += piece(source, last + 1, closing)
            last = closing
        if text(source, last + 1) == "[":
            continue
        after = f"CAST({piece(source, start, index - 1)} AS {name})"
        return [replace(source, start, last, after, "double-colon", "A cast is written CAST(x AS type).")]
    return []


def ilike(source: Source, catalog: Catalog) -> list[Repair]:
    """`x ILIKE 'a%'` -> `LOWER(x) LIKE LOWER('a%')`."""
    for index, token in enumerate(source.tokens):
        if token.upper != "ILIKE" or upper(source, index + 1) in ("ANY", "ALL", "SOME"):
            continue
        negated = upper(source, index - 1) == "NOT"
        left_last = index - (2 if negated else 1)
        left = operand_start(source, left_last) if left_last >= 0 else None
        right = operand_end(source, index + 1)
        if left is None or right is None or upper(source, right + 1) == "ESCAPE":
            continue
        word = "NOT LIKE" if negated else "LIKE"
        after = f"LOWER({piece(source, left, left_last)}) {word} LOWER({piece(source, index + 1, right)})"
        return [replace(source, left, right, after, "ilike", "BigQuery has no ILIKE; both sides are lower-cased.")]
    return []
