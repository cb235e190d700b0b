"""What a plan leaves out of its question: a reading that drops a number or a "not" is no answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bmsql.reasoners.offline import _structure, _wordings
from bmsql.reasoners.offline._alternatives import absent_and_present, contradiction, unjoined
from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._crossed import crossed
from bmsql.reasoners.offline._dropped import (
    asks_for_any,
    besides,
    less,
    lone_letter,
    members,
    ratios,
    several,
    shared,
    trivial,
)
from bmsql.reasoners.offline._exclusions import parted
from bmsql.reasoners.offline._passed import passed_over, universal
from bmsql.reasoners.offline._question import Question
from bmsql.reasoners.offline._rankings import has_number, is_superlative
from bmsql.reasoners.offline._vague import (
    apart,
    between_names,
    exclusive,
    graded,
    ordinals,
    roughly,
    strictness,
    unmade,
)
from bmsql.semantic import SemanticModel
from bmsql.types import Filter, Plan

_NOT_COMPARING = frozenset({"rather", "other"})
_PRONOUNS = frozenset({"it", "that", "this", "them", "those", "each", "one"})
_ORDINALS = frozenset({"second", "third", "fourth", "fifth", "2nd", "3rd", "4th", "5th"})
_HEEDED = _ORDINALS | {"not", "least", "only"}
_COMPARING = frozenset({"than", "before", "after", "same", "below", "above", "under", "over", "exceeding"})
# How many words may stand between an ordinal and the superlative that it counts.
_NEAR_RANK = 3
# How far from a superlative what it ranks by may stand.
_BESIDE_A_RANK = 5
# How many words may stand between a "not" and the words that waive a rule.
_NEAR_WAIVER = 2
_ONE = frozenset({"one", "1", "once", "a", "two"})
_LAST_LATIN = 0x24F
_GREEK = frozenset("\u03b1\u03b2\u03b3\u03b4\u03b5\u03ba\u03bb\u03bc\u03c3\u03c4\u03c9\u0391\u0392\u0394")
_IDLE_NOT = frozenset({"no", "not", "without", "don't", "doesn't"})


def doubt(question: Question, plan: Plan, model: SemanticModel) -> str:
    """Why the plan cannot be the whole question, or an empty string."""
    for check in _CHECKS:
        problem = check(question, plan, model)
        if problem:
            return problem
    return ""


def _unread(question: Question, plan: Plan, model: SemanticModel) -> str:
    """Wordings that no plan expresses: they are refused rather than read as something else."""
    lows = question.lows
    if not question.text.isascii() and any(
        letter.isalpha() and ord(letter) > _LAST_LATIN and letter not in _GREEK for letter in question.text
    ):
        return "Only English is understood here."
    said = next((word for word in ("neither", "nor") if word in lows), "")
    if said:
        return f"'{said}' is not understood; ask for each part on its own."
    ranks = question.chunked.english("best", "most", "largest", "smallest", "fewest")
    heeded = (index for index, low in enumerate(lows) if low in _HEEDED)
    problem = next((found for index in heeded if (found := _unread_at(question, plan, index, ranks))), "")
    if problem:
        return problem
    last = ranks[-1] if ranks else None
    by_size = bool(plan.order) and plan.intent == "rank" and _is_size(plan.order[0].column, model)
    if (
        last is not None
        and " " not in last.text
        and plan.aggregate is None
        and not (last.names("attribute") or by_size)
    ):
        end = max((index + 1 for index, token in enumerate(question.chunked.tokens) if token.kind != "stop"), default=0)
        if last.last == end:
            return f"It is not clear what '{last.text}' ranks by."
    letter = lone_letter(question, model)
    if letter:
        return f"It is not clear what '{letter}' restricts."
    if question.distance and question.regions and not any(region.first for region, _ in question.regions):
        return "A distance needs a position, a SNP or a gene to start from."
    return ""


def _is_size(role: str, model: SemanticModel) -> bool:
    """Whether "the most", without more, can be of a role: `raises the risk the most`."""
    return any(one.numbers == "size" and role in one.measure.values() for one in model.attributes.values())


def _unread_at(question: Question, plan: Plan, index: int, ranks: Sequence[Chunk]) -> str:
    low, follower = question.lows[index], "".join(question.lows[index + 1 : index + 2])
    behind = [rule for rule in question.chunked.rules if rule.first == index + 1]
    if low == "not" and (follower == "both" or any(_complements(rule) for rule in behind)):
        return f"'not {follower}' is not understood; say it without the negation."
    if low in _ORDINALS and any(0 <= rank.first - index <= _NEAR_RANK for rank in ranks):
        return f"A rank of its own ('{low} ...') is not understood; ask for the top rows."
    if low == "least" and behind and question.lows[max(0, index - 1) : index] != ["at"]:
        return "The least significant rows cannot be asked for; ask for rows that are not significant."
    named = follower in _ONE or any(one.first == index + 1 for one in question.chunked.mentions)
    excluded = any(join.kind == "anti" for join in plan.joins) or any(
        use.mode == "complement" for use in plan.conventions
    )
    if low == "only" and named and not excluded:
        return f"It is not clear what 'only {follower}' leaves out."
    return ""


def _complements(rule: Chunk) -> bool:
    return any(sense.mode == "complement" for sense in rule.senses)


def _agents(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`which proteins does LRRK2 bind`: what is matched as a target is the one that acts."""
    for chunk in question.chunked.mentions:
        before = question.lows[chunk.first - 1] if chunk.first else ""
        if before not in ("does", "do", "did") or model.entities[chunk.linked.entity].kind != "symbol":
            continue
        verb = next((one for one in question.chunked.of("attribute") if 0 <= one.first - chunk.last <= 1), None)
        if verb is not None:
            entities = {model.attributes[name].entity for name in verb.names("attribute")}
            if chunk.linked.entity in entities:
                return f"The tables say what acts on {chunk.text}, not what {chunk.text} acts on."
    return _among_themselves(question, model)


