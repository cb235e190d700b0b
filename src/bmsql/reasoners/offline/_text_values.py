"""Values as people write them: numbers, text from the rows, and lists of them."""

from __future__ import annotations

import decimal
import math
import unicodedata
from collections.abc import Sequence
from typing import Any

WIDTH = 60
UNDERFLOW = "below 1e-308"
NOT_RECORDED = "not recorded"
EMPTY = "(empty)"
_SHORT = 4


def plain(value: object, width: int = WIDTH) -> str:
    """A value from the data as text on one line, shortened: it is content, and never layout."""
    kept = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in str(value)[: width * 20])
    text = " ".join(kept.split())
    if len(text) <= width:
        return text
    cut = text[: width - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > width // 2 else cut).rstrip(" ,;") + "…"


def number(value: float | decimal.Decimal) -> str:
    """A number with three significant digits; whole numbers as they are."""
    if isinstance(value, int):
        return str(value)
    real = float(value)
    if not math.isfinite(real):
        return "not a number" if math.isnan(real) else ("infinity" if real > 0 else "-infinity")
    if real.is_integer() and abs(real) < 1e15:
        return str(int(real))
    if 1000 <= abs(real) < 1e15:
        return f"{real:.1f}"
    text = f"{real:.3g}"
    mantissa, mark, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if mark else mantissa


def shown(value: Any, unit: str = "", width: int = WIDTH) -> str:
    """A value in words: of its unit, "yes" or "no", or "not recorded"."""
    if value is None:
        return NOT_RECORDED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | decimal.Decimal):
        return UNDERFLOW if underflows(value, unit) else f"{number(value)}{_symbol(unit)}"
    if isinstance(value, list | tuple):
        return plain(", ".join(plain(item) for item in value), width)
    return plain(value, width) or EMPTY


def _symbol(unit: str) -> str:
    """What stands after a number: a short unit such as cm; longer ones say what it is a number of."""
    if unit == "percent":
        return " %"
    return f" {unit}" if 0 < len(unit) < _SHORT and not unit.isdigit() else ""


def equals(value: Any, unit: str = "") -> str:
    """`= value`, as it follows the name of what it is the value of."""
    text = shown(value, unit)
    return text if text in (UNDERFLOW, NOT_RECORDED) else f"= {text}"


def underflows(value: object, unit: str) -> bool:
    """Whether a probability was too small for a FLOAT64, which makes it 0."""
    return unit == "probability" and isinstance(value, int | float) and not isinstance(value, bool) and value == 0


def listed(items: Sequence[str], *, more: int | None = 0, word: str = "and") -> str:
    """`A, B and C`; `more` says how many follow unnamed, or None for an unknown number."""
    parts = list(items)
    if more is None:
        parts.append("more")
    elif more:
        parts.append(f"{more} more")
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def named(names: Sequence[str], complete: bool, total: int | None, *, most: int = 8) -> str:
    """The names, or the first of them and how many more there are: `total` where it is known.

    `complete` says that there are no others; where there are, and nobody knows how many, "and more".
    """
    unknown = not complete and total is None
    count = len(names) if complete or total is None else max(total, len(names))
    kept = list(names) if count <= most and not unknown else list(names[: most - 2])
    return listed(kept, more=None if unknown else count - len(kept))


def several(label: str) -> str:
    """The plural of a label, or `values of` it where it is not a plain noun."""
    last = label.rpartition(" ")[2]
    if " of " in label or not last.isalpha():
        return f"values of {label}"
    if last.endswith("y") and last[-2:-1] not in "aeiou":
        return f"{label[:-1]}ies"
    if last.endswith(("ss", "us", "x", "ch", "sh")):
        return f"{label}es"
    return label if is_plural(label) else f"{label}s"


def is_plural(label: str) -> bool:
    """Whether a label is a plural by its ending."""
    return label.endswith("s") and not label.endswith(("ss", "us", "is"))


def article(label: str) -> str:
    """`a label` or `an label`."""
    return f"{'an' if label[:1].lower() in 'aeiou' else 'a'} {label}"


def sentence(text: str) -> str:
    """`text` with a full stop."""
    text = text.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."


def capital(text: str) -> str:
    """`text` with its first letter large."""
    return text[:1].upper() + text[1:]
