"""What looks wrong about the rows, without a model: only then is one asked to review them."""

from __future__ import annotations

from bmsql.reasoners._base import Evidence


def noticed(evidence: Evidence) -> list[str]:
    """Reasons to look again, in words; none where nothing is off."""
    concerns = []
    rows, plan = evidence.result.rows, evidence.plan
    count = evidence.total if evidence.hidden else len(rows)
    near = [
        f"'{mention.text}' may be {' or '.join(mention.alternatives[:3])}"
        for mention in plan.mentions
        if mention.alternatives and mention.method in ("fuzzy", "unlinked")
    ]
    if not count and near:
        concerns.append(f"the result is empty, and {'; '.join(near)}")
    elif not count and evidence.general is not None and evidence.general.rows:
        concerns.append(f"the conventions leave none of the {len(evidence.general.rows)} rows found without them")
    elif not count and not plan.complete:
        concerns.append("the result is empty")
    if plan.limit is not None and not plan.aggregate and count is not None and count > plan.limit:
        concerns.append(f"the question asks for {plan.limit} rows, and there are {count}")
    read = evidence.sql.casefold()
    unread = [source.table for source in plan.sources if source.table.casefold() not in read]
    if unread:
        concerns.append(f"the plan reads {', '.join(unread)}, and the query does not")
    if evidence.result.truncated and not plan.aggregate and evidence.total is None:
        concerns.append(f"the rows were cut off after {len(rows)}, and how many there are is not known")
    return concerns
