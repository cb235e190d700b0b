"""The columns of a result: which a star gives, how they are named, and the form arrays have."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql.duckdb._kinds import kind
from bmsql.sql.duckdb._template import template
from bmsql.types import Catalog


def drop_star_structs(tree: exp.Expr) -> None:
    """A star over UNNEST of structs is their fields, not the struct as well; so is a star over that."""
    selects = list(tree.find_all(exp.Select))
    dropped: set[tuple[str, str]] = set()
    changed = True
    while changed:
        changed = False
        for select in selects:
            structs = _struct_names(select)
            sources = _source_names(select)
            keep: list[exp.Expr] = []
            for item in select.expressions:
                name = item.alias_or_name.lower()
                inner = item.unalias()
                table = sources.get(inner.table.lower(), "") if isinstance(inner, exp.Column) else ""
                if "spelled" in item.meta or not ((name in structs and kind(item) == "R") or (table, name) in dropped):
                    keep.append(item)
                    continue
                changed = True
                owner = select.parent
                if isinstance(owner, (exp.CTE, exp.Subquery)):
                    dropped.add((owner.alias.lower(), name))
            select.set("expressions", keep)


def _relations(select: exp.Select) -> list[exp.Expr]:
    first = select.args.get("from_")
    return ([first.this] if first is not None else []) + [join.this for join in select.args.get("joins") or ()]


def _source_names(select: exp.Select) -> dict[str, str]:
    """Aliases of subqueries and CTEs in FROM, with the names they are defined under."""
    return {
        item.alias_or_name.lower(): (item.name if isinstance(item, exp.Table) else item.alias).lower()
        for item in _relations(select)
        if isinstance(item, exp.Subquery) or (isinstance(item, exp.Table) and not item.db)
    }


def _struct_names(select: exp.Select) -> set[str]:
    names: set[str] = set()
    for item in _relations(select):
        if isinstance(item, exp.Unnest) and _of_structs(item):
            alias = item.args["alias"]
            names.add((alias.columns[0].name if alias.columns else alias.name).lower())
    return names


def _of_structs(unnest: exp.Unnest) -> bool:
    array = unnest.expressions[0].type if unnest.expressions else None
    if array is None or array.this != exp.DType.ARRAY or not array.expressions:
        return False
    return bool(array.expressions[0].this == exp.DType.STRUCT)


def name_output(tree: exp.Expr, catalog: Catalog) -> None:
    """Give the output columns their names as spelled, and arrays the form that BigQuery returns."""
    leaves: list[exp.Select] = []
    _leaves(tree, leaves)
    if not leaves:
        return
    starred = any("spelled" not in item.meta for item in leaves[0].expressions)
    spelled = spellings(tree, catalog) if starred else {}
    unnamed = 0
    for item in leaves[0].expressions:
        if not isinstance(item, exp.Alias):
            continue
        name = str(item.meta.get("spelled") or spelled.get(item.alias.lower(), item.alias))
        if name.startswith("_f") and name[2:].isdigit():
            name = f"f{unnamed}_"
        if name == f"f{unnamed}_":
            unnamed += 1
        item.set("alias", exp.to_identifier(name, quoted=True))
    for select in leaves:
        for item in select.expressions:
            if isinstance(item, exp.Alias) and kind(item.this) == "A":
                item.set("this", _array_output(item.this, item.alias))


def _array_output(value: exp.Expr, name: str) -> exp.Expr:
    """BigQuery returns a NULL array as an empty one, and refuses a NULL element."""
    if value.args.get("never_null"):
        return template("COALESCE({a}, [])", a=value)
    field = name.replace("'", "''").replace("{", "").replace("}", "")
    return template(
        f"CASE WHEN {{a}} IS NULL THEN [] WHEN list_count({{a}}) < len({{a}}) THEN "
        f"{{fail:Array cannot have a null element; error in writing field {field}}} ELSE {{a}} END",
        a=value,
    )  # fmt: skip


def _leaves(node: exp.Expr, found: list[exp.Select]) -> None:
    if isinstance(node, exp.Select):
        found.append(node)
    elif isinstance(node, exp.SetOperation):
        _leaves(node.this, found)
        _leaves(node.expression, found)
    elif isinstance(node, (exp.Subquery, exp.Paren)):
        _leaves(node.this, found)


def spellings(tree: exp.Expr, catalog: Catalog) -> dict[str, str]:
    """How names that came through a star are spelled: by the query, else by the catalogue."""
    spelled: dict[str, str] = {}
    for table in tree.find_all(exp.Table):
        info = catalog.by_name.get(table.name)
        if info is not None:
            spelled.update((column.name.lower(), column.name) for column in info.columns)
    for select in tree.find_all(exp.Select):
        for item in select.expressions:
            if name := item.meta.get("spelled"):
                spelled[str(name).lower()] = str(name)
    return spelled
