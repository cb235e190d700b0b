"""Sentences from rows: what was found, of what, under which rules; nothing that is not in them."""

from __future__ import annotations

from bmsql.conventions import RuleBook
from bmsql.reasoners._base import Evidence
from bmsql.reasoners.offline._text_context import Context
from bmsql.reasoners.offline._text_counts import count_text, group_text
from bmsql.reasoners.offline._text_empty import empty_text
from bmsql.reasoners.offline._text_lists import list_text, rank_text, union_text
from bmsql.reasoners.offline._text_lookup import is_lookup, lookup_text
from bmsql.reasoners.offline._text_rules import caveats, notes, stands, without
from bmsql.semantic import SemanticModel


def answer_text(evidence: Evidence, model: SemanticModel, rules: RuleBook) -> str:
    """One to three sentences for the rows of a plan, and what must be said beside them."""
    ctx = Context(evidence, model, rules)
    if evidence.hidden or not evidence.plan.sources:
        return stands(ctx)
    return " ".join(text for text in [_main(ctx), without(ctx), *caveats(ctx), *notes(ctx)] if text)


def _main(ctx: Context) -> str:
    plan = ctx.plan
    if not ctx.rows:
        return empty_text(ctx)
    if plan.group_by:
        return group_text(ctx)
    if plan.aggregate:
        return count_text(ctx)
    if is_lookup(ctx):
        return lookup_text(ctx)
    if plan.intent == "rank" and (plan.limit or plan.limit_per or plan.order):
        return rank_text(ctx)
    if plan.combine == "union":
        return union_text(ctx)
    return list_text(ctx)