def _among_themselves(question: Question, model: SemanticModel) -> str:
    """`which drugs interact with warfarin`: the tables relate drugs to genes, not to one another."""
    asked = question.asked()
    if asked is None or not asked.names("noun"):
        return ""
    for verb in question.chunked.of("attribute"):
        behind = next((one for one in question.chunked.mentions if 0 <= one.first - verb.last <= 1), None)
        if behind is None or behind.linked.entity not in asked.names("noun") or verb.first < asked.last:
            continue
        others = {model.attributes[name].entity for name in verb.names("attribute")} - {""}
        if others and behind.linked.entity not in others:
            label = model.entities[behind.linked.entity].plural
            return f"The tables do not say how {label} stand to one another ('{verb.text} {behind.text}')."
    return ""


def _mentions(question: Question, plan: Plan, model: SemanticModel) -> str:
    if not question.chunked.mentions:
        return ""
    used = {str(value).lower() for one in plan.filters for value in one.values}
    about = {value for source in plan.sources for value in model.tables[source.table].about.values()}
    for source in plan.sources:
        about |= {value for values in model.tables[source.table].covers.values() for value in values}
    for chunk in question.chunked.mentions:
        mention = chunk.linked
        stored = {value.lower() for values in mention.stored.values() for value in values} | {mention.value.lower()}
        if stored & used or mention.value in about or _inside(chunk, question.chunked.hints):
            continue
        if model.entities[mention.entity].classifies or chunk.senses:
            continue  # read as a noun or an attribute instead
        if any(question.is_judged(chunk, model.families[family].subject) for family in question.families):
            continue
        if any(region.first is not None and 0 <= place.first - chunk.last <= 3 for region, place in question.regions):
            continue  # describes the region behind it
        if any(chunk.text == one.words for one in plan.filters):
            continue
        return f"'{chunk.text}' could not be brought together with the rest of the question."
    return ""


def _numbers(question: Question, plan: Plan, model: SemanticModel) -> str:
    numbers = [(index, token) for index, token in enumerate(question.chunked.tokens) if token.kind == "number"]
    if not numbers and not question.numbers.comparisons:
        return ""
    used = {index for one in question.numbers.comparisons for index in range(one.first, one.last)}
    if question.numbers.limit_at is not None:
        used.add(question.numbers.limit_at)
    for chunk in (*question.chunked.mentions, *(place for _, place in question.regions)):
        used.update(range(chunk.first, chunk.last))
    spans = [(chunk.start, chunk.end) for chunk in question.chunked.english("build_37", "build_38")]
    spans += question.quoted
    for index, token in numbers:
        if index in used or index in question.distances:
            continue
        if any(start <= token.start < end for start, end in spans) or _inside_any(index, question):
            continue
        return f"It is not clear what the number {token.text} restricts."
    unplaced = [one for one in question.numbers.comparisons if not _is_placed(one.words, plan.filters, plan.having)]
    for one in unplaced:
        if one.words in question.judged or (plan.joins and asks_for_any(one, plan, model)):
            continue
        if one.kind != "count" or plan.intent not in ("count", "group", "rank") or one.values[0] > 1:
            return f"It is not clear what '{one.words}' restricts."
    return ""


