"""What a ranking ranks by: superlatives, "the most ...", "first approved", "by number of ..."."""

from __future__ import annotations

from dataclasses import dataclass

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._question import Question
from bmsql.semantic import ROLE_REFERENCE, SemanticModel

_MOST_WORDS = ("most ", "largest ", "greatest ", "biggest ", "highest ", "maximum ", "max ", "strongest ")
_SUPERLATIVES = (*_MOST_WORDS, "fewest ", "smallest ", "lowest ", "minimum ")
_LAST_WORDS = ("last", "latest")
_ORDINALS = frozenset({"first", "earliest", *_LAST_WORDS})
_TIMES = frozenset(
    {"earliest", "oldest", "first approved", "approved first", "latest", "newest", "most recent", "most recently"}
    | {"most recently approved"}
)
# What may stand behind a closing "the most", and how many words before it.
_CLOSING = frozenset({"in", "for", "of", "on", "among", "near"})
_BEHIND = 4
# How far, in words, a superlative may stand from the attribute that it ranks by.
_REACH = 4
# How many words, such as that of a direction, may stand between a superlative and the effect that it ranks by.
_BESIDE = 2
# Within how many words behind a number its noun stands.
_COUNTED_REACH = 3


@dataclass(frozen=True)
class Ranking:
    """The attribute that ranks.

    own: "most" or "fewest" belongs to it, and counts nothing else. one: a single row is asked for.
    """

    attribute: str
    descending: bool
    own: bool = False
    one: bool = False


def ranking(question: Question, family: str, model: SemanticModel) -> Ranking | None:
    """The attribute of a family that the question ranks by, or None."""
    finders = (
        _in_words_of_the_attribute,
        _by_a_direction,
        _by_an_effect,
        _by_a_count,
        _by_a_superlative,
        _behind_by,
        _by_ordinal,
        _by_time,
    )
    return next((found for find in finders if (found := find(question, family, model))), None)


def _in_words_of_the_attribute(question: Question, family: str, model: SemanticModel) -> Ranking | None:
    """`the most trade names`, `the largest gene set`, where the model knows these words."""
    for chunk in question.chunked.of("attribute"):
        if chunk.mention or not is_superlative(chunk) or has_number(question, chunk):
            continue
        text = chunk.text.lower()
        for name in chunk.names("attribute"):
            if family in model.attributes[name].measure:
                # "the most potent" of a measure whose best value is the smallest is the smallest.
                least_is_most = model.attributes[name].low and text.startswith("most ")
                return Ranking(name, text.startswith(_MOST_WORDS) and not least_is_most, own=True)
    return None


def _by_a_direction(question: Question, family: str, model: SemanticModel) -> Ranking | None:
    """`the most protective`, `raises the risk the most`: by how much, whatever the p-value."""
    cues = question.chunked.english("most")
    if not cues:
        return None
    size = attribute_of_numbers("size", family, model)
    rules = [rule for rule in question.chunked.rules if question.directions & set(rule.names("rule"))]
    asked = question.asked()
    subject = model.families[family].subject
    of_rows = asked is None or asked.mention is not None or subject in asked.names("noun")
    for cue in cues if size else ():
        behind = question.lows[cue.last : cue.last + 1]
        closes = not behind or behind[0] in _CLOSING or question.chunked.tokens[cue.last].kind == "stop"
        # `which gene has the most protective SNPs` counts them.
        if any(
            (of_rows and rule.first == cue.last) or (closes and 0 <= cue.first - rule.last <= _BEHIND) for rule in rules
        ):
            return Ranking(size, descending=True, own=True)
    return None


