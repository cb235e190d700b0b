"""Sentences about numbers: counts, averages, groups and rankings of groups."""

from __future__ import annotations

from bmsql.reasoners.offline._text_context import COUNT, LABEL, Context, Row
from bmsql.reasoners.offline._text_lookup import capital_unless_name, label_of
from bmsql.reasoners.offline._text_nouns import Subject, same_thing, subject_of
from bmsql.reasoners.offline._text_phrases import topic
from bmsql.reasoners.offline._text_values import capital, listed, named, plain, sentence, several, shown
from bmsql.types import Aggregate

_RANKED = 10
_FUNCTIONS = {"avg": "average", "min": "lowest", "max": "highest", "sum": "sum of the"}


def count_text(ctx: Context) -> str:
    """A single number, or one for each of several tables."""
    aggregate = ctx.plan.aggregate or Aggregate()
    subject = subject_of(ctx, _counted(ctx, aggregate))
    if ctx.plan.combine == "union" and len(ctx.rows) > 1:
        parts = []
        for source in ctx.plan.sources:
            label = label_of(ctx, source.alias)
            row = next((one for one in ctx.rows if str(one.get(LABEL, "")) == label), None)
            if row is not None:
                where = topic(ctx, source) or plain(ctx.model.tables[source.table].description or source.table)
                parts.append(f"{_figure(ctx, aggregate, row)} for {where}")
        return sentence(f"{capital(_what(ctx, aggregate, subject))}: {listed(parts)}")
    row = ctx.rows[0] if ctx.rows else {}
    value = row.get(COUNT)
    if aggregate.function in _FUNCTIONS:
        if value is None:
            return sentence(f"No {ctx.label(aggregate.column)} is recorded for {subject.phrase()}")
        return sentence(f"{capital(_what(ctx, aggregate, subject))} is {_figure(ctx, aggregate, row)}")
    if not value:
        return sentence(subject.clause("No", plural=False))
    if same_thing(ctx, _counted(ctx, aggregate) or ctx.family().subject):
        return sentence(subject.clause(shown(value), plural=value != 1))
    verb = "There is" if value == 1 else "There are"
    return sentence(f"{verb} {shown(value)} {subject.phrase(plural=value != 1)}")


def _counted(ctx: Context, aggregate: Aggregate) -> str:
    return aggregate.column if aggregate.function == "count_distinct" else ""


def _what(ctx: Context, aggregate: Aggregate, subject: Subject) -> str:
    if aggregate.function in _FUNCTIONS:
        return f"the {_FUNCTIONS[aggregate.function]} {ctx.label(aggregate.column)} of the {subject.phrase()}"
    return f"the number of {subject.phrase()}"


def _figure(ctx: Context, aggregate: Aggregate, row: Row) -> str:
    counts = aggregate.function in ("count", "count_distinct")
    return shown(row.get(COUNT), "" if counts else ctx.unit(aggregate.column))


def group_text(ctx: Context) -> str:
    """Numbers by group: the first of a ranking, or all of them."""
    plan = ctx.plan
    aggregate = plan.aggregate or Aggregate()
    key = plan.group_by[0].column
    label, labels = _names(ctx, key)
    groups = [(_group(ctx, row, key), row.get(COUNT)) for row in ctx.rows]
    whole = subject_of(ctx).phrase()
    if aggregate.function in _FUNCTIONS:
        measure = f"{_FUNCTIONS[aggregate.function]} {ctx.label(aggregate.column)} of the {whole}"
        parts = [f"{name} ({shown(value, ctx.unit(aggregate.column))})" for name, value in groups]
        return sentence(f"The {measure} by {label}: {named(parts, ctx.complete, ctx.total)}")
    counted = _counted(ctx, aggregate)
    many = whole if not counted or same_thing(ctx, counted) else f"{_names(ctx, counted)[1]} among the {whole}"
    parts = [f"{name} ({shown(value)})" for name, value in groups]
    extreme = "most" if plan.order and plan.order[0].descending else "fewest"
    if plan.intent == "rank" and len(groups) == 1:
        name, value = groups[0]
        return sentence(f"{capital_unless_name(name)} is the {label} with the {extreme} {many}: {shown(value)}")
    if plan.intent == "rank":
        names = named(parts, True, None, most=_RANKED)
        return sentence(f"The {len(groups)} {labels} with the {extreme} {many} are {names}")
    names = named(parts, ctx.complete, ctx.total)
    if plan.having:
        least = listed([_having(str(one.op), one.values[0]) for one in plan.having if one.values])
        count = str(ctx.total) if ctx.total is not None else f"At least {len(groups)}"
        subject = f"{count} {label} has" if count == "1" else f"{count} {labels} have"
        return sentence(f"{subject} {least} {many}: {names}")
    return sentence(f"{capital(many)}, by {label}: {names}")


def _having(op: str, value: object) -> str:
    words = {">=": "at least", ">": "more than", "<=": "at most", "<": "fewer than", "=": "exactly"}
    return f"{words.get(op, op)} {shown(value)}"


def _names(ctx: Context, name: str) -> tuple[str, str]:
    spec = ctx.entity(name)
    if spec:
        return spec.label, spec.plural
    if name:
        return ctx.label(name), several(ctx.label(name))
    return ctx.subject() if ctx.family().subject else ("row", "rows")


def _group(ctx: Context, row: Row, key: str) -> str:
    value = row.get(key, row.get(ctx.role_of(key)))
    entity = key if key in ctx.model.entities else ""
    return ctx.name(entity, value) if entity and isinstance(value, str) else shown(value, ctx.unit(key))
