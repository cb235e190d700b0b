"""Sentences about rows: lists, rankings, and the values found among them."""

from __future__ import annotations

from typing import Any

from bmsql.reasoners.offline._text_context import LABEL, Context, Row, distinct
from bmsql.reasoners.offline._text_fill import asked_roles, detail, facts, items, row_name
from bmsql.reasoners.offline._text_lookup import capital_unless_name, directed_roles, label_of, lookup, values_of
from bmsql.reasoners.offline._text_nouns import Subject, same_thing, subject_of
from bmsql.reasoners.offline._text_phrases import own_conditions, predicates, topic
from bmsql.reasoners.offline._text_values import named, plain, sentence, several, shown
from bmsql.types import Source

_IN_FULL = 3
_RANKED = 10
_ITEMS = 4


def list_text(ctx: Context) -> str:
    """The rows of a list or of a yes/no question."""
    entity = enumerated(ctx)
    yes = "Yes: " if is_yes(ctx) else ""
    if entity:
        return sentence(yes + _values(ctx, entity, subject_of(ctx, entity)))
    count, plural = count_words(ctx)
    head = yes + subject_of(ctx).clause(count, plural=plural)
    asked = asked_roles(ctx)
    values = _asked_values(ctx)
    if values:
        names = f"; {_strongest(ctx)}" if _strongest(ctx) else _names_after(ctx)
        return sentence(f"{head}{names}; {values}")
    if (asked or directed_roles(ctx)) and len(ctx.rows) <= _IN_FULL and ctx.complete:
        rows = [sentence(capital_unless_name(lookup(ctx, [row], asked, led=False))) for row in ctx.rows]
        return " ".join([sentence(head), *rows])
    return sentence(head + _names_after(ctx))


def is_yes(ctx: Context) -> bool:
    """Whether rows answer a yes/no question with yes: a test without a threshold answers nothing."""
    tested = ctx.unit(ctx.family().order) == "probability"
    judged = [use.rule for use in ctx.plan.conventions if use.mode == "judge" and use.rule in ctx.rules]
    if any(ctx.rules[rule].kind == "direction" for rule in judged):
        return False  # what is asked is the direction, which each row tells
    return ctx.plan.intent == "exists" and (not tested or bool(predicates(ctx, ctx.main)))


def enumerated(ctx: Context) -> str:
    """The entity or role whose distinct values are listed, as the first column of the rows."""
    plan = ctx.plan
    columns = [item.column for item in plan.select if not item.value]
    if not plan.distinct or not columns or columns[0] != plan.subject or plan.aggregate:
        return ""
    return plan.subject if len(columns) == 1 or not same_thing(ctx, plan.subject) else ""


def _asked_values(ctx: Context) -> str:
    """The distinct values of what was asked for, where that is not what the rows are of."""
    entity = ctx.plan.subject
    if entity and same_thing(ctx, entity) and len(ctx.rows) > _IN_FULL:
        entity = next((name for role in asked_roles(ctx) if (name := ctx.entity_of(role))), "")
    if not entity or same_thing(ctx, entity) or not ctx.complete:
        return ""
    role, spec = ctx.role_of(entity), ctx.entity(entity)
    kept = [one for one in ctx.plan.filters if one.op in ("match", "=") and not one.negated]
    given = any(one.target in (entity, role) for one in kept)
    # An identifier names its row; the names of the rows show it.
    in_brackets = _holds_list(ctx, role) and not detail(ctx, ctx.rows[0])
    if role not in ctx.rows[0] or given or in_brackets or (spec and spec.kind == "identifier"):
        return ""
    return values_of(ctx, role, ctx.rows)


def shown_count(ctx: Context) -> int | None:
    """How many rows or values the sentence of a list says that there are."""
    entity = enumerated(ctx)
    if entity:
        return _value_count(ctx, entity)
    names = distinct(row_name(ctx, row) or None for row in ctx.rows)
    if (ctx.plan.combine == "join" or ctx.family().exploded) and ctx.complete and names:
        return len(names)
    return ctx.total


def count_words(ctx: Context) -> tuple[str, bool]:
    """How many there are in words, and whether that is more than one."""
    known = shown_count(ctx)
    if known is None:
        names = distinct(row_name(ctx, row) or None for row in ctx.rows)
        return f"At least {len(names) or len(ctx.rows)}", True
    return str(known), known != 1


def _strongest(ctx: Context) -> str:
    """`the strongest is A (p = ...)`, where the rows are in an order that has a name."""
    best, rows = ctx.family().say.best, ctx.rows
    name, exact = row_name(ctx, rows[0]), detail(ctx, rows[0])
    order = ctx.plan.order[0] if ctx.plan.order else None
    ordered = order is not None and order.column == ctx.family().order and not order.descending
    return f"the {best} is {name} ({exact})" if best and ordered and name and exact and len(rows) > 1 else ""


