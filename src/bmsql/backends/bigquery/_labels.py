"""Labels in the grammar of BigQuery."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from bmsql.errors import ConfigurationError

MAX_LABELS = 64
"""Labels that one job may have."""
_LENGTH = 63
_DIGEST = 8


def clean_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Labels that BigQuery accepts: lower case, letters, digits, `_` and `-`, at most 63 characters.

    What does not fit is replaced by `-`; a text that is too long ends in a digest, so that two of
    them stay two. A key that does not begin with a letter gets `x-` before it.
    """
    cleaned = {}
    for key, value in labels.items():
        name = _clean(key)
        if not name[:1].isalpha():
            name = _clean(f"x-{name}")
        cleaned[name] = _clean(value)
    if len(cleaned) > MAX_LABELS:
        raise ConfigurationError(
            f"A job may have {MAX_LABELS} labels; {len(cleaned)} were given.", remedy="Give fewer labels."
        )
    return cleaned


def _clean(text: str) -> str:
    lowered = "".join(one if one in "_-" or _is_plain(one) else "-" for one in text.strip().lower())
    if len(lowered) <= _LENGTH:
        return lowered
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
    return f"{lowered[: _LENGTH - _DIGEST - 1]}-{digest}"


def _is_plain(character: str) -> bool:
    # Letters without case, such as Chinese ones, are allowed; letters that have an upper form only are not.
    return character.isdecimal() or (character.isalpha() and character == character.lower())
