"""sqlglot's BigQuery parser, without work that nobody needs."""

from __future__ import annotations

from typing import Any

from sqlglot.dialects.bigquery import BigQuery
from sqlglot.errors import ErrorLevel

DIALECT = BigQuery()
_Plain: Any = BigQuery.parser_class


def _lighter() -> Any:
    class Lighter(_Plain):  # type: ignore[misc]  # chosen at run time
        def _implicit_unnests_to_explicit(self, this: Any) -> Any:
            # It looks for joined arrays, and copies all that is in FROM before it has seen that nothing is joined.
            return super()._implicit_unnests_to_explicit(this) if this.args.get("joins") else this

    return Lighter


def _parser_class() -> Any:
    try:
        lighter = _lighter()
        lighter(dialect=DIALECT)
    except TypeError:  # where sqlglot is compiled, its classes cannot be subclassed
        return _Plain
    return lighter


_CLASS = _parser_class()


def bigquery_parser() -> Any:
    """A parser that stops at the first error."""
    return _CLASS(dialect=DIALECT, error_level=ErrorLevel.IMMEDIATE)