def _inside_any(index: int, question: Question) -> bool:
    chunks = (*question.chunked.chunks, *question.chunked.hints, *question.chunked.rules)
    return any(chunk.first <= index < chunk.last and chunk.last - chunk.first > 1 for chunk in chunks)


def _is_placed(words: str, *filters: Iterable[Filter]) -> bool:
    return any(one.words == words for group in filters for one in group)


def _comparisons(question: Question, plan: Plan, model: SemanticModel) -> str:
    lows = question.lows
    if _COMPARING.isdisjoint(lows):
        return ""
    used = {index for one in question.numbers.comparisons for index in range(one.first, one.last)}
    for index, low in enumerate(lows):
        if low not in _COMPARING:
            continue
        follower = lows[index + 1] if index + 1 < len(lows) else ""
        if (
            low == "than"
            and index not in used
            and lows[index - 1] not in _NOT_COMPARING
            and index not in question.distances
        ):
            return "A comparison of one thing with another ('... than ...') is not understood without a number."
        subjects = {model.families[family].subject for family in question.families}
        behind = [one for one in question.chunked.mentions if one.first in (index + 1, index + 2)]
        if low in ("before", "after") and any(one.linked.entity in subjects for one in behind):
            return f"A comparison with another thing ('{low} ...') is not understood without a number."
        if low == "same" and "as" in lows[index:]:
            return "A comparison with another thing ('the same ... as') is not understood."
        if low in ("below", "above", "under", "over", "exceeding") and follower in _PRONOUNS and index not in used:
            return f"It is not clear what '{low} {follower}' compares."
    return ""


def _negations(question: Question, plan: Plan, model: SemanticModel) -> str:
    cues = question.chunked.english("not", "but_not")
    negative = [
        one
        for one in plan.filters
        if one.words and (one.negated or one.op in ("!=", "null", "null_or") or _is_false(one))
    ]
    joined = any(join.kind == "anti" for join in plan.joins)
    # What one "not" leaves out does not explain another.
    heeded = {
        first: [chunk.text for chunk in out if joined or any(chunk.text in one.words for one in negative)]
        for first, out in question.left_out.items()
    }
    tokens = question.chunked.tokens
    for first, last in parted(question.chunked):
        if not heeded[first] and not any(rule.first < last and first < rule.last for rule in question.chunked.rules):
            return f"It is not clear what '{question.text[tokens[first].start : tokens[last - 1].end]}' leaves out."
    explained = [text for texts in heeded.values() for text in texts]
    anti = joined or any(not any(text in one.words for text in explained) for one in negative)
    complement = any(use.mode == "complement" for use in plan.conventions)
    waived = {use.words for use in plan.conventions if use.mode == "waived" and use.words}
    compared = {index for one in question.numbers.comparisons for index in range(one.first, one.last)}
    for chunk in cues:
        if chunk.first in compared or chunk.first in question.distances:
            continue  # `no more than`
        used = {use.rule for use in plan.conventions}
        overlapping = [one for one in question.chunked.rules if one.first < chunk.last and chunk.first < one.last]
        if any(sense.name in used for rule in overlapping for sense in rule.senses):
            continue
        if heeded[chunk.first] or anti or complement or _inside(chunk, question.chunked.chunks, longer=True):
            continue
        if _is_waived(question, chunk, waived) or _is_idle(question, chunk):
            continue
        return f"It is not clear what '{chunk.text}' leaves out."
    return ""


def _is_false(one: Filter) -> bool:
    return any(value is False for value in one.values)


def _is_waived(question: Question, chunk: Chunk, waived: set[str]) -> bool:
    """Whether a "not" belongs to words that waive a rule; further off, it says something of its own."""
    rules = [rule for rule in question.chunked.rules if rule.text in waived]
    return any(rule.first - chunk.last >= -_NEAR_WAIVER and chunk.first - rule.last <= _NEAR_WAIVER for rule in rules)


