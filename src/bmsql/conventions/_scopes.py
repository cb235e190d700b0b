"""A light reading of scopes: what each SELECT reads, and which stored column a name comes from.

Names need not be resolved completely for the conventions, so this costs a fraction of a full
qualification, and leaves the tree as its author wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from bmsql.conventions._read import bare
from bmsql.semantic import SemanticModel
from bmsql.sql import children

_LEAVES = (exp.Identifier, exp.Literal)
_APART = (exp.Window, exp.Query)
"""What an aggregate function within is not one of the SELECT list itself."""


@dataclass(eq=False, slots=True)
class Source:
    """One entry of FROM or JOIN. `table` names a table of the semantic model; `body` is a subquery or CTE."""

    node: exp.Expr
    scope: Scope
    table: str = ""
    body: exp.Query | None = None
    join: exp.Join | None = None
    nested: bool = False

    @property
    def alias(self) -> str:
        """The alias as written, or an empty string."""
        return str(self.node.alias)

    @property
    def name(self) -> str:
        """What columns are qualified with."""
        return str(self.node.alias_or_name)


@dataclass(eq=False, slots=True)
class Scope:
    """One SELECT with its sources; `parent` is the scope that a correlated subquery can see."""

    select: exp.Select
    parent: Scope | None = None
    sources: list[Source] = field(default_factory=list)


class Scopes:
    """The scopes of a query over a semantic model, outermost first."""

    def __init__(self, tree: exp.Query, model: SemanticModel) -> None:
        self.model = model
        self.tree = tree
        self.all: list[Scope] = []
        self._by_select: dict[int, Scope] = {}
        self._columns: dict[str, frozenset[str]] = {}
        self._visit(tree, {}, None)

    def bases(self) -> Iterator[Source]:
        """Every use of a table of the model, in any scope."""
        for scope in self.all:
            for source in scope.sources:
                if source.table:
                    yield source

    def base(self, node: exp.Expr) -> Source:
        """The use of a table of the model that `node` is."""
        return next(source for source in self.bases() if source.node is node)

    def consumers(self, source: Source) -> list[Source]:
        """The subquery and CTE references through which the rows of `source` are read."""
        return [
            other
            for scope in self.all
            for other in scope.sources
            if other.body is not None and any(branch is source.scope.select for branch in branches(other.body))
        ]

    def find(self, scope: Scope, column: exp.Column) -> Source | None:
        """The source that a column belongs to, in this scope or in those around it."""
        qualifier, name = column.table.lower(), column.name.lower()
        around: Scope | None = scope
        while around is not None:
            for source in around.sources:
                if qualifier:
                    if source.name.lower() == qualifier:
                        return source
                elif self.has(source, name):
                    return source
            around = around.parent
        if not qualifier and len(scope.sources) == 1 and not scope.sources[0].table:
            return scope.sources[0]
        return None

    def origins(self, scope: Scope, column: exp.Column) -> list[tuple[Source, str, str]]:
        """Where a column comes from: (table use, role, MIN or MAX or empty), one per UNION branch."""
        source = self.find(scope, column)
        return self._trace(source, column.name.lower()) if source else []

    def exposed(self, consumer: Source, base: Source, role: str) -> str:
        """The name under which a subquery or CTE reference gives the column of `role` of `base`, or ''."""
        if consumer.body is None:
            return ""
        names = [item.alias_or_name for branch in branches(consumer.body) for item in branch.expressions]
        column = self.model.column(base.table, role)
        for name in (*names, *([column] if column else [])):
            if (
                name
                and str(name) != "*"
                and any(origin is base and found == role for origin, found, _ in self._trace(consumer, name.lower()))
            ):
                return str(name)
        return ""

    def item_origins(self, scope: Scope, name: str) -> list[tuple[Source, str, str]]:
        """Where an output column of `scope` comes from; HAVING and QUALIFY may speak of those."""
        for item in scope.select.expressions:
            if isinstance(item, exp.Alias) and item.alias.lower() == name.lower():
                return self._through_item(scope, item)
        return []

    def _trace(self, source: Source, name: str) -> list[tuple[Source, str, str]]:
        if source.table:
            role = self.model.role_of(source.table, name)
            return [(source, role, "")] if role else []
        if source.body is None:
            return []
        found: list[tuple[Source, str, str]] = []
        position: int | None = None
        for number, branch in enumerate(branches(source.body)):
            scope = self._by_select.get(id(branch))
            if scope is None:
                continue
            items = branch.expressions
            if number == 0:
                position = next((i for i, item in enumerate(items) if item.alias_or_name.lower() == name), None)
            if position is None or position >= len(items):
                found += self._through_star(scope, name)
            else:
                found += self._through_item(scope, items[position])
        return found

    def _through_item(self, scope: Scope, item: exp.Expr) -> list[tuple[Source, str, str]]:
        item = bare(item.this if isinstance(item, exp.Alias) else item)
        if isinstance(item, exp.Column):
            return self.origins(scope, item)
        if isinstance(item, exp.Min | exp.Max) and isinstance(item.this, exp.Column) and lone_extreme(scope.select):
            extreme = "MIN" if isinstance(item, exp.Min) else "MAX"
            return [(source, role, extreme) for source, role, inner in self.origins(scope, item.this) if not inner]
        return []

    def _through_star(self, scope: Scope, name: str) -> list[tuple[Source, str, str]]:
        for item in scope.select.expressions:
            star = item.this if isinstance(item, exp.Column) else item
            if not isinstance(star, exp.Star):
                continue
            hidden = star.args.get("except_") or []
            if any(column.name.lower() == name for column in hidden):
                continue
            of = item.table.lower() if isinstance(item, exp.Column) else ""
            for source in scope.sources:
                if (not of or source.name.lower() == of) and (traced := self._trace(source, name)):
                    return traced
        return []

    def has(self, source: Source, name: str) -> bool:
        """Whether a source has a column of this name (in lower case)."""
        if source.table:
            if source.table not in self._columns:
                columns = self.model.tables[source.table].columns
                self._columns[source.table] = frozenset(column.lower() for column in columns)
            return name in self._columns[source.table]
        if source.body is None:
            return False
        first = next(branches(source.body), None)
        if first is None:
            return False
        if any(item.alias_or_name.lower() == name for item in first.expressions):
            return True
        inner = self._by_select.get(id(first))
        return first.is_star and inner is not None and any(self.has(other, name) for other in inner.sources)

    def _visit(self, query: exp.Expr, ctes: Mapping[str, exp.Query], parent: Scope | None) -> None:
        known = dict(ctes)
        with_ = query.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            recursive = with_ is not None and with_.args.get("recursive")
            visible = {**known, cte.alias.lower(): cte.this} if recursive else known
            self._visit(cte.this, visible, None)
            known[cte.alias.lower()] = cte.this
        if isinstance(query, exp.SetOperation):
            self._visit(query.this, known, parent)
            self._visit(query.expression, known, parent)
        elif isinstance(query, exp.Subquery):
            self._visit(query.this, known, parent)
        elif isinstance(query, exp.Select):
            self._visit_select(query, known, parent)

    def _visit_select(self, select: exp.Select, ctes: Mapping[str, exp.Query], parent: Scope | None) -> None:
        scope = Scope(select, parent)
        self.all.append(scope)
        self._by_select[id(select)] = scope
        from_ = select.args.get("from_")
        if from_ is not None:
            self._add(scope, from_.this, None, ctes)
        for join in select.args.get("joins") or ():
            self._add(scope, join.this, join, ctes)
        for query in _subqueries(select):
            self._visit(query, ctes, scope)

    def _add(
        self, scope: Scope, node: exp.Expr, join: exp.Join | None, ctes: Mapping[str, exp.Query], nested: bool = False
    ) -> None:
        if isinstance(node, exp.Table):
            body = ctes.get(node.name.lower()) if not node.args.get("db") else None
            table = "" if body is not None else model_table(self.model, node)
            scope.sources.append(Source(node, scope, table, body, join, nested))
            for inner in node.args.get("joins") or ():
                self._add(scope, inner.this, inner, ctes, nested=True)
        elif isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
            scope.sources.append(Source(node, scope, "", node.this, join, nested))
            self._visit(node.this, ctes, scope.parent)
        elif isinstance(node, exp.Subquery):
            self._add(scope, node.this, join, ctes, nested=True)
        else:
            scope.sources.append(Source(node, scope, join=join, nested=nested))


def model_table(model: SemanticModel, node: exp.Table) -> str:
    """The table of the model that `node` reads, by as much of its name as the model writes, or ''."""
    parts = ".".join(part.name for part in node.parts).split(".")
    for length in (1, 2, 3):
        name = ".".join(parts[-length:])
        if name in model.tables:
            return name
    return next((table for table in model.tables if table.lower() == parts[-1].lower()), "")


def branches(query: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs whose rows a query gives: itself, or the branches of its UNION."""
    stack = [query]
    while stack:
        node = stack.pop()
        if isinstance(node, exp.SetOperation):
            stack += [node.expression, node.this]
        elif isinstance(node, exp.Subquery):
            stack.append(node.this)
        elif isinstance(node, exp.Select):
            yield node


