"""Pretty BigQuery SQL."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import TokenError
from sqlglot.generator import Generator
from sqlglot.tokenizer_core import TokenType

from bmsql.sql._generator import Writer
from bmsql.sql._parse import shared_tree
from bmsql.sql._write import write

_NEGATABLE = (exp.Is, exp.In, exp.Between, exp.Like)


def _not_sql(generator: Generator, expression: exp.Not) -> str:
    """`x IS NOT NULL` rather than `NOT x IS NULL`."""
    inner = expression.this
    if isinstance(inner, _NEGATABLE):
        left, whole = generator.sql(inner, "this"), generator.sql(inner)
        operator, _, right = whole.removeprefix(f"{left} ").partition(" ")
        if whole.startswith(f"{left} ") and right:
            return f"{left} IS NOT {right}" if operator == "IS" else f"{left} NOT {operator} {right}"
    return generator.not_sql(expression)


_WRITERS: dict[type[exp.Expr], Writer] = {exp.Not: _not_sql}


def format_sql(sql: str | exp.Expr, *, pretty: bool = True, copy: bool = True) -> str:
    """`sql` (a text or a tree) as BigQuery SQL, one clause per line; comments are kept.

    copy: without, a tree is not to be used again, since writing may change it.

    Raises:
        SqlSyntaxError: a text that does not parse.
    """
    copy = copy or isinstance(sql, str)
    tree = shared_tree(sql) if isinstance(sql, str) else sql
    return write(tree, _WRITERS, copy=copy, pretty=pretty, normalize_functions=False, max_text_width=100)


def same_sql(one: str, other: str) -> bool:
    """Whether two texts are the same but for white space, case and comments; they need not parse."""
    return _tokens(one) == _tokens(other)


def _tokens(sql: str) -> list[str]:
    try:
        tokens = sqlglot.tokenize(sql.strip().rstrip(";"), read="bigquery")
    except TokenError:
        return sql.casefold().split()
    return [token.text if token.token_type == TokenType.STRING else token.text.casefold() for token in tokens]
