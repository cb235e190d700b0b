"""The rules of a ladder and the pieces that its queries are made of."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from bmsql.conventions._conditions import Atom
from bmsql.conventions._place import literal
from bmsql.conventions._schema import Rule
from bmsql.conventions._scopes import aggregates
from bmsql.sql import copied


@dataclass(frozen=True, slots=True)
class Rung:
    """An applied rule found in the query: its number among the records, and its conditions."""

    number: int
    rule: Rule
    atoms: list[Atom]


def missing_in(rule: Rule, column: exp.Column) -> exp.Expr:
    """The condition that a rule's column is not recorded."""
    absent: exp.Expr = exp.Is(this=copied(column), expression=exp.Null())
    if rule.not_recorded.below is None:
        return absent
    below = exp.LT(this=copied(column), expression=literal(rule.not_recorded.below))
    return exp.Or(this=absent, expression=below)


def counted_by(root: exp.Select) -> exp.Expr | None:
    """What a row of the result is in a query of one aggregate: what its count counts; else its rows."""
    return next((found for found in aggregates(root) if isinstance(found, exp.Count | exp.CountIf)), None)


def named(node: exp.Expr, name: str) -> exp.Alias:
    """`node AS name`."""
    return exp.Alias(this=node, alias=exp.to_identifier(name))
