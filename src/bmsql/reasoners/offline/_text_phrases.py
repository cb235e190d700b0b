"""The conditions of a query as phrases: what is near, with, for, and which conventions hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bmsql.conventions import Rule
from bmsql.planning import listed_items
from bmsql.reasoners.offline._text_context import Context, distinct
from bmsql.reasoners.offline._text_values import listed, plain, shown
from bmsql.types import ConventionRecord, Filter, Source

_COMPARED = {
    "<": "below {}",
    "<=": "{} or lower",
    ">": "above {}",
    ">=": "{} or higher",
    "!=": "other than {}",
    "=": "{}",
}
_IN_TIME = {
    "<": "before {}",
    "<=": "in {} or earlier",
    ">": "after {}",
    ">=": "in {} or later",
    "!=": "not in {}",
    "=": "in {}",
}
_SYMBOLS = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "=": "=", "!=": "!="}
_HELD = ("applied", "corrected", "already", "complement")
_TAIL = "for "
_WITH = "with "


@dataclass(frozen=True)
class Predicate:
    """A convention that the rows keep to, or (failing) fall short of."""

    rule: Rule
    record: ConventionRecord
    condition: str
    failing: bool = False

    def verb(self, many: bool) -> str:
        """What is said of one row, or of several."""
        say, title = self.rule.say, f"'{self.rule.title[:1].lower()}{self.rule.title[1:]}'"
        if self.failing:
            default = f"do not meet {title}" if many else f"does not meet {title}"
            said = say.not_many if many else say.not_one
        else:
            default = f"meet {title}" if many else f"meets {title}"
            said = say.many if many else say.one
        return said or default

    def text(self, many: bool, ending: str = "") -> str:
        """The same, with the end of the sentence and the condition in brackets."""
        return f"{self.verb(many)}{ending} ({self.condition})"


@dataclass(frozen=True)
class Described:
    """The conditions on one source: words before its noun, after it, and at the sentence's end."""

    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)
    predicates: list[Predicate] = field(default_factory=list)

    def noun(self, one: str, many: str, *, plural: bool = True) -> str:
        """The noun with all that stands beside it, without conventions and the tail."""
        after = list(self.after)
        for place in range(len(after) - 1, 0, -1):
            if after[place].startswith(_WITH) and after[place - 1].startswith(_WITH):
                after[place] = f"and {after[place].removeprefix(_WITH)}"
        return " ".join([*self.before, many if plural else one, *after])

    def verbs(self, many: bool = True, *, default: str = "") -> str:
        """What holds for the rows, as `are approved for a disease (phase 4)`, to the end of the sentence.

        Without conventions it is the default, which may be empty, and the ending.
        """
        if not self.predicates:
            return f"{default}{self.ending}".strip()
        *first, last = self.predicates
        if not first:
            return last.text(many, self.ending)
        return listed([*(one.text(many) for one in first), last.text(many)]) + self.ending

    @property
    def ending(self) -> str:
        """The end of the sentence, such as ` for a disease`."""
        return "".join(f" {text}" for text in self.tail)


def described(ctx: Context, source: Source, *, besides: Sequence[str] = ()) -> Described:
    """The conditions of a source in words; `besides` are targets to leave out."""
    before: list[str] = []
    after: list[str] = []
    tail: list[str] = []
    groups: dict[int, list[str]] = {}
    for one in ctx.plan.filters:
        if not _concerns(ctx, one, source) or one.target in besides:
            continue
        spec = ctx.entity(one.target)
        if spec and spec.classifies and one.op == "match" and not one.negated and not one.any_of:
            kinds = [value.lower() if value[1:].islower() else value for value in ctx.said(one, source)]
            before.append(" or ".join(kinds))
            continue
        if _leaves_items_out(ctx, one, source):
            tail.append(f"leaving out {listed(ctx.said(one, source))}")
            continue
        text = condition(ctx, one, source)
        if not text:
            continue
        if one.any_of:
            groups.setdefault(one.any_of, []).append(text)
        elif text.startswith(_TAIL):
            tail.append(text)
        else:
            after.append(text)
    after += [" or ".join(dict.fromkeys(texts)) for texts in groups.values()]
    tail += about(ctx, source) if ctx.plan.combine != "union" else []
    return Described(before, distinct(after), distinct(tail), predicates(ctx, source))


def _leaves_items_out(ctx: Context, one: Filter, source: Source) -> bool:
    """`genes other than X`, of genes that a row lists: the rows of X stay."""
    recipe = ctx.recipe(one.target, source) if one.op == "match" and one.negated and not one.any_of else None
    lists = recipe is not None and recipe.how in ("item", "listed")
    return lists and one.target in listed_items(ctx.plan, source.alias)


def about(ctx: Context, source: Source) -> list[str]:
    """What holds for all rows of a table, as `for Alzheimer's disease`."""
    spec = ctx.model.tables[source.table]
    filters = ctx.family(source).say.filters
    return [_into(filters.get(entity, "for {}"), ctx.name(entity, value)) for entity, value in spec.about.items()]


