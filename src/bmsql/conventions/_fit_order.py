"""The limit and the order of a draft against those that the question states."""

from __future__ import annotations

import re

from sqlglot import exp, parse_one

from bmsql.conventions._default_limit import is_list, limit_of
from bmsql.conventions._place import column_of
from bmsql.conventions._scopes import Scope, Scopes, Source
from bmsql.semantic import ROLE_REFERENCE, SemanticModel
from bmsql.sql import one_line
from bmsql.types import Fix, Order, Plan, Problem


def fit_order(tree: exp.Query, plan: Plan, model: SemanticModel) -> tuple[list[Fix], list[Problem]]:
    """Give the number of rows that the question asks for, and the first ones by its order, in place."""
    if not is_list(tree) or plan.limit_per:
        return [], []
    fixes: list[Fix] = []
    if plan.limit is not None and plan.order and isinstance(tree, exp.Select):
        fixes, problems = _order(tree, plan.order[0], plan, model)
        if problems:
            return [], problems
    return [*fixes, *_limit(tree, plan, model)], []


def _limit(tree: exp.Query, plan: Plan, model: SemanticModel) -> list[Fix]:
    existing = limit_of(tree)
    found = existing.expression.name if existing is not None else ""
    if plan.limit is not None:
        rows, why = plan.limit, f"the question asks for {plan.limit}"
    elif plan.select and found.isdigit() and int(found) < model.default_limit and plan.intent in {"list", "exists"}:
        rows, why = model.default_limit, "the question asks for no fewer rows"
    else:
        return []
    if found == str(rows) or (existing is not None and not found.isdigit()):
        return []
    if existing is not None:
        existing.set("expression", exp.Literal.number(rows))
    else:
        tree.set("limit", exp.Limit(expression=exp.Literal.number(rows)))
    before = f"LIMIT {found}" if found else ""
    return [Fix(code="limit", message=f"LIMIT {rows}: {why}.", before=before, after=f"LIMIT {rows}")]


def _order(tree: exp.Select, wanted: Order, plan: Plan, model: SemanticModel) -> tuple[list[Fix], list[Problem]]:
    """The direction of the first sort key; the whole order where there is none."""
    scopes = Scopes(tree, model)
    scope = next(scope for scope in scopes.all if scope.select is tree)
    order = tree.args.get("order")
    if order is None:
        key = _key(scopes, scope, wanted, plan)
        if key is None:
            # A subquery, or a window, may have chosen the first ones.
            chosen = tree.find(exp.Ordered, exp.Window, exp.Min, exp.Max) is not None
            return [], [] if chosen else [_unordered(wanted, plan, model)]
        # NULL is no smallest value.
        made = exp.Ordered(this=key, desc=wanted.descending, nulls_first=False)
        tree.set("order", exp.Order(expressions=[made]))
        text = one_line(tree.args["order"]).strip()
        return [Fix(code="order", message=f"{text}: the question asks for the first by it.", after=text)], []
    first = order.expressions[0]
    if (hidden := _hiding(scopes, scope, first.this, wanted)) is not None:
        return [], [_hidden(first.this, hidden)]
    if not _same(scopes, scope, first.this, wanted, plan) or bool(first.args.get("desc")) == wanted.descending:
        return [], []
    before = one_line(order).strip()
    first.set("desc", wanted.descending)
    first.set("nulls_first", False)
    after = one_line(order).strip()
    which = "largest" if wanted.descending else "smallest"
    return [Fix(code="order", message=f"{after}: the question asks for the {which}.", before=before, after=after)], []


def _hiding(scopes: Scopes, scope: Scope, key: exp.Expr, wanted: Order) -> exp.Alias | None:
    """The output that has the name of the wanted column and is another: ORDER BY sorts by the output."""
    if not isinstance(key, exp.Column) or key.table:
        return None
    columns = {scopes.model.column(source.table, wanted.column) for source in scope.sources if source.table}
    if key.name.lower() not in {column.lower() for column in columns if column}:
        return None
    for item in tree_items(scope):
        if isinstance(item, exp.Alias) and item.alias.lower() == key.name.lower():
            shown = item.this
            return item if isinstance(shown, exp.Column) and shown.name.lower() != key.name.lower() else None
    return None


def _hidden(key: exp.Expr, by: exp.Alias) -> Problem:
    shown, name = one_line(by.this), key.name
    return Problem(
        code="hidden-order",
        message=f"ORDER BY {name} sorts by {shown}, which the SELECT list names {name}.",
        snippet=f"{shown} {name}",
        suggestion=f"Put a comma between them if {shown} and {name} are both wanted, or choose another alias.",
    )


def _unordered(wanted: Order, plan: Plan, model: SemanticModel) -> Problem:
    role = model.role(wanted.column)
    what = "what is counted" if plan.aggregate is not None else role.meaning.partition(";")[0] if role else "it"
    end = "largest" if wanted.descending else "smallest"
    return Problem(
        code="missing-order",
        message=f"The question asks for the {plan.limit} with the {end} value, but the query has no ORDER BY.",
        suggestion=f"Add ORDER BY over {what}{' DESC' if wanted.descending else ''}.",
    )


def _key(scopes: Scopes, scope: Scope, wanted: Order, plan: Plan) -> exp.Expr | None:
    if plan.aggregate is not None and wanted.column == plan.aggregate.alias:
        counted = [item for item in tree_items(scope) if item.find(exp.AggFunc)]
        return exp.column(counted[0].alias) if len(counted) == 1 and counted[0].alias else None
    for source in scope.sources:
        column = scopes.model.column(source.table, wanted.column) if source.table else None
        if column:
            return column_of(scopes, source, column)
        if source.table and (computed := _computed(scopes, source, wanted.column)) is not None:
            return computed
    return None


def _computed(scopes: Scopes, source: Source, role: str) -> exp.Expr | None:
    """A derived role, such as the size of an effect, over the columns of a source."""
    derived = scopes.model.family_of(source.table).derived.get(role)
    if derived is None:
        return None
    columns = {name: scopes.model.column(source.table, name) for name in ROLE_REFERENCE.findall(derived.sql)}
    if not all(columns.values()):
        return None

    def column(found: re.Match[str]) -> str:
        return column_of(scopes, source, columns[found[1]] or "").sql("bigquery")

    return parse_one(ROLE_REFERENCE.sub(column, derived.sql), read="bigquery")


def tree_items(scope: Scope) -> list[exp.Expr]:
    """The SELECT list."""
    return list(scope.select.expressions)


def _same(scopes: Scopes, scope: Scope, key: exp.Expr, wanted: Order, plan: Plan) -> bool:
    """Whether a sort key is the plan's: the aggregate, or the column of the same role."""
    if plan.aggregate is not None and wanted.column == plan.aggregate.alias:
        if key.find(exp.AggFunc):
            return True
        named = [item for item in tree_items(scope) if item.alias_or_name.lower() == key.name.lower()]
        return isinstance(key, exp.Column) and any(item.find(exp.AggFunc) for item in named)
    if not isinstance(key, exp.Column):
        return False
    origins = scopes.origins(scope, key) or scopes.item_origins(scope, key.name)
    return any(role == wanted.column and not extreme for _, role, extreme in origins)
