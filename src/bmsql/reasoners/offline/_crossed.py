"""Conditions said in pairs: `near CLU in A and near SNCA in B` asks for two pairs, not for each with each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bmsql.reasoners.offline._alternatives import span_of
from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._question import Question
from bmsql.semantic import SemanticModel
from bmsql.types import Filter, Plan

_PARTING = frozenset({"and", "while", "whereas", "but", "or", ","})


class Said(NamedTuple):
    """Where a condition is said: its tokens, what it is on, and its words."""

    first: int
    last: int
    target: str
    words: str


class Sides(NamedTuple):
    """Two values of one thing, and the token that parts what is said of the first from what is of the second."""

    first: Chunk
    second: Chunk
    parting: int


def sides(question: Question, said: Sequence[Said], model: SemanticModel) -> Sides | None:
    """The first and the second disease of a question that names two, where something parts them."""
    terms = [one for one in question.chunked.mentions if model.entities[one.linked.entity].kind == "term"]
    if len({one.linked.value for one in terms}) != 2:
        return None
    first = terms[0]
    second = next(one for one in terms if one.linked.value != first.linked.value)
    parting = [index for index in range(first.last, second.first) if question.lows[index] in _PARTING]
    if not parting:
        return None
    # `A hits near CLU and BIN1 and B hits ...`: what follows the first value is still said of it.
    trailing = any(first.last <= one.first < parting[0] for one in said)
    return Sides(first, second, parting[-1] if trailing else parting[0])


def parted(question: Question, said: Sequence[Said], model: SemanticModel) -> Sides | None:
    """The sides of a question that says something of the second value alone, and of the first one as well."""
    found = sides(question, said, model) if said else None
    if found is None:
        return None
    first, second, parting = found
    own = [one for one in said if parting < one.first < second.first]
    before = any(one.first < parting for one in said)
    trailing = [one for one in said if first.last <= one.first < parting]
    behind = any(one.first >= second.last for one in said)
    return found if (own and before) or (trailing and behind) else None


def rules_apart(question: Question, model: SemanticModel) -> list[str]:
    """`significant in A and suggestive in B`: rules, or a phase, of the second value, where the first has others."""
    found = sides(question, (), model) if question.chunked.rules else None
    if found is None:
        return []
    imply = [one for one in question.chunked.rules if any(sense.mode == "imply" for sense in one.senses)]
    before = {name for rule in imply if rule.first < found.parting for name in rule.names("rule")}
    between = range(found.parting + 1, found.second.first)
    phases = [one.words for one in question.numbers.comparisons if one.kind == "phase" and one.first in between]
    own = [rule.text for rule in imply if rule.first in between and before.isdisjoint(rule.names("rule"))]
    special = [rule.text for rule in imply if rule.first in between and set(rule.names("rule")) - before]
    return (phases or own or special) if before else []


def crossed(question: Question, plan: Plan, model: SemanticModel) -> str:
    """A pair of conditions that the plan asks for each with each."""
    if _PARTING.isdisjoint(question.lows):
        return ""
    everywhere = [one for one in plan.filters if one.words and _is_everywhere(one, plan)]
    said = stated(question, everywhere)
    terms = [one for one in question.chunked.mentions if model.entities[one.linked.entity].kind == "term"]
    named = {one.first for one in terms}
    others = [one for one in said if one.first not in named]
    pairs = sorted([*others, *(Said(one.first, one.last, one.linked.entity, one.text) for one in terms)])
    if plan.combine != "join":
        found = parted(question, others, model)
        own = [one.words for one in others if found and found.parting < one.first] or rules_apart(question, model)
        if own:
            return f"It is not clear of what '{own[0]}' is said; ask for each alone."
    for place, one in enumerate(pairs[:-3]):
        left, right, again, last = pairs[place : place + 4]
        alternate = (left.target, right.target) == (again.target, last.target) and left.target != right.target
        if alternate and left.words.lower() != again.words.lower() and right.words.lower() != last.words.lower():
            return f"It is not clear what '{one.words}' and '{again.words}' each go with; ask for each alone."
    return ""


def stated(question: Question, filters: Iterable[Filter]) -> list[Said]:
    """Where the conditions of some filters are said; one for each of several values."""
    found = []
    numbers = {one.words: (one.first, one.last) for one in question.numbers.comparisons}
    for one in filters:
        for words in one.words.split(", ") if one.op == "match" else (one.words,):
            span = numbers.get(words) or span_of(words, question)
            if span is not None:
                found.append(Said(*span, one.target, words))
    return sorted(set(found))


def _is_everywhere(one: Filter, plan: Plan) -> bool:
    """Whether a filter holds for all sources of a plan."""
    if not one.source or len(plan.sources) == 1:
        return True
    return len({each.source for each in plan.filters if each.words == one.words}) == len(plan.sources)
