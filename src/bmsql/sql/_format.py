"""Pretty BigQuery SQL."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import TokenError
from sqlglot.generators.bigquery import BigQueryGenerator
from sqlglot.tokenizer_core import TokenType

from bmsql.sql._parse import parse

_NEGATABLE = (exp.Is, exp.In, exp.Between, exp.Like)


class _Generator(BigQueryGenerator):
    """sqlglot's generator, but for negation: `x IS NOT NULL` rather than `NOT x IS NULL`."""

    def not_sql(self, expression: exp.Not) -> str:
        inner = expression.this
        if isinstance(inner, _NEGATABLE):
            left, whole = self.sql(inner, "this"), self.sql(inner)
            operator, _, right = whole.removeprefix(f"{left} ").partition(" ")
            if whole.startswith(f"{left} ") and right:
                return f"{left} IS NOT {right}" if operator == "IS" else f"{left} NOT {operator} {right}"
        return str(super().not_sql(expression))


def format_sql(sql: str | exp.Expr, *, pretty: bool = True) -> str:
    """`sql` (a text or a tree) as BigQuery SQL, one clause per line; comments are kept.

    Raises:
        SqlSyntaxError: a text that does not parse.
    """
    tree = parse(sql) if isinstance(sql, str) else sql
    generator = _Generator(dialect="bigquery", pretty=pretty, normalize_functions=False, max_text_width=100)
    return generator.generate(tree)


def same_sql(one: str, other: str) -> bool:
    """Whether two texts are the same but for white space, case and comments; they need not parse."""
    return _tokens(one) == _tokens(other)


def _tokens(sql: str) -> list[str]:
    try:
        tokens = sqlglot.tokenize(sql.strip().rstrip(";"), read="bigquery")
    except TokenError:
        return sql.casefold().split()
    return [token.text if token.token_type == TokenType.STRING else token.text.casefold() for token in tokens]
