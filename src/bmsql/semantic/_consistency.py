"""References of a semantic model that lead nowhere: one check, one function."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bmsql.semantic._family import ROLE_REFERENCE, SAID_ROLE, Family
from bmsql.semantic._schema import SemanticModel

Path = tuple[str | int, ...]
Finding = tuple[Path, str]


def inconsistencies(model: SemanticModel) -> Iterator[Finding]:
    """What is wrong in a model whose fields are all of the right type: where, and in words."""
    roles = frozenset(role for family in model.families.values() for role in (*family.roles, *family.derived))
    for check in (_families, _derived, _tables, _entities, _recipes, _attributes, _conditions, _joins):
        yield from check(model, roles)


def _unknown(roles: Iterable[str], known: frozenset[str], path: Path) -> Iterator[Finding]:
    for role in roles:
        if role and role not in known:
            yield path, f"the role '{role}' is not defined in any family."


def _families(model: SemanticModel, roles: frozenset[str]) -> Iterator[Finding]:
    for name, family in model.families.items():
        for role in (*family.roles, *family.derived):
            if role.partition(".")[0] != name:
                yield ("families", name, "roles", role), f"the role must begin with '{name}.'."
        yield from _unknown(family.show, roles, ("families", name, "show"))
        yield from _unknown((family.order,), roles, ("families", name, "order"))
        yield from _unknown(_said_roles(family), roles, ("families", name, "say"))
        if family.subject and model.entities and family.subject not in model.entities:
            yield ("families", name, "subject"), f"there is no entity '{family.subject}'."


def _said_roles(family: Family) -> Iterable[str]:
    """The roles that a family's wording speaks of."""
    say = family.say
    texts = [say.name, say.detail, *(case.say for fact in say.facts for case in fact.cases)]
    for text in texts:
        yield from SAID_ROLE.findall(text)
    yield from say.labels
    for fact in say.facts:
        yield from fact.about
        for case in fact.cases:
            yield from (condition.partition(" ")[0] for condition in case.when)


def _derived(model: SemanticModel, _: frozenset[str]) -> Iterator[Finding]:
    for name, family in model.families.items():
        for role, derived in family.derived.items():
            path = ("families", name, "derived", role, "sql")
            yield from _unknown(ROLE_REFERENCE.findall(derived.sql), frozenset(family.roles), path)


def _tables(model: SemanticModel, roles: frozenset[str]) -> Iterator[Finding]:
    for name, table in model.tables.items():
        if table.family not in model.families:
            yield ("tables", name, "family"), f"there is no family '{table.family}'."
            continue
        if not table.columns and not table.optional:
            yield ("tables", name, "columns"), "a table needs columns, or `optional: true`."
        for column, spec in table.columns.items():
            if spec.role and spec.role not in model.families[table.family].roles:
                path = ("tables", name, "columns", column, "role")
                yield path, f"the family '{table.family}' has no role '{spec.role}'."
        if model.evidence_key and table.columns and model.evidence_key not in table.columns:
            yield ("tables", name, "columns"), f"the evidence key '{model.evidence_key}' is not a column."
        for entity in (*table.about, *table.covers):
            if entity not in model.entities:
                yield ("tables", name, "about", entity), f"there is no entity '{entity}'."


def _entities(model: SemanticModel, _: frozenset[str]) -> Iterator[Finding]:
    for name, entity in model.entities.items():
        for field in ("same_as", "classifies"):
            other = getattr(entity, field)
            if other and other not in model.entities:
                yield ("entities", name, field), f"there is no entity '{other}'."
        if entity.pattern:
            try:
                re.compile(entity.pattern)
            except re.error as error:
                yield ("entities", name, "pattern"), f"not a regular expression: {error}."


def _recipes(model: SemanticModel, roles: frozenset[str]) -> Iterator[Finding]:
    for name, entity in model.entities.items():
        for family, recipe in entity.match.items():
            path = ("entities", name, "match", family)
            if family not in model.families:
                yield path, f"there is no family '{family}'."
            builds = [role for pair in recipe.builds.values() for role in pair]
            yield from _unknown((*recipe.roles, *recipe.ids, recipe.key, *builds), roles, path)
            if not recipe.roles and not recipe.builds:
                yield path, "a recipe needs roles, or builds for a region."


def _attributes(model: SemanticModel, roles: frozenset[str]) -> Iterator[Finding]:
    for name, attribute in model.attributes.items():
        for field in ("show", "measure", "test"):
            for family, named in getattr(attribute, field).items():
                path = ("attributes", name, field, family)
                if family not in model.families:
                    yield path, f"there is no family '{family}'."
                yield from _unknown(named if isinstance(named, tuple) else (named,), roles, path)
        if attribute.entity and attribute.entity not in model.entities:
            yield ("attributes", name, "entity"), f"there is no entity '{attribute.entity}'."


def _conditions(model: SemanticModel, roles: frozenset[str]) -> Iterator[Finding]:
    for name, condition in model.conditions.items():
        for family, (role, _, _) in condition.where.items():
            yield from _unknown((role,), roles, ("conditions", name, "where", family))


def _joins(model: SemanticModel, roles: frozenset[str]) -> Iterator[Finding]:
    for number, join in enumerate(model.joins):
        if join.entity not in model.entities:
            yield ("joins", number, "entity"), f"there is no entity '{join.entity}'."
        for family, sql in join.keys.items():
            yield from _unknown(ROLE_REFERENCE.findall(sql), roles, ("joins", number, "keys", family))
