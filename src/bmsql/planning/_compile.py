"""Plan to SQL: names, literals, whole-item matches and keys are right by construction."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from bmsql.errors import PlanError
from bmsql.planning._filters import condition, conjunction, disjunction, literal
from bmsql.planning._listed import listed_items
from bmsql.planning._names import Bound, join_by
from bmsql.semantic import SemanticModel
from bmsql.sql import copied
from bmsql.types import Aggregate, Catalog, Filter, Plan, PlanJoin, SelectItem, Source

# `limit_per` of a union whose limit holds for each of its sources.
EACH_SOURCE = "source"

_FUNCTIONS: dict[str, type[exp.Func]] = {"min": exp.Min, "max": exp.Max, "avg": exp.Avg, "sum": exp.Sum}


def compile_plan(plan: Plan, model: SemanticModel, catalog: Catalog) -> exp.Query:
    """The general query of a plan: all that the question states, without implied conventions.

    Raises PlanError when the plan names what the semantic model or the catalogue does not have.
    """
    if not plan.answerable or plan.clarification is not None:
        raise PlanError(f"the plan is not answerable: {plan.problem or 'it asks back'}.")
    if not plan.sources:
        raise PlanError("the plan reads no table.")
    sources = {source.alias: source for source in plan.sources}
    if len(sources) != len(plan.sources):
        raise PlanError("two sources of the plan have the same alias.")
    for source in plan.sources:
        if source.table not in model.tables:
            raise PlanError(f"the semantic model has no table '{source.table}'.")
        if source.table not in catalog.by_name:
            raise PlanError(
                f"this knowledge base does not hold the table '{source.table}'.",
                remedy="`bmsql kb info` lists its tables.",
            )
    if plan.combine == "union":
        return _union(plan, model, catalog)
    return _Select(plan, model, catalog, plan.sources).query()


def _union(plan: Plan, model: SemanticModel, catalog: Catalog) -> exp.Query:
    used = {use.source for use in plan.conventions if use.source}
    branches: list[exp.Query] = []
    for source in plan.sources:
        only = plan.model_copy(
            update={
                "sources": (source,),
                "select": tuple(item for item in plan.select if item.source in ("", source.alias)),
                "order": (),
                "limit": None,
            }
        )
        if plan.limit_per:
            per = "" if plan.limit_per == EACH_SOURCE else plan.limit_per
            only = only.model_copy(update={"order": plan.order, "limit": plan.limit, "limit_per": per})
        branch = _Select(only, model, catalog, (source,), alias=source.alias in used).query()
        branches.append(exp.Subquery(this=branch) if plan.limit_per else branch)
    tree = branches[0]
    for other in branches[1:]:
        tree = exp.Union(this=tree, expression=other, distinct=False)
    if plan.limit_per == EACH_SOURCE:
        return tree
    for order in plan.order:
        name = _output_name(plan, model, order.column, branches[0])
        tree = tree.order_by(_ordered(exp.column(name), order.descending), copy=False)
    if plan.limit is None or plan.limit_per:
        return tree
    return _limited(tree, plan.limit)


def _output_name(plan: Plan, model: SemanticModel, name: str, branch: exp.Query) -> str:
    """What the first branch of a union, and so the union, calls a column: items have a name of their own."""
    first = plan.sources[0]
    items = [item for item in (*plan.group_by, *plan.select) if item.source in ("", first.alias)]
    shown = {item.column: output.alias_or_name for item, output in zip(items, branch.selects, strict=False)}
    bound = _bound(first, model, "")
    return shown.get(name) or bound.alias(name) or bound.column_name(name) or name


def _bound(source: Source, model: SemanticModel, qualifier: str) -> Bound:
    return Bound(source, model.tables[source.table], model.family_of(source.table), model, qualifier)


def _qualifier(alias: str, taken: str, sources: tuple[Source, ...]) -> str:
    """The alias of a source in SQL: another one where the aggregate's column is named like it."""
    used = {source.alias.lower() for source in sources if source.alias != alias} | {taken.lower()}
    return next(name for name in (alias, *(f"{alias}{number}" for number in range(1, 99))) if name.lower() not in used)


def _limited(tree: exp.Query, rows: int) -> exp.Query:
    tree.set("limit", exp.Limit(expression=literal(rows)))
    return tree


def _ordered(expression: exp.Expr, descending: bool) -> exp.Ordered:
    # BigQuery sorts NULL first when ascending: a value that is not recorded is no smallest value.
    return exp.Ordered(this=expression, desc=descending, nulls_first=False)