def aggregates(select: exp.Select) -> list[exp.Expr]:
    """The aggregate functions of the SELECT list itself: no window functions, no subqueries."""
    found: list[exp.Expr] = []
    todo: list[exp.Expr] = select.expressions[::-1]
    while todo:
        node = todo.pop()
        if isinstance(node, exp.AggFunc):
            found.append(node)
        elif not (isinstance(node, _APART) or is_leaf(node)):
            todo += children(node)[::-1]
    return found


def is_grouped(select: exp.Select) -> bool:
    """Whether its rows are groups or one aggregate, rather than rows of its sources."""
    return bool(select.args.get("group") or select.args.get("having") or aggregates(select))


def lone_extreme(select: exp.Select) -> bool:
    """Whether MIN or MAX are its only aggregates, so that a bound on them keeps what one on the rows keeps."""
    return all(isinstance(found, exp.Min | exp.Max) for found in aggregates(select))


def is_leaf(node: exp.Expr) -> bool:
    """Whether a node is a plain name or a literal, in which no query and no function can stand."""
    if isinstance(node, exp.Column):
        return isinstance(node.args.get("this"), exp.Identifier)
    return isinstance(node, _LEAVES)


def _subqueries(select: exp.Select) -> Iterator[exp.Expr]:
    """Queries inside the expressions of a SELECT; those of FROM and JOIN are its sources."""
    stack: list[exp.Expr] = []
    for key, value in select.args.items():
        if key in {"with_", "from_"} or value is None:
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, exp.Join):
                stack += [part for part in (node.args.get("on"),) if part is not None]
            elif isinstance(node, exp.Expr):
                stack.append(node)
    while stack:
        node = stack.pop()
        if isinstance(node, exp.Query) and not isinstance(node, exp.Table):
            yield node
        elif not is_leaf(node):
            stack += children(node)
