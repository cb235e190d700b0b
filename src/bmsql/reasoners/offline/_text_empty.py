"""Sentences about nothing: what no row was found for, which is not to say that it is not so."""

from __future__ import annotations

from bmsql.reasoners.offline._text_context import Context
from bmsql.reasoners.offline._text_lists import enumerated
from bmsql.reasoners.offline._text_lookup import is_lookup, named_things
from bmsql.reasoners.offline._text_nouns import subject_of
from bmsql.reasoners.offline._text_phrases import described, own_conditions, topic
from bmsql.reasoners.offline._text_values import listed, sentence


def empty_text(ctx: Context) -> str:
    """No row: of a thing that was looked up, or of anything that keeps to the conditions."""
    if is_lookup(ctx):
        names = listed(named_things(ctx), word="or")
        targets = tuple(one.target for one in ctx.plan.filters if one.op == "match" and _names_subject(ctx, one.target))
        rest = described(ctx, ctx.main, besides=targets)
        beside = rest.ending.removeprefix(" for ") if rest.ending.startswith(" for ") else ""
        label = ctx.family().label
        if ctx.plan.combine == "union":
            topics = [topic(ctx, source) for source in ctx.plan.sources]
            beside = "".join(f" {text}" for text in rest.after)
            return sentence(f"No row of the {label} for {listed(topics, word='or')} is about {names}{beside}")
        if beside and not ctx.model.tables[ctx.main.table].about and not rest.after:
            return sentence(f"No row of the {label} links {names} to {beside}")
        conditions = "".join(f" {text}" for text in rest.after)
        return sentence(f"No row of the {label}{rest.ending} is about {names}{conditions}")
    subject = subject_of(ctx, enumerated(ctx))
    where = ""
    if ctx.plan.combine == "union" and own_conditions(ctx, ctx.main):
        first, *others = [(topic(ctx, source), own_conditions(ctx, source)) for source in ctx.plan.sources]
        where = "".join([f" for {first[0]}", *(f", and none{own} for {name}" for name, own in others)])
    elif ctx.plan.combine == "union":
        where = f" for {listed([topic(ctx, source) for source in ctx.plan.sources], word='or')}"
    return sentence(subject.clause("No", plural=False) + where)


def _names_subject(ctx: Context, target: str) -> bool:
    spec = ctx.entity(target)
    subject = ctx.family().subject
    return target == subject or bool(spec and spec.same_as == subject)
