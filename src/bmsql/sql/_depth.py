"""How deeply a text is nested, as its tokens show it: before anything goes down with it."""

from __future__ import annotations

from collections.abc import Iterator

from bmsql.sql._lexer import Token
from bmsql.sql._reserved import RESERVED

_CLOSED_BY = {"(": ")", "[": "]", "<": ">", "CASE": "END"}
_OF_TYPES = frozenset(("ARRAY", "STRUCT"))  # elsewhere < compares
_ALWAYS_PREFIXES = frozenset(("NOT", "~"))
_PREFIXES = _ALWAYS_PREFIXES | {"-", "+"}


def depths(tokens: list[Token]) -> Iterator[int]:
    """The depth of each token: in brackets, CASE and types, and behind NOT and signs.

    Parser, writer and database go down a level with each of these. Compiled ones notice late or never that
    their stack ends, which would take the process along.
    """
    open_: list[tuple[str, int]] = []
    depth = prefixes = 0
    before: Token | None = None
    for token in tokens:
        word = token.upper or token.text
        if word in _PREFIXES:
            prefixes += word in _ALWAYS_PREFIXES or before is None or not _is_operand(before)
        elif word in _CLOSED_BY and (word != "<" or (before is not None and before.upper in _OF_TYPES)):
            depth += prefixes + 1
            open_.append((_CLOSED_BY[word], prefixes + 1))
            prefixes = 0
        else:
            prefixes = 0
            if open_ and open_[-1][0] == word:
                depth -= open_.pop()[1]
        before = token
        yield depth + prefixes


def _is_operand(token: Token) -> bool:
    if token.kind == "op":
        return token.text in (")", "]")
    return token.kind != "word" or token.upper not in RESERVED
