"""The evidence key stands in the SELECT list of every list of rows.

::

    SELECT SNP, p FROM gwas          -- wrong: the rows cannot be cited
    SELECT key, SNP, p FROM gwas     -- right
    SELECT DISTINCT gene FROM gwas   -- right: the key would undo the DISTINCT
"""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from bmsql.conventions._place import column_of
from bmsql.conventions._scopes import Scope, Scopes, Source, branches, is_grouped
from bmsql.sql import one_line


def ensure_key(
    tree: exp.Query, scopes: Scopes, *, beside_distinct: bool = False
) -> tuple[Literal["applied", "already", "none"], str]:
    """Select the model's evidence key in each branch of `tree`, in place; `none` where it has no place.

    With the status comes the key's name as the first branch selects it.
    """
    key = scopes.model.evidence_key
    if not key or not takes_key(tree, beside_distinct):
        return "none", ""
    selects = list(branches(tree))
    lacking = [select for select in selects if not has_key(scopes, select, key)]
    if not lacking:
        return "already", key
    columns = [key_column(scopes, _scope(scopes, select), key) for select in lacking]
    if any(column is None for column in columns):
        return "none", ""
    position = _position(tree, selects, lacking, key)
    for select, column in zip(lacking, columns, strict=True):
        # A subquery that was made to give the key may show it through the star of this list already.
        if column is not None and not has_key(scopes, select, key):
            select.expressions.insert(len(select.expressions) if position is None else position, column)
            select.set("expressions", select.expressions)
    first = columns[0]
    return "applied", one_line(first) if first is not None else key


def takes_key(tree: exp.Query, beside_distinct: bool = False) -> bool:
    """Whether the rows of a query are rows of a source, which a key can name."""
    for node in tree.walk(prune=lambda part: isinstance(part, exp.Select)):
        if isinstance(node, exp.SetOperation) and (not isinstance(node, exp.Union) or node.args.get("distinct")):
            return False
    for select in branches(tree):
        if not select.args.get("from_") or select.args.get("kind") or is_grouped(select):
            return False
        distinct = select.args.get("distinct")
        if distinct is not None and (distinct.args.get("on") or not beside_distinct):
            return False
    return True


def _scope(scopes: Scopes, select: exp.Select) -> Scope:
    return next(scope for scope in scopes.all if scope.select is select)


def has_key(scopes: Scopes, select: exp.Select, key: str) -> bool:
    """Whether the output has the key, by name or through a star."""
    scope = _scope(scopes, select)
    for item in select.expressions:
        star = item.this if isinstance(item, exp.Column) else item
        if isinstance(star, exp.Star):
            hidden = {column.name.lower() for column in star.args.get("except_") or ()}
            of = item.table.lower() if isinstance(item, exp.Column) else ""
            shown = [source for source in scope.sources if not of or source.name.lower() == of]
            if key.lower() not in hidden and any(scopes.has(source, key.lower()) for source in shown):
                return True
        elif item.alias_or_name.lower() == key.lower():
            return True
    return False


def key_column(scopes: Scopes, scope: Scope, key: str) -> exp.Column | None:
    """The key of the main source; of the next where that has none. A subquery is made to give it."""
    for source in scope.sources:
        if source.table:
            if scopes.has(source, key.lower()):
                return column_of(scopes, source, key)
        elif source.body is not None and (scopes.has(source, key.lower()) or _pass_on(scopes, source)):
            return column_of(scopes, source, key)
    return None


def _pass_on(scopes: Scopes, source: Source) -> bool:
    """Make a subquery or CTE give the key, if its rows have one and nobody else reads it."""
    body = source.body
    if body is None or source.node.args.get("pivots"):
        return False
    readers = sum(1 for scope in scopes.all for other in scope.sources if other.body is body)
    return readers == 1 and ensure_key(body, scopes)[0] != "none"


def _position(tree: exp.Query, selects: list[exp.Select], lacking: list[exp.Select], key: str) -> int | None:
    """Where the key goes: first; last where ORDER BY counts columns; where other branches have it."""
    if len(lacking) < len(selects):
        having = next(select for select in selects if select not in lacking)
        names = [item.alias_or_name.lower() for item in having.expressions]
        return names.index(key.lower()) if key.lower() in names else 0
    order = tree.args.get("order")
    by_number = order is not None and any(
        isinstance(item.this, exp.Literal) and not item.this.is_string for item in order.expressions
    )
    return None if by_number else 0
