"""Pretty BigQuery SQL."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.generators.bigquery import BigQueryGenerator

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
