"""PIVOT and UNPIVOT: the columns after them, and what they may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from bmsql.sql._analysis._operators import is_literal
from bmsql.sql._analysis._scope import Column, Relation, Scope
from bmsql.sql._types import UNKNOWN, Type, coerces

if TYPE_CHECKING:
    from bmsql.sql._analysis._typer import Typer


def pivoted(item: exp.Expr, relation: Relation, scope: Scope, typer: Typer) -> Relation:
    """A FROM item after its PIVOT and UNPIVOT."""
    for pivot in item.args.get("pivots") or ():
        inner = Scope(None, scope.ctes)
        inner.relations = [Relation(relation.name, relation.columns)]
        if pivot.args.get("unpivot"):
            relation = _unpivot(pivot, relation, inner, typer)
        else:
            relation = _pivot(pivot, relation, inner, typer)
    return relation


def _pivot(pivot: exp.Expr, relation: Relation, inner: Scope, typer: Typer) -> Relation:
    used = set()
    _check_aggregates(pivot, typer)
    kinds = [typer.infer(aggregate, inner, "PIVOT", aggregates=True) for aggregate in pivot.expressions]
    for part in (*pivot.expressions, *(field.this for field in pivot.args.get("fields") or ())):
        used |= {column.name.lower() for column in part.find_all(exp.Column)}
    for field in pivot.args.get("fields") or ():
        _check_values(field, typer.infer(field.this, inner, "PIVOT"), inner, typer)
    alias = pivot.args.get("alias")
    name = alias.name if alias is not None else relation.name
    if relation.columns is None:
        return Relation(name, None)
    kept = tuple(column for column in relation.columns if column.name.lower() not in used)
    names = [column.name for column in pivot.args.get("columns") or ()]
    if not names:
        return Relation(name, None)
    kind = kinds[0] if len(kinds) == 1 else UNKNOWN
    return Relation(name, (*kept, *(Column(column, kind) for column in names)))


def _check_aggregates(pivot: exp.Expr, typer: Typer) -> None:
    unnamed = [item for item in pivot.expressions if not isinstance(item, exp.Alias)]
    if len(pivot.expressions) > 1 and unnamed:
        message = "Each of several aggregates in PIVOT needs a name."
        typer.context.problem_at(unnamed[0], "pivot", message, "Write PIVOT(SUM(x) AS total, AVG(x) AS mean FOR ...).")


def _check_values(field: exp.Expr, kind: Type, inner: Scope, typer: Typer) -> None:
    """PIVOT's IN takes constants of the type that it reads."""
    context = typer.context
    if not field.expressions:
        context.problem_at(field, "pivot", "IN of PIVOT is empty.", "List the values: FOR x IN ('a', 'b').")
    for item in field.expressions:
        value = item.this if isinstance(item, (exp.PivotAlias, exp.Alias)) else item
        if isinstance(value, (exp.Query, exp.Column)):
            what = "a subquery" if isinstance(value, exp.Query) else value.sql(dialect="bigquery")
            message = f"IN of PIVOT takes constants, not {what}."
            context.problem_at(field, "pivot", message, "List the values: FOR x IN ('a', 'b').")
            return
        found = typer.infer(value, inner, "PIVOT")
        if not kind.unknown and not coerces(found, kind, is_literal(value)):
            context.problem_at(value, "pivot", f"IN of PIVOT compares {kind} with {found}.", f"Write a {kind}.")
        elif kind.kind == "FLOAT64" and value is item:
            message = "Each FLOAT64 in IN of PIVOT needs a name."
            context.problem_at(value, "pivot", message, "Write FOR x IN (0.5 AS half).")


def _unpivot(pivot: exp.Expr, relation: Relation, inner: Scope, typer: Typer) -> Relation:
    alias = pivot.args.get("alias")
    name = alias.name if alias is not None else relation.name
    if relation.columns is None:
        return Relation(name, None)
    gone: set[str] = set()
    kinds: dict[int, Type] = {}
    added: list[Column] = []
    for field in pivot.args.get("fields") or ():
        for group in field.expressions:
            for position, column in enumerate(group.find_all(exp.Column, bfs=False)):
                found = typer.infer(column, inner, "UNPIVOT")
                kinds[position] = _same(column, kinds.get(position, UNKNOWN), found, typer)
                gone.add(column.name.lower())
        added.append(Column(field.this.name, UNKNOWN))
    names = [identifier for value in pivot.expressions for identifier in value.find_all(exp.Identifier, bfs=False)]
    values = [Column(name.name, kinds.get(position, UNKNOWN)) for position, name in enumerate(names)]
    kept = tuple(column for column in relation.columns if column.name.lower() not in gone)
    return Relation(name, (*kept, *values, *added))


def _same(column: exp.Expr, kind: Type, found: Type, typer: Typer) -> Type:
    """The one type that the columns of UNPIVOT must have."""
    if kind.unknown or found.unknown or kind == found:
        return found if kind.unknown else kind
    message = f"UNPIVOT: the columns have different types, {kind} and {found}."
    typer.context.problem_at(column, "pivot", message, "CAST them in a subquery.")
    return kind
