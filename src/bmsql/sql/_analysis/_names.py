"""Resolving column references, and explaining those that cannot be resolved."""

from __future__ import annotations

from rapidfuzz import fuzz, process
from sqlglot import exp

from bmsql.sql._analysis._context import Context
from bmsql.sql._analysis._scope import Relation, Resolution, Scope
from bmsql.sql._source import Edit
from bmsql.sql._types import ARRAY, STRUCT, UNKNOWN, Type

_LONG = 3
NOTHING = Resolution(UNKNOWN, ("?",), None)


def resolve(column: exp.Expr, scope: Scope, context: Context, clause: str, aliases: bool) -> Resolution:
    """What a column reference means; a problem or a repair is recorded when it means nothing.

    `aliases`: whether the names of the SELECT list are visible, before the columns.
    """
    parts = path_of(column)
    names = [part.name for part in parts]
    first = names[0].lower()
    if aliases and first in scope.aliases:
        found = Resolution(scope.aliases[first] or UNKNOWN, ("alias", first), scope, alias=True, rest=len(names) - 1)
        return _with_fields(found, names, column, context)
    for level in scope.chain():
        result = _in_scope(names, level, column, context)
        if result is not None:
            return result
    return _explain(column, parts, names, scope, context, clause)


def path_of(node: exp.Expr) -> list[exp.Expr]:
    """The identifiers of a Column, or of Dots over one."""
    if isinstance(node, exp.Dot):
        return [*path_of(node.this), node.expression]
    if isinstance(node, exp.Column):
        return list(node.parts)
    return [node]


def _in_scope(names: list[str], scope: Scope, node: exp.Expr, context: Context) -> Resolution | None:
    first = names[0].lower()
    for length in range(min(len(names), 3), 0, -1):
        named = _relation(names[:length], scope)
        if named is not None and (
            length > 1 or len(names) > 1 or named.value is not None or not _has_column(first, scope)
        ):
            return _of_relation(names, length, named, scope, node, context)
    if first in scope.merged:
        found = Resolution(scope.merged[first], ("using", first), scope, rest=len(names) - 1)
        return _with_fields(found, names, node, context)
    hits = [(relation, column) for relation in scope.relations for column in relation.find(first)]
    if len(hits) > 1:
        owners = [relation.name for relation, _ in hits if relation.name]
        options = " or ".join(dict.fromkeys(f"{owner}.{names[0]}" for owner in owners))
        hint = f"Write {options}." if len(set(owners)) > 1 else "Give the two columns different aliases."
        context.problem_at(node, "ambiguous-column", f"The column {names[0]} is ambiguous.", hint)
        return NOTHING
    if hits:
        relation, column = hits[0]
        found = Resolution(column.type, _key(scope, relation, first), scope, relation, rest=len(names) - 1)
        return _with_fields(found, names, node, context)
    return NOTHING if scope.opaque else None


def _relation(names: list[str], scope: Scope) -> Relation | None:
    if len(names) == 1:
        return scope.relation(names[0].lower())
    joined = ".".join(names).lower()
    return next((r for r in scope.relations if r.full and r.full.lower() == joined and not r.hidden), None)


def _has_column(name: str, scope: Scope) -> bool:
    return any(relation.find(name) for relation in scope.relations)


def _key(scope: Scope, relation: Relation, column: str) -> tuple[str, ...]:
    return (str(id(scope)), str(id(relation)), column)


def _of_relation(
    names: list[str], length: int, relation: Relation, scope: Scope, node: exp.Expr, context: Context
) -> Resolution:
    if len(names) == length:
        return Resolution(relation.row_type(), _key(scope, relation, ""), scope, relation)
    if relation.value is not None:
        found = Resolution(relation.value, _key(scope, relation, ""), scope, relation, rest=len(names) - length)
        return _with_fields(found, names, node, context)
    if relation.columns is None:
        return Resolution(UNKNOWN, _key(scope, relation, names[length].lower()), scope, relation)
    columns = relation.find(names[length].lower())
    if not columns:
        known = [column.name for column in relation.columns if column.name]
        hint = nearest(names[length], known)
        suggestion = _better(f"{relation.name}.{hint}" if hint else "", names[length], context, known)
        context.problem_at(node, "unknown-column", f"{relation.name} has no column {names[length]}.", suggestion)
        return NOTHING
    if len(columns) > 1:
        context.problem_at(
            node, "ambiguous-column", f"{relation.name} has the column {names[length]} twice.", "Use aliases."
        )
        return NOTHING
    found = Resolution(
        columns[0].type, _key(scope, relation, names[length].lower()), scope, relation, rest=len(names) - length - 1
    )
    return _with_fields(found, names, node, context)


def _with_fields(found: Resolution, names: list[str], node: exp.Expr, context: Context) -> Resolution:
    """`found` after its fields: the last `rest` names."""
    kind, key = found.type, found.key
    for name in names[len(names) - found.rest :]:
        kind = field_type(kind, name, node, context)
        key = (*key, name.lower())
    return found._replace(type=kind, key=key)


