"""A list of rows has a limit; one row of aggregates needs none.

::

    SELECT SNP FROM gwas             -- wrong: up to millions of rows
    SELECT SNP FROM gwas LIMIT 100   -- right
    SELECT COUNT(*) FROM gwas        -- right
"""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from bmsql.conventions._scopes import is_grouped
from bmsql.sql import one_line


def ensure_limit(tree: exp.Query, rows: int) -> tuple[Literal["applied", "already", "none"], str]:
    """Limit a list of rows to `rows`, in place; a limit that is there stays."""
    if not is_list(tree):
        return "none", ""
    existing = limit_of(tree)
    if existing is not None:
        return "already", f"LIMIT {one_line(existing.expression)}"
    tree.set("limit", exp.Limit(expression=exp.Literal.number(rows)))
    return "applied", f"LIMIT {rows}"


def limit_of(tree: exp.Query) -> exp.Limit | None:
    """The limit of a query, also where the whole query stands in parentheses."""
    node: exp.Expr = tree
    while isinstance(node, exp.Query):
        limit = node.args.get("limit")
        if isinstance(limit, exp.Limit):
            return limit
        if not isinstance(node, exp.Subquery):
            break
        node = node.this
    return None


def is_list(tree: exp.Query) -> bool:
    """Whether a query can give more than one row."""
    node: exp.Expr = tree
    while isinstance(node, exp.Subquery):
        node = node.this
    if isinstance(node, exp.Select):
        return bool(node.args.get("from_")) and not (is_grouped(node) and not node.args.get("group"))
    return isinstance(node, exp.SetOperation)
