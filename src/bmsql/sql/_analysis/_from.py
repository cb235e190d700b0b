"""FROM items and joins: the relations of a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from bmsql.sql._analysis._context import Context
from bmsql.sql._analysis._pivots import pivoted
from bmsql.sql._analysis._scope import Column, Relation, Scope
from bmsql.sql._analysis._tables import nearest_table, resolve_table, shard_names
from bmsql.sql._tree import arg, span
from bmsql.sql._types import ARRAY, INT64, STRUCT, UNKNOWN, Type, common, parse_type

if TYPE_CHECKING:
    from bmsql.sql._analysis._typer import Typer


def add_from(select: exp.Expr, scope: Scope, typer: Typer) -> None:
    """Add the FROM item and the joins of a SELECT to its scope, checking the conditions."""
    source = arg(select, "from")
    if source is None:
        return
    _add_item(source.this, scope, typer)
    for join in select.args.get("joins") or ():
        _add_join(join, scope, typer)


def _add_join(join: exp.Join, scope: Scope, typer: Typer) -> None:
    before = list(scope.relations)
    _add_item(join.this, scope, typer)
    added = scope.relations[len(before) :]
    context = typer.context
    kind = " ".join(word for word in (join.side, join.kind) if word)
    on, using = join.args.get("on"), join.args.get("using")
    if join.method:
        context.problem_at(
            join, "join-method", f"{join.method} JOIN is not supported.", "Write JOIN ... USING (column)."
        )
    if join.kind in ("SEMI", "ANTI") or join.side in ("SEMI", "ANTI"):
        context.problem_at(
            join, "join-kind", f"{kind} JOIN is not supported.", "Use WHERE [NOT] EXISTS (SELECT 1 FROM ...)."
        )
    unnest = all(relation.unnest for relation in added)
    if on is None and not using:
        if join.kind != "CROSS" and not unnest and not _follows_comma(join, context):
            name = added[0].name if added else "the table"
            context.problem_at(
                join.this, "join-without-on", f"The {kind + ' ' if kind else ''}JOIN with {name} has no ON or USING.",
                f"Add ON <column> = {name}.<column>, or write CROSS JOIN.",
            )  # fmt: skip
        return
    if join.kind == "CROSS":
        context.problem_at(
            join.this, "cross-join-with-on", "CROSS JOIN takes no ON or USING.", "Write JOIN ... ON, or drop ON."
        )
    if using:
        _merge(using, before, added, scope, context)
    if on is not None:
        typer.condition(on, scope, "ON")
        if join.side in ("LEFT", "RIGHT", "FULL") and not unnest and not _has_equality(on, before, added, typer):
            context.problem_at(
                on,
                "outer-join-without-equality",
                f"{join.side} JOIN needs an equality between columns of both sides in ON.",
                "Add one with AND, or use an inner JOIN.",
            )


def _follows_comma(join: exp.Join, context: Context) -> bool:
    """Whether the item was joined by a comma: the tree does not tell it from JOIN."""
    start, _ = span(join.this, context.source)
    tokens = context.source.tokens
    index = context.source.by_start.get(start)
    if index is None:
        return True
    opening = ("(", "SELECT", "WITH", "DISTINCT", "UNNEST")
    while index > 0 and (tokens[index - 1].upper or tokens[index - 1].text) in opening:
        index -= 1
    return index > 0 and tokens[index - 1].text == ","


def _merge(
    using: list[exp.Expr], before: list[Relation], added: list[Relation], scope: Scope, context: Context
) -> None:
    for identifier in using:
        name = identifier.name.lower()
        sides: list[Type] = []
        for side in (before, added):
            hits = [column for relation in side for column in relation.find(name)]
            if len(hits) > 1 and side is before and name not in scope.merged:
                message = f"USING: {identifier.name} is in several of the tables before this one."
                context.problem_at(identifier, "ambiguous-column", message, f"Write ON <table>.{identifier.name} = ...")
            if hits:
                sides.append(scope.merged.get(name, hits[0].type) if side is before else hits[0].type)
            elif not any(relation.columns is None for relation in side):
                items = ", ".join(relation.name for relation in side if relation.name) or "the other side"
                context.problem_at(identifier, "unknown-column", f"USING: {items} has no column {identifier.name}.")
        if len(sides) == 2 and common(sides[0], sides[1]) is None:
            context.problem_at(
                identifier,
                "type-mismatch",
                f"USING ({identifier.name}) compares {sides[0]} with {sides[1]}.",
                "Join with ON and a CAST.",
            )
        scope.merged[name] = sides[0] if sides else UNKNOWN


def _has_equality(on: exp.Expr, before: list[Relation], added: list[Relation], typer: Typer) -> bool:
    """Whether some conjunct equates something of the left side with something of the right."""
    stack = [on]
    while stack:
        node = stack.pop()
        if isinstance(node, (exp.And, exp.Paren)):
            stack += [child for child in (node.this, node.args.get("expression")) if child is not None]
        elif isinstance(node, (exp.EQ, exp.NullSafeEQ)):
            sides = [typer.relations_of(side) for side in (node.this, node.expression)]
            if any(None in side for side in sides):
                return True
            for one, other in (sides, sides[::-1]):
                if one and other and all(r in before for r in one) and all(r in added for r in other):
                    return True
    return False


def _add_item(item: exp.Expr, scope: Scope, typer: Typer) -> None:
    relation = _relation(item, scope, typer)
    if relation is not None:
        if relation.name and scope.relation(relation.folded) is not None:
            typer.context.problem_at(
                item,
                "duplicate-alias",
                f"The FROM clause has the name {relation.name} twice.",
                "Give one another alias.",
            )
        scope.relations.append(pivoted(item, relation, scope, typer))
        if isinstance(item, exp.Unnest) and item.args.get("offset"):
            offset = item.args["offset"]
            name = offset.name if isinstance(offset, exp.Expr) else "offset"
            scope.relations.append(Relation(name, (), value=INT64, unnest=True))
    for join in item.args.get("joins") or ():
        _add_join(join, scope, typer)


def _relation(item: exp.Expr, scope: Scope, typer: Typer) -> Relation | None:
    if isinstance(item, exp.Table):
        return _table(item, scope, typer)
    if isinstance(item, exp.Unnest):
        return _unnest(item, scope, typer)
    if isinstance(item, exp.Subquery):
        if isinstance(item.this, exp.Table):
            # A join in parentheses: its names stay visible.
            _add_item(item.this, scope, typer)
            return None
        columns = typer.query(item, scope.parent, scope.ctes)
        return Relation(item.alias, columns)
    if isinstance(item, exp.Query):
        return Relation(item.alias, typer.query(item, scope.parent, scope.ctes))
    return Relation(item.alias_or_name, None)


def _table(table: exp.Table, scope: Scope, typer: Typer) -> Relation:
    context = typer.context
    alias = table.args["alias"].name if table.args.get("alias") is not None else ""
    name = table.name
    if not table.db and name.lower() in scope.ctes:
        return Relation(alias or name, scope.ctes[name.lower()])
    array = _array_path(table, scope, typer)
    if array is not None:
        return array
    info = resolve_table(table, context, in_use=typer.qualifiers)
    if info is None:
        guess = context.catalog.by_name.get(nearest_table(name, context))
        return Relation(alias or name, None, hidden=name if alias else "", full=guess.name if guess else "")
    columns = tuple(Column(column.name, parse_type(column.type)) for column in info.columns)
    own = name if name in shard_names(info) else info.name.rpartition(".")[2]
    return Relation(
        alias or own,
        columns,
        hidden=own if alias and alias.lower() != own.lower() else "",
        full=context.catalog.qualified(info.name),
        unlisted=tuple(Column(column.name, parse_type(column.type)) for column in info.hidden),
    )


def _array_path(table: exp.Table, scope: Scope, typer: Typer) -> Relation | None:
    """`FROM t, t.tags`: a path that begins with a name in scope is an array, not a table."""
    parts = [part.name for part in table.parts]
    if len(parts) < 2:
        return None
    for level in scope.chain():
        relation = level.relation(parts[0].lower())
        if relation is not None:
            kind = relation.row_type()
            for part in parts[1:]:
                kind = typer.field(kind, part, table)
            typer.arrays.add(id(table))
            return _array_relation(table.alias or parts[-1], kind, table, typer)
    return None


def _unnest(unnest: exp.Unnest, scope: Scope, typer: Typer) -> Relation:
    kinds = [typer.infer(expression, scope, "UNNEST") for expression in unnest.expressions]
    alias = unnest.args.get("alias")
    name = ""
    if alias is not None:
        columns = alias.args.get("columns") or []
        name = columns[0].name if columns else alias.name
    return _array_relation(name, kinds[0] if kinds else UNKNOWN, unnest, typer)


def _array_relation(name: str, kind: Type, node: exp.Expr, typer: Typer) -> Relation:
    if kind.kind != ARRAY:
        if not kind.unknown and kind.kind != "NULL":
            typer.context.problem_at(
                node,
                "unnest-of-scalar",
                f"UNNEST takes an ARRAY, not {kind}.",
                "Use SPLIT(text, ',') for a list in a text.",
            )
        return Relation(name, None, value=UNKNOWN if name else None, unnest=True)
    element = kind.element or UNKNOWN
    columns = tuple(Column(field, field_kind) for field, field_kind in element.fields) if element.kind == STRUCT else ()
    return Relation(name, None if element.unknown else columns, value=element, unnest=True)


def check_from(select: exp.Select, typer: Typer) -> None:
    """Without FROM there are no rows to filter or group; often FROM was forgotten, and its table made an alias."""
    if select.args.get("from_"):
        return
    for key, clause in (("where", "WHERE"), ("group", "GROUP BY"), ("having", "HAVING"), ("qualify", "QUALIFY")):
        found = select.args.get(key)
        if found is not None:
            message = f"A query without FROM cannot have {clause}."
            typer.context.problem_at(found, "missing-from", message, "Write FROM with the table that is read.")
