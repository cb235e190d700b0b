"""Grouping: what a grouped SELECT may mention, and what may order a SELECT DISTINCT."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from bmsql.sql import _functions
from bmsql.sql._analysis._scope import Scope
from bmsql.sql._analysis._typer import Typer

Key = tuple[object, ...]


def check_grouping(select: exp.Select, scope: Scope, typer: Typer) -> None:
    """Record each column that is neither grouped nor aggregated, in a SELECT that groups."""
    context = typer.context
    having = select.args.get("having")
    group = select.args.get("group")
    if not scope.grouped and not scope.aggregated:
        if having is not None:
            context.problem_at(
                having, "having-without-group", "HAVING needs GROUP BY or an aggregate function.", "Use WHERE."
            )
        return
    if group is not None and group.args.get("all"):
        return
    keys, positions = _grouped(select, typer)
    for index, item in enumerate(select.expressions):
        inner = item.this if isinstance(item, exp.Alias) else item
        if index in positions:
            aggregate = next(_aggregates(inner), None)
            if aggregate is not None:
                context.problem_at(
                    aggregate,
                    "aggregate-not-allowed",
                    "An aggregate function is not allowed in GROUP BY.",
                    "Group by the other columns.",
                )
        elif isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and isinstance(inner.this, exp.Star)):
            _star(item, inner, scope, keys, typer)
        else:
            _check(inner, "The SELECT list", scope, keys, typer)
    if having is not None:
        _check(having.this, "HAVING", scope, keys, typer)
    qualify = select.args.get("qualify")
    if qualify is not None:
        _check(qualify.this, "QUALIFY", scope, keys, typer)
    order = select.args.get("order")
    for ordered in order.expressions if order is not None else ():
        _check(ordered.this, "ORDER BY", scope, keys, typer)


def group_items(group: exp.Expr) -> list[exp.Expr]:
    """The expressions grouped by, out of ROLLUP, CUBE and GROUPING SETS too."""
    items = list(group.expressions)
    for key in ("rollup", "cube", "grouping_sets"):
        items += group.args.get(key) or []
    flat: list[exp.Expr] = []
    while items:
        item = items.pop(0)
        if isinstance(item, (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)):
            items = [*item.expressions, *items]
        elif isinstance(item, exp.Paren):
            items = [item.this, *items]
        else:
            flat.append(item)
    return flat


def _grouped(select: exp.Select, typer: Typer) -> tuple[set[Key], set[int]]:
    """Keys of the grouped expressions, and positions of SELECT items named by GROUP BY."""
    keys: set[Key] = set()
    positions: set[int] = set()
    group = select.args.get("group")
    for item in group_items(group) if group is not None else ():
        if isinstance(item, exp.Literal):
            text = str(item.this)
            if text.isdigit() and 1 <= int(text) <= len(select.expressions):
                positions.add(int(text) - 1)
        else:
            resolution = typer.resolutions.get(id(item))
            if resolution is not None and resolution.alias:
                named = (
                    i
                    for i, entry in enumerate(select.expressions)
                    if isinstance(entry, exp.Alias) and entry.alias.lower() == item.name.lower()
                )
                positions |= set(named)
            keys.add(key_of(item, typer))
    for index in positions:
        item = select.expressions[index]
        keys.add(key_of(item.this if isinstance(item, exp.Alias) else item, typer))
    return keys, positions


def key_of(node: exp.Expr, typer: Typer) -> Key:
    """A key that two expressions share when they mean the same."""
    if isinstance(node, (exp.Paren, exp.Alias)):
        return key_of(node.this, typer)
    resolution = typer.resolutions.get(id(node))
    if resolution is not None:
        return ("column", *resolution.key)
    if isinstance(node, exp.Literal):
        return ("literal", bool(node.is_string), str(node.this))
    parts: list[object] = [type(node).__name__]
    for name, value in node.args.items():
        if isinstance(value, exp.Expr):
            parts.append((name, key_of(value, typer)))
        elif isinstance(value, list):
            parts.append((name, *(key_of(v, typer) if isinstance(v, exp.Expr) else str(v).upper() for v in value)))
        elif value is not None and value is not False:
            parts.append((name, str(value).upper()))
    return tuple(parts)


def _check(node: exp.Expr, clause: str, scope: Scope, keys: set[Key], typer: Typer) -> None:
    if key_of(node, typer) in keys:
        return
    for column in _loose(node, scope, keys, typer):
        name = column.sql(dialect="bigquery")
        typer.context.problem_at(
            column, "not-grouped", f"{clause} has the column {name}, which is neither grouped nor aggregated.",
            f"Add {name} to GROUP BY, or use an aggregate such as MAX({name}) or ANY_VALUE({name}).",
        )  # fmt: skip


def _loose(node: exp.Expr, scope: Scope, keys: set[Key], typer: Typer) -> Iterator[exp.Expr]:
    """Columns of this SELECT that stand outside every aggregate and are not grouped."""
    resolution = typer.resolutions.get(id(node))
    if resolution is not None:
        if resolution.scope is scope and not resolution.alias and not _is_grouped(resolution.key, keys):
            yield node
        return
    if isinstance(node, exp.Anonymous) and _is_aggregate(node):
        return
    if isinstance(node, exp.Window):
        call = node.this
        while isinstance(call, (exp.IgnoreNulls, exp.RespectNulls)):
            call = call.this
        parts = [*call.expressions, *(node.args.get("partition_by") or ())]
        order = node.args.get("order")
        parts += [ordered.this for ordered in order.expressions] if order is not None else []
        for part in parts:
            if key_of(part, typer) not in keys:
                yield from _loose(part, scope, keys, typer)
        return
    # As in BigQuery, only a whole item may repeat a grouped expression, not a part of one.
    for child in node.iter_expressions():
        yield from _loose(child, scope, keys, typer)


def _is_grouped(key: tuple[str, ...], keys: set[Key]) -> bool:
    # A field of a grouped STRUCT is grouped too; so is everything of a name that stands for a value.
    return any(("column", *key[:length]) in keys for length in range(len(key), 1, -1))


def _is_aggregate(node: exp.Anonymous) -> bool:
    function = _functions.functions().get(node.name.upper())
    if isinstance(node.parent, exp.Dot):
        return bool(node.parent.this.name.upper() == "HLL_COUNT")
    return function is not None and function.kind == "aggregate"


def _aggregates(node: exp.Expr) -> Iterator[exp.Expr]:
    for call in node.find_all(exp.Anonymous):
        if (
            _is_aggregate(call)
            and not isinstance(call.parent, exp.Window)
            and call.find_ancestor(exp.Select) is node.find_ancestor(exp.Select)
        ):
            yield call


def _star(item: exp.Expr, star: exp.Expr, scope: Scope, keys: set[Key], typer: Typer) -> None:
    qualifier = star.table.lower() if isinstance(star, exp.Column) else ""
    for relation in scope.relations:
        if qualifier and relation.folded != qualifier:
            continue
        for column in relation.columns or ():
            if ("column", str(id(scope)), str(id(relation)), column.name.lower()) not in keys:
                typer.context.problem_at(
                    item, "not-grouped", f"* has the column {column.name}, which is neither grouped nor aggregated.",
                    "Name the grouped columns instead of *.",
                )  # fmt: skip
                return


def check_distinct_order(select: exp.Select, scope: Scope, typer: Typer) -> None:
    """Record each ORDER BY expression that a SELECT DISTINCT does not show."""
    order = select.args.get("order")
    if order is None:
        return
    shown = {key_of(item, typer) for item in select.expressions}
    if any(item.find(exp.Star) is not None for item in select.expressions if not isinstance(item, exp.Alias)):
        return
    for ordered in order.expressions:
        aggregate = next(_aggregates(ordered.this), None)
        if aggregate is not None:
            typer.context.problem_at(
                aggregate,
                "distinct-order",
                "After SELECT DISTINCT, ORDER BY takes no aggregate function.",
                "Select it, and order by its alias.",
            )
            continue
        for column in _columns(ordered.this, typer):
            resolution = typer.resolutions[id(column)]
            if not resolution.alias and resolution.scope is scope and not _is_grouped(resolution.key, shown):
                name = column.sql(dialect="bigquery")
                message = f"After SELECT DISTINCT, ORDER BY cannot see {name}."
                typer.context.problem_at(column, "distinct-order", message, f"Select {name} too, or drop DISTINCT.")


def _columns(node: exp.Expr, typer: Typer) -> Iterator[exp.Expr]:
    if id(node) in typer.resolutions:
        yield node
        return
    for child in node.iter_expressions():
        yield from _columns(child, typer)
