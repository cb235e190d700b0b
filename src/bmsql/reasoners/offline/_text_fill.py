"""Texts of the semantic model filled from a row, and the facts about it that were asked for."""

from __future__ import annotations

import math
import re
from typing import Any

from bmsql.reasoners.offline._text_context import Context, Row, distinct
from bmsql.reasoners.offline._text_nouns import same_thing
from bmsql.reasoners.offline._text_values import WIDTH, equals, listed, plain, shown
from bmsql.semantic import Case
from bmsql.types import SelectItem

_PLACEHOLDER = re.compile(r"\{(?:(\w+):)?(\w+\.\w+)\}")
_MANY = 8
_LONG = 4 * WIDTH


def fill(ctx: Context, template: str, row: Row) -> str | None:
    """The template with its roles replaced; None where the row does not hold one of them."""
    parts: list[str] = []
    end = 0
    for match in _PLACEHOLDER.finditer(template):
        how, role = match.group(1) or "", match.group(2)
        value = ctx.value(row, role)
        text = None if value is None else _said(ctx, how, role, value)
        if text is None:
            return None
        parts += [template[end : match.start()], text]
        end = match.end()
    return "".join([*parts, template[end:]])


def _said(ctx: Context, how: str, role: str, value: Any) -> str | None:
    unit = ctx.unit(role)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match how:
        case "eq":
            return equals(value, unit)
        case "exp":
            return shown(math.exp(value)) if is_number and abs(value) < 700 else None
        case "rest":
            return shown(round(1 - value, 12)) if is_number else None
        case "size":
            return shown(abs(value), unit) if is_number else None
        case "list":
            found = items(ctx, role, value)
            return listed(found[:_MANY], more=max(0, len(found) - _MANY)) or None
        case "long":
            return shown(value, unit, _LONG)
        case _:
            entity = ctx.entity_of(role)
            return ctx.name(entity, value) if entity and isinstance(value, str) else shown(value, unit)


def items(ctx: Context, role: str, value: Any) -> list[str]:
    """The items of a list in text: as the entity that it holds is matched, else between commas."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    entity = ctx.entity_of(role)
    recipe = ctx.recipe(entity) if entity else None
    separator, suffix, none = ", ", "", ""
    if recipe and recipe.how in ("item", "listed"):
        separator, suffix, none = recipe.separator, recipe.suffix, recipe.none
    found = [item.strip() for item in str(value).split(separator)]
    if suffix:
        found = [item.partition(suffix)[0] for item in found]
    return [plain(item) for item in distinct(item for item in found if item and item != none)]


def fits(ctx: Context, case: Case, row: Row) -> bool:
    """Whether the conditions of a case hold for a row."""
    return all(_holds(ctx, condition, row) for condition in case.when)


def _holds(ctx: Context, condition: str, row: Row) -> bool:
    role, _, rest = condition.partition(" ")
    op, _, text = rest.strip().partition(" ")
    if role not in row:
        return False
    value = ctx.value(row, role)
    if op in ("missing", "recorded"):
        return (value is None) == (op == "missing")
    return value is not None and compare(value, op, _scalar(text))


def _scalar(text: str) -> bool | float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return float(text)
    except ValueError:
        return text


def compare(value: Any, op: str, other: Any) -> bool:
    """`value op other`; values of different kinds never compare."""
    if value is None:
        return False
    if op == "contains":
        return str(other).lower() in str(value).lower()
    if op == "between":
        return bool(isinstance(other, tuple) and compare(value, ">=", other[0]) and compare(value, "<=", other[1]))
    if isinstance(value, bool) or isinstance(other, bool) or isinstance(value, str) or isinstance(other, str):
        same = type(value) is type(other) and value == other
        return same if op == "=" else not same if op == "!=" else False
    match op:
        case "<":
            return bool(value < other)
        case "<=":
            return bool(value <= other)
        case ">":
            return bool(value > other)
        case ">=":
            return bool(value >= other)
        case "=":
            return bool(value == other)
        case "!=":
            return bool(value != other)
        case _:
            return False


def facts(ctx: Context, row: Row, asked: list[str]) -> list[str]:
    """What can be said of a row about the roles asked for, as phrases with a verb."""
    first = {role: place for place, role in reversed(list(enumerate(asked)))}
    chosen: list[tuple[int, str, set[str], set[str]]] = []
    for fact in ctx.family().say.facts:
        wanted = set(fact.about) & set(first)
        for case in fact.cases if wanted else ():
            text = fill(ctx, case.say, row) if fits(ctx, case, row) else None
            if text is not None:
                chosen.append((min(first[role] for role in wanted), text, wanted, {*fact.about, *_roles_in(case.say)}))
                break
    # What another statement says in passing needs none of its own.
    for one in list(chosen):
        said = set().union(*(other[3] for other in chosen if other is not one))
        if len(chosen) > 1 and one[2] <= said:
            chosen.remove(one)
    answered = set().union(*(one[3] for one in chosen))
    subject = ctx.role_of(ctx.family().subject)
    rest = [role for role in asked if role not in answered and role in row and role != subject]
    chosen.sort(key=lambda one: one[0])
    return [*(one[1] for one in chosen), *(_plain_fact(ctx, role, row) for role in rest)]


def _plain_fact(ctx: Context, role: str, row: Row) -> str:
    value = ctx.value(row, role)
    label = ctx.asked_label(role)[0]
    return f"has no recorded {label}" if value is None else f"has the {label} {shown(value, ctx.unit(role))}"


def _roles_in(template: str) -> list[str]:
    return [match.group(2) for match in _PLACEHOLDER.finditer(template)]


def row_name(ctx: Context, row: Row) -> str:
    """How a row is named: by the family's own text, else by its subject."""
    family = ctx.family()
    if family.say.name and (text := fill(ctx, family.say.name, row)):
        return text
    value = ctx.value(row, family.subject)
    if value is not None:
        return ctx.name(family.subject, value)
    # Rows that have no name of their own, such as tests, go by the first thing that lists show of them.
    first = next((role for role in family.show if not ctx.recipe(family.subject)), "")
    value = ctx.value(row, first) if first else None
    return "" if value is None else shown(value, ctx.unit(first))


