"""Writing conditions: as SQL, and into the clause where they filter one source and nothing else."""

from __future__ import annotations

import re

from sqlglot import exp

from bmsql.conventions._scopes import Scope, Scopes, Source
from bmsql.sql import copied

Value = bool | int | float | str | tuple[float, float]

_COMPARISONS: dict[str, type[exp.Binary]] = {
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "=": exp.EQ,
    "!=": exp.NEQ,
}
_EXPONENT = re.compile(r"e([+-])0*(\d)")


def literal(value: bool | int | float | str) -> exp.Expr:
    """The value as a literal; numbers as people write them (`5e-8`, not `5e-08`)."""
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        return exp.Literal.string(value)
    return exp.Literal.number(number_text(value))


def number_text(value: int | float) -> str:
    """A number as people write it."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    text = repr(value)
    return _EXPONENT.sub(lambda found: f"e{found[1].replace('+', '')}{found[2]}", text)


def comparison(subject: exp.Expr, op: str, value: Value) -> exp.Expr:
    """`subject op value` as a tree; the subject is copied."""
    subject = copied(subject)
    if isinstance(value, tuple):
        return exp.Between(this=subject, low=literal(value[0]), high=literal(value[1]))
    return _COMPARISONS[op](this=subject, expression=literal(value))


def column_of(scopes: Scopes, source: Source, name: str, qualified: bool | None = None) -> exp.Column:
    """A column of `source`: qualified where several sources, or the author's habit, ask for it."""
    if qualified is None:
        several = len(source.scope.sources) > 1
        qualified = (several and (bool(source.alias) or _ambiguous(scopes, source, name))) or (
            not several and bool(source.alias) and _qualifies(source.scope.select, source.alias)
        )
    if qualified and not source.alias:
        # What `project.dataset.table` in one pair of backticks is called is not the same everywhere.
        source.node.set("alias", exp.TableAlias(this=exp.to_identifier(source.name)))
    alias = exp.to_identifier(source.name) if qualified else None
    return exp.Column(this=exp.to_identifier(name), table=alias)


def _ambiguous(scopes: Scopes, source: Source, name: str) -> bool:
    """Whether another source has, or may have, a column of this name."""
    for other in source.scope.sources:
        if other is source:
            continue
        if isinstance(other.node, exp.Unnest):
            alias = other.node.args.get("alias")
            names = [column.name.lower() for column in alias.columns] if alias is not None else []
            if name.lower() in [*names, other.name.lower()]:
                return True
        elif scopes.has(other, name.lower()) or not (other.table or other.body is not None):
            return True
    return False


def _qualifies(select: exp.Select, alias: str) -> bool:
    """Whether the author writes columns with this alias."""
    items = [*select.expressions, *(part for part in (select.args.get("where"),) if part is not None)]
    return any(column.table.lower() == alias.lower() for item in items for column in item.find_all(exp.Column))


def place(scopes: Scopes, source: Source, name: str, op: str, value: Value, qualified: bool | None = None) -> exp.Expr:
    """Add `name op value` for the rows of `source`, and give the condition as written.

    WHERE, unless an outer join makes the source optional: there it goes into ON (WHERE would turn the
    join into an inner one), or where ON cannot hold it, into a subquery around the source.
    """
    where = _position(source)
    if where == "wrap":
        return _wrap(source, name, op, value)
    condition = comparison(column_of(scopes, source, name, qualified), op, value)
    if where == "on" and source.join is not None:
        source.join.set("on", both(source.join.args["on"], condition))
        return condition
    select = source.scope.select
    existing = select.args.get("where")
    if existing is None:
        select.set("where", exp.Where(this=condition))
    else:
        existing.set("this", both(existing.this, condition))
    return condition


def both(left: exp.Expr, right: exp.Expr) -> exp.And:
    """`left AND right`."""
    wrapped = exp.Paren(this=left) if isinstance(left, exp.Or | exp.Xor) else left
    return exp.And(this=wrapped, expression=right)


def _position(source: Source) -> str:
    if source.nested or source.node.args.get("pivots"):
        return "wrap"
    optional_by: list[exp.Join] = []
    reached = source.join is None
    for join in _joins(source.scope):
        side = (join.side or "").upper()
        if join is source.join:
            reached = True
            if side in {"LEFT", "FULL"}:
                optional_by.append(join)
        elif reached and side in {"RIGHT", "FULL"}:
            optional_by.append(join)
    if not optional_by:
        return "where"
    own = optional_by == [source.join] and (source.join.side or "").upper() == "LEFT" if source.join else False
    return "on" if own and source.join is not None and source.join.args.get("on") is not None else "wrap"


def _joins(scope: Scope) -> list[exp.Join]:
    return list(scope.select.args.get("joins") or ())


def _wrap(source: Source, name: str, op: str, value: Value) -> exp.Expr:
    """Put `(SELECT * FROM source WHERE ...) AS alias` in the place of the source."""
    node, alias = source.node, exp.TableAlias(this=exp.to_identifier(source.name))
    condition = comparison(exp.Column(this=exp.to_identifier(name)), op, value)
    select = exp.Select(expressions=[exp.Star()], where=exp.Where(this=condition))
    wrapped = exp.Subquery(this=select)
    pivots, joins = node.args.get("pivots"), node.args.get("joins")
    if not pivots or source.alias:
        wrapped.set("alias", alias)
    node.replace(wrapped)
    # The node itself moves inside, so that whoever holds it still holds the place of its rows.
    node.set("pivots", None)
    node.set("joins", None)
    wrapped.set("pivots", pivots)
    wrapped.set("joins", joins)
    select.set("from_", exp.From(this=node))
    return condition


def drop(node: exp.Expr) -> None:
    """Take a condition out of its clause, as if it were always true."""
    while isinstance(node.parent, exp.Paren):
        node = node.parent
    parent = node.parent
    if isinstance(parent, exp.And):
        parent.replace(parent.expression if parent.this is node else parent.this)
    elif isinstance(parent, exp.Or):
        drop(parent)
    elif isinstance(parent, exp.Where | exp.Having | exp.Qualify):
        parent.pop()
    else:
        node.replace(exp.Boolean(this=True))
