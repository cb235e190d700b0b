"""The base of all data models, and JSON that stays valid for every database value."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import math
import uuid
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

Json = dict[str, Any] | list[Any] | str | int | float | bool | None


class Frozen(BaseModel):
    """An immutable model that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def to_json(value: object) -> Json:
    """`value` as data that any JSON parser accepts, without losing what it was.

    NaN and infinities become the strings `"NaN"`, `"Infinity"` and `"-Infinity"` (JSON has no
    such numbers), decimals and integers beyond 2^53 become strings (a double would round them),
    dates and times ISO 8601, bytes base64. A p-value of 0 stays the number 0.
    """
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if abs(value) <= 2**53 else str(value)
        case float():
            if math.isnan(value):
                return "NaN"
            if math.isinf(value):
                return "Infinity" if value > 0 else "-Infinity"
            return value
        case decimal.Decimal() | uuid.UUID():
            return str(value)
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case dt.timedelta():
            return value.total_seconds()
        case bytes() | bytearray() | memoryview():
            return base64.b64encode(bytes(value)).decode("ascii")
        case BaseModel():
            return {name: to_json(getattr(value, name)) for name in type(value).model_fields}
        case Mapping():
            return {str(key): to_json(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [to_json(item) for item in value]
        case _:
            return str(value)
