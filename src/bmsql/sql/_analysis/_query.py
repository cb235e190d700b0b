"""Queries: CTEs, SELECTs, set operations, and the columns they give."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql._analysis._from import add_from, check_from
from bmsql.sql._analysis._grouping import check_distinct_order, check_grouping, group_items
from bmsql.sql._analysis._literals import check_literal
from bmsql.sql._analysis._operators import is_literal
from bmsql.sql._analysis._scope import Column, Scope
from bmsql.sql._analysis._stars import is_star, star_columns
from bmsql.sql._analysis._typer import Env, Typer
from bmsql.sql._analysis._windows import check_ordered, check_window
from bmsql.sql._tree import arg
from bmsql.sql._types import STRUCT, UNKNOWN, Type, common

_INT64_MAX = str(2**63 - 1)
Ctes = dict[str, tuple[Column, ...] | None]


def query_columns(node: exp.Expr, parent: Scope | None, ctes: Ctes, typer: Typer) -> tuple[Column, ...] | None:
    """The columns of a query of any kind."""
    ctes = _with_ctes(node, parent, ctes, typer)
    if isinstance(node, exp.Subquery):
        columns = query_columns(node.this, parent, ctes, typer)
        _modifiers(node, columns, parent, ctes, typer)
        return columns
    if isinstance(node, exp.SetOperation):
        return _set_operation(node, parent, ctes, typer)
    if isinstance(node, exp.Select):
        return _select(node, parent, ctes, typer)
    if isinstance(node, exp.Paren):
        return query_columns(node.this, parent, ctes, typer)
    return None


def _with_ctes(node: exp.Expr, parent: Scope | None, ctes: Ctes, typer: Typer) -> Ctes:
    clause = arg(node, "with")
    if clause is None:
        return ctes
    ctes = dict(ctes)
    seen: set[str] = set()
    for cte in clause.expressions:
        name = cte.alias.lower()
        if name in seen:
            typer.context.problem_at(
                cte, "duplicate-alias", f"WITH has the name {cte.alias} twice.", "Give one another name."
            )
        seen.add(name)
        if clause.args.get("recursive"):
            # The name is visible in its own definition; its columns are those of the first branch.
            ctes[name] = None
            first = cte.this
            while isinstance(first, (exp.SetOperation, exp.Subquery)):
                first = first.this
            if isinstance(first, exp.Select) and first is not cte.this:
                before = len(typer.context.problems)
                ctes[name] = query_columns(first, parent, ctes, typer)
                typer.context.forget_problems(before)
        ctes[name] = query_columns(cte.this, parent, ctes, typer)
    return ctes


def _set_operation(node: exp.SetOperation, parent: Scope | None, ctes: Ctes, typer: Typer) -> tuple[Column, ...] | None:
    # A chain of UNIONs leans to the left: walk it without recursion.
    branches: list[exp.Expr] = []
    stack: list[exp.Expr] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, exp.SetOperation) and (part is node or not _has_modifiers(part)):
            stack += [part.expression, part.this]
        else:
            branches.append(part)
    word = type(node).__name__.upper()
    _check_grouping_of_branches(node, typer)
    result: tuple[Column, ...] | None = None
    known = True
    for index, branch in enumerate(branches):
        columns = query_columns(branch, parent, ctes, typer)
        if columns is None:
            known = False
        elif result is None:
            result = columns
        elif not node.args.get("by_name"):
            result = _merge(result, columns, branch, index, word, typer)
    if not known:
        result = None
    _modifiers(node, result, parent, ctes, typer)
    return result


def _check_grouping_of_branches(node: exp.SetOperation, typer: Typer) -> None:
    """ORDER BY or LIMIT before the last query needs parentheses."""
    left: exp.Expr = node.this
    if isinstance(left, (exp.Select, exp.SetOperation)) and any(
        left.args.get(key) is not None for key in ("order", "limit", "offset")
    ):
        typer.context.problem_at(
            left,
            "set-operation-order",
            "ORDER BY and LIMIT of one query of a set operation need parentheses.",
            "Write (SELECT ... LIMIT 10) UNION ALL ...",
        )


def _has_modifiers(node: exp.Expr) -> bool:
    return any(node.args.get(key) is not None for key in ("order", "limit", "offset")) or arg(node, "with") is not None


def _merge(
    left: tuple[Column, ...], right: tuple[Column, ...], branch: exp.Expr, index: int, word: str, typer: Typer
) -> tuple[Column, ...]:
    if len(left) != len(right):
        typer.context.problem_at(
            branch,
            "set-operation-columns",
            f"{word}: query {index + 1} has {len(right)} columns, the first has {len(left)}.",
            "Give all queries the same columns in the same order; fill a missing one with NULL AS name.",
        )
        return left
    merged: list[Column] = []
    for position, (one, other) in enumerate(zip(left, right, strict=True)):
        kind = common(one.type, other.type, one.literal, other.literal)
        if kind is None:
            item = (
                branch.expressions[position]
                if isinstance(branch, exp.Select) and position < len(branch.expressions)
                else branch
            )
            typer.context.problem_at(
                item,
                "set-operation-types",
                f"{word}: column {position + 1} is {one.type} in the first query, {other.type} in query {index + 1}.",
                "Put the columns in the same order, or CAST one.",
            )
            kind = UNKNOWN
        elif isinstance(branch, exp.Select) and position < len(branch.expressions):
            check_literal(typer, branch.expressions[position].unalias(), kind)
        merged.append(Column(one.name, kind, one.literal and other.literal))
    return tuple(merged)


def _select(select: exp.Select, parent: Scope | None, ctes: Ctes, typer: Typer) -> tuple[Column, ...] | None:
    scope = Scope(parent, ctes)
    add_from(select, scope, typer)
    context = typer.context
    # Aliases are known by name from the start, to say so where they are not visible yet.
    scope.aliases = {item.alias.lower(): None for item in select.expressions if isinstance(item, exp.Alias)}
    check_from(select, typer)
    where = select.args.get("where")
    if where is not None:
        typer.condition(where.this, scope, "WHERE")
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on") is not None:
        context.problem_at(
            distinct,
            "distinct-on",
            "DISTINCT ON is not supported.",
            "Use QUALIFY ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...) = 1.",
        )
    for window in select.args.get("windows") or ():
        check_window(typer, window, Env(scope, "WINDOW", aggregates=True))
        scope.windows[window.name.lower()] = window
    columns = _select_list(select, scope, typer)
    group, having, qualify = (select.args.get(key) for key in ("group", "having", "qualify"))
    if group is not None:
        scope.grouped = True
        _group(group, select, scope, typer)
    if having is not None:
        typer.condition(having.this, scope, "HAVING", aggregates=True, aliases=True)
    if qualify is not None:
        typer.condition(qualify.this, scope, "QUALIFY", aggregates=True, windows=True, aliases=True)
        if not _has_window(select, qualify):
            context.problem_at(
                qualify, "qualify-without-window", "QUALIFY needs a window function.", "Use WHERE or HAVING."
            )
    _modifiers(select, columns, parent, ctes, typer, scope)
    check_grouping(select, scope, typer)
    if distinct is not None:
        check_distinct_order(select, scope, typer)
    if select.args.get("kind") in ("STRUCT", "VALUE") and columns is not None:
        if select.args["kind"] == "STRUCT":
            return (Column("", Type(STRUCT, fields=tuple((column.name, column.type) for column in columns))),)
        return (Column("", columns[0].type),) if columns else columns
    return columns


def _has_window(select: exp.Expr, qualify: exp.Expr) -> bool:
    return any(node.find(exp.Window) is not None for node in (qualify, *select.expressions))


def _select_list(select: exp.Select, scope: Scope, typer: Typer) -> tuple[Column, ...] | None:
    columns: list[Column] = []
    known = True
    for item in select.expressions:
        star = star_columns(item, scope, typer)
        if star is not None:
            columns += star[0]
            known = known and star[1]
            continue
        # An alias of this list is not visible in it.
        kind = typer.infer(item, scope, "the SELECT list", aggregates=True, windows=True)
        name = item.alias_or_name if isinstance(item, (exp.Alias, exp.Column, exp.Dot)) else ""
        if isinstance(item, exp.Alias):
            scope.aliases[item.alias.lower()] = kind
        elif name and isinstance(item, exp.Column):
            name = item.name
        columns.append(Column(name, kind, is_literal(item.this if isinstance(item, exp.Alias) else item)))
    return tuple(columns) if known else None


def _group(group: exp.Expr, select: exp.Select, scope: Scope, typer: Typer) -> None:
    for item in group_items(group):
        if isinstance(item, exp.Literal) and not item.is_string:
            _ordinal(item, select, "GROUP BY", typer)
        elif isinstance(item, exp.Literal):
            typer.context.problem_at(
                item, "group-by-literal", "GROUP BY a text groups nothing.", "Name a column, without quotes."
            )
        else:
            typer.infer(item, scope, "GROUP BY", aliases=True)


def _ordinal(item: exp.Expr, select: exp.Expr, clause: str, typer: Typer, count: int | None = None) -> None:
    if count is None:
        if any(is_star(entry) for entry in select.expressions):
            return
        count = len(select.expressions)
    text = str(item.this)
    if not text.isdigit() or not 1 <= int(text) <= count:
        typer.context.problem_at(
            item,
            "ordinal",
            f"{clause} {text}: there are {count} columns in the SELECT list.",
            "Name the column or its alias.",
        )


def _modifiers(
    node: exp.Expr,
    columns: tuple[Column, ...] | None,
    parent: Scope | None,
    ctes: Ctes,
    typer: Typer,
    scope: Scope | None = None,
) -> None:
    """ORDER BY, LIMIT and OFFSET; after a set operation only its own columns are visible."""
    order = node.args.get("order")
    if order is not None:
        if scope is None:
            from bmsql.sql._analysis._scope import Relation

            scope = Scope(parent, ctes)
            scope.relations = [Relation("", columns)]
        for ordered in order.expressions:
            item = ordered.this
            if isinstance(item, exp.Literal) and not item.is_string:
                _ordinal(
                    item,
                    node,
                    "ORDER BY",
                    typer,
                    None if isinstance(node, exp.Select) else len(columns) if columns else 10**6,
                )
            else:
                select = isinstance(node, exp.Select)
                kind = typer.infer(item, scope, "ORDER BY", aggregates=select, windows=select, aliases=True)
                check_ordered(typer, item, kind)
    for key in ("limit", "offset"):
        clause = node.args.get(key)
        if clause is not None:
            _count(clause, key.upper(), typer)
    if node.args.get("offset") is not None and node.args.get("limit") is None:
        typer.context.problem_at(
            node.args["offset"], "offset-without-limit", "OFFSET needs LIMIT before it.", "Write LIMIT n OFFSET m."
        )


def _count(clause: exp.Expr, word: str, typer: Typer) -> None:
    value = clause.args.get("expression")
    while isinstance(value, exp.Paren):
        value = value.this
    if isinstance(value, exp.Cast):
        value = value.this
    good = isinstance(value, exp.Literal) and not value.is_string and str(value.this).isdigit()
    digits = value.name.lstrip("0") if value is not None and good else ""
    if (len(digits), digits) > (len(_INT64_MAX), _INT64_MAX):
        typer.context.problem_at(clause, "limit", f"{word} takes an INT64; this is larger.", f"Write {word} 100.")
    if not good and not isinstance(value, (exp.Parameter, exp.Placeholder)):
        typer.context.problem_at(clause, "limit", f"{word} takes a whole number.", f"Write {word} 100.")
