"""The walk over a typed tree: names of UNNEST first, then each node by its rule, children before parents.

A node passes only when a rule, a row of the function tables or the list of plain SQL names it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from bmsql.errors import InvalidSqlError
from bmsql.sql.duckdb import (
    _aggregates,
    _arithmetic,
    _casts,
    _compare,
    _conditions,
    _dates,
    _json,
    _nested,
    _numbers,
    _regexp,
    _strings,
)
from bmsql.sql.duckdb._calls import call
from bmsql.sql.duckdb._dates import utc_only
from bmsql.sql.duckdb._kinds import kind, require_same, source, unsupported
from bmsql.sql.duckdb._template import Template, template

Rule = Callable[[exp.Expr], "exp.Expr | None"]

RULES: dict[type[exp.Expr], Rule] = {
    node: rule
    for module in (
        _compare,
        _arithmetic,
        _conditions,
        _casts,
        _numbers,
        _strings,
        _regexp,
        _dates,
        _nested,
        _json,
        _aggregates,
    )
    for node, rule in module.RULES
}
RULES.update(dict.fromkeys((exp.Date, exp.Timestamp, exp.TsOrDsToDatetime, exp.TsOrDsToTime), utc_only))

#: Plain SQL that means the same in both, once names and types are settled.
PLAIN = frozenset(
    (
        exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Qualify, exp.Ordered, exp.Limit,
        exp.Offset, exp.With, exp.CTE, exp.TableAlias, exp.Identifier, exp.Table, exp.Subquery, exp.Union,
        exp.Except, exp.Intersect, exp.Alias, exp.Column, exp.Star, exp.Literal, exp.Boolean, exp.Null, exp.Paren,
        exp.And, exp.Or, exp.Not, exp.Is, exp.Exists, exp.Distinct, exp.WindowSpec, exp.Tuple, exp.DataType,
        exp.DataTypeParam, exp.ColumnDef, exp.Unnest, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile,
        exp.PercentRank, exp.CumeDist, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue,
        exp.PropertyEQ, exp.Var, exp.WeekStart, exp.JSONPath, exp.JSONPathRoot, exp.JSONPathKey,
        exp.JSONPathSubscript, exp.Rollup, exp.Cube, exp.GroupingSets, exp.Any, exp.All, exp.HavingMax, exp.Filter,
    )
)  # fmt: skip

_CHECKED: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Select: (
        "kind_model",
        "laterals",
        "into",
        "match",
        "prewhere",
        "sample",
        "cluster",
        "distribute",
        "sort",
        "locks",
        "hint",
    ),
    exp.Join: ("hint", "match_condition", "global_"),
    exp.Table: ("sample", "pivots", "version", "when", "hints", "only", "partition"),
    exp.Union: ("by_name", "side", "kind", "on"),
    exp.Except: ("by_name", "side", "kind", "on"),
    exp.Intersect: ("by_name", "side", "kind", "on"),
}


@dataclass(frozen=True)
class _Unnested:
    """An UNNEST in scope: its table alias in DuckDB, its value and offset columns."""

    table: str
    value: str
    offset: str
    struct: bool
    fields: frozenset[str]


class Walk:
    """One translation: keeps the UNNESTs of the enclosing queries."""

    def __init__(self, spellings: Callable[[], dict[str, str]]) -> None:
        self._spellings = spellings
        self._scopes: list[dict[str, _Unnested | None]] = []
        self._unnests = 0

    def visit(self, node: exp.Expr) -> exp.Expr:
        """The DuckDB node for a BigQuery one."""
        if isinstance(node, exp.Select):
            self._open(node)
        for key, value in list(node.args.items()):
            if isinstance(value, exp.Expr):
                made = self.visit(value)
                if made is not value:
                    node.set(key, made)
            elif isinstance(value, list):
                items = [self.visit(item) if isinstance(item, exp.Expr) else item for item in value]
                if any(a is not b for a, b in zip(items, value, strict=True)):
                    node.set(key, items)
        made = self._rewrite(node)
        if isinstance(node, exp.AggFunc):
            self._own_columns(made)
        if isinstance(node, exp.Select):
            self._scopes.pop()
        if made is not node and made.type is None and node.type is not None:
            made.type = node.type
        return made

    def _rewrite(self, node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column):
            return self._column(node)
        rule = RULES.get(type(node))
        made = rule(node) if rule is not None else None
        if made is not None:
            return made
        if isinstance(node, exp.TableColumn):
            return self._row(node)
        if isinstance(node, exp.SafeFunc):
            return _safe(node)
        if isinstance(node, exp.ByteString):
            return _bytes(node)
        if type(node) in PLAIN:
            for name in _CHECKED.get(type(node), ()):
                if node.args.get(name):
                    raise unsupported(f"{name.upper()} is not translated: {source(node)}")
            if isinstance(node, exp.Select):
                _select(node)
            elif isinstance(node, exp.SetOperation):
                _set_operation(node)
            elif isinstance(node, exp.Join) and isinstance(node.this, exp.Unnest):
                _unnest_join(node)
            return node
        found = call(node)
        if found is None:
            raise unsupported(f"DuckDB is not known to do {source(node)} as BigQuery does")
        return found

    def _row(self, node: exp.TableColumn) -> exp.Expr:
        """`SELECT t FROM t`: a row as a struct."""
        names = [field.name for field in node.type.expressions] if node.type is not None else []
        if not names:
            raise unsupported(f"The columns of {source(node)} are not known")
        spelled = self._spellings()
        columns: list[exp.Expr] = [
            exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(node.name, quoted=True))
            for name in names
        ]
        return _nested.struct_of(tuple(spelled.get(name.lower(), name) for name in names), columns)

    def _open(self, select: exp.Select) -> None:
        scope: dict[str, _Unnested | None] = {}
        joins = [join.this for join in select.args.get("joins") or ()]
        first = select.args.get("from_")
        for item in ([first.this] if first is not None else []) + joins:
            if isinstance(item, exp.Unnest):
                self._name(item, scope)
            else:
                scope.setdefault(item.alias_or_name.lower(), None)
        self._scopes.append(scope)

    def _name(self, unnest: exp.Unnest, scope: dict[str, _Unnested | None]) -> None:
        alias = unnest.args["alias"]
        value = alias.columns[0].name if alias.columns else alias.name
        offset = unnest.args.get("offset")
        name = offset.name if isinstance(offset, exp.Expr) else ""
        table = alias.name if alias.columns and alias.this else f"_u{self._unnests}"
        self._unnests += 1
        inner = unnest.expressions[0].type
        items = inner.expressions if inner is not None and inner.this == exp.DType.ARRAY else []
        is_struct = bool(items) and isinstance(items[0], exp.DataType) and items[0].this == exp.DType.STRUCT
        fields = frozenset(f.name.lower() for f in items[0].expressions) if is_struct else frozenset()
        entry = _Unnested(table, value, name, is_struct, fields)
        scope[value.lower()] = entry
        scope[table.lower()] = entry
        if name:
            scope[name.lower()] = entry
            unnest.set("offset", True)
        columns = [exp.to_identifier(c, quoted=True) for c in ([value, name] if name else [value])]
        unnest.set("alias", exp.TableAlias(this=exp.to_identifier(table, quoted=True), columns=columns))

    def _column(self, node: exp.Column) -> exp.Expr:
        """A column of an UNNEST under its alias there; an offset counts from 0, DuckDB's from 1."""
        name, table = node.name.lower(), node.table.lower()
        if isinstance(node.this, exp.Star):
            return node
        if not table and self._is_output(node, name):
            return node
        for scope in reversed(self._scopes):
            if table in scope and table:
                entry = scope[table]
                if entry is None:
                    return node
                known = name in (entry.value.lower(), entry.offset.lower())
                return self._reference(entry, name) if known else self._field(entry, node)
            if table:
                continue
            entry = scope.get(name)
            if entry is not None:
                return self._reference(entry, name)
            for entry in scope.values():
                if entry is not None and name in entry.fields:
                    return self._field(entry, node)
        if not table:
            _require_output(node)
        return node

    def _own_columns(self, node: exp.Expr) -> None:
        """An aggregate of the outer query's columns alone is the inner query's in BigQuery, the outer's elsewhere."""
        tables = {column.table.lower() for column in node.find_all(exp.Column)}
        if len(self._scopes) > 1 and tables and not tables & self._scopes[-1].keys():
            raise unsupported("An aggregate in a subquery over columns of the outer query only is not translated")

    @staticmethod
    def _is_output(node: exp.Column, name: str) -> bool:
        """Whether ORDER BY (or QUALIFY, HAVING) names an output column, which comes first."""
        order = node.find_ancestor(exp.Order, exp.Select)
        if not isinstance(order, exp.Order) or not isinstance(order.parent, exp.Query):
            return False
        return any(item.alias.lower() == name for item in order.parent.selects)

    @staticmethod
    def _reference(entry: _Unnested, name: str) -> exp.Expr:
        column = exp.column(
            exp.to_identifier(entry.value, quoted=True), table=exp.to_identifier(entry.table, quoted=True)
        )
        if name == entry.offset.lower() and entry.offset:
            column.set("this", exp.to_identifier(entry.offset, quoted=True))
            return template("({o} - 1)", "I", o=column)
        return column

    def _field(self, entry: _Unnested, node: exp.Column) -> exp.Expr:
        return exp.Dot(this=self._reference(entry, entry.value.lower()), expression=node.this)


