"""Values as a person reads them: sizes, sums of money, cells, numbers of rows."""

from __future__ import annotations

import decimal
import json
import math
import re
from typing import TYPE_CHECKING, Any

from bmsql.types._base import to_json

if TYPE_CHECKING:
    from bmsql.types._answer import Answer

CELL_CHARACTERS = 80
TIB = 1024**4
"""Bytes in a tebibyte."""
_UNITS = ((TIB, "TiB"), (1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"))
# All of C0 and C1 but tab and line feed, and DEL.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def size_text(count: int) -> str:
    """Bytes in binary units with two figures that count: `1.5 GiB`, `12 MiB`, `800 bytes`."""
    for unit, name in _UNITS:
        if count >= unit:
            number = count / unit
            return f"{number:.0f} {name}" if number >= 10 or number == int(number) else f"{number:.2g} {name}"
    return f"{count} bytes"


def money_text(dollars: float) -> str:
    """US dollars: `$1.25`; sums below a cent with six decimals."""
    if dollars == 0:
        return "$0"
    if dollars >= 0.01:
        return f"${dollars:,.2f}"
    return f"${dollars:.6f}".rstrip("0") if dollars >= 0.000001 else "less than $0.000001"


def visible(text: str) -> str:
    """`text` with its control characters written out as escapes, but for tabs and ends of lines.

    A terminal obeys them, and values of a database are not to command it.
    """
    return _CONTROL.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def cell_text(value: Any, limit: int = CELL_CHARACTERS) -> str:
    """A cell as short text: numbers readable, long texts cut with an ellipsis, NULL as `NULL`."""
    match value:
        case None:
            text = "NULL"
        case bool():
            text = "TRUE" if value else "FALSE"
        case float():
            text = number_text(value)
        case str() | int() | decimal.Decimal():
            text = str(value)
        case _:
            plain = to_json(value)
            text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    text = visible(" ".join(text.split()))
    return text if len(text) <= limit else text[: max(1, limit - 1)] + "…"


def number_text(value: float) -> str:
    """A float as people write it: `1.2e-15`, `0.0412`, `4`, `123456.79`; NaN and infinities in words."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if 1e5 <= abs(value) < 1e15:
        return f"{value:.2f}".rstrip("0").rstrip(".")
    text = f"{value:.5g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text


def shown_of(answer: Answer) -> str:
    """How many rows there are, as far as is known: `12 rows`, `more than 1000 rows`."""
    fetched = len(answer.result.rows) if answer.result else 0
    if answer.total is not None and answer.total >= fetched:
        return f"{answer.total} row{'' if answer.total == 1 else 's'}"
    return f"{'more than ' if answer.truncated else ''}{fetched} row{'' if fetched == 1 else 's'}"
