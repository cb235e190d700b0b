"""The JSON object in what a model wrote: in fences, in prose, with the slips that models make."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

_FENCE = re.compile(r"```[ \t]*(?:json5?|javascript|js|python)?[ \t]*\r?\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
# What a reasoning model thinks aloud before it answers.
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
# Outside of strings: a comma before a closing bracket, comments, and Python's or JavaScript's constants.
_STRING = r'"(?:[^"\\]|\\.)*"'
_SLIPS = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/|,(?=\s*[}}\]])|\b(None|True|False|undefined|NaN)\b", re.DOTALL)
_CONSTANTS = {"None": "null", "True": "true", "False": "false", "undefined": "null", "NaN": "null"}


def find_json(text: str) -> dict[str, Any] | list[Any] | None:
    """The first JSON object (or else array) in a text, or None where there is none.

    >>> find_json('Sure! Here it is: {"sql": "SELECT 1", "notes": [1, 2,],}. Anything else?')
    {'sql': 'SELECT 1', 'notes': [1, 2]}
    """
    text = _THOUGHT.sub("", text).strip().removeprefix("\ufeff")
    found: list[Any] | None = None
    for piece in _pieces(text):
        value = _read(piece)
        if isinstance(value, dict):
            return value
        if isinstance(value, list) and found is None:
            found = value
    return found


def _pieces(text: str) -> Iterator[str]:
    """The texts that may be the value, most likely first."""
    yield text
    yield from (match[1] for match in _FENCE.finditer(text))
    yield from _balanced(text, "{", "}")
    yield from _balanced(text, "[", "]")


def _balanced(text: str, opening: str, closing: str) -> Iterator[str]:
    """Each outermost bracketed piece; brackets inside of strings do not count."""
    start = text.find(opening)
    while start >= 0:
        end = _closing(text, start, opening, closing)
        if end is None:
            start = text.find(opening, start + 1)
            continue
        yield text[start : end + 1]
        start = text.find(opening, end + 1)


def _closing(text: str, start: int, opening: str, closing: str) -> int | None:
    depth, quote, place = 0, "", start
    while place < len(text):
        sign = text[place]
        if quote:
            if sign == "\\":
                place += 1
            elif sign == quote:
                quote = ""
        elif sign == '"':
            quote = sign
        elif sign == opening:
            depth += 1
        elif sign == closing:
            depth -= 1
            if depth == 0:
                return place
        place += 1
    return None


def _read(piece: str) -> object:
    piece = piece.strip()
    if piece[:1] not in {"{", "["}:
        return None
    # `strict=False`: models put line breaks into strings as they are.
    for candidate in (piece, _SLIPS.sub(_mend, piece)):
        try:
            return json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
    try:
        value = ast.literal_eval(piece)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return value if isinstance(value, dict | list) else None


def _mend(match: re.Match[str]) -> str:
    return match[1] or _CONSTANTS.get(match[2] or "", "")
