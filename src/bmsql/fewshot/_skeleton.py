"""The skeleton of a query: its structure without its tables, columns and values."""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp

from bmsql.sql import parse

_MASK = "_"
_VALUES = (exp.Literal, exp.Boolean, exp.RawString, exp.ByteString, exp.HexString)


@lru_cache(maxsize=4096)
def skeleton(sql: str) -> str:
    """`sql` with every table, column and value as `_`, without aliases, and with lists of values as one.

    Two queries with the same skeleton are built alike; how many plain columns they select makes no difference.
    Raises SqlSyntaxError where `sql` does not parse in the BigQuery dialect, ForbiddenSqlError where it is no
    SELECT.
    """
    # Under a root of its own, so that any part of the query can be replaced.
    root = exp.Paren(this=parse(sql))
    for alias in list(root.find_all(exp.Alias)):
        # What a column is called says nothing of how the query is built.
        alias.replace(alias.this)
    for within in list(root.find_all(exp.In)):
        if len(within.expressions) > 1 and all(isinstance(one, _VALUES) for one in within.expressions):
            within.set("expressions", within.expressions[:1])
    for negative in list(root.find_all(exp.Neg)):
        if isinstance(negative.this, exp.Literal):
            negative.replace(negative.this)
    for column in list(root.find_all(exp.Column)):
        if not isinstance(column.this, exp.Star):
            column.replace(_mask())
    for value in list(root.find_all(*_VALUES)):
        value.replace(_mask())
    for table in root.find_all(exp.Table):
        table.set("db", None)
        table.set("catalog", None)
    for identifier in root.find_all(exp.Identifier):
        identifier.set("this", _MASK)
        identifier.set("quoted", False)
    for select in root.find_all(exp.Select):
        _shorten(select)
    text: str = root.this.sql(dialect="bigquery", comments=False, normalize_functions="upper")
    return text.replace(f"`{_MASK}`", _MASK).replace(f" AS {_MASK}", "")


def _mask() -> exp.Column:
    return exp.Column(this=exp.to_identifier(_MASK))


def _shorten(select: exp.Select) -> None:
    """Several plain columns of a SELECT list as one."""
    kept: list[exp.Expr] = []
    for one in select.expressions:
        if not (isinstance(one, exp.Column) and one in kept):
            kept.append(one)
    select.set("expressions", kept)


@lru_cache(maxsize=4096)
def tables_of(sql: str) -> frozenset[str]:
    """The names of the tables that a query reads, without project and data set; raises as `skeleton`."""
    tree = parse(sql)
    named = {cte.alias_or_name for cte in tree.find_all(exp.CTE)}
    return frozenset(
        table.name
        for table in tree.find_all(exp.Table)
        if isinstance(table.this, exp.Identifier) and table.name not in named
    )