def _names_after(ctx: Context) -> str:
    """The names of the rows after the count: the strongest first, where rows have an order."""
    names = distinct(_labelled(ctx, row) or None for row in ctx.rows)
    if not names:
        return ""
    total = shown_count(ctx)
    if strongest := _strongest(ctx):
        rest = named(names[1:], ctx.complete, None if total is None else total - 1)
        return f"; {strongest}{f', followed by {rest}' if rest else ''}"
    if len(names) == 1 and ctx.complete:
        exact = detail(ctx, ctx.rows[0])
        return f": {names[0]} ({exact})" if exact else f": {names[0]}"
    asked = [role for role in asked_roles(ctx) if role in ctx.rows[0]]
    role = next((role for role in asked if ctx.unit(role) or _holds_list(ctx, role)), "")
    if role and len(names) == len(ctx.rows) and not detail(ctx, ctx.rows[0]):
        values = [_in_brackets(ctx, role, ctx.value(row, role)) for row in ctx.rows]
        if len(set(values)) == 1:
            return f": {named(names, ctx.complete, total)}"
        names = [f"{name} ({value})" for name, value in zip(names, values, strict=True)]
        label = ctx.asked_label(role)[_holds_list(ctx, role)]
        return f", with the {label} in brackets: {named(names, ctx.complete, total)}"
    return f": {named(names, ctx.complete, total)}"


def _holds_list(ctx: Context, role: str) -> bool:
    recipe = ctx.recipe(ctx.entity_of(role))
    return recipe is not None and recipe.how in ("item", "listed")


def _in_brackets(ctx: Context, role: str, value: Any) -> str:
    if value is None or not _holds_list(ctx, role):
        return shown(value, ctx.unit(role))
    return named(items(ctx, role, value), True, None, most=_ITEMS)


def _labelled(ctx: Context, row: Row) -> str:
    """A row's name, with what it was joined by."""
    name = row_name(ctx, row)
    via = _via(ctx, row) if name and ctx.plan.combine == "join" else ""
    return f"{name} (via {via})" if via else name


def _via(ctx: Context, row: Row) -> str:
    subject = ctx.role_of(ctx.family().subject)
    if subject not in row:
        return ""
    same = [other for other in ctx.rows if other.get(subject) == row.get(subject)]
    for join in ctx.plan.joins:
        recipe = ctx.recipe(join.entity)
        key = recipe.shown if recipe and recipe.how not in ("item", "listed") else join.entity
        found = distinct(other.get(key) for other in same)
        if found and not same_thing(ctx, join.entity):
            return named([plain(value) for value in found], True, None)
    return ""


def _value_count(ctx: Context, entity: str) -> int | None:
    found = _found(ctx, entity)
    if len(found) == len(ctx.rows):
        return ctx.total
    return len(found) if ctx.complete else None


def _found(ctx: Context, entity: str) -> list[Any]:
    return distinct(row.get(entity, row.get(ctx.role_of(entity))) for row in ctx.rows)


def _values(ctx: Context, entity: str, subject: Subject) -> str:
    """The distinct values of an entity or a role."""
    found = _found(ctx, entity)
    unit = ctx.unit(ctx.role_of(entity))
    names = [ctx.name(entity, value) if isinstance(value, str) else shown(value, unit) for value in found]
    total = _value_count(ctx, entity)
    plural = total != 1
    if same_thing(ctx, entity):
        count = f"At least {len(found)}" if total is None else str(total)
        return f"{subject.clause(count, plural=plural)}: {named(names, ctx.complete, total)}"
    count = f"at least {len(found)}" if total is None else str(total)
    verb = "There are" if plural else "There is"
    return f"{verb} {count} {subject.phrase(plural=plural)}: {named(names, ctx.complete, total)}"


# -- rankings -------------------------------------------------------------------------------------


