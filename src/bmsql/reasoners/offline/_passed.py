"""Everyday words that a plan would pass over although they change what is asked: `mainly`, `in the last 5 years`."""

from __future__ import annotations

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._question import Question
from bmsql.semantic import SemanticModel
from bmsql.types import Plan

_WEIGHING = frozenset(
    "mainly mostly primarily chiefly largely predominantly principally partly twice thrice doubly".split()
)
_SELF = frozenset(
    {"i", "we", "i'm", "we're", "am", "interested", "want", "need", "looking", "curious", "care", "after"}
)
_SPANS = frozenset({"year", "years", "month", "months", "decade", "decades", "week", "weeks"})
_RELATIVE = frozenset({"last", "past", "next", "previous", "coming", "recent", "this"})
_LIKENESS = frozenset({"same", "opposite", "concordant", "discordant"})
_SIGNS = frozenset({"direction", "directions", "sign", "signs"})
_AGREEING = frozenset("differ differs differing disagree disagrees agree agrees agreeing".split())
_ENDS = frozenset({"ends", "ending", "end", "starts", "starting", "start", "begins", "beginning", "begin"})
_NAMES = frozenset({"name", "names", "named", "symbol", "symbols"})
_HOLDING = frozenset({"by", "in", "with", "have", "has", "having", "as"})
_CLOSE = frozenset({"near", "around", "close", "nearby"})
_MARKS = _CLOSE | _WEIGHING | _SPANS | _LIKENESS | _AGREEING | _ENDS | {"every", "both", "other"}
_REACH = 3


def passed_over(question: Question, plan: Plan, model: SemanticModel) -> str:
    """Why a word of the question does not stand in the plan, or an empty string."""
    if _MARKS.isdisjoint(question.lows):
        return ""
    for index, low in enumerate(question.lows):
        if low in _MARKS:
            problem = _at(question, plan, index, low, model)
            if problem:
                return problem
    return ""


def _at(question: Question, plan: Plan, index: int, low: str, model: SemanticModel) -> str:
    lows = question.lows
    if low in _WEIGHING and not _SELF & set(lows[max(0, index - 1) : index + 2]) and not _is_phrase(question, index):
        return f"How much '{low}' is, the tables do not tell; ask without it."
    if low in _SPANS and _RELATIVE & set(lows[max(0, index - 2) : index]) and not _is_phrase(question, index):
        return f"'{' '.join(lows[max(0, index - 2) : index + 1])}' depends on the day; give the years."
    if low in _LIKENESS and _SIGNS & set(lows[index + 1 : index + _REACH]) and not _looks_up(question, model):
        return f"A comparison of directions ('{low} ...') is not worked out here; ask for the effects of both."
    if low in _AGREEING and not _looks_up(question, model):
        return f"Whether two values '{low}' is not worked out here; ask for both."
    if low in _ENDS and lows[index + 1 : index + 2] == ["with"] and _NAMES & set(lows[max(0, index - _REACH) : index]):
        return "How a name begins or ends is not matched; give the whole name, or a kind of thing."
    if low in _CLOSE and any(
        index < place.first <= index + 2 for one, place in question.regions if one.first == one.last
    ):
        return f"It is not clear how near '{low}' a position is; give a distance."
    behind = next((one for one in question.chunked.chunks if 1 <= one.first - index <= _REACH), None)
    if low == "every" and lows[max(0, index - 1) : index] in (["in"], ["across"]) and plan.distinct:
        named = any(one.op == "match" and model.entities[one.target].kind == "symbol" for one in plan.filters)
        if behind is not None and not named and plan.combine != "join" and _is_category(behind, model):
            return f"What holds in '{low} {behind.text}' at once is not worked out here; name a few of them."
    if low == "both" and lows[max(0, index - 1) : index] and lows[index - 1] in _HOLDING and plan.combine == "single":
        several = [one for one in plan.filters if one.op == "match" and len(one.values) > 1 and ", " in one.words]
        for one in several:
            if behind is not None and one.words.startswith(behind.text) and plan.intent != "lookup":
                return f"What has both of '{one.words}' is not worked out here; ask for each alone."
    if low == "other" and behind is not None and not any(one.negated for one in plan.filters):
        terms = [name for name in behind.names("noun") if model.entities[name].kind == "term"]
        named_term = any(one.linked.entity in terms for one in question.chunked.mentions)
        if named_term and all(join.kind != "anti" for join in plan.joins):
            return f"Which '{low} {behind.text}' are meant is not worked out here; name them."
    return ""


def _is_phrase(question: Question, index: int) -> bool:
    """Whether a word is part of a longer phrase that was read."""
    chunks = (*question.chunked.chunks, *question.chunked.rules, *question.chunked.hints)
    return any(one.first <= index < one.last and one.last - one.first > 1 for one in chunks)


def _is_category(chunk: Chunk, model: SemanticModel) -> bool:
    names = (*chunk.names("noun"), *((chunk.linked.entity,) if chunk.mention else ()))
    return any(model.entities[name].kind in ("category", "term") for name in names)


def _looks_up(question: Question, model: SemanticModel) -> bool:
    """Whether a row is looked up by the name of what it is of, so that the reader sees both directions."""
    subjects = {model.families[family].subject for family in question.families}
    return any(one.linked.entity in subjects for one in question.chunked.mentions)
