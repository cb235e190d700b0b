"""Names of categories as question files write them."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable

from bmsql.bench._types import BIO_CATEGORIES, SQL_CATEGORIES, BioCategory, SqlCategory

_SQL_WORDS: dict[str, SqlCategory] = {
    "select": "select",
    "distinct": "distinct",
    "join": "join",
    "multifilter": "multi_filter",
    "threshold": "threshold",
    "calculate": "calculate",
    "calculation": "calculate",
    "orderby": "order_by",
    "similaritysearch": "similarity_search",
    "similarity": "similarity_search",
}
# The paper's names are long; one telling word of each is enough.
_BIO_WORDS: dict[str, BioCategory] = {
    "implicit": "implicit_conventions",
    "convention": "implicit_conventions",
    "context": "missing_context",
    "hop": "multi_hop",
    "workflow": "multi_hop",
}


def read_sql_categories(given: object) -> tuple[SqlCategory, ...]:
    """Categories in the paper's order from a list or a text of several. Raises ValueError for an unknown one."""
    found = set()
    for label in _labels(given):
        name = _SQL_WORDS.get("".join(letter for letter in label.lower() if letter.isalpha()))
        if name is None:
            raise ValueError(f"{label!r} is no SQL category; they are {', '.join(SQL_CATEGORIES.values())}")
        found.add(name)
    return tuple(name for name in SQL_CATEGORIES if name in found)


def read_bio_categories(given: object) -> tuple[BioCategory, ...]:
    """Reasoning categories in the paper's order, as `read_sql_categories`."""
    found = set()
    for label in _labels(given):
        name = next((category for word, category in _BIO_WORDS.items() if word in label.lower()), None)
        if name is None:
            raise ValueError(f"{label!r} is no reasoning category; they are {', '.join(BIO_CATEGORIES.values())}")
        found.add(name)
    return tuple(name for name in BIO_CATEGORIES if name in found)


def _labels(given: object) -> Iterable[str]:
    """The labels of a list, of a list written as text, or of a text that separates them by commas or semicolons."""
    if given is None:
        return []
    if isinstance(given, str):
        text = given.strip()
        if text.startswith("["):
            try:
                return _labels(json.loads(text))
            except json.JSONDecodeError:
                try:
                    return _labels(ast.literal_eval(text))
                except (SyntaxError, ValueError) as error:
                    raise ValueError(f"{given!r} is no list of categories") from error
        return [label.strip() for label in text.replace(";", ",").replace("|", ",").split(",") if label.strip()]
    if isinstance(given, list | tuple) and all(isinstance(label, str) for label in given):
        return [label for label in given if label.strip()]
    raise ValueError(f"{given!r} is no list of categories")
