"""What is done to a BigQuery tree before its names and types are resolved.

Tables become plain names, every output column gets the name that BigQuery gives it, PIVOT and
UNPIVOT become aggregation and UNNEST, and every UNNEST gets an alias.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from bmsql.errors import InvalidSqlError
from bmsql.sql.duckdb._kinds import unsupported
from bmsql.types import Catalog

SCHEMA = "main"


class _Nodes:
    """The nodes of a tree by class, from one walk: each look-up by itself would be a walk."""

    def __init__(self, tree: exp.Expr) -> None:
        self._by_class: dict[type[exp.Expr], list[exp.Expr]] = {}
        for node in tree.walk():
            self._by_class.setdefault(type(node), []).append(node)

    def __call__(self, *classes: type[exp.Expr]) -> list[Any]:
        return [node for c in classes for node in self._by_class.get(c, ())]


def prepare(tree: exp.Expr, catalog: Catalog) -> bool:
    """Change `tree` in place; whether it has an UNNEST."""
    nodes = _Nodes(tree)
    if nodes(exp.HexString, exp.RawString):
        _literals(nodes)
        nodes = _Nodes(tree)
    if nodes(exp.Pivot):
        _pivots(nodes)
        nodes = _Nodes(tree)
    _tables(nodes, catalog)
    _unnests(nodes)
    for select in nodes(exp.Select):
        _name_columns(select)
    if structs := nodes(exp.Struct):
        for array in nodes(exp.Array):
            _structs_alike(array)
        structs = _Nodes(tree)(exp.Struct)
    for node in structs:
        _name_fields(node)
    return bool(nodes(exp.Unnest)) or any(table.db and table.db != SCHEMA for table in nodes(exp.Table))


def _literals(nodes: _Nodes) -> None:
    for node in nodes(exp.HexString, exp.RawString):
        if isinstance(node, exp.RawString):
            node.replace(exp.Literal.string(node.this))
        elif node.args.get("is_integer"):
            node.replace(exp.Literal.number(int(node.this, 16)))
        else:
            raise unsupported("Hexadecimal bytes are not translated")


def _tables(nodes: _Nodes, catalog: Catalog) -> None:
    ctes = {cte.alias.lower() for cte in nodes(exp.CTE)}
    tables = nodes(exp.Table)
    aliases = {(t.alias or t.name).lower() for t in tables} | {s.alias.lower() for s in nodes(exp.Subquery)}
    for unnest in nodes(exp.Unnest):
        aliases.add(unnest.alias_or_name.lower())
        if unnest.args.get("alias"):
            aliases.update(column.name.lower() for column in unnest.args["alias"].columns)
    for table in tables:
        for argument in ("version", "when", "hints", "rows_from", "changes", "system_time"):
            if table.args.get(argument):
                raise unsupported("A table at a past time is not available in DuckDB", "Drop FOR SYSTEM_TIME.")
        if not isinstance(table.this, exp.Identifier):
            raise unsupported(f"The table function {table.sql('bigquery')} is not translated")
        first = (table.catalog or table.db).lower()
        if not first and table.name.lower() in ctes:
            continue
        if table.name in catalog.by_name:
            table.set("db", exp.to_identifier(SCHEMA, quoted=True))
            table.set("catalog", None)
        elif not (first and first in aliases):
            name = table.sql("bigquery", comments=False)
            raise InvalidSqlError(f"There is no table {name}.", remedy="Choose a table of the catalogue.")
    for column in nodes(exp.Column):
        if column.args.get("db") is not None and column.table in catalog.by_name:
            column.set("db", None)
            column.set("catalog", None)


def _unnests(nodes: _Nodes) -> None:
    for n, unnest in enumerate(nodes(exp.Unnest)):
        if isinstance(unnest.parent, exp.In):
            continue
        if len(unnest.expressions) != 1:
            raise unsupported("UNNEST of several arrays is not translated")
        alias = unnest.args.get("alias")
        if alias is None or not (alias.this or alias.columns):
            unnest.set("alias", exp.TableAlias(columns=[exp.to_identifier(f"_f{n}", quoted=True)]))
        if unnest.args.get("offset") is True:
            unnest.set("offset", exp.to_identifier("offset"))
        unnest.meta["spelled"] = [
            name.name for name in (*unnest.args["alias"].columns, unnest.args.get("offset")) if name
        ]


def column_name(node: exp.Expr) -> str:
    """The name that BigQuery gives an output column by itself, if any."""
    if isinstance(node, (exp.Alias, exp.Column)):
        return str(node.alias_or_name)
    if isinstance(node, exp.Dot):
        return str(node.expression.name)
    return ""


def _name_columns(select: exp.Select) -> None:
    unnamed = 0
    for node in list(select.expressions):
        if node.is_star:
            continue
        name = column_name(node)
        if not name:
            name = f"f{unnamed}_"
            unnamed += 1
        if isinstance(node, exp.Alias):
            alias = node
        else:
            alias = exp.Alias(alias=exp.to_identifier(name, quoted=True))
            node.replace(alias)
            alias.set("this", node)
        alias.meta["spelled"] = name


def _structs_alike(array: exp.Expr) -> None:
    """`[STRUCT(1 AS a), (2)]`: the first one names the fields of all."""
    first = array.expressions[0] if array.expressions else None
    if not isinstance(first, exp.Struct):
        return
    names = [
        item.args["alias"] if isinstance(item, exp.Alias) else item.this if isinstance(item, exp.PropertyEQ) else None
        for item in first.expressions
    ]
    for item in array.expressions[1:]:
        inner = item.this if isinstance(item, exp.Paren) else item
        if isinstance(inner, (exp.Tuple, exp.Paren)) or (inner is not item and len(names) == 1):
            values = inner.expressions if isinstance(inner, exp.Tuple) else [inner]
            if len(values) == len(names):
                pairs = zip(names, values, strict=True)
                item.replace(
                    exp.Struct(
                        expressions=[
                            exp.PropertyEQ(this=n.copy(), expression=v) if n is not None else v for n, v in pairs
                        ]
                    )
                )


def _name_fields(node: exp.Expr) -> None:
    fields: list[exp.Expr] = []
    for item in node.expressions:
        name = column_name(item)
        field = item.this if isinstance(item, exp.Alias) else item
        if not isinstance(field, exp.PropertyEQ) and name:
            field = exp.PropertyEQ(this=exp.to_identifier(name, quoted=True), expression=field)
        if isinstance(field, exp.PropertyEQ):
            field.this.meta["spelled"] = field.this.name
        fields.append(field)
    node.set("expressions", fields)


def _pivots(nodes: _Nodes) -> None:
    for n, pivot in enumerate(nodes(exp.Pivot)):
        relation = pivot.parent
        if relation is None or len(relation.args.get("pivots") or ()) != 1 or len(pivot.args.get("fields") or ()) != 1:
            raise unsupported("This PIVOT is not translated")
        alias = pivot.args.get("alias") or exp.TableAlias(this=exp.to_identifier(f"_p{n}"))
        clean = relation.copy()
        clean.set("pivots", None)
        if not clean.alias:
            clean.set("alias", exp.TableAlias(this=exp.to_identifier(f"_s{n}")))
        make = _unpivot if pivot.args.get("unpivot") else _pivot
        relation.replace(exp.Subquery(this=make(pivot, clean), alias=alias.copy()))


def _value(node: exp.Expr) -> tuple[exp.Expr, str]:
    if isinstance(node, (exp.PivotAlias, exp.Alias)):
        return node.this, str(node.args["alias"].name)
    if isinstance(node, exp.Literal):
        return node, str(node.this) if node.is_string else f"_{node.this}".replace(".", "_point_")
    if isinstance(node, exp.Column):
        return node, node.name
    raise unsupported("PIVOT is translated for literals only", "Give the value an alias.")


def _pivot(pivot: exp.Expr, relation: exp.Expr) -> exp.Select:
    """`SELECT * EXCEPT (k, v), SUM(IF(k = 'a', v, NULL)) AS a FROM t GROUP BY ALL`."""
    field = pivot.args["fields"][0]
    key = field.this
    used = {c.name.lower(): c.name for e in (*pivot.expressions, key) for c in e.find_all(exp.Column)}
    star = exp.Star(except_=[exp.to_identifier(name) for name in used.values()])
    out: list[exp.Expr] = [exp.Column(this=star, table=exp.to_identifier(relation.alias))]
    for item in field.expressions:
        value, name = _value(item)
        for aggregate in pivot.expressions:
            prefix = f"{aggregate.alias}_" if isinstance(aggregate, exp.Alias) else ""
            call = aggregate.this if isinstance(aggregate, exp.Alias) else aggregate
            out.append(exp.alias_(_only(call.copy(), key, value), prefix + name, quoted=True))
    return exp.Select(expressions=out, from_=exp.From(this=relation), group=exp.Group(all=True))


def _only(call: exp.Expr, key: exp.Expr, value: exp.Expr) -> exp.Expr:
    match: exp.Expr = exp.EQ(this=key.copy(), expression=value.copy())
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Star):
        return exp.CountIf(this=match)
    if isinstance(call, exp.CountIf):
        return exp.CountIf(this=exp.and_(match, call.this))
    if isinstance(call, (exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Count, exp.AnyValue)):
        inner = call.this.expressions[0] if isinstance(call.this, exp.Distinct) else call.this
        inner.replace(exp.If(this=match, true=inner.copy(), false=exp.Null()))
        return call
    raise unsupported(f"PIVOT is not translated for {call.sql('bigquery')}")


def _unpivot(pivot: exp.Expr, relation: exp.Expr) -> exp.Select:
    """`SELECT s.* EXCEPT (a, b), u.v, u.k FROM s, UNNEST([STRUCT('a' AS k, a AS v), ...]) AS u`."""
    field = pivot.args["fields"][0]
    if len(pivot.expressions) != 1 or not isinstance(pivot.expressions[0], (exp.Column, exp.Identifier)):
        raise unsupported("UNPIVOT is translated for single columns only")
    key, value = field.this.name, pivot.expressions[0].name
    columns: list[str] = []
    rows: list[exp.Expr] = []
    for item in field.expressions:
        column = item.this if isinstance(item, (exp.PivotAlias, exp.Alias)) else item
        label = item.args["alias"] if isinstance(item, (exp.PivotAlias, exp.Alias)) else exp.Literal.string(column.name)
        if not isinstance(column, exp.Column) or isinstance(label, exp.Identifier):
            raise unsupported("UNPIVOT is translated for single columns only")
        columns.append(column.name)
        names = (exp.to_identifier(key), exp.to_identifier(value))
        pairs = zip(names, (label.copy(), exp.column(column.name, table=relation.alias)), strict=True)
        rows.append(exp.Struct(expressions=[exp.PropertyEQ(this=n, expression=e) for n, e in pairs]))
    unnest = exp.Unnest(
        expressions=[exp.Array(expressions=rows)], alias=exp.TableAlias(columns=[exp.to_identifier("_up")])
    )
    star = exp.Column(
        this=exp.Star(except_=[exp.to_identifier(c) for c in columns]), table=exp.to_identifier(relation.alias)
    )
    made = exp.Select(
        expressions=[star, exp.column(value, table="_up"), exp.column(key, table="_up")],
        from_=exp.From(this=relation), joins=[exp.Join(this=unnest, kind="CROSS")],
    )  # fmt: skip
    if not pivot.args.get("include_nulls"):
        made.set(
            "where", exp.Where(this=exp.Not(this=exp.Is(this=exp.column(value, table="_up"), expression=exp.Null())))
        )
    return made
