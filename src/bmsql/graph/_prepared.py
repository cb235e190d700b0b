"""Results that one job gave together, kept until each is asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict

from bmsql.types import QueryResult

# A question asks for a handful; what nobody asked for any more must not pile up.
_KEPT = 32


class Prepared:
    """Results by the text of their query; each is given out once. May be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._results: OrderedDict[str, QueryResult] = OrderedDict()

    def put(self, sql: str, result: QueryResult) -> None:
        """Keep a result."""
        with self._lock:
            self._results[sql] = result
            while len(self._results) > _KEPT:
                self._results.popitem(last=False)

    def has(self, sql: str) -> bool:
        """Whether the result of a query is there."""
        with self._lock:
            return sql in self._results

    def take(self, sql: str) -> QueryResult | None:
        """The result of a query, which is then no longer kept."""
        with self._lock:
            return self._results.pop(sql, None)
