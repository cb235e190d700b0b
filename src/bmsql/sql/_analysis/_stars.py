"""`*` in a SELECT list, with EXCEPT and REPLACE: the columns that it stands for."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql._analysis._names import nearest
from bmsql.sql._analysis._scope import Column, Scope
from bmsql.sql._analysis._typer import Typer
from bmsql.sql._tree import arg


def star_columns(item: exp.Expr, scope: Scope, typer: Typer) -> tuple[list[Column], bool] | None:
    """The columns of `*` or `t.*` with EXCEPT and REPLACE, and whether all are known."""
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        star, qualifier = item.this, item.table
    elif isinstance(item, exp.Star):
        star, qualifier = item, ""
    elif isinstance(item, exp.Dot) and isinstance(item.expression, exp.Star):
        typer.infer(item.this, scope, "the SELECT list")
        return [], False
    else:
        return None
    relations = scope.relations
    if qualifier:
        found = scope.relation(qualifier.lower())
        if found is None:
            return _star_of_column(item, qualifier, scope, typer)
        relations = [found]
    elif not relations:
        typer.context.problem_at(item, "star-without-from", "SELECT * needs a FROM clause.")
        return [], False
    columns: list[Column] = []
    for relation in relations:
        if relation.columns:
            columns += relation.columns
        elif relation.value is not None and relation.columns is not None:
            columns.append(Column(relation.name, relation.value))
    known = all(relation.columns is not None for relation in relations)
    if not qualifier:
        columns = _without_repeats(columns, scope)
    return _excepted(star, columns, known, scope, typer), known


def _star_of_column(item: exp.Expr, qualifier: str, scope: Scope, typer: Typer) -> tuple[list[Column], bool]:
    for level in scope.chain():
        for relation in level.relations:
            for column in relation.find(qualifier.lower()):
                fields = [Column(name, kind) for name, kind in column.type.fields]
                return _excepted(item.this, fields, bool(fields), scope, typer), bool(fields)
        if level.opaque:
            return [], False
    names = [relation.name for relation in scope.relations if relation.name]
    hint = nearest(qualifier, names)
    suggestion = f"Did you mean {hint}.*?" if hint else f"In scope: {', '.join(names) or 'no table'}."
    typer.context.problem_at(item, "unknown-alias", f"There is no table or alias {qualifier} in scope.", suggestion)
    return [], False


def _without_repeats(columns: list[Column], scope: Scope) -> list[Column]:
    """`*` shows a column of USING once."""
    seen: set[str] = set()
    kept: list[Column] = []
    for column in columns:
        name = column.name.lower()
        if name in scope.merged and name in seen:
            continue
        seen.add(name)
        kept.append(column)
    return kept


def _excepted(star: exp.Expr, columns: list[Column], known: bool, scope: Scope, typer: Typer) -> list[Column]:
    excluded = arg(star, "except") or ()
    replaced = star.args.get("replace") or ()
    names = [column.name.lower() for column in columns]
    for entry in excluded:
        if known and entry.name.lower() not in names:
            hint = nearest(entry.name, [column.name for column in columns])
            typer.context.problem_at(
                entry,
                "unknown-column",
                f"EXCEPT: there is no column {entry.name}.",
                f"Did you mean {hint}?" if hint else "Drop it.",
            )
    for entry in replaced:
        kind = typer.infer(entry, scope, "the SELECT list", aggregates=True, windows=True)
        name = entry.alias.lower()
        if known and name not in names:
            typer.context.problem_at(
                entry, "unknown-column", f"REPLACE: there is no column {entry.alias}.", "Add it as a column of its own."
            )
        columns = [Column(column.name, kind) if column.name.lower() == name else column for column in columns]
        if any(other.name.lower() == name for other in excluded):
            typer.context.problem_at(entry, "star", f"{entry.alias} stands in EXCEPT and in REPLACE.")
    gone = {entry.name.lower() for entry in excluded}
    return [column for column in columns if column.name.lower() not in gone]


def is_star(item: exp.Expr) -> bool:
    """Whether an item of the list is `*`, `t.*` or a star over a field."""
    return isinstance(item, exp.Star) or (isinstance(item, (exp.Column, exp.Dot)) and item.find(exp.Star) is not None)
