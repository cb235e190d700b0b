"""Bytes and money for a person to read."""

from __future__ import annotations

TIB = 1024**4
_UNITS = ((TIB, "TiB"), (1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"))


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