def _is_idle(question: Question, chunk: Chunk) -> bool:
    """`..., approved or not?` and a closing `not` leave nothing out."""
    before = question.lows[chunk.first - 1] if chunk.first else ""
    return chunk.text.lower() in _IDLE_NOT and before in ("or", "why", "if", "whether")


def _aggregates(question: Question, plan: Plan, model: SemanticModel) -> str:
    if question.has("average") and (plan.aggregate is None or plan.aggregate.function != "avg"):
        return "It is not clear what the average is taken of."
    return ""


def _sorting(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`first 5 hits by position`: what has no order here cannot choose the rows."""
    if plan.limit is None or plan.group_by:
        return ""
    for chunk in question.chunked.of("attribute"):
        behind = chunk.first and question.lows[chunk.first - 1] == "by" and not chunk.mention
        measured = [one for name in chunk.names("attribute") for one in model.attributes[name].measure]
        if behind and not set(measured) & set(question.families):
            return f"Rows cannot be ranked by '{chunk.text}' here; ask for all of them."
    return ""


def _rankings(question: Question, plan: Plan, model: SemanticModel) -> str:
    for cue in question.chunked.english("recorded_not"):
        heeded = any(cue.text in one.words for one in plan.filters) or any(join.kind == "anti" for join in plan.joins)
        if not heeded and not any(rule.first < cue.last and cue.first < rule.last for rule in question.chunked.rules):
            return f"It is not clear what '{cue.text}' leaves out."
    cues = [
        chunk
        for chunk in question.chunked.english("most", "fewest", "smallest", "largest")
        if not chunk.names("attribute") and not _inside(chunk, question.chunked.rules)
    ]
    subjects = {model.families[family].subject for family in question.families}
    # `the highest phase of donepezil` is its phase; of several drugs, it ranks.
    looked_up = any(chunk.linked.entity in subjects for chunk in question.chunked.mentions)
    if not looked_up:
        measures = [chunk for chunk in question.chunked.of("attribute") if not chunk.mention and is_superlative(chunk)]
        cues += [chunk for chunk in measures if not has_number(question, chunk)]
    unranked = not plan.order if looked_up else plan.intent != "rank"
    misread = [cue for cue in cues if _ranks_by_default(question, plan, cue, model)]
    cues, unranked = (misread, True) if misread and not unranked else (cues, unranked)
    one_figure = plan.intent == "count" and not plan.group_by
    if cues and unranked and (plan.aggregate is None or one_figure):
        return f"It is not clear what '{cues[0].text}' ranks by."
    return ""


def _ranks_by_default(question: Question, plan: Plan, cue: Chunk, model: SemanticModel) -> bool:
    """Whether `the 5 rarest`, `the largest set` came to be ranked by what the rows are ranked by anyhow."""
    orders = {model.families[one].order for one in question.families}
    if plan.intent != "rank" or plan.aggregate is not None or not plan.order or plan.order[0].column not in orders:
        return False
    if cue.is_english("most", "fewest"):
        return True
    beside = [one for one in question.chunked.of("attribute") if abs(one.first - cue.last) <= _BESIDE_A_RANK]
    near = [one for one in beside if not has_number(question, one)]
    named = {
        role for one in near for name in one.names("attribute") for role in model.attributes[name].measure.values()
    }
    return plan.order[0].column not in named


def _inside(chunk: Chunk, others: Iterable[Chunk], *, longer: bool = False) -> bool:
    return any(
        other is not chunk
        and other.first <= chunk.first
        and chunk.last <= other.last
        and (not longer or other.last - other.first > chunk.last - chunk.first)
        for other in others
    )


_CHECKS = (
    _unread,
    _agents,
    _mentions,
    _numbers,
    _comparisons,
    _negations,
    unjoined,
    contradiction,
    absent_and_present,
    crossed,
    less,
    shared,
    several,
    ratios,
    members,
    trivial,
    besides,
    graded,
    strictness,
    ordinals,
    roughly,
    between_names,
    exclusive,
    unmade,
    apart,
    passed_over,
    universal,
    _aggregates,
    _sorting,
    _rankings,
    *_wordings.CHECKS,
    *_structure.CHECKS,
)
"""In this order: the first problem is the one that is told."""
