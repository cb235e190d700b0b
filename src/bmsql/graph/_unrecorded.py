"""Rows that a condition leaves out only because a value is not recorded: counted apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlglot import exp

from bmsql.sql import copied
from bmsql.types import ConventionRecord, QueryResult

NOT_RECORDED = "Not recorded:"
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


def unrecorded_query(tree: exp.Query, records: Iterable[ConventionRecord]) -> exp.Query | None:
    """By column, how many rows fail a condition for lack of a value while they meet all the others.

    `tree` is the final query. None where it is no plain SELECT over one table with such a
    condition. Columns of applied conventions are left out: the ladder counts them.
    """
    where = tree.args.get("where") if isinstance(tree, exp.Select) else None
    if not isinstance(where, exp.Where) or tree.args.get("joins") or not isinstance(_source(tree), exp.Table):
        return None
    conditions = list(_conjuncts(where.this))
    known = {column.lower() for record in records for column in _words(record.predicate)}
    outputs = []
    for one in conditions:
        column = _compared(one)
        if column is None or column.name.lower() in known:
            continue
        others = [copied(other) for other in conditions if other is not one and not _is_about(other, column)]
        missing = exp.Is(this=copied(column), expression=exp.Null())
        known.add(column.name.lower())
        outputs.append(exp.alias_(exp.CountIf(this=exp.and_(missing, *others, copy=False)), column.name, copy=False))
    if not outputs:
        return None
    return exp.Select(expressions=outputs).from_(copied(_source(tree)), copy=False)


def unrecorded_notes(result: QueryResult) -> list[str]:
    """One sentence for each column that lacks values in rows which meet everything else."""
    return [
        f"{NOT_RECORDED} {column.name} is missing in {count} further row{'' if count == 1 else 's'} that meet all else."
        for column, count in zip(result.columns, result.rows[0], strict=True)
        if count
    ]


def _source(tree: exp.Query) -> exp.Expr:
    source = tree.args.get("from_") or tree.args.get("from")
    return source.this if isinstance(source, exp.From) else tree


def _conjuncts(tree: exp.Expr) -> Iterator[exp.Expr]:
    if isinstance(tree, exp.And):
        yield from _conjuncts(tree.this)
        yield from _conjuncts(tree.expression)
    else:
        yield tree


def _compared(tree: exp.Expr) -> exp.Column | None:
    """The column that is compared with a number or a truth value: text that is missing is no value either way."""
    bare = tree.unnest() if isinstance(tree, exp.Paren) else tree
    if isinstance(bare, exp.Column):
        return bare
    if not isinstance(bare, _COMPARISONS):
        return None
    columns = list(bare.find_all(exp.Column))
    literals = list(bare.find_all(exp.Literal, exp.Boolean))
    if len({column.name.lower() for column in columns}) != 1 or bare.find(exp.Subquery):
        return None
    texts = [one for one in literals if isinstance(one, exp.Literal) and one.is_string]
    return columns[0] if literals and not texts else None


def _is_about(tree: exp.Expr, column: exp.Column) -> bool:
    return any(one.name.lower() == column.name.lower() for one in tree.find_all(exp.Column))


def _words(text: str) -> list[str]:
    return [word for word in "".join(c if c.isalnum() or c == "_" else " " for c in text).split() if not word.isdigit()]
