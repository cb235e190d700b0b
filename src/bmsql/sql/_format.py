"""Pretty BigQuery SQL."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql._parse import parse


def format_sql(sql: str | exp.Expr, *, pretty: bool = True) -> str:
    """`sql` (a text or a tree) as BigQuery SQL, one clause per line; comments are kept.

    Raises:
        SqlSyntaxError: a text that does not parse.
    """
    tree = parse(sql) if isinstance(sql, str) else sql
    return tree.sql(dialect="bigquery", pretty=pretty, normalize_functions=False, max_text_width=100)
