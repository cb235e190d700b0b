"""What a plan lists the values of."""

from __future__ import annotations

from bmsql.types import Plan


def listed_items(plan: Plan, alias: str) -> set[str]:
    """What a plan lists, groups or counts the values of, in one of its sources."""
    first = plan.sources[0].alias if plan.sources else ""
    shown = [*plan.group_by, *(plan.select if plan.distinct else ())]
    listed = {item.column for item in shown if (item.source or first) == alias}
    aggregate = plan.aggregate
    if aggregate and aggregate.column and (aggregate.source or first) == alias:
        listed.add(aggregate.column)
    return listed
