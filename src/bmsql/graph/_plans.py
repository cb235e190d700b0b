"""The plan in the state of a question, which most nodes read and few change."""

from __future__ import annotations

import marshal
from typing import Any

from bmsql.graph._data import Data
from bmsql.types import Plan

# The last version of the format in which equal data always have equal bytes.
_VERSION = 2


def key_of(data: Any) -> bytes | None:
    """Equal for equal plain data; None for what is none, such as a text of a class of its own."""
    try:
        return marshal.dumps(data, _VERSION)
    except ValueError:
        return None


class Plans:
    """Reads the plan of one question; while the state holds the same data, they are checked once.

    It goes by what the data are, and not by which object they are in: somebody may have edited them in place.
    """

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: tuple[bytes, Plan] | None = None

    def read(self, data: Data) -> Plan:
        """The plan that `data` holds."""
        key = key_of(data)
        if key is None:
            return Plan.model_validate(data)
        last = self._last
        if last is None or last[0] != key:
            last = self._last = key, Plan.model_validate(data)
        return last[1]
