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
_ORDER = frozenset({"earlier", "later", "sooner"})
_ASKS_WHETHER = frozenset({"are", "is", "do", "does", "have", "has", "were", "was"})
_ALL = frozenset({"all", "every", "each"})
_MARKS = _CLOSE | _ORDER | _WEIGHING | _SPANS | _LIKENESS | _AGREEING | _ENDS | {"every", "both", "other"}
_REACH = 3


def universal(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`are all of them significant`, `is the top one near X`: a yes or no that rows which hold do not give."""
    lows = question.lows
    if lows[:1] and lows[0] in _ASKS_WHETHER and lows[1:2] and lows[1] in _ALL:
        return f"Whether '{lows[1]}' of them are so is not worked out here; ask which are, and which are not."
    if lows[:2] in (["is", "the"], ["was", "the"], ["are", "the"]) and plan.intent == "rank" and plan.aggregate is None:
        ranks = question.chunked.english("best", "most", "largest", "smallest", "fewest")
        nouns = [one for one in question.chunked.of("noun") if not one.mention]
        told = [one for one in nouns if ranks and one.first >= ranks[0].first]
        last = told[0].last if told else len(lows)
        if any(one.first >= last for one in (*question.chunked.mentions, *(place for _, place in question.regions))):
            return "Whether the first of a ranking is so is not worked out here; ask which one it is."
    return ""


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
    finders = (_weighed, _in_time, _alike, _named_by_an_end, _near_a_kind, _at_once, _others)
    return next((found for find in finders if (found := find(question, plan, index, low, model))), "")


def _weighed(question: Question, plan: Plan, index: int, low: str, model: SemanticModel) -> str:
    """`mainly used for`; what the asker is mainly interested in is only a way of asking."""
    asker = _SELF & set(question.lows[max(0, index - 1) : index + 2])
    weighing = low in _WEIGHING and not asker and not _is_phrase(question, index)
    return f"How much '{low}' is, the tables do not tell; ask without it." if weighing else ""


def _in_time(question: Question, plan: Plan, index: int, low: str, model: SemanticModel) -> str:
    """`in the last 5 years`, `this year`, `first for A and later for B`."""
    before = question.lows[max(0, index - 2) : index]
    if low in _SPANS and _RELATIVE & set(before) and not _is_phrase(question, index):
        return f"'{' '.join([*before, low])}' depends on the day; give the years."
    if low in _ORDER and not _is_compared(question, index) and not _is_phrase(question, index):
        return f"Which came '{low}' is not worked out here; ask for the years."
    return ""


def _alike(question: Question, plan: Plan, index: int, low: str, model: SemanticModel) -> str:
    """`the same direction in both`, `whose frequency differs`; of one named thing, both values are seen."""
    directions = low in _LIKENESS and _SIGNS & set(question.lows[index + 1 : index + _REACH])
    if not (directions or low in _AGREEING) or _looks_up(question, model):
        return ""
    return f"Whether values are alike ('{low} ...') is not worked out here; ask for both."


def _named_by_an_end(question: Question, plan: Plan, index: int, low: str, model: SemanticModel) -> str:
    """`whose name ends with mab`."""
    names = _NAMES & set(question.lows[max(0, index - _REACH) : index])
    if low in _ENDS and question.lows[index + 1 : index + 2] == ["with"] and names:
        return "How a name begins or ends is not matched; give the whole name, or a kind of thing."
    return ""


def _near_a_kind(question: Question, plan: Plan, index: int, low: str, model: SemanticModel) -> str:
    """`near position 44,000,000`, without a distance; `near a significant SNP`, of rows that are no SNPs."""
    if low not in _CLOSE:
        return ""
    if any(index < place.first <= index + 2 for one, place in question.regions if one.first == one.last):
        return f"It is not clear how near '{low}' a position is; give a distance."
    place = _place(question, index, model)
    subjects = {model.families[model.tables[source.table].family].subject for source in plan.sources}
    others = {family.subject for family in model.families.values()} - subjects
    if place is not None and set(place.names("noun")) <= others:
        return f"What lies '{low}' a {place.text} is not told by the {_labels(question, model)}."
    return ""


def _at_once(question: Question, plan: Plan, index: int, low: str, model: SemanticModel) -> str:
    """`in every brain tissue`, `by both an agonist and an antagonist`: several rows at once."""
    behind, before = _behind(question, index), question.lows[max(0, index - 1) : index]
    if behind is None or plan.combine == "join":
        return ""
    named = any(one.op == "match" and model.entities[one.target].kind == "symbol" for one in plan.filters)
    across = low == "every" and before in (["in"], ["across"]) and plan.distinct
    if across and not named and _is_category(behind, model):
        return f"What holds in '{low} {behind.text}' at once is not worked out here; name a few of them."
    held = low == "both" and plan.combine == "single" and plan.intent != "lookup" and set(before) & _HOLDING
    for one in plan.filters if held else ():
        if one.op == "match" and len(one.values) > 1 and one.words.startswith(f"{behind.text}, "):
            return f"What has both of '{one.words}' is not worked out here; ask for each alone."
    return ""


def _others(question: Question, plan: Plan, index: int, low: str, model: SemanticModel) -> str:
    """`approved for other diseases`: others than the one that is named."""
    behind = _behind(question, index) if low == "other" else None
    if behind is None or any(one.negated for one in plan.filters) or any(join.kind == "anti" for join in plan.joins):
        return ""
    terms = [name for name in behind.names("noun") if model.entities[name].kind == "term"]
    if any(one.linked.entity in terms for one in question.chunked.mentions):
        return f"Which '{low} {behind.text}' are meant is not worked out here; name them."
    return ""


def _behind(question: Question, index: int) -> Chunk | None:
    return next((one for one in question.chunked.chunks if 1 <= one.first - index <= _REACH), None)


def _place(question: Question, index: int, model: SemanticModel) -> Chunk | None:
    """The kind of thing that something is said to lie near: `near a significant AD SNP`, but not `near SNCA`."""
    behind = [one for one in question.chunked.chunks if 1 <= one.first - index <= _REACH + 2]
    for one in behind:
        if one.mention and model.entities[one.linked.entity].kind != "term":
            return None
        if one.names("noun") and not one.mention:
            return one
    return None


def _labels(question: Question, model: SemanticModel) -> str:
    return " and ".join(model.families[family].label for family in question.families)


def _is_compared(question: Question, index: int) -> bool:
    """Whether a word is part of a comparison with a number, as in `2015 or later`."""
    return any(one.first <= index < one.last for one in question.numbers.comparisons)


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