def _by_an_effect(question: Question, family: str, model: SemanticModel) -> Ranking | None:
    """`the strongest effect`, `the largest protective effect`: the furthest from none, whatever its sign."""
    size = attribute_of_numbers("size", family, model)
    derived = model.families[family].derived.get(model.attributes[size].measure[family]) if size else None
    effects = set(ROLE_REFERENCE.findall(derived.sql)) if derived is not None else set()
    if not effects:
        return None
    directed = any(question.directions & set(rule.names("rule")) for rule in question.chunked.rules)
    for cue in question.chunked.english("best", "largest", "smallest"):
        for other in question.chunked.of("attribute"):
            roles = [model.attributes[name].measure.get(family) for name in other.names("attribute")]
            beside = other is not cue and 0 <= other.first - cue.last <= _BESIDE
            if effects & set(roles) and beside and (directed or cue.is_english("best")):
                return Ranking(size, descending=not cue.is_english("smallest"), own=True)
    return None


def is_superlative(chunk: Chunk) -> bool:
    """Whether a phrase opens with "most", "largest" or the like."""
    return chunk.text.lower().startswith(_SUPERLATIVES)


def has_number(question: Question, chunk: Chunk) -> bool:
    """Whether a phrase has a number of its own: `a maximum phase of 2` ranks nothing."""
    return any(
        one.attribute is chunk or (one.first < chunk.last and chunk.first < one.last)
        for one in question.numbers.comparisons
    )


def _by_a_count(question: Question, family: str, model: SemanticModel) -> Ranking | None:
    """`the largest number of linked targets`, where a column holds this number."""
    for chunk in question.chunked.english("most", "fewest"):
        measure = counted_measure(question, chunk.last, family, model)
        if measure:
            return Ranking(measure, chunk.is_english("most"), own=True)
    return None


def _by_a_superlative(question: Question, family: str, model: SemanticModel) -> Ranking | None:
    """`the lowest p-value`, `the highest phase`."""
    for chunk in question.chunked.english("smallest", "largest", "most", "fewest"):
        counts = chunk.is_english("most", "fewest")
        for other in question.chunked.of("attribute"):
            gap = other.first - chunk.last
            if other is chunk or not -_REACH <= gap <= _REACH:
                continue
            for name in other.names("attribute"):
                attribute = model.attributes[name]
                if attribute.groups and (counts or gap not in (0, 1)):
                    continue  # `the most SNPs of a chromosome` does not rank by the chromosome
                if family in attribute.measure:
                    return Ranking(name, chunk.is_english("largest", "most"), own=counts)
    return None


def _behind_by(question: Question, family: str, model: SemanticModel) -> Ranking | None:
    """`top 3 drugs by number of linked diseases`."""
    if not question.has("best", "rank", "largest", "smallest") and question.numbers.limit is None:
        return None
    for chunk in question.chunked.of("attribute"):
        if chunk.first and question.lows[chunk.first - 1] == "by" and not chunk.mention:
            for name in chunk.names("attribute"):
                if family in model.attributes[name].measure:
                    named = question.has("smallest", "largest") and not question.has("best")
                    largest = question.has("largest") if named else not model.attributes[name].low
                    return Ranking(name, largest)
    return None


def _by_ordinal(question: Question, family: str, model: SemanticModel) -> Ranking | None:
    """`the first antibody to be approved`: by the year, where the rule for it is spoken of."""
    year = year_attribute(family, model)
    if not year or _has_year(question):
        return None
    for chunk in question.chunked.of("attribute"):  # `came to market first`
        behind_it = question.lows[chunk.last : chunk.last + 1]
        dated = any(sense.mode == "year" for sense in chunk.senses) and chunk.last - chunk.first > 1
        if dated and behind_it and behind_it[0] in _ORDINALS:
            return Ranking(year, behind_it[0] in _LAST_WORDS, one=True)
    spoken = [rule for rule in question.chunked.rules if rule.first]
    if not spoken:
        return None
    things = {chunk.first for chunk in question.chunked.chunks if chunk.names("noun") or chunk.mention}
    behind = {rule.first for rule in spoken}
    for index, low in enumerate(question.lows):
        if low in _ORDINALS and things & {index + 1, index + 2} and any(first > index + 1 for first in behind):
            return Ranking(year, low in _LAST_WORDS)
    return None


