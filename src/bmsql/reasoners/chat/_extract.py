"""The JSON object in what a model wrote: in fences, in prose, with the slips that models make."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

# Brackets without an end that are tried to begin at; each looks through the rest of the text.
_UNCLOSED = 20
_FENCE = re.compile(r"```[ \t]*(?:json5?|javascript|js|python)?[ \t]*\r?\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
# What a reasoning model thinks aloud before it answers.
_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
# Outside of strings: a comma before a closing bracket, comments, and Python's or JavaScript's constants.
_STRING = r'"(?:[^"\\]|\\.)*"'
_SLIPS = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/|,(?=\s*[}}\]])|\b(None|True|False|undefined|NaN)\b", re.DOTALL)
_CONSTANTS = {"None": "null", "True": "true", "False": "false", "undefined": "null", "NaN": "null"}


def find_json(text: str) -> dict[str, Any] | list[Any] | None:
    """The JSON object in a text, or None where there is none; an array only where no object stands by itself.

    >>> find_json('Sure! Here it is: {"sql": "SELECT 1", "notes": [1, 2,],}. Anything else?')
    {'sql': 'SELECT 1', 'notes': [1, 2]}
    """
    text = _THOUGHT.sub("", text).strip().removeprefix("\ufeff")
    pieces = (piece for find in (_framed, _objects, _arrays) for piece in find(text))
    return next((value for piece in pieces if (value := _read(piece)) is not None), None)


def _framed(text: str) -> Iterator[str]:
    """The text itself, and what stands in fences."""
    yield text
    yield from (match[1] for match in _FENCE.finditer(text))


def _objects(text: str) -> Iterator[str]:
    return _balanced(text, "{", "}")


def _arrays(text: str) -> Iterator[str]:
    return _balanced(text, "[", "]")


def _balanced(text: str, opening: str, closing: str) -> Iterator[str]:
    """Each outermost bracketed piece; brackets inside of strings do not count."""
    start, unclosed = text.find(opening), 0
    while start >= 0 and unclosed < _UNCLOSED:
        end = _closing(text, start, opening, closing)
        if end is None:
            unclosed += 1
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


def _read(piece: str) -> dict[str, Any] | list[Any] | None:
    piece = piece.strip()
    if piece[:1] not in {"{", "["}:
        return None
    # `strict=False`: models put line breaks into strings as they are.
    for candidate in (piece, _SLIPS.sub(_mend, piece)):
        try:
            loaded: dict[str, Any] | list[Any] = json.loads(candidate, strict=False)
            return loaded
        except (ValueError, RecursionError):
            continue
    try:
        value = ast.literal_eval(piece)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return value if isinstance(value, dict | list) else None


def _mend(match: re.Match[str]) -> str:
    return match[1] or _CONSTANTS.get(match[2] or "", "")
