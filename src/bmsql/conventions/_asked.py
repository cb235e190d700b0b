"""What a question asks about, by role: what its plan filters, joins and counts, and its conventions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from bmsql.conventions._book import RuleBook
from bmsql.conventions._roles import roles_of
from bmsql.semantic import ROLE_REFERENCE, SemanticModel
from bmsql.types import Plan

_WORD = re.compile(r"[\w.]+")


def asked_roles(plan: Plan, model: SemanticModel, rules: RuleBook, spoken: AbstractSet[str]) -> set[str]:
    """The roles that conditions may rightly speak of; `spoken` are those that the draft's do."""
    names = {filter_.target for filter_ in (*plan.filters, *plan.having)}
    names |= {join.entity for join in plan.joins} | {mention.entity for mention in plan.mentions}
    names |= {item.column for item in plan.group_by}
    names |= {plan.aggregate.column} if plan.aggregate else set()
    roles = {role for name in names if name for role in _roles(name, model)}
    # A place may be said in many ways: a region, a distance, the gene that lies there.
    if any(filter_.op in {"region", "near"} for filter_ in plan.filters):
        roles |= _places(model)
    for use in plan.conventions:
        if use.rule in rules and use.mode not in {"waived", "judge"}:
            roles |= set(_of_rule(use.rule, rules, spoken))
    return roles - _set_aside(plan, rules)


def _roles(name: str, model: SemanticModel) -> set[str]:
    """The roles of a name, those that a computed role reads, and those of a region."""
    found = set(roles_of(name, model))
    for family in model.families.values():
        if name in family.derived:
            found |= set(ROLE_REFERENCE.findall(family.derived[name].sql))
    return found


def _places(model: SemanticModel) -> set[str]:
    """The chromosome and position roles of every genome build."""
    builds = [recipe.builds for spec in model.entities.values() for recipe in spec.match.values()]
    return {role for build in builds for pair in build.values() for role in pair}


def _of_rule(name: str, rules: RuleBook, spoken: AbstractSet[str]) -> Iterator[str]:
    """The roles of a rule, of what goes with it and of what is mistaken for it."""
    rule = rules[name]
    yield from rule.all_roles
    if not spoken & set(rule.all_roles):
        yield from (mistaken.role for mistaken in rule.instead_of)
    for other in rules:
        if other.name in rule.companions.get(rules.profile, ()) or name in other.companions.get(rules.profile, ()):
            yield from other.all_roles


def _set_aside(plan: Plan, rules: RuleBook) -> set[str]:
    """Roles whose thresholds the question waives, or wants judged in the answer: the rows are looked up without."""
    by_mode: dict[bool, set[str]] = {True: set(), False: set()}
    for use in plan.conventions:
        if use.rule in rules:
            by_mode[use.mode in {"waived", "judge"}] |= set(rules[use.rule].all_roles)
    stated = {filter_.target for filter_ in plan.filters}
    return by_mode[True] - by_mode[False] - stated


def words_ask(question: str, role: str, plan: Plan, rules: RuleBook) -> bool:
    """Whether a word of the question speaks of a role by one of its rules, whatever the plan made of it."""
    if role in _set_aside(plan, rules):
        return False
    text = f" {' '.join(_WORD.findall(question.lower()))} "
    return any(
        f" {' '.join(_WORD.findall(phrase.lower()))} " in text
        for rule in rules
        if role in rule.all_roles
        for phrase in (*rule.words, *rule.complement_words)
    )
