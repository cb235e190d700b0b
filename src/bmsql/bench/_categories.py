"""The paper's SQL categories of a query, read off its syntax tree."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

from bmsql.bench._error_kinds import thresholds_in
from bmsql.bench._types import SQL_CATEGORIES, SqlCategory

_SEARCHES = (exp.Like, exp.ILike, exp.RegexpLike, exp.RegexpILike, exp.RegexpExtract, exp.Contains)
_SEARCH_NAMES = {"CONTAINS_SUBSTR", "SEARCH", "INSTR", "STRPOS"}
_CONDITIONS = (exp.And, exp.Or, exp.Not)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Pow, exp.Exp, exp.Ln, exp.Log)


def sql_categories(sql: str, logical: frozenset[str] = frozenset()) -> tuple[SqlCategory, ...]:
    """The categories of a query in the BigQuery dialect, in the paper's order; every query selects.

    logical: columns, in lower case, on which an equality is a threshold. Raises sqlglot's ParseError.
    """
    tree = sqlglot.parse_one(sql, read="bigquery")
    distinct = any(isinstance(node, exp.Select) and node.args.get("distinct") for node in tree.walk())
    outputs = [output for select in tree.find_all(exp.Select) for output in select.expressions]
    has: dict[SqlCategory, bool] = {
        "select": True,
        "distinct": distinct or tree.find(exp.Distinct) is not None,
        "join": _joins_tables(tree),
        "multi_filter": any(where.find(*_CONDITIONS) is not None for where in tree.find_all(exp.Where, exp.Having)),
        "threshold": bool(thresholds_in(sql, logical)),
        "calculate": any(output.find(exp.AggFunc, *_ARITHMETIC) is not None for output in outputs),
        "order_by": tree.find(exp.Order) is not None,
        "similarity_search": any(_is_search(node) for node in tree.walk()),
    }
    return tuple(name for name in SQL_CATEGORIES if has[name])


def _joins_tables(tree: exp.Expr) -> bool:
    """Whether tables are joined; unnesting an array of one's own row is no join."""
    return any(not isinstance(join.this, exp.Unnest) for join in tree.find_all(exp.Join)) or any(
        node.find(exp.Select) is not None for node in tree.find_all(exp.Exists, exp.In)
    )


def _is_search(node: exp.Expr) -> bool:
    return (
        isinstance(node, _SEARCHES)
        or (isinstance(node, exp.Func) and node.sql_name() in _SEARCH_NAMES)
        or (isinstance(node, exp.Anonymous) and node.name.upper() in _SEARCH_NAMES)
    )
