"""Loose matches of what a question names, in a draft.

::

    SNPs near GBA         WHERE nearest_gene LIKE '%GBA%'    -- GBAP1 and GBA2 too: repaired to a whole item
    drugs for ALS         WHERE LOWER(term) = 'als'          -- no such term: repaired to the stored one
"""

from __future__ import annotations

import re

from sqlglot import exp

from bmsql.conventions._conditions import clauses, conjuncts
from bmsql.conventions._scopes import Scope, Scopes, Source
from bmsql.planning import filter_condition
from bmsql.semantic import SemanticModel
from bmsql.types import Filter, Fix, Plan, Problem

# Ways of matching that ask for the whole value; a part of it is another value's too.
_SHORTEST = 3
_WORD = re.compile(r"[\w-]+")
_WHOLE = {"equals", "item", "listed", "term"}


def fit_matches(tree: exp.Query, plan: Plan, model: SemanticModel) -> tuple[list[Fix], list[Problem]]:
    """Match by the recipe what is matched by a part of its name, or by a name that is not stored, in place."""
    fixes: list[Fix] = []
    scopes = Scopes(tree, model)
    for filter_ in plan.filters:
        alone = sum(other.target == filter_.target for other in plan.filters) == 1
        if (
            filter_.op != "match"
            or filter_.negated
            or filter_.any_of
            or not alone
            or filter_.target not in model.entities
        ):
            continue
        for clause in clauses(scopes):
            if clause.kind not in {"where", "on"} or clause.expression is None:
                continue
            for part in list(conjuncts(clause.expression)):
                base = _matched(part, filter_, clause.scope, scopes)
                if base is not None and _is_loose(part, filter_, plan, base, model):
                    fixes.append(_repaired(part, filter_, base, model))
    return fixes, []


def _matched(part: exp.Expr, filter_: Filter, scope: Scope, scopes: Scopes) -> Source | None:
    """The use of a table whose columns for this entity, and nothing else, a condition speaks of."""
    columns = list(part.find_all(exp.Column))
    if not columns or part.find(exp.Query, exp.Not, exp.NEQ, exp.Null):
        return None
    bases: dict[int, Source] = {}
    for column in columns:
        source = scopes.find(scope, column)
        if source is None or not source.table:
            return None
        recipe = scopes.model.entities[filter_.target].match.get(scopes.model.tables[source.table].family)
        role = scopes.model.role_of(source.table, column.name)
        if recipe is None or recipe.how not in _WHOLE or role not in {*recipe.roles, *recipe.ids}:
            return None
        bases[id(source)] = source
    return next(iter(bases.values())) if len(bases) == 1 else None


def _is_loose(part: exp.Expr, filter_: Filter, plan: Plan, base: Source, model: SemanticModel) -> bool:
    values = {str(value).lower() for value in filter_.values}
    names = {filter_.words.lower(), *(m.text.lower() for m in plan.mentions if m.entity == filter_.target)} - {""}
    recipe = model.entities[filter_.target].match[model.tables[base.table].family]
    texts = [literal.name.lower() for literal in part.find_all(exp.Literal) if literal.is_string]
    if part.find(exp.Like):
        cores = [text.strip("%") for text in texts if text != text.strip("%")]
        return any(core in values | names or _is_part(core, values) for core in cores)
    if recipe.how == "item" and part.find(exp.EQ, exp.In) and not part.find(exp.Unnest):
        # The column is a list: a row with several items equals none of them.
        return bool(texts) and all(text in values | names for text in texts)
    if recipe.how in {"item", "listed"}:
        # The value stands in a pattern, or beside the separator of the list.
        words = {word for text in texts for word in _WORD.findall(text)}
        return bool(words & names) and not words & values
    return any(text in names - values for text in texts)


def _is_part(core: str, values: set[str]) -> bool:
    return len(core) >= _SHORTEST and any(core in value for value in values)


def _repaired(part: exp.Expr, filter_: Filter, base: Source, model: SemanticModel) -> Fix:
    """Put the recipe's condition in the place of a loose one."""
    columns = list(part.find_all(exp.Column))
    qualifier = columns[0].table or ""
    made = filter_condition(filter_, base.table, model, qualifier)
    before, after = part.sql("bigquery", comments=False), made.sql("bigquery")
    inside = isinstance(part.parent, exp.And | exp.Paren)
    part.replace(exp.paren(made, copy=False) if isinstance(made, exp.Or) and inside else made)
    label = model.entities[filter_.target].label
    message = f"{after} instead of {before}: the {label} '{filter_.words or filter_.values[0]}' is matched as a whole."
    return Fix(code="match", message=message, before=before, after=after)