def own_conditions(ctx: Context, source: Source) -> str:
    """What is asked of one table of several alone, as ` near SNCA`; empty where all are asked the same."""
    if not any(one.source for one in ctx.plan.filters):
        return ""
    return "".join(f" {text}" for text in described(ctx, source).after)


def topic(ctx: Context, source: Source) -> str:
    """The values that hold for a table, such as the disease, in words."""
    spec = ctx.model.tables[source.table]
    return listed([ctx.name(entity, value) for entity, value in spec.about.items()])


def _concerns(ctx: Context, one: Filter, source: Source) -> bool:
    if one.source:
        return one.source == source.alias
    entity = ctx.entity(one.target)
    family = ctx.family_name(source)
    return family in entity.match if entity else one.target.partition(".")[0] == family or "." not in one.target


def condition(ctx: Context, one: Filter, source: Source) -> str:
    """One condition as a phrase after the noun; empty for what goes without saying."""
    if not one.words and one.op in ("not_null", "!="):
        return ""
    filters = ctx.family(source).say.filters
    template = filters.get(one.target, "")
    if one.op == "=" and len(one.values) == 1:
        template = filters.get(f"{one.target}={one.values[0]}".lower(), template)
    text = _condition(ctx, one, source, template)
    return f"excluding those {text}" if one.negated and text else text


def _condition(ctx: Context, one: Filter, source: Source, template: str) -> str:
    label = ctx.label(one.target, source)
    unit = ctx.unit(ctx.role_of(one.target, source))
    values = [shown(value, unit) for value in one.values]
    match one.op:
        case "match":
            return _matched(ctx, one, source, template)
        case "=" | "!=" | "<" | "<=" | ">" | ">=":
            words = _IN_TIME if unit == "year" else _COMPARED
            return _into(template or f"with {label} {{}}", words[one.op].replace("{}", listed(values, word="or")))
        case "between":
            return _into(template or f"with {label} {{}}", f"between {listed(values)}")
        case "null" | "null_or":
            return f"without a recorded {label}"
        case "not_null":
            return f"with {label} recorded"
        case "starts_with":
            return f"whose {label} begins with '{listed(values, word='or')}'"
        case "contains":
            return f"whose {label} contains '{listed(values, word='or')}'"
        case "region":
            build, chromosome, first, last = (*values, "", "", "", "")[:4]
            return f"in chr{chromosome}:{first}-{last} (GRCh{build})"
        case "bonferroni":
            return f"with {label} below {listed(values)} divided by the number of tests in the table"
        case "near":
            distance, *names = values
            return f"within {distance} base pairs of {listed(names, word='or')}"


def _matched(ctx: Context, one: Filter, source: Source, template: str) -> str:
    said = listed(ctx.said(one, source), word="or")
    recipe, spec = ctx.recipe(one.target, source), ctx.entity(one.target)
    if template:
        return _into(template, said)
    if spec is None or recipe is None:
        return f"with {said}"
    if spec.kind == "term":
        return f"for {said}"
    if recipe.how == "contains" and spec.kind == "category":
        return f"whose {ctx.label(recipe.shown, source)} contains '{said}'"
    if ctx.family(source).subject in (one.target, spec.same_as):
        return f"named {said}" if spec.kind == "name" else said
    return f"with {spec.label} {said}"


def _into(template: str, text: str) -> str:
    return " ".join(template.replace("{}", text).split())


def predicates(ctx: Context, source: Source) -> list[Predicate]:
    """The conventions that were applied to a source, in the order of the records, each once."""
    found: list[Predicate] = []
    for record in ctx.evidence.conventions:
        if record.rule not in ctx.rules or record.status not in _HELD:
            continue
        rule = ctx.rules[record.rule]
        if rule.kind not in ("threshold", "direction", "approval") or not _of_source(ctx, record, source):
            continue
        if any(one.rule is rule and one.failing == (record.status == "complement") for one in found):
            continue
        found.append(Predicate(rule, record, condition_of(ctx, rule, record, source), record.status == "complement"))
    return found


def _of_source(ctx: Context, record: ConventionRecord, source: Source) -> bool:
    if ctx.plan.combine == "union":
        return True
    if record.source:
        return record.source == source.alias
    return not record.table or record.table == source.table


def condition_of(ctx: Context, rule: Rule, record: ConventionRecord | None, source: Source) -> str:
    """The condition of a rule: in its own words, as the query has it, or as the rule gives it."""
    if rule.say.condition and (record is None or record.status != "complement"):
        return rule.say.condition.replace("{value}", shown(rule.value))
    if record is not None and record.predicate:
        text = record.predicate
        for prefix in distinct([record.source, record.table, source.alias]):
            text = text.replace(f"{prefix}.", "") if prefix else text
        return plain(text.replace(" BETWEEN ", " between ").replace(" AND ", " and "))
    column = ctx.model.column(source.table, rule.role) or ctx.label(rule.role, source)
    if isinstance(rule.value, tuple):
        return f"{column} between {shown(rule.value[0])} and {shown(rule.value[1])}"
    return f"{column} {_SYMBOLS.get(rule.op, rule.op)} {shown(rule.value)}"
