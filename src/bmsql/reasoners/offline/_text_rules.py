"""What the conventions changed: the count without them, what none of the rows passed, and caveats."""

from __future__ import annotations

from bmsql.conventions import NotRecorded
from bmsql.reasoners.offline._text_context import COUNT, Context, distinct
from bmsql.reasoners.offline._text_fill import compare, row_name
from bmsql.reasoners.offline._text_lists import shown_count
from bmsql.reasoners.offline._text_phrases import Predicate, predicates
from bmsql.reasoners.offline._text_values import capital, equals, listed, plain, sentence

_NOT_RECORDED = NotRecorded().label


def without(ctx: Context) -> str:
    """How many there would be without each convention, where that is another number than the one given."""
    if ctx.plan.group_by or any(join.kind == "anti" for join in ctx.plan.joins):
        return ""
    said = _said(ctx)
    parts: dict[str, str] = {}
    for predicate in _all(ctx):
        record = predicate.record
        if record.rows_without is None or record.rows_with is None or record.rows_without == record.rows_with:
            continue
        if said != record.rows_with:
            continue
        text = predicate.rule.say.without or f"without {predicate.condition}"
        parts.setdefault(text, f"{text}, there {_be(record.rows_without)}{_best(ctx, predicate, record.rows_with)}")
    return sentence(capital("; ".join(list(parts.values())[:2]))) if parts else ""


def _be(count: int) -> str:
    return f"is {count}" if count == 1 else f"are {count}"


def _said(ctx: Context) -> int | None:
    """The number that the answer gives; None where it gives none."""
    if not ctx.rows:
        return 0
    if ctx.plan.aggregate:
        value = ctx.rows[0].get(COUNT)
        counts = ctx.plan.aggregate.function in ("count", "count_distinct")
        return value if counts and isinstance(value, int) and len(ctx.rows) == 1 else -1
    return ctx.total if ctx.plan.intent == "rank" else shown_count(ctx)


def _all(ctx: Context) -> list[Predicate]:
    found = []
    for source in ctx.plan.sources:
        found += [one for one in predicates(ctx, source) if one not in found]
        if ctx.plan.combine == "union":
            break
    return found


def _best(ctx: Context, predicate: Predicate, rows_with: int) -> str:
    """The best of the rows that fail, where nothing passes."""
    rule = predicate.rule
    others = [one for one in _all(ctx) if one.rule.name != rule.name]
    if rows_with or predicate.failing or not rule.best or ctx.plan.combine != "single":
        return ""
    if any(one.failing for one in others):
        return ""
    rows = [
        row
        for row in ctx.general
        if ctx.value(row, rule.role) is not None
        and all(compare(ctx.value(row, one.rule.role), one.rule.op, one.rule.value) for one in others)
    ]
    if not rows or len(rows) != predicate.record.rows_without:
        return ""
    choose = min if rule.best == "min" else max
    best = choose(rows, key=lambda row: ctx.value(row, rule.role))
    column = ctx.model.column(ctx.main.table, rule.role) or ctx.label(rule.role)
    name = row_name(ctx, best)
    value = equals(ctx.value(best, rule.role), ctx.unit(rule.role))
    return f", the best with {column} {value}{f' ({name})' if name else ''}"


def caveats(ctx: Context) -> list[str]:
    """What must be said of a convention where the question's words ask for more than it shows."""
    words = set("".join(char if char.isalnum() else " " for char in ctx.evidence.question.lower()).split())
    return distinct(
        one.rule.say.caveat for one in _all(ctx) if one.rule.say.caveat and words & set(one.rule.say.caveat_words)
    )


def notes(ctx: Context) -> list[str]:
    """What the plan and the linker want said, and the rows counted apart."""
    texts = [sentence(capital(plain(note, 300))) for note in ctx.plan.notes]
    texts += [sentence(capital(plain(mention.note, 200))) for mention in ctx.plan.mentions if mention.note]
    if ctx.plan.not_understood:
        texts.append(f"Not taken into account: {listed([repr(plain(word, 30)) for word in ctx.plan.not_understood])}.")
    return [*distinct(texts), *_apart(ctx)]


def _apart(ctx: Context) -> list[str]:
    """Rows whose value is not recorded, which neither pass nor fail: as the warnings count them."""
    found: list[str] = []
    if ctx.plan.group_by:
        return found
    for predicate in _all(ctx):
        label = predicate.rule.not_recorded.label
        for warning in ctx.evidence.warnings:
            if warning.lower().startswith(f"{label.lower()}") and "counted apart" in warning:
                said = warning.rpartition(":")[2].replace(",", " ").replace(".", " ")
                figures = [word for word in said.split() if word.isdigit()]
                if len(figures) == 2 and int(figures[0]) <= int(figures[1]) == predicate.record.rows_without:
                    column = ctx.model.column(ctx.main.table, predicate.rule.role) or ctx.label(predicate.rule.role)
                    what = capital(label) if label != _NOT_RECORDED else f"{column} is not recorded"
                    found.append(f"{what} for {figures[0]} of {figures[1]}, counted apart.")
    return distinct(found)


def stands(ctx: Context) -> str:
    """Shown nowhere: the rows are kept on the machine."""
    total = ctx.evidence.total
    return f"{'Rows' if total is None else f'{total} rows'} were found; they are not shown."
