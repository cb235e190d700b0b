"""What a repair is, and walking the tokens around a place."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from bmsql.sql._source import Edit, Source
from bmsql.types import Catalog, Fix


class Repair(NamedTuple):
    """Edits that belong together, and what they are reported as."""

    edits: list[Edit]
    fix: Fix


Rule = Callable[[Source, Catalog], list[Repair]]

# Words that end an operand when they stand before it or behind it.
_STOPS = frozenset("""
    ALL AND ANY AS ASC BETWEEN BY CASE CROSS DESC DISTINCT ELSE END ESCAPE EXCEPT FROM FULL GROUP HAVING ILIKE IN
    INNER INTERSECT IS JOIN LEFT LIKE LIMIT NOT ON OR ORDER OUTER OVER PARTITION QUALIFY RIGHT SELECT THEN UNION
    USING WHEN WHERE WINDOW WITH
""".split())  # fmt: skip
_LINKS = frozenset(("||", "+", "-", "*", "/"))


def replace(source: Source, first: int, last: int, replacement: str, code: str, message: str) -> Repair:
    """Replace the tokens `first` to `last` (both included)."""
    start, end = source.tokens[first].start, source.tokens[last].end
    edit = Edit(start, end, replacement)
    return Repair([edit], Fix(code=code, message=message, before=source.text[start:end], after=replacement))


def upper(source: Source, index: int) -> str:
    """The upper-case word at an index, "" for anything else or outside the text."""
    return source.tokens[index].upper if 0 <= index < len(source.tokens) else ""


def text(source: Source, index: int) -> str:
    """The text of the token at an index, "" outside the text."""
    return source.tokens[index].text if 0 <= index < len(source.tokens) else ""


def primary_start(source: Source, last: int) -> int | None:
    """Index of the first token of the primary expression that ends with token `last`."""
    tokens = source.tokens
    index = last
    while True:
        token = tokens[index]
        if token.text in (")", "]"):
            partner = source.partners.get(index)
            if partner is None:
                return None
            index = partner
            before = tokens[index - 1] if index else None
            if before is not None and (token.text == "]" or _may_call(source, index - 1)):
                index -= 1
                if tokens[index].text in (")", "]"):
                    continue
            elif token.text == ")":
                return index
            else:
                return index
        elif token.upper == "END":
            return _case_start(source, index)
        elif token.kind not in ("word", "quoted", "string", "number", "param") or token.upper in _STOPS:
            return None
        if index >= 2 and text(source, index - 1) == "." and tokens[index].kind in ("word", "quoted"):
            index -= 2
            continue
        return index


def _may_call(source: Source, index: int) -> bool:
    token = source.tokens[index]
    return token.kind == "quoted" or (
        token.kind == "word" and (token.upper not in _STOPS or token.upper in ("LEFT", "RIGHT"))
    )


def _case_start(source: Source, index: int) -> int | None:
    depth = 0
    while index >= 0:
        word = source.tokens[index].upper
        depth += (word == "END") - (word == "CASE")
        if depth == 0:
            return index
        index -= 1
    return None


def operand_start(source: Source, last: int) -> int | None:
    """Index of the first token of the arithmetic or text expression that ends with token `last`."""
    start = primary_start(source, last)
    while start is not None and start >= 2 and text(source, start - 1) in _LINKS:
        before = primary_start(source, start - 2)
        if before is None:
            break
        start = before
    return start


def operand_end(source: Source, first: int) -> int | None:
    """Index of the last token of the arithmetic or text expression that begins with token `first`."""
    index = first
    while True:
        end = _primary_end(source, index)
        if end is None:
            return None
        if text(source, end + 1) in _LINKS:
            index = end + 2
            continue
        return end


def _primary_end(source: Source, index: int) -> int | None:
    tokens = source.tokens
    if index >= len(tokens):
        return None
    token = tokens[index]
    if token.text in ("(", "["):
        end = source.partners.get(index)
    elif token.kind in ("string", "number", "param") or (
        token.kind in ("word", "quoted") and token.upper not in _STOPS
    ):
        end = index
    else:
        return None
    while end is not None and end + 1 < len(tokens):
        following = tokens[end + 1].text
        if following == "." and end + 2 < len(tokens):
            end += 2
        elif (following in ("(", "[") and tokens[end].kind in ("word", "quoted")) or following == "[":
            end = source.partners.get(end + 1)
        else:
            break
    return end


def arguments(source: Source, opening: int) -> list[tuple[int, int]] | None:
    """First and last token index of each argument of a call whose `(` is at `opening`."""
    closing = source.partners.get(opening)
    if closing is None:
        return None
    if closing == opening + 1:
        return []
    spans: list[tuple[int, int]] = []
    first = index = opening + 1
    while index < closing:
        token = source.tokens[index]
        if token.text in ("(", "["):
            partner = source.partners.get(index)
            if partner is None:
                return None
            index = partner
        elif token.text == ",":
            spans.append((first, index - 1))
            first = index + 1
        index += 1
    spans.append((first, closing - 1))
    return spans if all(a <= b for a, b in spans) else None


def find_word(source: Source, word: str, first: int, closing: int) -> int | None:
    """Index of a word between two indexes, outside inner brackets."""
    index = first
    while index < closing:
        if text(source, index) in ("(", "["):
            index = source.partners.get(index, closing)
        elif upper(source, index) == word:
            return index
        index += 1
    return None


def piece(source: Source, first: int, last: int) -> str:
    """The text from token `first` to token `last`."""
    return source.text[source.tokens[first].start : source.tokens[last].end]
