"""Words of a question that a plan would drop without a trace: letters, numbers in words, what is shared."""

from __future__ import annotations

from bmsql.reasoners.offline._comparisons import Comparison
from bmsql.reasoners.offline._question import Question
from bmsql.reasoners.offline._rankings import counted_measure
from bmsql.reasoners.offline._shape import is_measured
from bmsql.semantic import SemanticModel
from bmsql.types import Plan

_SHARING = frozenset(
    {"share", "shared", "shared by", "shared between", "in common", "overlap", "overlapping", "common to"}
)
_POINTED = (["these"], ["those"], ["the"], ["both"])


def lone_letter(question: Question, model: SemanticModel) -> str:
    """A capital letter that no chunk covers, such as an allele, where no named thing is looked up."""
    letters = [
        (index, token.text)
        for index, token in enumerate(question.chunked.tokens)
        if index and len(token.text) == 1 and token.kind == "word" and token.text.isupper() and token.text != "I"
    ]
    subjects = {model.families[family].subject for family in question.families} if letters else set()
    if not letters or any(chunk.linked.entity in subjects for chunk in question.chunked.mentions):
        return ""
    chunks = (*question.chunked.chunks, *question.chunked.rules, *question.chunked.hints)
    for index, text in letters:
        if not any(chunk.first <= index < chunk.last for chunk in chunks):
            return text
    return ""


def less(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`reduced expression` turns a direction round; without one it would say nothing."""
    cues = question.chunked.english("less_of")
    if not cues or any(use.rule in question.directions for use in plan.conventions):
        return ""
    return f"It is not clear what '{cues[0].text}' does."


def shared(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`which diseases share a drug with X`: with one thing named, what it shares with others is not expressed."""
    lows = question.lows
    cues = [
        chunk
        for chunk in question.chunked.english("both")
        if chunk.text.lower() in _SHARING and lows[chunk.last : chunk.last + 1] != ["of"]  # `what share of ...`
    ]
    if not cues or plan.joins or plan.combine != "single":
        return ""
    named = [one.target for one in plan.filters if one.op == "match"]
    if len(named) == len(set(named)) and all(len(one.values) <= 1 for one in plan.filters):
        return f"It is not clear what '{cues[0].text}' compares."
    return ""


def ratios(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`effect per standard error`: no plan divides one measure by another."""
    cues = [cue for cue in question.chunked.english("per") if cue.text.lower() == "per"]
    families = {model.tables[source.table].family for source in plan.sources} if cues else set()
    for cue in cues:
        behind = next((one for one in question.chunked.of("attribute") if 0 <= one.first - cue.last <= 1), None)
        before = any(0 <= cue.first - one.last <= 1 for one in question.chunked.of("attribute"))
        if behind and before and any(is_measured(behind, one, model) for one in families):
            return f"A ratio ('per {behind.text}') is not understood; ask for both measures."
    return ""


def several(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`between two genes`, `at three loci`: a number in words beside things that are not named."""
    if question.vocabulary is None:
        return ""
    numbers = question.vocabulary.number_words
    counting = [(index, low) for index, low in enumerate(question.lows) if low in numbers or low == "single"]
    if not counting:
        return ""
    used = {index for one in question.numbers.comparisons for index in range(one.first, one.last)}
    used |= {question.numbers.limit_at} if question.numbers.limit_at is not None else set()
    families = {model.tables[source.table].family for source in plan.sources}
    for index, low in counting:
        single = low == "single" and index not in used and question.lows[max(0, index - 1) : index] == ["a"]
        if single and any(counted_measure(question, index + 1, family, model) for family in families):
            return "It is not clear what 'a single' restricts; say 'exactly one'."
        count = numbers.get(low, 0)
        if count < 2 or index in used or question.lows[max(0, index - 1) : index] in _POINTED:
            continue
        noun = next((one for one in question.chunked.of("noun") if one.first == index + 1 and not one.mention), None)
        things = [name for name in noun.names("noun") if families & set(model.entities[name].match)] if noun else []
        named = sum(chunk.linked.entity in things for chunk in question.chunked.mentions)
        if things and named < count:
            return f"It is not clear what '{low} {noun.text if noun else ''}' restricts."
    return ""


def members(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`which genes are in this gene set`: a table that only counts a thing does not tell which it is."""
    asked = question.asked()
    if asked is None or plan.intent == "count" or len(plan.sources) == 0 or plan.joins:
        return ""
    family = model.tables[plan.sources[0].table].family
    subject = model.families[family].subject
    first = next(iter(asked.names("noun")), "")
    if not first or first == subject or family in model.entities[first].match or asked.mention:
        return ""
    if subject in asked.names("noun") and any(one.op == "match" and one.target == subject for one in plan.filters):
        return f"The {model.families[family].label} do not say which {model.entities[first].plural} they have."
    return ""


def trivial(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`genes targeted by A but not by B`: a row of A is never one of B, so that the "not" would say nothing."""
    asked = question.asked()
    nouns = asked.names("noun") if asked is not None else ()
    for family in question.families:
        subject = model.families[family].subject
        named = [one for one in plan.filters if one.op == "match" and one.target == subject]
        if len({one.negated for one in named}) > 1 and nouns and subject not in nouns and not plan.joins:
            out = next(one.words for one in named if one.negated)
            return f"What is left without '{out}' is not worked out here; ask for each alone."
    return ""


def besides(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`what else than A does B act on`: the row of B lists all of it, and would be left out as a whole."""
    if plan.distinct or plan.group_by or plan.aggregate or len(plan.sources) != 1:
        return ""
    family = model.tables[plan.sources[0].table].family
    matched = [one for one in plan.filters if one.op == "match"]
    if not any(one.target == model.families[family].subject and not one.negated for one in matched):
        return ""
    for one in matched:
        entity = model.entities[one.target]
        recipe = entity.match.get(family)
        if one.negated and recipe is not None and recipe.how in ("item", "listed"):
            return f"What is left without '{one.words}' is not worked out here; ask for all {entity.plural}."
    return ""


def asks_for_any(one: Comparison, plan: Plan, model: SemanticModel) -> bool:
    """`with at least one drug`: that a row is joined says so."""
    if one.kind != "count" or one.noun is None or (one.op, one.values) not in ((">=", (1.0,)), (">", (0.0,))):
        return False
    subjects = {model.families[model.tables[source.table].family].subject for source in plan.sources}
    return bool(subjects & set(one.noun.names("noun"))) and all(join.kind != "anti" for join in plan.joins)
