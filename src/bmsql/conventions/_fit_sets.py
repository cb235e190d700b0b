"""Things that must hold for several values at once, in a draft that reads the table once.

::

    Genes significant in AD and in PD   ... WHERE disease IN ('AD', 'PD') GROUP BY gene HAVING COUNT(*) = 2
    is repaired to                      ... HAVING COUNT(DISTINCT disease) = 2
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from bmsql.conventions._place import column_of
from bmsql.conventions._roles import roles_of
from bmsql.conventions._scopes import Scopes, Source
from bmsql.semantic import SemanticModel
from bmsql.sql import one_line
from bmsql.types import Fix, Plan, Problem


@dataclass(frozen=True, slots=True)
class _Several:
    """The values of an entity that one `key` must have, each in a row of its own, of one table."""

    table: str
    entity: str
    values: tuple[str, ...]
    key: str


def fit_sets(tree: exp.Query, plan: Plan, model: SemanticModel) -> tuple[list[Fix], list[Problem]]:
    """Make a draft that groups the rows of one table count the different values, in place."""
    several = _several(plan)
    if several is None:
        return [], []
    scopes = Scopes(tree, model)
    uses = [base for base in scopes.bases() if base.table == several.table]
    if len(uses) != 1 or tree.find(exp.Intersect):
        return [], []
    base = uses[0]
    problem = _wrong_key(scopes, base, several)
    if problem is not None:
        return [], [problem]
    counts = [node for node in tree.find_all(exp.Count) if node.find_ancestor(exp.Window) is None]
    if any(_counts_values(scopes, base, node, several) for node in counts) or _names_each(tree, several):
        return [], []
    column = _column(scopes, base, several)
    if len(counts) != 1 or column is None or counts[0].find_ancestor(exp.Select) is not base.scope.select:
        return [], [_not_all(several, model)]
    before = one_line(counts[0])
    new = exp.Count(this=exp.Distinct(expressions=[column]), big_int=True)
    counts[0].replace(new)
    after = one_line(new)
    message = f"{after} instead of {before}: each of {', '.join(several.values)} must be there, not so many rows."
    return [Fix(code="aggregate", message=message, before=before, after=after)], []


def _several(plan: Plan) -> _Several | None:
    """What a plan of one table, joined to itself with another value each time, asks for."""
    tables = {source.table for source in plan.sources}
    semi = all(join.kind == "semi" for join in plan.joins)
    if plan.combine != "join" or len(tables) != 1 or len(plan.sources) < 2 or not semi:
        return None
    keys = {join.entity for join in plan.joins}
    told = [filter_ for filter_ in plan.filters if filter_.op == "match" and filter_.source and not filter_.negated]
    entities = {filter_.target for filter_ in told}
    values = tuple(dict.fromkeys(str(value) for filter_ in told for value in filter_.values))
    if len(keys) != 1 or len(entities) != 1 or not len(values) == len(told) == len(plan.sources):
        return None
    return _Several(tables.pop(), entities.pop(), values, keys.pop())


def _wrong_key(scopes: Scopes, base: Source, several: _Several) -> Problem | None:
    """GROUP BY a stored column that is not of what the question asks for."""
    group = base.scope.select.args.get("group")
    keys = group.expressions if group is not None else []
    wanted = roles_of(several.key, scopes.model)
    named = {role for key in keys if isinstance(key, exp.Column) for _, role, _ in scopes.origins(base.scope, key)}
    if not keys or not named or named & wanted or not all(isinstance(key, exp.Column) for key in keys):
        return None
    of = scopes.model.entities[several.key].plural
    return Problem(
        code="wrong-grouping",
        message=f"The question asks which {of} have each of {', '.join(several.values)}, "
        f"but the query groups by {', '.join(one_line(key) for key in keys)}.",
        snippet=one_line(group).strip() if group is not None else "",
        suggestion=f"Group by the {scopes.model.entities[several.key].label}.",
    )


def _column(scopes: Scopes, base: Source, several: _Several) -> exp.Column | None:
    """The column of this use of the table that holds the values."""
    recipe = scopes.model.entities[several.entity].match.get(scopes.model.tables[base.table].family)
    column = scopes.model.column(base.table, recipe.shown) if recipe else None
    return column_of(scopes, base, column) if column else None


def _counts_values(scopes: Scopes, base: Source, node: exp.Count, several: _Several) -> bool:
    inner = node.this
    of = inner.expressions[0] if isinstance(inner, exp.Distinct) and len(inner.expressions) == 1 else None
    if not isinstance(of, exp.Column):
        return of is not None
    found = scopes.origins(base.scope, of)
    return not found or any(role in roles_of(several.entity, scopes.model) for _, role, _ in found)


def _names_each(tree: exp.Query, several: _Several) -> bool:
    """Whether HAVING, or an aggregate, names each value: COUNTIF(disease = 'AD') > 0 AND ..."""
    places = [*tree.find_all(exp.Having), *tree.find_all(exp.AggFunc)]
    said = {literal.name.lower() for place in places for literal in place.find_all(exp.Literal)}
    return all(value.lower() in said for value in several.values)


def _not_all(several: _Several, model: SemanticModel) -> Problem:
    spec = model.entities[several.key]
    values = ", ".join(f"'{value}'" for value in several.values)
    return Problem(
        code="missing-condition",
        message=f"The question asks which {spec.plural} have each of {values}; the query keeps those that have any.",
        suggestion=f"Group by the {spec.label}, with HAVING COUNT(DISTINCT ...) = {len(several.values)}.",
    )