def detail(ctx: Context, row: Row) -> str:
    """What a list says of a row in brackets, or an empty string."""
    template = ctx.family().say.detail
    return (fill(ctx, template, row) or "") if template else ""


def asked_roles(ctx: Context) -> list[str]:
    """The roles that the question asked for, beside the row's name and what it gave itself."""
    given = _given(ctx)
    return [role for role in _selected(ctx) if role not in given]


def _given(ctx: Context) -> set[str]:
    """Roles whose value the question gives, or that the name of a row shows."""
    given = set(_roles_in(ctx.family().say.name))
    for one in ctx.plan.filters:
        if one.negated or one.op not in ("match", "=", "starts_with", "null"):
            continue
        recipe = ctx.recipe(one.target)
        if recipe:
            # A thing is found by any of its names; all but the one that is shown may be asked for.
            given |= {recipe.shown} if same_thing(ctx, one.target) else {*recipe.roles, recipe.shown}
        else:
            given.add(one.target)
    given |= {ctx.role_of(join.entity) for join in ctx.plan.joins}
    for fact in ctx.family().say.facts:
        if set(fact.about) & given:
            given |= set(fact.about) if any(ctx.entity_of(role) for role in fact.about) else set()
    return given


def _selected(ctx: Context) -> list[str]:
    """The roles that the plan selects before those that every list shows."""
    family = ctx.family()
    roles = [ctx.role_of(item.column) for item in ctx.plan.select if _counts(ctx, item)]
    subject = ctx.role_of(family.subject)
    filtered = [ctx.role_of(one.target) for one in ctx.plan.filters if "." in one.target]
    always = [*family.show, *filtered, *(ctx.role_of(one.column) for one in ctx.plan.order)]
    for split in range(len(roles) + 1):
        first = roles[:split]
        expected = [role for role in dict.fromkeys(always) if role not in first]
        if roles[split:] == expected[: len(roles) - split] or set(roles[split:]) <= set(filtered):
            return [role for role in first if role != subject]
    return [role for role in roles if role != subject]


def _counts(ctx: Context, item: SelectItem) -> bool:
    is_key = item.column.lower() == ctx.model.evidence_key.lower()
    return not item.value and not is_key and ctx.source(item.source) is ctx.main
