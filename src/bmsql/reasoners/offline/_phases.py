"""Trial phases that a question names: beside an approval, or only judged of a drug that is looked up."""

from __future__ import annotations

from collections.abc import Sequence

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._comparisons import Comparison
from bmsql.reasoners.offline._conventions import is_lookup
from bmsql.reasoners.offline._part import PartReader
from bmsql.reasoners.offline._question import Question
from bmsql.semantic import SemanticModel
from bmsql.types import Filter

# How far apart, in words, a phase and the approval beside it may stand.
_NEAR = 4
_ASKS_FOR = frozenset({"there", "any", "which", "what"})
_HEAD = 4


def or_approved(reader: PartReader, family: str, filters: list[Filter], triggers: Sequence[Chunk]) -> list[Filter]:
    """`approved or in phase 3`: the approval rule's own value beside the phase that is named."""
    question = reader.question
    phases = [one for one in question.numbers.comparisons if one.kind == "phase" and one.op == "="]
    for use in reader.uses(family, triggers, frozenset()) if phases else ():
        rule = reader.rules[use.rule]
        if rule.kind != "approval" or use.mode != "implied" or rule.op != "=":
            continue
        for one in phases:
            if "or" in _between(question, triggers, use.words, one.first, one.last):
                filters = [
                    each.model_copy(update={"values": (*each.values, int(rule.value))})  # type: ignore[arg-type]
                    if each.target == rule.role and each.words == one.words
                    else each
                    for each in filters
                ]
    return filters


def _between(question: Question, triggers: Sequence[Chunk], words: str, first: int, last: int) -> list[str]:
    """The words between a trigger phrase and a stretch of tokens, if they stand close."""
    for trigger in triggers:
        if trigger.text == words:
            inner = (trigger.last, first) if trigger.last <= first else (last, trigger.first)
            if 0 <= inner[1] - inner[0] <= _NEAR:
                return question.lows[inner[0] : inner[1]]
    return []


def filtering(
    question: Question,
    family: str,
    yes_no: bool,
    named: Sequence[Filter],
    comparisons: list[tuple[Comparison, Filter]],
    model: SemanticModel,
) -> list[tuple[Comparison, Filter]]:
    """The comparisons that filter rows: `did X reach phase 3 for Y` looks at all phases, and is judged by them."""
    phases = [one for one, _ in comparisons if one.kind == "phase"]
    if not phases or not yes_no or _ASKS_FOR & set(question.lows[:_HEAD]) or not is_lookup(family, named, model):
        return comparisons
    question.judged |= {one.words for one in phases}
    return [pair for pair in comparisons if pair[0] not in phases]
