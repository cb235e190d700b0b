"""What was asked for last."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

# One for all: it is held for a moment only. A process is not forked in that moment, whose child would wait for ever.
_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


class Recent(Generic[K, V]):
    """A table that keeps up to `kept` entries, and forgets what was not asked for the longest; safe in threads."""

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._known: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        """What is kept under a key."""
        with _lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
            return found

    def put(self, key: K, value: V) -> None:
        """Keep it."""
        with _lock:
            self._known[key] = value
            self._known.move_to_end(key)
            if len(self._known) > self._kept:
                self._known.popitem(last=False)
