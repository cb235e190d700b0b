"""What queries cost: bytes, money, and the running total."""

from __future__ import annotations

import threading

from bmsql.backends._base import Spent
from bmsql.errors import ConfigurationError
from bmsql.types import TIB

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
