"""Small pieces of Markdown, and a program environment without the user's own settings."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from unittest import mock

# What may stay: where files that can be made again are kept, and what the tests need.
_KEPT = ("BMSQL_CACHE_DIR", "BMSQL_TEST_")


def summary(thing: object) -> str:
    """The first paragraph of a docstring, in one line."""
    text = inspect.getdoc(thing) or ""
    return " ".join(text.split("\n\n", 1)[0].split())


def cell(text: str) -> str:
    """A text fit for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [header, tuple("---" for _ in header), *(tuple(map(cell, row)) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def block(language: str, text: str) -> str:
    """A fenced block of code."""
    return f"```{language}\n{text.strip()}\n```"


@contextmanager
def plain_environment() -> Iterator[None]:
    """The environment without settings that would change what bmsql does or shows."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("BMSQL_") or name.startswith(_KEPT)
    }
    with mock.patch.dict(os.environ, {**kept, "NO_COLOR": "1", "COLUMNS": "100"}, clear=True):
        yield