def field_type(kind: Type, name: str, node: exp.Expr, context: Context) -> Type:
    """The type of a field, with a problem when `kind` has none of that name."""
    if kind.unknown or kind.kind in ("JSON", "NULL"):
        return kind
    if kind.kind == STRUCT and kind.fields:
        field = kind.field(name)
        if [known.lower() for known, _ in kind.fields].count(name.lower()) > 1:
            context.problem_at(node, "ambiguous-field", f"{kind} has the field {name} twice.", "Rename one of them.")
        if field is not None:
            return field
        hint = nearest(name, [known for known, _ in kind.fields if known])
        context.problem_at(
            node, "unknown-field", f"{kind} has no field {name}.", f"Did you mean {hint}?" if hint else ""
        )
        return UNKNOWN
    if kind.kind == ARRAY:
        context.problem_at(
            node,
            "field-of-array",
            f"The field {name} cannot be read from a value of type {kind}.",
            "UNNEST the array first.",
        )
        return UNKNOWN
    if kind.kind == STRUCT:
        return UNKNOWN
    context.problem_at(node, "field-of-scalar", f"The field {name} cannot be read from a value of type {kind}.")
    return UNKNOWN


def nearest(name: str, known: list[str]) -> str:
    """The known name most like `name`, or ""."""
    # Partial matching would take any one-letter column for a part of the name.
    long = [candidate for candidate in known if len(candidate) >= _LONG] if len(name) >= _LONG else []
    found = process.extractOne(name, long, scorer=fuzz.WRatio, processor=str.lower, score_cutoff=72)
    found = found or process.extractOne(name, known, scorer=fuzz.ratio, processor=str.lower, score_cutoff=66)
    return found[0] if found else ""


def _explain(
    node: exp.Expr, parts: list[exp.Expr], names: list[str], scope: Scope, context: Context, clause: str
) -> Resolution:
    """Record why a reference means nothing, or how it is repaired."""
    if _repair(parts, names, scope, context):
        return NOTHING
    first = names[0]
    if first.lower() in scope.aliases:
        context.problem_at(
            node,
            "alias-not-visible",
            f"{first} is an alias of the SELECT list, which {clause} cannot see.",
            "Repeat the expression, or filter in an outer query (for a window function use QUALIFY).",
        )
        return NOTHING
    known = [name for level in scope.chain() for name in level.column_names()]
    if len(names) > 1 and not any(_has_column(first.lower(), level) for level in scope.chain()):
        items = [relation.name for level in scope.chain() for relation in level.relations if relation.name]
        hint = nearest(first, items)
        suggestion = (
            f"Did you mean {'.'.join([hint, *names[1:]])}?" if hint else f"In scope: {', '.join(items) or 'no table'}."
        )
        context.problem_at(node, "unknown-alias", f"There is no table or alias {first} in scope.", suggestion)
        return NOTHING
    hint = nearest(first, known)
    if not any(level.relations for level in scope.chain()):
        suggestion = "The query has no FROM clause: add one, or put a text in quotes."
    else:
        suggestion = _better(hint, first, context, known)
    context.problem_at(node, "unknown-column", f"There is no column {first} in the tables of this query.", suggestion)
    return NOTHING


def _repair(parts: list[exp.Expr], names: list[str], scope: Scope, context: Context) -> bool:
    """Repair `Table.col` where the table has an alias, and a whole path in one pair of backticks."""
    if len(names) < 2:
        return False
    relation = next(
        (r for level in scope.chain() for r in level.relations for n in range(1, len(names)) if _means(names[:n], r)),
        None,
    )
    if relation is None:
        return False
    meta = parts[-1].meta
    start = parts[0].meta.get("start")
    if start is None or meta.get("start") is None:
        return False
    n = next(n for n in range(1, len(names)) if _means(names[:n], relation))
    end = parts[n].meta["start"]
    written = context.source.text[start:end]
    context.edit(
        Edit(start, end, f"{relation.name}."),
        "hidden-table-name",
        "A table with an alias is named by the alias.",
        written,
    )
    return True


def _means(names: list[str], relation: Relation) -> bool:
    if not relation.hidden:
        return False
    written = ".".join(names).lower()
    return written == relation.hidden.lower() or (len(names) > 1 and relation.full.lower().endswith("." + written))


def _better(hint: str, name: str, context: Context, known: list[str]) -> str:
    """What to write instead: the nearest column, the table that has this one, or what there is."""
    owners = [table.name for table in context.catalog.tables if name.lower() in table.by_name]
    parts = [f"Did you mean {hint}?"] if hint else []
    if owners:
        parts.append(f"{name} is a column of {', '.join(owners)}.")
    shown = list(dict.fromkeys(known))
    if not parts and shown:
        parts.append(f"The columns are: {', '.join(shown[:40])}.")
    return " ".join(parts)
