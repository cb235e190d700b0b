"""The columns of a result: which a star gives, how they are named, and the form arrays have."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql.duckdb._kinds import kind
from bmsql.sql.duckdb._template import template
from bmsql.types import Catalog


def drop_star_structs(tree: exp.Expr) -> None:
    """A star over UNNEST of structs is their fields, then the offset, not the struct; so is a star over that."""
    selects = list(tree.find_all(exp.Select))
    dropped: set[tuple[str, str]] = set()
    before = -1
    while before != len(dropped):
        before = len(dropped)
        for select in selects:
            _drop_structs(select, dropped)


def _drop_structs(select: exp.Select, dropped: set[tuple[str, str]]) -> None:
    structs = _structs(select)
    sources = _source_names(select)
    keep: list[exp.Expr] = []
    # An offset that waits for the fields to pass, and how many are still to come.
    waiting: list[exp.Expr] = []
    fields = 0
    for item in select.expressions:
        name = item.alias_or_name.lower()
        inner = item.unalias()
        table = sources.get(inner.table.lower(), "") if isinstance(inner, exp.Column) else ""
        if "spelled" not in item.meta:
            if (name in structs and kind(item) == "R") or (table, name) in dropped:
                owner = select.parent
                if isinstance(owner, (exp.CTE, exp.Subquery)):
                    dropped.add((owner.alias.lower(), name))
                fields = structs.get(name, ("", 0))[1]
                continue
            if fields and any(name == offset for offset, _ in structs.values()):
                waiting.append(item)
                continue
        keep.append(item)
        fields -= fields > 0
        if not fields:
            keep += waiting
            waiting = []
    select.set("expressions", keep + waiting)


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


def _structs(select: exp.Select) -> dict[str, tuple[str, int]]:
    """The aliases of UNNESTs of structs, with the name of the offset and the number of fields."""
    names: dict[str, tuple[str, int]] = {}
    for item in _relations(select):
        if isinstance(item, exp.Unnest) and (count := _field_count(item)):
            alias, offset = item.args["alias"], item.args.get("offset")
            value = (alias.columns[0].name if alias.columns else alias.name).lower()
            names[value] = (offset.name.lower() if isinstance(offset, exp.Expr) else "", count)
    return names


def _field_count(unnest: exp.Unnest) -> int:
    array = unnest.expressions[0].type if unnest.expressions else None
    if array is None or array.this != exp.DType.ARRAY or not array.expressions:
        return 0
    element = array.expressions[0]
    return len(element.expressions) if element.this == exp.DType.STRUCT else 0


def name_output(tree: exp.Expr, spelled: dict[str, str]) -> None:
    """Give the output columns their names as spelled, and arrays the form that BigQuery returns."""
    leaves: list[exp.Select] = []
    _leaves(tree, leaves)
    if not leaves:
        return
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
    for node in tree.find_all(exp.Alias, exp.PropertyEQ, exp.Unnest):
        named = node.this if isinstance(node, exp.PropertyEQ) else node
        names = named.meta.get("spelled", ())
        spelled.update((name.lower(), name) for name in ([names] if isinstance(names, str) else names))
    return spelled


def has_star(tree: exp.Expr) -> bool:
    """Whether an output column came through a star."""
    leaves: list[exp.Select] = []
    _leaves(tree, leaves)
    return bool(leaves) and any("spelled" not in item.meta for item in leaves[0].expressions)
