"""The answer made without a model: when a model's text was found wrong twice."""

from __future__ import annotations

from collections.abc import Iterator

from bmsql.conventions import RuleBook
from bmsql.reasoners._base import Evidence
from bmsql.reasoners.offline import answer_text, plain, shown
from bmsql.semantic import SemanticModel
from bmsql.types import Plan, SelectItem

_ROWS = 3
_COLUMNS = 6
_CONDITIONS = {"threshold", "direction", "approval"}
_APPLIED = {"applied", "complement", "corrected", "already", "stated"}


def plain_summary(evidence: Evidence, model: SemanticModel, rules: RuleBook) -> str:
    """Sentences that say no more than the evidence: how many rows, and what they hold.

    Where the rows are those of the plan, they are worded as the OfflineReasoner words them; where the query
    was written otherwise, the counts, the conditions and the first rows are listed. Always says something.
    """
    if evidence.hidden or (evidence.plan.sources and _is_of_plan(evidence, model)):
        return answer_text(evidence, model, rules)
    return " ".join(_listing(evidence, model, rules))


def _is_of_plan(evidence: Evidence, model: SemanticModel) -> bool:
    """Whether the columns of the rows are the outputs of the plan, so that the plan tells what they mean."""
    plan = evidence.plan
    if any(source.table not in model.tables for source in plan.sources):
        return False
    first = plan.sources[0].alias
    items = [*plan.group_by, *(one for one in plan.select if plan.combine != "union" or one.source in ("", first))]
    wanted = [
        _names(item, plan, model) for item in items if item.column.lower() != model.evidence_key.lower() or item.value
    ]
    if plan.aggregate:
        wanted.append((plan.aggregate.alias,))
    key = model.evidence_key.lower()
    columns = [one.name.lower() for one in evidence.result.columns]
    columns = [name for name in columns if not key or not (name == key or name.startswith(f"{key}_"))]
    return len(columns) == len(wanted) and all(
        any(name and (column == name.lower() or column.startswith(f"{name.lower()}_")) for name in names)
        for column, names in zip(columns, wanted, strict=True)
    )


def _names(item: SelectItem, plan: Plan, model: SemanticModel) -> tuple[str, ...]:
    """What the column of an output may be called."""
    source = next((one for one in plan.sources if one.alias == item.source), plan.sources[0])
    table = model.tables[source.table]
    entity = model.entities.get(item.column)
    recipe = entity.match.get(table.family) if entity else None
    derived = model.families[table.family].derived.get(item.column)
    return (
        item.alias,
        item.column,
        table.column_by_role.get(item.column, ""),
        table.column_by_role.get(recipe.shown, "") if recipe else "",
        derived.alias if derived else "",
        f"{source.alias}_{item.column}",
    )


def _listing(evidence: Evidence, model: SemanticModel, rules: RuleBook) -> Iterator[str]:
    rows, total = evidence.result.rows, evidence.total
    if not rows:
        yield "No row was found."
    elif len(rows) == 1 and len(rows[0]) == 1:
        yield f"The result is {evidence.result.names()[0]} = {shown(rows[0][0])}."
    else:
        yield _count(len(rows), total, truncated=evidence.result.truncated)
        yield from _first_rows(evidence, model)
    applied = dict.fromkeys(
        plain(one.predicate, 120)
        for one in evidence.conventions
        if one.status in _APPLIED and one.predicate and one.rule in rules and rules[one.rule].kind in _CONDITIONS
    )
    if applied:
        yield f"Conditions: {'; '.join(applied)}."
    yield from (plain(one, 300) for one in evidence.warnings if one.startswith("Not recorded"))


def _count(fetched: int, total: int | None, *, truncated: bool) -> str:
    if total is not None and total > fetched:
        return f"{total} rows were found, of which {fetched} are shown."
    if truncated:
        return f"More rows were found than the {fetched} that are shown."
    return "1 row was found." if fetched == 1 else f"{fetched} rows were found."


def _first_rows(evidence: Evidence, model: SemanticModel) -> Iterator[str]:
    key = model.evidence_key.lower()
    names = evidence.result.names()
    kept = [place for place, name in enumerate(names) if name.lower() != key][:_COLUMNS] or [0]
    first = evidence.result.rows[:_ROWS]
    texts = [", ".join(f"{names[place]} = {shown(row[place])}" for place in kept) for row in first]
    label = (
        "It is"
        if len(evidence.result.rows) == 1
        else "They are"
        if len(first) == len(evidence.result.rows)
        else "The first are"
    )
    yield f"{label}: {'; '.join(texts)}."
