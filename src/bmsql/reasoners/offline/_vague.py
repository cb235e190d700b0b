"""Words that ask for something without saying how much, or apart from what: `a high frequency`, `each of A and B`."""

from __future__ import annotations

from collections.abc import Sequence

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._question import Question
from bmsql.semantic import SemanticModel
from bmsql.types import Plan

_COPULAS = frozenset({"is", "are", "was", "were"})
_ROUGHLY = frozenset({"around", "about", "near", "nearly", "roughly", "approximately", "almost", "circa"})
_PARTING = frozenset({"each", "respectively", "versus", "vs"})
_TOPS = frozenset({"top", "best", "first", "last", "strongest", "past", "next"})


def graded(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`recently approved`, `a large effect`, `few targets`: a grade of what is asked, without a number."""
    if question.vocabulary is None:
        return ""
    graded_words = question.vocabulary.graded
    if graded_words.isdisjoint(question.lows):
        return ""
    chunked = question.chunked
    # A rule of the user's own may say what `common` means.
    covering = [one for one in (*chunked.chunks, *chunked.hints) if one.last - one.first > 1] + chunked.rules
    text = " ".join(str(value).lower() for one in plan.filters for value in one.values if isinstance(value, str))
    for index, low in enumerate(question.lows):
        if low not in graded_words or _is_covered(index, covering) or low in text:
            continue
        if question.numbers.gloss(index) or question.lows[max(0, index - 1) : index] == ["how"]:
            continue
        if question.lows[index - 1 : index] and question.lows[index - 1] in _TOPS:
            continue
        graded_ = _graded(question, index, model)
        if graded_:
            return f"It is not clear how much '{chunked.tokens[index].text} {graded_}' is; give a number or a year."
    return ""


def strictness(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`a stricter cut-off`: how strict is told by its number alone."""
    cues = question.chunked.english("strictness")
    stated = {one.words for one in question.numbers.comparisons if one.kind == "value"}
    if not cues or any(one.words in stated for one in plan.filters):
        return ""
    return f"It is not clear how much '{cues[0].text}' is; give the p-value."


def _graded(question: Question, index: int, model: SemanticModel) -> str:
    """The text of what is graded: right behind the word, or before it in `the effect is large`."""
    chunked = question.chunked
    things = [one for one in (*chunked.chunks, *chunked.rules) if _has_degrees(one, model)]
    behind = next((one for one in things if one.first == index + 1), None)
    if behind is not None:
        return behind.text
    if question.lows[max(0, index - 1) : index] and question.lows[index - 1] in _COPULAS:
        before = next((one for one in things if one.last == index - 1 and one.names("attribute")), None)
        return "" if before is None else f"({before.text})"
    return ""


def _has_degrees(chunk: Chunk, model: SemanticModel) -> bool:
    """Whether there can be much or little of what a chunk names: a thing, a rule, a count or a measure."""
    if chunk.mention or chunk.names("noun") or chunk.names("rule") or chunk.names("condition"):
        return True
    attributes = [model.attributes[name] for name in chunk.names("attribute")]
    return chunk.is_english("count") or any(one.measure or one.entity for one in attributes)


def _is_covered(index: int, chunks: Sequence[Chunk]) -> bool:
    return any(one.first <= index < one.last for one in chunks)


def roughly(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`a frequency around 0.3`: how near is near."""
    equal = [one for one in question.numbers.comparisons if one.op == "=" and one.kind in ("value", "year", "count")]
    for one in equal:
        before = question.lows[max(0, one.first - 1) : one.first + 1]
        said = next((low for low in before if low in _ROUGHLY), "")
        if said and any(filter_.words == one.words for filter_ in plan.filters):
            return f"It is not clear how near '{said} {one.words}' is; give a range."
    return ""


def between_names(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`SNPs between SNCA and MMRN1`: the stretch that lies between two named things is not known."""
    if "between" not in question.lows:
        return ""
    chunked = question.chunked
    placed = any(
        entity.kind == "region" and set(question.families) & set(entity.match) for entity in model.entities.values()
    )
    for one in chunked.mentions:
        before = one.first - 1
        other = next((each for each in chunked.mentions if each.first == one.last + 1), None)
        symbols = other is not None and model.entities[one.linked.entity].kind == "symbol"
        if not (placed and symbols and before >= 0 and question.lows[before] == "between"):
            continue
        if other is not None and other.linked.entity == one.linked.entity and not _is_covered(before, chunked.chunks):
            return f"What lies between {one.text} and {other.text} is not known; name a region by its positions."
    return ""


def exclusive(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`whose only target is X`, `approved for Y only`: that there is nothing else is not asked of the rows."""
    cues = question.chunked.english("only")
    if not cues or any(join.kind == "anti" for join in plan.joins):
        return ""
    exploded = any(model.families[family].exploded for family in question.families)
    approved = any(use.mode == "implied" and use.rule.startswith("approved") for use in plan.conventions)
    for cue in cues:
        behind = next((one for one in question.chunked.chunks if 0 <= one.first - cue.last <= 1), None)
        held = (
            behind is not None
            and not behind.mention
            and any(model.attributes[name].entity for name in behind.names("attribute"))
        )
        term = any(
            one.last == cue.first and model.entities[one.linked.entity].kind == "term"
            for one in question.chunked.mentions
        )
        beside = any(0 <= rule.first - cue.last <= 1 for rule in question.chunked.rules)
        if held or (exploded and approved and (term or beside)):
            return f"That there is nothing else ('{cue.text}') is not worked out here; ask without it."
    return ""


def ordinals(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`which drug was licensed first`: an order that the plan has not."""
    if plan.intent == "rank" or ("first" not in question.lows and "last" not in question.lows):
        return ""
    words = [index for index, token in enumerate(question.chunked.tokens) if token.kind != "stop"]
    covering = (*question.chunked.chunks, *question.chunked.rules, *question.chunked.hints)
    for index in words:
        low = question.lows[index]
        things = [one.first for one in question.chunked.chunks if one.mention or one.names("noun")]
        placed = index == words[-1] or index + 1 in things
        if low in ("first", "last") and placed and not _is_covered(index, covering):
            return f"It is not clear what '{low}' orders by."
    return ""


def unmade(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`what percent of`, `the range of`: figures that no plan makes of its rows."""
    for cue in question.chunked.english("unmade"):
        if not any(cue.first < one.last and one.first < cue.last for one in question.numbers.comparisons):
            return f"'{cue.text}' is not worked out here; ask for the counts or the values themselves."
    return ""


def apart(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`how many has each of A and B`, `are there more in A or in B`: one figure of both together is no answer."""
    one_figure = (plan.aggregate is not None and not plan.group_by) or (plan.limit == 1 and plan.combine != "union")
    most = _asks_which_has_most(question, plan)
    one_figure = one_figure or most
    if not one_figure or plan.combine not in ("single", "union") or len(plan.sources) > 1:
        return ""
    cue = parting(question)
    if not cue or (cue == "which of" and plan.aggregate is None and not most):
        return ""  # `which of A and B has the most significant SNP`: the best row of both tells
    several = next((one for one in plan.filters if len(one.values) > 1 and "," in one.words), None)
    either = (one for one in plan.filters if one.any_of or (one.op == "=" and len(one.values) > 1))
    several = several or next(either, None)
    if several is not None:
        return f"It is not clear how to tell '{several.words}' apart ('{cue}'); ask for each alone."
    return ""


def parting(question: Question) -> str:
    """The words by which a figure is asked of each of several things, or an empty string."""
    lows = question.lows
    found = next((low for low in lows if low in _PARTING), "")
    if found or not question.has("count", "most", "best", "compare"):
        return found or ("more" if _asks_which_has_more(question) else "")
    compared = question.chunked.english("compare")
    counts = [one for one in question.chunked.english("count") if one.text.lower() == "how many"]
    if compared or len(counts) > 1:
        return compared[0].text if compared else "how many"
    return "more" if _asks_which_has_more(question) else "which of" if _asks_which_of(question) else ""


def _asks_which_of(question: Question) -> bool:
    """`which of A, B and C`: one of things that are named."""
    starts = {one.first for one in question.chunked.mentions}
    return any(question.lows[first - 2 : first] == ["which", "of"] for first in starts if first > 1)


def _asks_which_has_most(question: Question, plan: Plan) -> bool:
    """`which of A and B has the most significant SNPs`: how many, where the plan lists them."""
    if plan.intent != "rank" or not _asks_which_of(question):
        return False
    behind = [(cue, one) for cue in question.chunked.english("best") for one in question.chunked.of("noun")]
    return any(
        cue.text.lower().startswith("most") and 0 <= one.first - cue.last <= 1 and one.text.lower().endswith("s")
        for cue, one in behind
    )


def _asks_which_has_more(question: Question) -> bool:
    """`more ... in A or in B`: not `more than 3`, and not more of something."""
    compared = {index for one in question.numbers.comparisons for index in range(one.first, one.last)}
    for index, low in enumerate(question.lows):
        if low in ("more", "fewer", "less") and index not in compared:
            return "or" in question.lows[index:] or _asks_which_of(question)
    return False