def _require_output(node: exp.Column) -> None:
    """A name that no source has: DuckDB would find an output column of that name in WHERE, too."""
    clause = node.find_ancestor(exp.Group, exp.Having, exp.Qualify, exp.Order, exp.Where, exp.Join, exp.Select)
    query = node.find_ancestor(exp.Query)
    later = isinstance(clause, (exp.Group, exp.Having, exp.Qualify, exp.Order))
    if later and query is not None and any(item.alias_or_name.lower() == node.name.lower() for item in query.selects):
        return
    raise InvalidSqlError(f"There is no column {node.name}.", remedy="Check the names against the catalogue.")


def _safe(node: exp.Expr) -> exp.Expr:
    """SAFE.f(...): the function's own errors become NULL."""
    inner = node.this
    if not isinstance(inner, Template) or inner.args.get("aggregate"):
        raise unsupported(f"{source(node)} is not translated")
    inner.set("safe", True)
    return inner


def _bytes(node: exp.Expr) -> exp.Expr:
    raw = str(node.this)
    data = "".join(f"\\x{byte:02X}" for byte in raw.encode("latin-1", "backslashreplace"))
    if "\\" in raw:
        raise unsupported("Escapes in bytes literals are not translated", "Use FROM_HEX('...').")
    return template(f"CAST('{data}' AS BLOB)", "B")