def _by_time(question: Question, family: str, model: SemanticModel) -> Ranking | None:
    """`the most recently approved drug`."""
    year = year_attribute(family, model)
    if not year or _has_year(question):
        return None
    for chunk in question.chunked.english("smallest", "largest"):
        if chunk.text.lower() in _TIMES:
            return Ranking(year, chunk.is_english("largest"))
    return None


def year_attribute(family: str, model: SemanticModel) -> str:
    """The attribute of a family that bare years are compared with."""
    return attribute_of_numbers("year", family, model)


def attribute_of_numbers(kind: str, family: str, model: SemanticModel) -> str:
    """The attribute of a family that numbers of a kind (year, phase, sign) are compared with."""
    return next((name for name, one in model.attributes.items() if one.numbers == kind and family in one.measure), "")


def counted_measure(question: Question, first: int, family: str, model: SemanticModel) -> str:
    """`the most trade names`, `more than 15 linked targets`: the attribute that holds this number."""
    if question.vocabulary is None:
        return ""
    lows = question.lows
    for skip in range(3):
        for length in (3, 2, 1):
            words = lows[first + skip : first + skip + length]
            if len(words) < length:
                continue
            for sense in question.vocabulary.main.exactly(("number", "of", *words)):
                if sense.kind == "attribute" and family in model.attributes[sense.name].measure:
                    return sense.name
    return _count_of_listed(question, first, family, model)


def _count_of_listed(question: Question, first: int, family: str, model: SemanticModel) -> str:
    """`exactly one gene`, where rows list genes and hold how many these are."""
    things = [chunk for chunk in question.chunked.chunks if chunk.names("noun") or chunk.names("attribute")]
    counted = next((chunk for chunk in things if first <= chunk.first < first + _COUNTED_REACH), None)
    if counted is None:
        return ""
    named = (*counted.names("noun"), *(model.attributes[name].entity for name in counted.names("attribute")))
    for name in named:
        recipe = model.entities[name].match.get(family) if name else None
        if recipe is None or recipe.how != "listed" or name == model.families[family].subject:
            continue
        for measure, one in model.attributes.items():
            counts = any(words.startswith("number of ") for words in one.words)
            if counts and family in one.measure and recipe.shown in one.show.get(family, ()):
                return measure
    return ""


def ranks_groups(question: Question, entity: str, family: str, model: SemanticModel) -> bool:
    """Whether groups are ranked by how much is in them: `the tissues with the most signals`."""
    cues = question.chunked.english("most", "fewest")
    found = ranking(question, family, model) if cues else None
    if cues and (found is None or (not found.own and _counts_a_noun(question, cues[0]))):
        return True
    for chunk in question.chunked.english("count"):
        before = question.lows[max(0, chunk.first - 2) : chunk.first]
        if chunk.text.lower() in ("number of", "count of") and "by" in before:
            return True
    return _most_significant_of(question, entity, family, model)


def _counts_a_noun(question: Question, cue: Chunk) -> bool:
    """`in which year were the most drugs first approved`: what is counted stands right behind the "most"."""
    return any(chunk.first == cue.last and is_plural(chunk) for chunk in question.chunked.of("noun"))


def _most_significant_of(question: Question, entity: str, family: str, model: SemanticModel) -> bool:
    """`Which chromosome harbours the most significant SNPs`: most SNPs, as another thing is asked for."""
    subject = model.families[family].subject
    if not entity or entity == subject:
        return False
    for chunk in question.chunked.english("best"):
        if not chunk.text.lower().startswith("most significant"):
            continue
        following = [one for one in question.chunked.chunks if 0 <= one.first - chunk.last <= 2 and one.names("noun")]
        if following and subject in following[0].names("noun"):
            return is_plural(following[0])
    return False


def is_plural(chunk: Chunk) -> bool:
    """Whether a noun is in the plural, by its ending."""
    text = chunk.text.lower()
    return text.endswith(("s", "data")) and not text.endswith(("ss", "sis"))


def _has_year(question: Question) -> bool:
    return any(one.kind == "year" for one in question.numbers.comparisons)
