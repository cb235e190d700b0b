"""What a question asks in several parts, where a plan would answer one of them, or all at once: refused."""

from __future__ import annotations

from itertools import pairwise

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._question import Question
from bmsql.semantic import SemanticModel
from bmsql.types import Plan

_WHETHER = frozenset("is are does do did was were has have".split())
_ANY = frozenset({"or", "any", "either"})
_RELATIVE = frozenset({"whose", "with", "that", "raise", "raises", "lower", "lowers", "increase", "increases"})
_ORDINALS = frozenset({"second", "third", "fourth", "fifth"})
_RANKING = frozenset({"ranks", "ranked", "rank", "comes", "came", "is", "was"})
_AGAIN = frozenset({"near", "for", "in", "on", "with", "by", "of"})
_FAR = 3


def _named(question: Question, model: SemanticModel, kinds: tuple[str, ...] = ()) -> list[Chunk]:
    chunks = question.chunked.mentions
    return [one for one in chunks if not kinds or model.entities[one.linked.entity].kind in kinds]


def each_of_several(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`is X significant in A and B`: whether it is in each, where rows of either would say yes."""
    lows = question.lows
    if not lows or lows[0] not in _WHETHER or plan.combine != "single" or not plan.sources:
        return ""
    subject = model.families[model.tables[plan.sources[0].table].family].subject
    targets = {one.target for one in plan.filters if one.op == "match" and one.target != subject}
    pooled = [" ".join(one.words for one in plan.filters if one.target == target) for target in targets]
    for left, right in pairwise(_named(question, model)):
        between = lows[left.last : right.first]
        alike = left.linked.entity == right.linked.entity and left.linked.value != right.linked.value
        together = any(left.text in words and right.text in words for words in pooled)
        if alike and together and "and" in between and not _ANY & set(lows):
            return f"Whether it is so of each of '{left.text}' and '{right.text}' is not worked out here; ask for each."
    return ""


def both_of_one(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`targets both A and B`, of rows that hold one of them each."""
    if plan.combine != "single" or "both" not in question.lows:
        return ""
    lows = question.lows
    for named in question.chunked.mentions:
        if lows[max(0, named.first - 1) : named.first] == ["both"] and "and" in lows[named.first : named.last]:
            return f"What has both of '{named.text}' is not worked out here; ask for each alone."
    for one in plan.filters:
        first = next((each for each in question.chunked.mentions if one.words.startswith(f"{each.text}, ")), None)
        if one.op != "match" or one.negated or first is None or plan.intent == "lookup":
            continue
        if "both" in question.lows[max(0, first.first - _FAR) : first.first]:
            return f"What has both of '{one.words}' is not worked out here; ask for each alone."
    return ""


def one_and_not_another(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`targets A but not B`, of rows that hold one target each: a row of A is never one of B."""
    for one in plan.filters:
        other = next((each for each in plan.filters if each.target == one.target and each.negated), None)
        if other is None or one.negated or one.op != "match" or other.op != "match" or one.source != other.source:
            continue
        family = model.tables[plan.sources[0].table].family
        recipe = model.entities[one.target].match.get(family) if one.target in model.entities else None
        if recipe is not None and recipe.how in ("equals", "term") and plan.subject != one.target:
            return f"What is left without '{other.words}' is not worked out here; ask for each alone."
    return ""


def mixed_union(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`significant in A whose effect in B is positive`, listed as rows of A and rows of B."""
    if plan.combine != "union" or question.has("compare"):
        return ""
    nouns = [one for one in question.chunked.of("noun") if not one.mention and plan.subject in one.names("noun")]
    terms = _named(question, model, ("term",))
    if len(nouns) > 1 or len({one.linked.value for one in terms}) < 2:
        return ""
    first, last = terms[0].last, terms[-1].first
    for one in question.numbers.comparisons:
        if one.kind == "value" and first <= one.first and one.last <= last:
            return f"It is not clear of which '{one.words}' is said; ask for each alone."
    between = question.lows[first:last]
    word = next((low for low in between if low in _RELATIVE), "")
    return f"It is not clear of which '{word} ...' is said; ask for each alone." if word else ""


def several_counts(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`how many X? How many of those Y?`, `how many X and Y`: one figure answers one of them."""
    if plan.aggregate is None or plan.group_by or plan.combine == "union":
        return ""
    cues = question.chunked.english("count")
    # `number of targets` is also a column.
    columns = {index for one in question.chunked.of("attribute") for index in range(one.first, one.last)}
    texts = [(one, one.text.lower()) for one in cues]
    counts = [
        one
        for one, text in texts
        if text.startswith("how many") or (text.startswith("number of") and one.first not in columns)
    ]
    if len(counts) > 1 and not any(one.first == counts[1].first for one in question.chunked.english("direction")):
        return f"Two figures are asked for ('{counts[0].text}' and '{counts[1].text}'); ask for each alone."
    pooled = [one.words for one in plan.filters if one.op == "match" and len(one.values) > 1]
    for left, right in pairwise(_named(question, model)):
        between = question.lows[left.last : right.first]
        apart = between[:1] == ["and"] and len(between) > 1 and between[1] in _AGAIN
        if apart and any(left.text in words and right.text in words for words in pooled):
            return f"Two figures are asked for ('{left.text}' and '{right.text}'); ask for each alone."
    nouns = sorted(question.chunked.of("noun"), key=lambda one: one.first)
    for left, right in pairwise(nouns):
        joined = question.lows[left.last : right.first] == ["and"]
        counted = any(0 <= left.first - one.last <= 1 for one in counts)
        if joined and counted and not left.mention and not right.mention:
            return f"Two figures are asked for ('{left.text}' and '{right.text}'); ask for each alone."
    return ""


def two_ends(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`the largest and the smallest`: one order gives one end."""
    largest, smallest = question.chunked.english("largest"), question.chunked.english("smallest")
    cues = [*largest[:1], *smallest[:1]] if largest and smallest else list(largest or smallest)
    signs = question.has("negative") and question.has("positive")
    if plan.order and plan.aggregate is None and ((largest and smallest) or (len(cues) > 1 and signs)):
        return f"'{cues[0].text}' and '{cues[1].text}' are two questions; ask for each alone."
    return ""


def nested_rank(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`drugs for the gene with the strongest signal`: the rank is of something other than what is listed."""
    asked = question.asked()
    nouns = [one for one in question.chunked.of("noun") if not one.mention]
    grouped = {item.column for item in plan.group_by}
    if any(join.entity in grouped for join in plan.joins) and question.has("most", "fewest"):
        return "What has most of what is in both is not counted here; ask for the rows in both."
    limit = question.numbers.limit_at
    counted = next((one for one in nouns if limit is not None and 0 < one.first - limit <= _FAR), None)
    if plan.joins and counted is not None and asked is not None and counted.first > asked.first:
        return f"Which {counted.text} come first is a question of its own; ask it first."
    for cue in question.chunked.english("best", "most", "largest", "smallest", "fewest"):
        before = question.lows[max(0, cue.first - 2) : cue.first]
        owner = next((one for one in nouns if one.last == cue.first - 2), None) if before == ["with", "the"] else None
        if owner is not None and asked is not None and owner.first > asked.first:
            return f"Which {owner.text} has '{cue.text}' is a question of its own; ask it first."
    return ""


def second_group(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`by A and by B`: a plan counts by one of them."""
    if not plan.group_by:
        return ""
    attributes = question.chunked.of("attribute")
    groups = [one for one in attributes if any(model.attributes[name].groups for name in one.names("attribute"))]
    groups += [one for one in question.chunked.of("noun") if not one.mention]
    cues = {one.last for one in question.chunked.english("per")}
    starts = {one.first: one for one in groups}
    for place in cues:
        first = starts.get(place)
        if first is None:
            continue
        follow = question.lows[first.last : first.last + 1] == ["and"]
        second = starts.get(first.last + 1) or starts.get(first.last + 2)
        if follow and second is not None:
            return f"Counts by '{first.text}' and by '{second.text}' at once are not worked out here; ask for one."
    return ""


def ranked_names(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`which was approved first, A or B`, `which ranks second`."""
    lows = question.lows
    for index, low in enumerate(lows):
        following = lows[index + 1 : index + 2]
        if low in ("first", "last") and following == [","] and "or" in lows[index:] and plan.intent != "rank":
            return f"Which came '{low}' is not worked out here; ask for the years."
        if low in _ORDINALS and lows[max(0, index - 1) : index] and lows[index - 1] in _RANKING:
            return f"A rank of its own ('{low}') is not understood; ask for the top rows."
        if low == "same" and plan.combine == "join" and following and following[0] not in ("time", "question"):
            return f"Whether something is the same ('{low} {following[0]}') is not worked out here."
        if low == "more" and lows[0] in _WHETHER and "or" in lows[:index] and plan.aggregate is not None:
            return "Which has more is not worked out here; ask for each count."
    return ""


def denied_approval(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`acts on X but is not approved for Y`: what has no record of Y is not approved for it either."""
    complements = [use for use in plan.conventions if use.mode == "complement"]
    complement = next((use for use in complements if use.rule.startswith("approved")), None)
    others = [one for one in plan.filters if one.op == "match" and one.target in model.entities]
    # Where a row holds all of a drug, it says so itself.
    several = any(model.families[model.tables[source.table].family].exploded for source in plan.sources)
    if complement is None or not several or not any(model.entities[one.target].kind == "symbol" for one in others):
        return ""
    return f"What is '{complement.words}' may have no record at all; ask for the drugs, and for those approved."


def named_column(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`the se_SMR of X`, answered by tables that have no such column."""
    words = {token.text.lower() for token in question.chunked.tokens if "_" in token.text}
    if not words or not plan.sources:
        return ""
    chosen = {model.tables[source.table].family for source in plan.sources}
    held: dict[str, set[str]] = {}
    for table in model.tables.values():
        for column in table.columns:
            held.setdefault(column.lower(), set()).add(table.family)
    for word in sorted(words & set(held)):
        if not held[word] & chosen:
            label = model.families[min(held[word])].label
            return f"The column '{word}' is one of the {label}, which were not read; name them in the question."
    return ""


def weighted_mean(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`the average phase of drugs`, where a drug has several rows and would count as often."""
    if plan.aggregate is None or plan.aggregate.function != "avg" or not plan.sources:
        return ""
    family = model.families[model.tables[plan.sources[0].table].family]
    if family.exploded:
        return f"An average over the {family.label} would count a thing once for each of its rows."
    return ""


def other_kind(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`genes shared between A and B`, answered with the gene sets that are recorded for both."""
    asked = question.asked()
    names = asked.names("noun") if asked is not None else ()
    if plan.combine != "join" or asked is None or plan.subject not in names[1:]:
        return ""
    label, other = (model.entities[name].plural for name in (names[0], plan.subject))
    return f"It is not clear by which test {label} are meant; ask for those near SNPs, or by SMR, or for {other}."


CHECKS = (
    each_of_several, both_of_one, one_and_not_another, mixed_union, several_counts, two_ends, nested_rank, second_group,
    ranked_names, denied_approval, named_column, weighted_mean, other_kind,
)  # fmt: skip