class _Select:
    """One SELECT of a plan over one source or over joined ones."""

    def __init__(
        self, plan: Plan, model: SemanticModel, catalog: Catalog, sources: tuple[Source, ...], *, alias: bool = False
    ) -> None:
        self.plan = plan
        self.catalog = catalog
        alias = alias or any(use.source for use in plan.conventions)
        qualified = len(sources) > 1 or alias or self._unnests(plan, sources, model)
        taken = plan.aggregate.alias if plan.aggregate else ""
        self.bound = {
            source.alias: _bound(source, model, _qualifier(source.alias, taken, sources) if qualified else "")
            for source in sources
        }
        self.main = self.bound[sources[0].alias]
        self.joins = plan.joins if len(sources) > 1 else ()
        self.items: dict[tuple[str, str], exp.Expr] = {}
        self.where: list[exp.Expr] = []
        self.joined: list[exp.Expr] = []
        known = set(self.bound)
        for join in self.joins:
            if join.left not in known or join.right not in known:
                raise PlanError(f"the join by {join.entity} names a source that the plan does not have.")

    def _unnests(self, plan: Plan, sources: tuple[Source, ...], model: SemanticModel) -> bool:
        """Whether an entity's items are unnested: then columns need the table's alias."""
        bound = _bound(sources[0], model, "")
        named = [item.column for item in (*plan.select, *plan.group_by)] if plan.distinct or plan.group_by else []
        if plan.aggregate:
            named.append(plan.aggregate.column)
        return any(self._has_items(bound, name) for name in named)

    def query(self) -> exp.Query:
        for join in self.joins:
            self._join(join)
        hidden = {alias for join in self.joins for alias in self._inside(join)}
        for alias, bound in self.bound.items():
            if alias not in hidden:
                self.where += self._conditions(bound)
        select = self._outputs()
        tree = exp.Select(expressions=select).from_(self._table(self.main), copy=False)
        for table in self.joined:
            tree.append("joins", table)
        if self.where:
            tree = tree.where(conjunction(self.where), copy=False)
        if self.plan.distinct:
            tree = tree.distinct(copy=False)
        if self.plan.group_by:
            tree.set("group", exp.Group(expressions=[self._group_key(item) for item in self.plan.group_by]))
        if self.plan.having:
            tree = tree.having(conjunction([self._having(one) for one in self.plan.having]), copy=False)
        for order in self.plan.order:
            tree = tree.order_by(_ordered(self._order_key(order.source, order.column), order.descending), copy=False)
        if self.plan.limit_per:
            return self._best_of_each(tree)
        return _limited(tree, self.plan.limit) if self.plan.limit is not None else tree

    def _best_of_each(self, tree: exp.Select) -> exp.Select:
        """The first rows of each value of `limit_per`, in the plan's order."""
        if not self.plan.order:
            raise PlanError(f"the first of each {self.plan.limit_per} needs an order.")
        order = [_ordered(self._order_key(one.source, one.column), one.descending) for one in self.plan.order]
        window = exp.Window(
            this=exp.RowNumber(),
            partition_by=[self._value(self.main.source.alias, self.plan.limit_per)[0]],
            order=exp.Order(expressions=order),
        )
        kept = exp.LTE(this=window, expression=literal(self.plan.limit or 1))
        if not tree.args.get("where"):
            # Older releases of GoogleSQL take QUALIFY only beside WHERE, GROUP BY or HAVING.
            tree = tree.where(exp.true(), copy=False)
        tree.set("qualify", exp.Qualify(this=kept))
        return tree

    # -- FROM ---------------------------------------------------------------------------------

    def _table(self, bound: Bound, *, aliased: bool = True) -> exp.Table:
        project, dataset, name = self.catalog.qualified(bound.source.table).rsplit(".", 2)
        table = exp.table_(name, db=dataset, catalog=project, quoted=True)
        table.meta["quoted_table"] = True  # in one pair of backticks, as `validate` writes it
        if bound.qualifier and aliased:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(bound.qualifier)))
        return table

    def _key(self, bound: Bound, entity: str) -> exp.Expr:
        """The scalar that joins a visible source by an entity; an array is unnested once."""
        known = self.items.get((bound.source.alias, entity))
        if known is not None:
            return copied(known)
        expression, is_items = bound.join_key(entity)
        if is_items:
            name = entity if entity not in {alias for _, alias in self.items} else f"{bound.source.alias}_{entity}"
            taken = {column.lower() for column in bound.table.columns}
            name = f"{name}_item" if name.lower() in taken else name
            unnest = exp.Unnest(expressions=[expression], alias=exp.TableAlias(columns=[exp.to_identifier(name)]))
            self.joined.append(exp.Join(this=unnest, kind="CROSS"))
            expression = exp.column(name)
            self.items[(bound.source.alias, entity)] = expression
            recipe = bound.recipe(entity)
            if recipe is not None and recipe.none:
                self.where.append(exp.NEQ(this=copied(expression), expression=exp.Literal.string(recipe.none)))
        return copied(expression)

    def _join(self, join: PlanJoin) -> None:
        left, right = self.bound[join.left], self.bound[join.right]
        key = self._key(left, join.entity)
        expression, is_items = right.join_key(join.entity)
        if join.kind != "inner":
            inside = self._values_of(right, join, expression, is_items)
            found = exp.In(this=key, query=exp.Subquery(this=inside))
            self.where.append(exp.Not(this=found) if join.kind == "anti" else found)
        elif is_items:
            # A derived table of distinct items joins by equality, where `x IN UNNEST(...)` in ON
            # would compare each pair of rows.
            inside = self._values_of(right, join, expression, is_items, columns=self._needed(right))
            alias = exp.TableAlias(this=exp.to_identifier(right.qualifier))
            name = exp.column(exp.to_identifier(join.entity), table=right.qualifier)
            self.joined.append(
                exp.Join(this=exp.Subquery(this=inside, alias=alias), on=exp.EQ(this=name, expression=key))
            )
            self.items[(right.source.alias, join.entity)] = name
        else:
            self.joined.append(exp.Join(this=self._table(right), on=exp.EQ(this=expression, expression=key)))

    def _inside(self, join: PlanJoin) -> Iterable[str]:
        """Sources that stand in a subquery, with their conditions."""
        _, is_items = self.bound[join.right].join_key(join.entity)
        if join.kind != "inner" or is_items:
            yield join.right

    def _values_of(
        self, bound: Bound, join: PlanJoin, expression: exp.Expr, is_items: bool, columns: tuple[str, ...] = ()
    ) -> exp.Select:
        """`SELECT DISTINCT key [, columns] FROM source WHERE its conditions`."""
        conditions = self._conditions(bound)
        table = self._table(bound)
        output: exp.Expr = expression
        tree = exp.Select().from_(table, copy=False)
        if is_items:
            unnest = exp.Unnest(
                expressions=[expression], alias=exp.TableAlias(columns=[exp.to_identifier(join.entity)])
            )
            recipe = bound.recipe(join.entity)
            if recipe is not None and recipe.none:
                conditions.append(exp.NEQ(this=exp.column(join.entity), expression=exp.Literal.string(recipe.none)))
            tree.append("joins", exp.Join(this=unnest, kind="CROSS"))
            output = exp.column(join.entity)
        if join.kind == "anti":
            # NOT IN over a NULL is never true.
            conditions.append(exp.Not(this=exp.Is(this=copied(output), expression=exp.Null())))
        tree.set("expressions", [output, *(bound.expression(name) for name in columns)])
        if conditions:
            tree = tree.where(conjunction(conditions), copy=False)
        return tree.distinct(copy=False) if is_items and join.kind == "inner" else tree

    def _needed(self, bound: Bound) -> tuple[str, ...]:
        """Columns of a source in a derived table that the outer query shows or sorts by."""
        named = [item.column for item in (*self.plan.select, *self.plan.group_by) if item.source == bound.source.alias]
        named += [order.column for order in self.plan.order if order.source == bound.source.alias]
        if self.plan.aggregate and self.plan.aggregate.source == bound.source.alias:
            named.append(self.plan.aggregate.column)
        joined = {join.entity for join in self.joins if join.right == bound.source.alias}
        return tuple(dict.fromkeys(name for name in named if name and name not in joined))

    # -- WHERE --------------------------------------------------------------------------------

    def _conditions(self, bound: Bound) -> list[exp.Expr]:
        alone: list[exp.Expr] = []
        grouped: dict[int, list[exp.Expr]] = {}
        table = self._table(bound, aliased=False)
        for filter_ in self.plan.filters:
            if not self._concerns(filter_, bound):
                continue
            if self._is_of_items(filter_, bound):
                key = self._key(bound, filter_.target)
                alone.append(exp.Not(this=exp.In(this=key, expressions=[literal(value) for value in filter_.values])))
                continue
            tree = condition(bound, filter_, table)
            if filter_.any_of:
                grouped.setdefault(filter_.any_of, []).append(tree)
            else:
                alone.append(tree)
        return alone + [disjunction(trees) for trees in grouped.values()]

    def _is_of_items(self, filter_: Filter, bound: Bound) -> bool:
        """`genes other than X`: of genes that are listed one by one it is X that is left out, and not all rows of X."""
        if filter_.op != "match" or not filter_.negated or filter_.any_of or not filter_.values:
            return False
        return filter_.target in listed_items(self.plan, bound.source.alias) and self._has_items(bound, filter_.target)

    def _concerns(self, filter_: Filter, bound: Bound) -> bool:
        if filter_.source:
            return filter_.source == bound.source.alias
        return bound.has(filter_.target)

    # -- SELECT -------------------------------------------------------------------------------

    def _outputs(self) -> list[exp.Expr]:
        outputs: list[exp.Expr] = [self._output(item) for item in (*self.plan.group_by, *self.plan.select)]
        if self.plan.aggregate:
            outputs.append(exp.alias_(self._aggregate(self.plan.aggregate), self.plan.aggregate.alias, copy=False))
        if not outputs:
            raise PlanError("the plan selects nothing.")
        seen: dict[str, int] = {}
        for number, output in enumerate(outputs):
            name = output.alias_or_name.lower()
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1 and name:
                column = output.find(exp.Column)
                prefix = column.table if column is not None and column.table else str(seen[name])
                outputs[number] = exp.alias_(output.unalias(), f"{output.alias_or_name}_{prefix}", copy=False)
        return outputs

    def _source(self, alias: str) -> Bound:
        if not alias:
            return self.main
        if alias not in self.bound:
            raise PlanError(f"the plan has no source '{alias}'.")
        return self.bound[alias]

    def _output(self, item: SelectItem) -> exp.Expr:
        if item.value:
            return exp.alias_(literal(item.value), item.alias or "value", copy=False)
        expression, name = self._value(item.source, item.column)
        alias = item.alias or name
        if not alias or alias == expression.alias_or_name:
            return expression
        return exp.alias_(expression, alias, copy=False)

    def _value(self, source: str, name: str) -> tuple[exp.Expr, str]:
        bound = self._source(source)
        known = self.items.get((bound.source.alias, name))
        if known is None and (self.plan.distinct or self.plan.group_by) and self._has_items(bound, name):
            known = self._key(bound, name)
        if known is not None:
            return copied(known), ""
        if bound.qualifier and any(bound.source.alias in self._inside(join) for join in self.joins):
            column = bound.alias(name) or bound.column_name(name) or name
            return exp.column(column, table=bound.qualifier), ""
        return bound.expression(name), bound.alias(name)

    def _group_key(self, item: SelectItem) -> exp.Expr:
        return self._value(item.source, item.column)[0]

    def _aggregate(self, aggregate: Aggregate) -> exp.Expr:
        if aggregate.function == "count" and not aggregate.column:
            return exp.Count(this=exp.Star())
        if aggregate.function == "count_distinct" or aggregate.function == "count":
            bound = self._source(aggregate.source)
            is_items = self._has_items(bound, aggregate.column)
            value = (
                self._key(bound, aggregate.column) if is_items else self._value(aggregate.source, aggregate.column)[0]
            )
            if aggregate.function == "count":
                return exp.Count(this=value)
            return exp.Count(this=exp.Distinct(expressions=[value]))
        value = self._value(aggregate.source, aggregate.column)[0]
        for sentinel in self._source(aggregate.source).missing(aggregate.column):
            # A stand-in for "not recorded" is no value to compute with: AVG over year 0 would be wrong.
            value = exp.func("NULLIF", value, literal(sentinel), copy=False, dialect="bigquery")
        return _FUNCTIONS[aggregate.function](this=value)

    @staticmethod
    def _has_items(bound: Bound, name: str) -> bool:
        """Whether an entity stands in a column as a list of items, which are counted one by one."""
        if name not in bound.model.entities or join_by(bound.model, name, bound.table.family) is None:
            return False
        return bound.join_key(name)[1]

    def _having(self, filter_: Filter) -> exp.Expr:
        if self.plan.aggregate is None:
            raise PlanError("`having` needs an aggregate.")
        aggregate = self._aggregate(self.plan.aggregate)
        operators = {"=": exp.EQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE, "!=": exp.NEQ}
        if filter_.op not in operators or not filter_.values:
            raise PlanError(f"the operator '{filter_.op}' cannot compare an aggregate.")
        return operators[filter_.op](this=aggregate, expression=literal(filter_.values[0]))

    def _order_key(self, source: str, name: str) -> exp.Expr:
        if self.plan.aggregate and name == self.plan.aggregate.alias and not source:
            return exp.column(name)
        if self.plan.distinct or self.plan.group_by:
            # Only what is selected can be sorted by here; it is named by its output name.
            for item, output in zip((*self.plan.group_by, *self.plan.select), self._outputs(), strict=False):
                if item.column == name and item.source == source:
                    return output.unalias()
        return self._value(source, name)[0]
