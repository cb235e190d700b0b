"""What looks wrong about the rows, without a model: only then is one asked to review them."""

from __future__ import annotations

from bmsql.reasoners._base import Evidence
from bmsql.semantic import SemanticModel
from bmsql.types import Mention

# Kinds of entities whose names are names; those of categories are common words, which need not be a condition.
_NAMED = frozenset({"identifier", "symbol", "term", "name"})


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


def unsaid(evidence: Evidence, model: SemanticModel) -> list[str]:
    """What the question names and neither the query nor the choice of its tables says, in words."""
    read = evidence.sql.casefold()
    tables = [name for name in model.tables if name.casefold() in read]
    return [
        f"The question names {mention.text}, and the query does not"
        for mention in evidence.plan.mentions
        if mention.method != "unlinked"
        and model.entities[mention.entity].kind in _NAMED
        and not any(name.casefold() in read for name in _names(mention) if name)
        and not any(_is_about(model, table, mention) for table in tables)
    ]


def _names(mention: Mention) -> set[str]:
    stored = (value for values in mention.stored.values() for value in values)
    return {mention.text, mention.value, *mention.alternatives, *stored}


def _is_about(model: SemanticModel, table: str, mention: Mention) -> bool:
    spec = model.tables[table]
    return mention.value in (spec.about.get(mention.entity), *spec.covers.get(mention.entity, ()))