def _unnest_join(join: exp.Join) -> None:
    """LEFT JOIN UNNEST needs no condition in BigQuery."""
    if join.side and not join.args.get("on"):
        join.set("on", exp.true())
    if join.side.upper() in ("RIGHT", "FULL"):
        raise unsupported("UNNEST on the right of a RIGHT or FULL JOIN is not translated")


def _select(select: exp.Select) -> None:
    """SELECT AS STRUCT, AS VALUE; the columns that a star made of an UNNEST of structs."""
    distinct = select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        raise unsupported("BigQuery has no DISTINCT ON", "Use QUALIFY ROW_NUMBER() OVER (...) = 1.")
    how = str(select.args.get("kind") or "").upper()
    if how == "STRUCT":
        names = tuple(str(item.meta.get("spelled") or item.alias) for item in select.expressions)
        made = _nested.struct_of(names, [item.unalias() for item in select.expressions])
        select.set("expressions", [exp.Alias(this=made, alias=exp.to_identifier("_struct", quoted=True))])
    select.set("kind", None)
    if select.args.get("order") is not None:
        _order_by_expressions(select)


def _order_by_expressions(select: exp.Select) -> None:
    """`SELECT -x AS x ... ORDER BY x + 1` means the output x; inside expressions DuckDB takes the column."""
    outputs = {item.alias.lower(): item.unalias() for item in select.expressions if item.alias}
    for key in select.args["order"].expressions:
        if isinstance(key.this, exp.Column):
            continue
        for column in list(key.find_all(exp.Column)):
            value = outputs.get(column.name.lower())
            if not column.table and value is not None:
                column.replace(exp.paren(value) if isinstance(value, exp.Binary) else value.copy())


def _set_operation(node: exp.SetOperation) -> None:
    """Columns are united by position: structs too, which DuckDB unites by name."""
    left, right = node.left.selects, node.right.selects
    for a, b in zip(left, right, strict=False):
        require_same((a.unalias(), b.unalias()), "set operation")
        names = [item.unalias().args.get("field_names") for item in (a, b)]
        if kind(a) == "R" or kind(b) == "R":
            if names[0] and isinstance(b, exp.Alias) and b.this.args.get("fields") is not None:
                b.set("this", _nested.struct_of(names[0], b.this.args["fields"]))
            elif a.type != b.type:
                raise unsupported("DuckDB unites structs by name, BigQuery by position", "Name the fields alike.")
    if any(not isinstance(i, exp.Query) for i in (node.left, node.right)):
        raise unsupported(f"{source(node)} is not translated")
