"""Filters of a plan as SQL conditions, by the match recipes of the semantic model."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence

from sqlglot import exp

from bmsql.errors import PlanError
from bmsql.planning._names import Bound
from bmsql.semantic import Recipe
from bmsql.sql import copied
from bmsql.types import Filter, Scalar

_COMPARISONS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
_PYTHON: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def condition(bound: Bound, filter_: Filter, table: exp.Table) -> exp.Expr:
    """The SQL condition of one filter in one source. Raises PlanError for a filter without sense.

    `table` is the source as it stands in FROM, without an alias.
    """
    recipe = bound.recipe(filter_.target) if filter_.op in ("match", "region", "near") else None
    if filter_.op == "region":
        tree = _region(bound, recipe, filter_)
    elif filter_.op == "near":
        tree = _near(bound, recipe, filter_, table)
    elif filter_.op == "match":
        if recipe is None:
            raise PlanError(f"'{filter_.target}' is not matched in {bound.source.table}.")
        tree = any_of([_match(bound, recipe, str(value)) for value in _values(filter_)], bound, recipe, filter_)
    else:
        tree = _comparison(bound, filter_, table)
    if filter_.negated:
        tree = exp.Not(this=exp.paren(tree, copy=False))
    return conjunction([tree, *_recorded(bound, filter_)])


def any_of(trees: list[exp.Expr], bound: Bound, recipe: Recipe, filter_: Filter) -> exp.Expr:
    """Alternatives of a match; several values of an `equals` recipe become one IN."""
    if recipe.how == "equals" and len(trees) > 1 and len(recipe.roles) == 1:
        column = bound.expression(recipe.roles[0])
        return exp.In(this=column, expressions=[literal(value) for value in filter_.values])
    return disjunction(trees)


def disjunction(trees: Sequence[exp.Expr]) -> exp.Expr:
    """Conditions joined by OR; a single one stands alone."""
    tree = trees[0]
    for other in trees[1:]:
        tree = exp.Or(this=tree, expression=other)
    return tree


def conjunction(trees: Sequence[exp.Expr]) -> exp.Expr:
    """Conditions joined by AND; alternatives among them get parentheses."""
    wrapped = [exp.paren(tree, copy=False) if isinstance(tree, exp.Or) and len(trees) > 1 else tree for tree in trees]
    tree = wrapped[0]
    for other in wrapped[1:]:
        tree = exp.And(this=tree, expression=other)
    return tree


def literal(value: Scalar) -> exp.Expr:
    """A value as a SQL literal."""
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int):
        return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))
    if isinstance(value, float):
        text = _number(abs(value))
        return exp.Literal.number(text) if value >= 0 else exp.Neg(this=exp.Literal.number(text))
    return exp.Literal.string(value)


def _number(value: float) -> str:
    if value.is_integer() and value < 1e15:
        return str(int(value))
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else text


def _values(filter_: Filter) -> tuple[Scalar, ...]:
    if not filter_.values:
        raise PlanError(f"the filter on '{filter_.target}' has no value.")
    return filter_.values


def _match(bound: Bound, recipe: Recipe, value: str) -> exp.Expr:
    columns = [bound.expression(role) for role in recipe.roles if role in bound.table.column_by_role]
    if not columns:
        raise PlanError(f"{bound.source.table} lacks the columns that this match needs.")
    return disjunction([_match_column(column, recipe, value) for column in columns])


def _match_column(column: exp.Expr, recipe: Recipe, value: str) -> exp.Expr:
    match recipe.how:
        case "equals":
            return exp.EQ(this=column, expression=exp.Literal.string(value))
        case "term":
            return exp.EQ(this=exp.Lower(this=column), expression=exp.Literal.string(value.lower()))
        case "item":
            split = exp.Split(this=column, expression=exp.Literal.string(recipe.separator))
            return exp.In(this=exp.Literal.string(value), unnest=exp.Unnest(expressions=[split]))
        case "listed":
            pattern = f"(^|{re.escape(recipe.separator)}){_re2(value)}{_re2(recipe.suffix)}"
            if not recipe.suffix:
                pattern += f"($|{re.escape(recipe.separator)})"
            return _regexp(column, pattern.replace("\\ ", " "))
        case "contains" if not recipe.whole:
            return exp.Like(this=exp.Lower(this=column), expression=exp.Literal.string(f"%{_like(value.lower())}%"))
        case "prefix":
            return exp.func(
                "STARTS_WITH",
                exp.Lower(this=column),
                exp.Literal.string(value.lower()),
                copy=False,
                dialect="bigquery",
            )
        case "word" if recipe.whole:
            separator = _re2(recipe.separator)
            return _regexp(exp.Lower(this=column), f"(^|{separator}){_re2(value.lower())}($|{separator})")
        case "word" | "contains":
            return _regexp(exp.Lower(this=column), rf"(^|[^a-z0-9]){_re2(value.lower())}($|[^a-z0-9])")
        case "region":
            raise PlanError("a region is matched by the operator `region`.")


def _re2(value: str) -> str:
    return re.sub(r"([\\.+*?()\[\]{}^$|])", r"\\\1", value)


def _like(value: str) -> str:
    return value.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _regexp(column: exp.Expr, pattern: str) -> exp.Expr:
    return exp.RegexpLike(this=column, expression=exp.RawString(this=pattern))


def _region(bound: Bound, recipe: Recipe | None, filter_: Filter) -> exp.Expr:
    if recipe is None or recipe.how != "region":
        raise PlanError(f"{bound.source.table} holds no genomic positions to match a region against.")
    if len(filter_.values) != 4:
        raise PlanError("a region needs build, chromosome, first and last base pair.")
    build, chromosome, first, last = filter_.values
    roles = recipe.builds.get(str(build))
    if roles is None:
        raise PlanError(
            f"{bound.source.table} has no positions on GRCh{build}.",
            remedy=f"It has {', '.join('GRCh' + name for name in sorted(recipe.builds))}.",
        )
    on_chromosome = exp.EQ(this=bound.expression(roles[0]), expression=literal(chromosome))
    between = exp.Between(this=bound.expression(roles[1]), low=literal(first), high=literal(last))
    return exp.And(this=on_chromosome, expression=between)


def _near(bound: Bound, recipe: Recipe | None, filter_: Filter, table: exp.Table) -> exp.Expr:
    """Within a distance of the rows that match an entity: from the first to the last of them."""
    place = next(
        (
            spec.match[bound.table.family]
            for spec in bound.model.entities.values()
            if spec.kind == "region" and bound.table.family in spec.match
        ),
        None,
    )
    if recipe is None or place is None:
        raise PlanError(f"{bound.source.table} does not give the position of a {filter_.target}.")
    chromosome, position = next(iter(place.builds.values()))
    distance, *values = _values(filter_)
    inner = Bound(bound.source, bound.table, bound.family, bound.model)
    matches = disjunction([_match(inner, recipe, str(value)) for value in values])
    known = conjunction([exp.NEQ(this=inner.expression(position), expression=literal(0)), matches])

    def found(output: exp.Expr) -> exp.Subquery:
        select = exp.Select(expressions=[output]).from_(copied(table), copy=False)
        return exp.Subquery(this=select.where(copied(known), copy=False))

    first = exp.Sub(this=found(exp.Min(this=inner.expression(position))), expression=literal(distance))
    last = exp.Add(this=found(exp.Max(this=inner.expression(position))), expression=literal(distance))
    return exp.And(
        this=exp.In(this=bound.expression(chromosome), query=found(inner.expression(chromosome))),
        expression=exp.Between(this=bound.expression(position), low=first, high=last),
    )


def _comparison(bound: Bound, filter_: Filter, table: exp.Table) -> exp.Expr:
    left = bound.expression(filter_.target)
    match filter_.op:
        case "null":
            absent: list[exp.Expr] = [exp.Is(this=left, expression=exp.Null())]
            absent += [exp.EQ(this=copied(left), expression=literal(value)) for value in bound.missing(filter_.target)]
            return disjunction(absent)
        case "not_null":
            return exp.Not(this=exp.Is(this=left, expression=exp.Null()))
        case "bonferroni":
            tests = exp.Select(expressions=[exp.Count(this=exp.Star())]).from_(copied(table), copy=False)
            corrected = exp.Div(this=literal(_values(filter_)[0]), expression=exp.Subquery(this=tests))
            return exp.LT(this=left, expression=corrected)
        case "null_or":
            value = literal(_values(filter_)[0])
            return exp.Or(
                this=exp.Is(this=left, expression=exp.Null()), expression=exp.EQ(this=copied(left), expression=value)
            )
        case "between":
            if len(_values(filter_)) != 2:
                raise PlanError(f"a range of '{filter_.target}' needs two values.")
            low, high = filter_.values
            return exp.Between(this=left, low=literal(low), high=literal(high))
        case "starts_with":
            return disjunction(
                [
                    exp.func("STARTS_WITH", copied(left), literal(str(value)), copy=False, dialect="bigquery")
                    for value in _values(filter_)
                ]
            )
        case "contains":
            return disjunction(
                [
                    exp.Like(
                        this=exp.Lower(this=copied(left)),
                        expression=exp.Literal.string(f"%{_like(str(value).lower())}%"),
                    )
                    for value in _values(filter_)
                ]
            )
        case "=" if len(_values(filter_)) > 1:
            return exp.In(this=left, expressions=[literal(value) for value in filter_.values])
        case "!=" if len(_values(filter_)) > 1:
            return exp.Not(this=exp.In(this=left, expressions=[literal(value) for value in filter_.values]))
        case "=" | "!=" | "<" | "<=" | ">" | ">=":
            compare = _COMPARISONS[filter_.op]
            return compare(this=left, expression=literal(_values(filter_)[0]))
        case _:
            raise PlanError(f"the operator '{filter_.op}' has no meaning for '{filter_.target}'.")


def _recorded(bound: Bound, filter_: Filter) -> list[exp.Expr]:
    """`year < 1960` must not find year 0, which stands for "not recorded", unless it is asked for."""
    if filter_.op not in (*_PYTHON, "between"):
        return []
    left = bound.expression(filter_.target)
    return [
        exp.NEQ(this=copied(left), expression=literal(sentinel))
        for sentinel in bound.missing(filter_.target)
        if sentinel not in filter_.values and _holds(filter_, sentinel) is not filter_.negated
    ]


def _holds(filter_: Filter, value: Scalar) -> bool:
    """Whether a value meets a comparison, before it is negated; a text has no order among numbers."""
    if filter_.op in ("=", "!="):
        return (value in filter_.values) == (filter_.op == "=")
    if any(isinstance(one, str) for one in (value, *filter_.values)):
        return filter_.negated
    if filter_.op == "between":
        low, high = filter_.values
        return float(low) <= float(value) <= float(high)
    return _PYTHON[filter_.op](float(value), float(filter_.values[0]))
