"""Repairs of literals and comparisons."""

from __future__ import annotations

from bmsql.sql._fixes._base import Repair, replace, text, upper
from bmsql.sql._parts import INTERVAL_PARTS
from bmsql.sql._source import Source
from bmsql.types import Catalog


def doubled_quotes(source: Source, catalog: Catalog) -> list[Repair]:
    """`'Alzheimer''s'` -> `"Alzheimer's"`: BigQuery escapes a quote with a backslash."""
    repairs: list[Repair] = []
    tokens = source.tokens
    index = 0
    while index < len(tokens):
        last = index
        quote = tokens[index].text[0]
        if tokens[index].kind == "string" and quote in "'\"" and not tokens[index].text.startswith(quote * 3):
            while (
                last + 1 < len(tokens)
                and tokens[last + 1].kind == "string"
                and tokens[last + 1].start == tokens[last].end
                and tokens[last + 1].text[0] == quote
            ):
                last += 1
        if last > index:
            inner = [token.text[1:-1] for token in tokens[index : last + 1]]
            other = '"' if quote == "'" else "'"
            if any(other in part for part in inner):
                literal = quote + f"\\{quote}".join(inner) + quote
            else:
                literal = other + quote.join(inner) + other
            repairs.append(
                replace(
                    source, index, last, literal, "doubled-quote", "A quote inside a text is not doubled in BigQuery."
                )
            )
        index = last + 1
    return repairs


def double_equals(source: Source, catalog: Catalog) -> list[Repair]:
    """`a == b` -> `a = b`."""
    return [
        replace(source, index, index, "=", "double-equals", "Equality is written with one sign.")
        for index, token in enumerate(source.tokens)
        if token.text == "=="
    ]


def equals_null(source: Source, catalog: Catalog) -> list[Repair]:
    """`a = NULL` -> `a IS NULL`: a comparison with NULL is never true."""
    repairs: list[Repair] = []
    for index, token in enumerate(source.tokens):
        if (
            token.text in ("=", "!=", "<>")
            and upper(source, index + 1) == "NULL"
            and text(source, index + 2) not in (".", "(")
        ):
            new = "IS NULL" if token.text == "=" else "IS NOT NULL"
            repairs.append(
                replace(
                    source, index, index + 1, new, "equals-null", f"{token.text} NULL is never true; {new} was meant."
                )
            )
    return repairs


def interval_text(source: Source, catalog: Catalog) -> list[Repair]:
    """`INTERVAL '1 day'` -> `INTERVAL 1 DAY`; `INTERVAL 7 DAYS` -> `INTERVAL 7 DAY`."""
    repairs: list[Repair] = []
    for index, token in enumerate(source.tokens):
        if token.upper != "INTERVAL":
            continue
        value, unit = text(source, index + 1), upper(source, index + 2)
        if unit not in INTERVAL_PARTS and unit[:-1] in INTERVAL_PARTS and unit.endswith("S"):
            number = value.strip("'\"")
            repairs.append(
                replace(
                    source,
                    index,
                    index + 2,
                    f"INTERVAL {number} {unit[:-1]}",
                    "interval",
                    "Parts of an INTERVAL are in the singular.",
                )
            )
        elif value[:1] in ("'", '"') and unit not in (*INTERVAL_PARTS, "TO"):
            number, _, word = value.strip("'\"").strip().partition(" ")
            part = word.strip().upper()
            part = part.removesuffix("S")
            if number.lstrip("-").isdigit() and part in INTERVAL_PARTS:
                repairs.append(
                    replace(
                        source,
                        index,
                        index + 1,
                        f"INTERVAL {number} {part}",
                        "interval",
                        "An INTERVAL has its part outside the quotes.",
                    )
                )
    return repairs
