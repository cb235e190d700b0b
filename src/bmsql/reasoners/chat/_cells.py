"""Cells of a result as text on one line, which can neither end a fence nor pass for a message."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
import re
import unicodedata

from bmsql.types import to_json

CUT = "…"
SEPARATOR = "|"
_DIGITS = 6
# What opens or ends a fence, a column or a special token, and what stands in its place.
_LOOKALIKES = {"<": "‹", ">": "›", "|": "¦", "`": "'"}
# Words of printable ASCII but those, with single spaces between: they stay as they are.
_PLAIN = re.compile(r"[!-;=?-_a-{}~]+(?: [!-;=?-_a-{}~]+)*")
_ASCII = str.maketrans({**{chr(code): " " for code in range(128) if not chr(code).isprintable()}, **_LOOKALIKES})


def cell_text(value: object, width: int) -> str:
    """A cell in at most `width` characters; NULL is empty, and a number keeps six significant digits."""
    match value:  # what is most frequent first
        case str():
            return one_line(value, width) or '""'
        case float():
            return _number(value)
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int():
            return _cut(str(value), width)
        case decimal.Decimal():
            return _cut(f"{value.normalize():f}" if value.is_finite() else str(value), width)
        case dt.date() | dt.time():
            return _cut(value.isoformat(), width)
        case list() | tuple():
            return _cut(", ".join(cell_text(item, width) or "NULL" for item in value), width) or "[]"
        case _:
            return one_line(json.dumps(to_json(value), ensure_ascii=False, separators=(",", ":")), width)


def one_line(text: str, width: int) -> str:
    """`text` without line breaks, control, bidirectional and invisible characters, and cut to `width`."""
    if len(text) <= width and _PLAIN.fullmatch(text):
        return text
    head = text[: 8 * width + 64]
    kept = head.translate(_ASCII) if head.isascii() else "".join(map(_plain, head))
    cut = len(text) > 8 * width + 64
    line = " ".join(kept.split())
    return _cut(f"{line}{CUT}" if cut else line, width)


def _plain(char: str) -> str:
    if char.isascii():
        return char.translate(_ASCII)
    category = unicodedata.category(char)
    if category in ("Cf", "Cs", "Co", "Cn"):
        return ""
    if category[0] in "CZ":
        return " "
    for mark in unicodedata.normalize("NFKC", char):
        if mark in _LOOKALIKES:
            return _LOOKALIKES[mark]
    return char


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}{CUT}"


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if 10**_DIGITS <= abs(value) < 1e15:
        return f"{value:.1f}"
    text = f"{value:.{_DIGITS}g}"
    if "e" not in text:
        return text
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}"
