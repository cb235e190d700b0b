"""What is said of rows that must not be shown: no value of a cell in warnings and messages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bmsql.reasoners import Attempt

_HIDDEN = "(not shown)"
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
# Databases end a message with the value that they could not read, without quotes.
_TAIL = re.compile(
    r"\b(value|string|input|literal|timestamp|datetime|date|time|numeric|json|overflow|zero)s?\s*:\s*\S.*",
    re.IGNORECASE,
)


def without_values(attempt: Attempt) -> Attempt:
    """The attempt, its database's message without what may be a cell: all that the query does not say itself."""
    if not attempt.error:
        return attempt

    def told(match: re.Match[str]) -> str:
        return match[0] if match[0][1:-1] in attempt.sql else _HIDDEN

    # Further lines repeat the value to point at a place in it.
    first = attempt.error.partition("\n")[0]
    message = _TAIL.sub(rf"\1: {_HIDDEN}", _QUOTED.sub(told, first))
    return attempt.model_copy(update={"error": message})


def without_sources(warnings: Iterable[str], sources: tuple[str, ...]) -> tuple[str, ...]:
    """The warnings that name none of the studies, which are read from cells."""
    return tuple(warning for warning in warnings if not any(source in warning for source in sources))
