"""What queries cost: bytes, money, and the running total."""

from __future__ import annotations

import threading
from decimal import Decimal

from bmsql.backends._base import Spent
from bmsql.errors import ConfigurationError

TIB = 1024**4
GIB = 1024**3
MINIMUM_BILLED = 10 * 1024**2
"""Bytes that are billed at least for each table that a query reads."""
LIST_PRICE = 6.25
"""US dollars per TiB: the on-demand list price of the multi-regions US and EU in 2026."""


class Meter:
    """Adds up what jobs were billed; may be used from several threads."""

    def __init__(self, price_per_tib: float = LIST_PRICE) -> None:
        if isinstance(price_per_tib, bool) or not 0 <= price_per_tib < 1e6:
            raise ConfigurationError(
                f"price_per_tib is {price_per_tib!r}.", remedy="Give US dollars per TiB, such as 6.25."
            )
        self.price_per_tib = price_per_tib
        self._lock = threading.Lock()
        self._spent = Spent()

    @property
    def spent(self) -> Spent:
        """The total so far."""
        with self._lock:
            return self._spent

    def cost(self, billed: int) -> float:
        """US dollars for so many billed bytes."""
        return billed / TIB * self.price_per_tib

    def add(self, processed: int, billed: int) -> None:
        """Count one finished job."""
        with self._lock:
            before = self._spent
            total = before.bytes_billed + billed
            self._spent = Spent(
                queries=before.queries + 1,
                bytes_processed=before.bytes_processed + processed,
                bytes_billed=total,
                cost=self.cost(total),
            )


def billed_at_least(processed: int, tables: int) -> int:
    """What BigQuery bills for so many bytes of so many tables."""
    return max(processed, MINIMUM_BILLED * tables) if processed else 0


def size_text(count: int) -> str:
    """Bytes for a person: `1.5 GiB`, `12 MiB`, `800 bytes`."""
    for unit, name in ((TIB, "TiB"), (GIB, "GiB"), (1024**2, "MiB"), (1024, "KiB")):
        if count >= unit:
            return f"{_short(count / unit)} {name}"
    return f"{count} bytes"


def money_text(dollars: float) -> str:
    """US dollars for a person; small sums keep two figures that count."""
    if dollars == 0:
        return "$0"
    if dollars >= 0.01:
        return f"${dollars:,.2f}"
    return f"${Decimal(dollars):.2g}" if dollars >= 0.0001 else "less than $0.0001"


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 100 or number == int(number) else f"{number:.2g}"
