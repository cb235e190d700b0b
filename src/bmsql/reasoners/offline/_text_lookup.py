"""Sentences about one named thing: its facts, and how it stands to the conventions asked about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bmsql.conventions import Rule
from bmsql.reasoners.offline._text_context import LABEL, Context, Row, distinct
from bmsql.reasoners.offline._text_fill import asked_roles, compare, facts, items, row_name
from bmsql.reasoners.offline._text_nouns import same_thing
from bmsql.reasoners.offline._text_phrases import about, condition_of, described, topic
from bmsql.reasoners.offline._text_values import capital, equals, is_plural, listed, named, plain, sentence, shown

_IN_FULL = 4


def is_lookup(ctx: Context) -> bool:
    """Whether a thing was named whose rows are looked up, rather than filtered and counted."""
    if ctx.plan.combine == "join" or ctx.plan.aggregate or not named_things(ctx):
        return False
    if ctx.plan.intent == "rank":
        return ctx.total is not None and ctx.total < 2
    return ctx.plan.intent in ("lookup", "exists", "list")


def named_things(ctx: Context) -> list[str]:
    """The things that the question names, of which the rows are."""
    if ctx.plan.distinct:
        return []
    names: list[str] = []
    for one in ctx.plan.filters:
        if one.op == "match" and not one.negated and same_thing(ctx, one.target):
            spec = ctx.entity(one.target)
            if spec is None or spec.kind != "category":
                names += ctx.said(one)
    return names


def lookup_text(ctx: Context) -> str:
    """What the rows of a named thing say: judged where that is asked, else what was asked of it."""
    judged = judging_rules(ctx)
    asked = list(dict.fromkeys([*asked_roles(ctx), *directed_roles(ctx)]))
    by_name = _by_name(ctx)
    texts: list[str] = []
    for number, ((name, label), rows) in enumerate(list(by_name.items())[:_IN_FULL]):
        called = _called(ctx, name, len(by_name)) or f"this {ctx.subject()[0]}"
        verdicts = [judge(ctx, rule, called, rows, label) for rule in judged]
        wanted = [role for role in asked if role not in {rule.role for rule in judged}]
        rest = ""
        if wanted or not verdicts:
            rest = lookup(ctx, rows, wanted, name="" if verdicts else called, led=not number)
        texts.append("; ".join(verdicts) + (f". It {rest}" if verdicts and rest else rest))
    texts = texts if judged else _merged(ctx, list(by_name)[:_IN_FULL], texts)
    more = len(by_name) - _IN_FULL
    if more > 0 or not ctx.complete:
        one, many = ctx.subject()
        others = f"{more} more {one} matches" if more == 1 else f"{more} more {many} match"
        texts.append(others if more > 0 else "More rows match")
    return " ".join(sentence(capital_unless_name(text)) for text in [*texts, *_not_found(ctx)])


def _called(ctx: Context, name: str, things: int) -> str:
    """A name, with what the question called it where the name does not show that."""
    asked = distinct(
        plain(mention.text, 30)
        for mention in ctx.plan.mentions
        if same_thing(ctx, mention.entity) and mention.method not in ("fuzzy", "unlinked")
    )
    if things != 1 or len(asked) != 1 or not name:
        return name
    alike = asked[0].lower() in name.lower() or name.lower() in asked[0].lower()
    return name if alike else f"{name} ({asked[0]})"


def capital_unless_name(text: str) -> str:
    """A capital at the start of a sentence, unless it begins with an identifier such as rs429358."""
    first = text.split(" ", 1)[0]
    return text if any(char.isdigit() for char in first) else capital(text)


def _by_name(ctx: Context) -> dict[tuple[str, str], list[Row]]:
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in ctx.rows:
        grouped.setdefault((row_name(ctx, row), str(row.get(LABEL, ""))), []).append(row)
    return grouped


def _merged(ctx: Context, keys: list[tuple[str, str]], texts: list[str]) -> list[str]:
    """Sentences with the table they are from; one sentence where two tables say the same."""
    if ctx.plan.combine != "union":
        return texts
    groups: dict[str, list[str]] = {}
    for (_, label), text in zip(keys, texts, strict=True):
        groups.setdefault(text, []).append(_place(ctx, label))
    merged = []
    for text, places in groups.items():
        where = listed([place for place in places if place])
        merged.append(f"{text} (in the data for {'both ' if len(places) == 2 else ''}{where})" if where else text)
    return merged


def label_of(ctx: Context, alias: str) -> str:
    """The constant that rows of a source carry."""
    return next((item.value for item in ctx.plan.select if item.value and item.source == alias), "")


def _place(ctx: Context, label: str) -> str:
    for item in ctx.plan.select:
        if item.value == label and label:
            return topic(ctx, ctx.source(item.source)) or plain(label)
    return ""


def judging_rules(ctx: Context) -> list[Rule]:
    """The rules that are not applied but judged by, where they have words for it."""
    names = [use.rule for use in ctx.plan.conventions if use.mode in ("judge", "waived", "stated")]
    found = [ctx.rules[name] for name in distinct(names) if name in ctx.rules]
    return [rule for rule in found if rule.say.holds and ctx.rows and rule.role in ctx.rows[0]]


def directed_roles(ctx: Context) -> list[str]:
    """Roles of the rules that are judged by what is said of the row."""
    names = [use.rule for use in ctx.plan.conventions if use.mode == "judge"]
    found = [ctx.rules[name] for name in distinct(names) if name in ctx.rules]
    return [rule.role for rule in found if not rule.say.holds]


def judge(ctx: Context, rule: Rule, name: str, rows: Sequence[Row], label: str = "") -> str:
    """How a thing stands to a rule, by the best of its rows."""
    values = [found for row in rows if (found := ctx.value(row, rule.role)) is not None]
    choose = max if rule.best == "max" or rule.op in (">", ">=") else min
    numbers = [found for found in values if isinstance(found, int | float)]
    # Text has no best value; one that keeps to the rule decides.
    value: Any = choose(numbers) if numbers else next(iter(sorted(values, key=lambda one: one != rule.value)), None)
    say = rule.say
    template = say.unknown if value is None else say.holds if compare(value, rule.op, rule.value) else say.fails
    record = next((one for one in ctx.evidence.conventions if one.rule == rule.name), None)
    where = described(ctx, ctx.main, besides=(ctx.family().subject,)).ending
    if label and (place := _place(ctx, label)):
        where = f" for {place}"
    unit = ctx.unit(rule.role) or rule.unit
    filled = {
        "{name}": name,
        "{about}": where,
        "{value}": shown(value, unit),
        "{eq}": equals(value, unit),
        "{condition}": condition_of(ctx, rule, record, ctx.main),
    }
    for mark, text in filled.items():
        template = template.replace(mark, text)
    return template


def lookup(
    ctx: Context, rows: Sequence[Row], asked: Sequence[str], *, name: str | None = None, led: bool = True
) -> str:
    """What was asked of one thing, over all of its rows; all that is shown where nothing was asked.

    `name` is how it is called, or empty where the sentence has named it before.
    """
    family = ctx.family()
    subject = ctx.role_of(family.subject)
    wanted = list(dict.fromkeys([*asked, *directed_roles(ctx)])) or [role for role in family.show if role != subject]
    wanted = [role for role in wanted if role in rows[0]]
    if name is None:
        name = row_name(ctx, rows[0]) or f"this {ctx.subject()[0]}"
    found = list(dict.fromkeys(_phrased(facts(ctx, row, wanted)) for row in rows))
    if len(found) == 1 and found[0] and family.say.facts:
        text = found[0]
        return _led(ctx, f"{name} {text}") if name and led else f"{name} {text}".strip()
    text = listed([one for role in wanted if (one := values_of(ctx, role, rows))])
    if not text:
        return f"{name} is recorded" if name else ""
    return f"for {name}, {text}" if name else f"has these values: {text}"


def _phrased(texts: Sequence[str]) -> str:
    """Facts after one name: `has A and has B`, or with semicolons where they are long."""
    if len(texts) == 2 and not any("," in text or " and " in text for text in texts):
        return " and ".join(texts)
    return "; it ".join(texts)


def _led(ctx: Context, text: str) -> str:
    """The sentence with the table that it is about, where the words for it are given."""
    lead, subject = ctx.family().say.lead, topic(ctx, ctx.main)
    if ctx.plan.combine == "union":
        return text
    if lead and subject:
        return lead.replace("{}", subject) + text
    return f"{listed(about(ctx, ctx.main))}, {text}" if about(ctx, ctx.main) else text


def values_of(ctx: Context, role: str, rows: Sequence[Row]) -> str:
    """The values of a role over some rows, as `the genes are A, B and C`."""
    found = distinct(ctx.value(row, role) for row in rows)
    one, many = ctx.asked_label(role)
    unit = ctx.unit(role)
    entity = ctx.entity_of(role)
    verb = "are" if is_plural(one) and not entity else "is"
    if not found:
        return f"the {one} {verb} not recorded"
    recipe = ctx.recipe(entity) if entity else None
    if recipe and recipe.how in ("item", "listed"):
        names = distinct(name for value in found for name in items(ctx, role, value))
    else:
        texts = entity if any(isinstance(value, str) for value in found) else ""
        names = [ctx.name(texts, value) if texts else shown(value, unit) for value in found]
    if len(names) == 1:
        return f"the {one} {verb} {names[0]}"
    return f"the {many} are {named(names, True, None)}"


def _not_found(ctx: Context) -> list[str]:
    """Named things of which there is no row, where several were named, and tables without a row."""
    texts: list[str] = []
    subject = ctx.family().subject
    role = ctx.role_of(subject)
    if not ctx.complete:
        return texts
    held = {str(row.get(role)) for row in ctx.rows}
    for one in ctx.plan.filters:
        recipe = ctx.recipe(one.target)
        if one.target == subject and one.op == "match" and not one.negated and recipe and recipe.how == "equals":
            absent = [plain(value) for value in one.values if str(value) not in held]
            if absent and len(one.values) > 1:
                texts.append(f"no row was found for {listed(absent, word='or')}")
    if ctx.plan.combine == "union":
        labels = {str(row.get(LABEL, "")) for row in ctx.rows}
        absent = [
            topic(ctx, ctx.source(item.source)) or plain(item.value)
            for item in ctx.plan.select
            if item.value and item.value not in labels
        ]
        if absent:
            texts.append(f"no row was found for {listed(absent, word='or')}")
    return texts