def rank_text(ctx: Context) -> str:
    """The first rows of an order."""
    noun = subject_of(ctx).phrase()
    rows, family = ctx.rows, ctx.family()
    if ctx.plan.limit_per:
        return sentence(_best_of_each(ctx, noun))
    order = ctx.plan.order[0] if ctx.plan.order else None
    by_own = order is None or (order.column == family.order and bool(family.say.best) and not order.descending)
    role = "" if order is None or by_own else order.column
    adjective = family.say.best or "first" if by_own else "highest" if order and order.descending else "lowest"
    total = ctx.total
    of = f"{total} " if total is not None and total > len(rows) else ""
    names = distinct(_ranked(ctx, row, role) for row in rows)
    measure = f"the {adjective} {ctx.label(role)}" if role else ""
    if len(rows) == 1:
        told = {role, *(one for one in [family.order] if by_own and detail(ctx, rows[0]))}
        asked = facts(ctx, rows[0], [one for one in asked_roles(ctx) if one not in told])
        among = f"Of the {of}{noun}, " if of else f"Among the {noun}, "
        first = f"{names[0]} has {measure}" if role else f"the {adjective} is {names[0]}"
        return " ".join(sentence(text) for text in [among + first, *([f"It {'; it '.join(asked)}"] if asked else [])])
    kept = named(names, True, None, most=_RANKED // 2 if family.say.name else _RANKED)
    if total is not None and total <= len(rows):
        return sentence(f"{subject_of(ctx).clause(str(len(rows)))}, with {measure or f'the {adjective}'} first: {kept}")
    return sentence(f"The {len(rows)} {f'with {measure}' if role else adjective} of the {of}{noun} are {kept}")


def _ranked(ctx: Context, row: Row, role: str) -> str:
    name = _labelled(ctx, row) or "a row without a name"
    exact = shown(ctx.value(row, role), ctx.unit(role)) if role else detail(ctx, row)
    return f"{name} ({exact})" if exact else name


def _best_of_each(ctx: Context, noun: str) -> str:
    key = ctx.plan.limit_per
    best = ctx.family().say.best or "first"
    if key == "source":
        told = [
            (topic(ctx, source) or label_of(ctx, source.alias), [row for row in ctx.rows if _is_from(ctx, row, source)])
            for source in ctx.plan.sources
        ]
        ranked = [(name, named([_ranked(ctx, row, "") for row in rows], True, None)) for name, rows in told if rows]
        return f"The {best} of the {noun}: {'; '.join(f'for {name}, {text}' for name, text in ranked)}"
    rows = sorted(ctx.rows, key=lambda row: _sortable(ctx.value(row, key)))
    entity = key if ctx.entity(key) else ""
    parts = []
    for row in rows:
        value = ctx.value(row, key)
        text = ctx.name(entity, value) if entity and isinstance(value, str) else shown(value)
        parts.append(f"{text}: {_ranked(ctx, row, '')}")
    kinds = len({ctx.value(row, key) for row in rows}) if all(ctx.value(row, key) is not None for row in rows) else 0
    of = f", for {kinds} {ctx.label(key) if kinds == 1 else several(ctx.label(key))}" if kinds else ""
    return f"The {best} of the {noun}{of}: {named(parts, ctx.complete, ctx.total)}"


def _is_from(ctx: Context, row: Row, source: Source) -> bool:
    return str(row.get(LABEL, "")) == label_of(ctx, source.alias)


def _sortable(value: Any) -> tuple[int, float, str]:
    return (0, float(value), "") if isinstance(value, int | float) else (1, 0.0, str(value))


# -- several tables -------------------------------------------------------------------------------


def union_text(ctx: Context) -> str:
    """The same of each table: what was found in which."""
    entity = enumerated(ctx)
    subject = subject_of(ctx, entity)
    parts: list[str] = []
    for source in ctx.plan.sources:
        rows = [row for row in ctx.rows if _is_from(ctx, row, source)]
        where = topic(ctx, source) or plain(ctx.model.tables[source.table].description or source.table)
        found = _found_in(ctx, rows, entity)
        names = distinct(name or None for name, _ in found)
        count = len(names) or len(rows)
        words = "none" if not rows else str(count) if ctx.complete else f"at least {count}"
        if not parts:
            words = "no" if not rows and ctx.complete else words
            text = subject.clause(words, plural=count != 1 and bool(rows))
        else:
            text = words if rows or ctx.complete else "none among the rows that were fetched"
            text += own_conditions(ctx, source)
        exact = f" ({found[0][1]})" if found and found[0][1] else ""
        listing = named([f"{names[0]}{exact}", *names[1:]], ctx.complete, None) if names else ""
        parts.append(f"for {where}, {text}{f': {listing}' if listing else ''}")
    yes = "Yes: " if is_yes(ctx) else ""
    text = "; ".join(parts)
    return sentence(f"{yes}{text}" if yes else text[:1].upper() + text[1:])


def _found_in(ctx: Context, rows: list[Row], entity: str) -> list[tuple[str, str]]:
    if entity:
        return [(shown(row.get(entity, row.get(ctx.role_of(entity)))), "") for row in rows]
    return [(row_name(ctx, row), detail(ctx, row)) for row in rows]
