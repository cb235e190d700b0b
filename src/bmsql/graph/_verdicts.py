"""The verdicts of validation, kept so that the same text is not checked twice."""

from __future__ import annotations

import threading
from collections import OrderedDict

from bmsql.types import Rejected, ValidatedQuery

Verdict = ValidatedQuery | Rejected

# A question has a handful of texts, and a resumed one asks for them again.
_KEPT = 256


class Verdicts:
    """The verdicts on the texts that were asked for last. May be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_text: OrderedDict[str, Verdict] = OrderedDict()

    def get(self, sql: str) -> Verdict | None:
        """The verdict on a text, where it is kept."""
        with self._lock:
            found = self._by_text.get(sql)
            if found is not None:
                self._by_text.move_to_end(sql)
            return found

    def put(self, sql: str, verdict: Verdict) -> None:
        """Keep a verdict, in place of the one that was asked for longest ago."""
        with self._lock:
            self._by_text[sql] = verdict
            if len(self._by_text) > _KEPT:
                self._by_text.popitem(last=False)
