"""Several values of one entity in one family: either of them, both, or one but not the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._part import stored_values
from bmsql.reasoners.offline._question import Question
from bmsql.reasoners.offline._shape import Shape
from bmsql.semantic import SemanticModel
from bmsql.types import Filter

_SHOWING = frozenset({"show", "list", "give", "display", "return", "report", "print", "keep", "include", "me", "want"})
Kind = Literal["one", "union", "intersect", "difference"]


# `in A and in B`, `significant in A and genome-wide significant in B`: of one thing.
_AND_IN = frozenset({"and", "in", "also", "significant", "genome", "wide"})


@dataclass(frozen=True)
class RelatedValue:
    """One value: the tables that are about it, or the filter that keeps its rows."""

    value: str
    alias: str
    tables: tuple[str, ...]
    chunk: Chunk | None = None
    filter: Filter | None = None


@dataclass(frozen=True)
class Relation:
    """How the values of an entity stand to each other; `tables` are those read when not related.

    each: the entity whose values are told apart in counts.
    """

    kind: Kind
    entity: str
    tables: tuple[str, ...]
    values: tuple[RelatedValue, ...] = ()
    shows: bool = False
    tested_in_both: bool = False
    problem: str = ""
    each: str = ""

    def rules_of(self, question: Question, number: int, known: frozenset[str]) -> list[Chunk]:
        """The trigger phrases of `known` rules that belong to one value: the nearest ones, or all if it has none."""
        owned: list[list[Chunk]] = [[] for _ in self.values]
        for rule in question.chunked.rules:
            if known & set(rule.names("rule")):
                owned[self.owner(rule.first, rule.last)].append(rule)
        if owned[number]:
            return owned[number]
        if self.kind == "difference" and number:
            return owned[0]
        return next((rules for rules in owned if rules), [])

    def owner(self, first: int, last: int) -> int:
        """The value that a stretch of tokens is said of: one right before it, else the next, else the last."""
        placed = [(value.chunk, number) for number, value in enumerate(self.values) if value.chunk is not None]
        for chunk, number in placed:
            if first == chunk.last:
                return number
        following = [(chunk.first, number) for chunk, number in placed if chunk.first >= last]
        if following:
            return min(following)[1]
        return max(((chunk.first, number) for chunk, number in placed), default=(0, 0))[1]


def relate(question: Question, family: str, model: SemanticModel, tables: frozenset[str], shape: Shape) -> Relation:
    """How a question relates the tables, or the diseases, of one family."""
    present = tuple(name for name in model.tables_of(family) if name in tables)
    entity = next((name for table in present for name in model.tables[table].about), "")
    if entity:
        return _by_table(question, family, model, present, entity, shape)
    repeated = _repeated(question, family, model) or _in_both_places(question, family, model, shape)
    if repeated:
        return _by_filter(question, family, model, present, repeated, shape)
    return Relation("one", "", present[:1])


def _by_table(
    question: Question, family: str, model: SemanticModel, present: tuple[str, ...], entity: str, shape: Shape
) -> Relation:
    values: list[RelatedValue] = []
    for chunk in question.chunked.mentions:
        mention = chunk.mention
        if mention is None or mention.entity != entity or any(value.value == mention.value for value in values):
            continue
        matching = tuple(name for name in present if model.tables[name].about.get(entity) == mention.value)
        if matching:
            values.append(RelatedValue(mention.value, _alias(mention.value), matching, chunk))
    if not values:
        values = [
            RelatedValue(
                value, _alias(value), tuple(name for name in present if model.tables[name].about.get(entity) == value)
            )
            for value in dict.fromkeys(model.tables[name].about.get(entity, "") for name in present)
        ]
        kind: Kind = "intersect" if len(values) > 1 and _in_both(question, family, shape, model) else "union"
        return Relation(kind, entity, present, tuple(values), shows=True)
    chosen = tuple(table for value in values for table in value.tables)
    if len(values) == 1:
        if (
            (_says_only(question) or question.has("but_not"))
            and _compares_all(question)
            and not _subject_named(question, family, model)
        ):
            others = [
                RelatedValue(
                    value,
                    _alias(value),
                    tuple(name for name in present if model.tables[name].about.get(entity) == value),
                )
                for value in dict.fromkeys(model.tables[name].about.get(entity, "") for name in present)
                if value != values[0].value
            ]
            return Relation(
                "difference", entity, chosen, (*values, *others), shows=True, tested_in_both=question.has("both")
            )
        return Relation("one", entity, chosen, tuple(values))
    kind = _kind(question, [value.chunk for value in values if value.chunk], family, shape, model)
    return Relation(kind, entity, chosen, tuple(values), shows=True, tested_in_both=question.has("both"))


def _repeated(question: Question, family: str, model: SemanticModel) -> str:
    """A term-like entity that is mentioned with two or more different values in this family."""
    values: dict[str, set[str]] = {}
    for chunk in question.chunked.mentions:
        mention = chunk.mention
        if mention and family in model.entities[mention.entity].match and model.entities[mention.entity].kind == "term":
            values.setdefault(mention.entity, set()).add(mention.value)
    return next((entity for entity, found in values.items() if len(found) > 1), "")


def _in_both_places(question: Question, family: str, model: SemanticModel, shape: Shape) -> str:
    """`genes significant both in blood and in brain`: a category of which a row has one, and another thing is asked.

    `In blood but not in brain` is about two rows as well.
    """
    subject = model.families[family].subject
    asked = model.entities.get(shape.entity)
    if asked is None or family not in asked.match:
        return ""
    named: dict[str, list[Chunk]] = {}
    for chunk in question.chunked.mentions:
        entity = model.entities[chunk.linked.entity]
        recipe = entity.match.get(family)
        single = recipe is not None and recipe.how in ("term", "equals", "word") and entity.kind == "category"
        if single and not entity.classifies and chunk.linked.entity not in (subject, shape.entity):
            named.setdefault(chunk.linked.entity, []).append(chunk)
    for entity_name, chunks in named.items():
        several = len({chunk.linked.value for chunk in chunks}) > 1
        nots = question.chunked.english("not", "but_not")
        parted = any(chunks[0].last <= cue.first < chunks[-1].first for cue in nots)
        if several and (question.has("both") or parted):
            return entity_name
    return ""


def _by_filter(
    question: Question, family: str, model: SemanticModel, present: tuple[str, ...], entity: str, shape: Shape
) -> Relation:
    chunks = [chunk for chunk in question.chunked.mentions if chunk.mention and chunk.mention.entity == entity]
    kind = _kind(question, chunks, family, shape, model)
    if kind == "union":
        apart = question.has("compare") or _each(question)
        return Relation("one", "", present[:1], each=entity if apart else "")
    values: list[RelatedValue] = []
    for number, chunk in enumerate(chunks):
        filter_ = Filter(target=entity, op="match", values=stored_values(chunk.linked, family), words=chunk.text)
        values.append(RelatedValue(chunk.linked.value, f"{family[0]}{number + 1}", present[:1], chunk, filter_))
    return Relation(kind, entity, present[:1], tuple(values))


def _kind(question: Question, chunks: Sequence[Chunk], family: str, shape: Shape, model: SemanticModel) -> Kind:
    first, second = chunks[0], chunks[1]
    between = question.lows[first.last : second.first]
    if _failing(question, first, second):
        return "intersect"
    if question.chunked.english("but_not") or _says_only(question) or _negates(question, first, second):
        return "difference"
    if question.has("compare") or (_each(question) and not _lists_both(question, first, shape)):
        return "union"
    if "or" in between or "either" in question.lows or _subject_named(question, family, model):
        return "union"
    if question.has("both") or _two_conditions(question, first, second):
        return "intersect"
    if (
        between[:1] == ["and"]
        and not set(between) - _AND_IN
        and first.first
        and question.lows[first.first - 1] == "in"
        and shape.intent in ("list", "count")
    ):
        return "intersect"
    return "union"


def _failing(question: Question, first: Chunk, second: Chunk) -> bool:
    """`significant in A but not significant in B`: tested in both, and B fails the rule."""
    complements = [rule for rule in question.chunked.rules if any(sense.mode == "complement" for sense in rule.senses)]
    return any(first.last <= rule.first and rule.last <= second.first for rule in complements)


def _negates(question: Question, first: Chunk, second: Chunk) -> bool:
    """`... for Parkinson's, which are not ... in Alzheimer's`; "not significant" is the rule's own."""
    return any(first.last <= chunk.first < second.first for chunk in question.chunked.english("not"))


def _lists_both(question: Question, first: Chunk, shape: Shape) -> bool:
    """`drugs for both A and B, approved in each`: what is listed is in both; counts of each stand apart."""
    return shape.intent == "list" and question.lows[max(0, first.first - 1) : first.first] == ["both"]


def _each(question: Question) -> bool:
    return "each" in question.lows or "respectively" in question.lows


def _two_conditions(question: Question, first: Chunk, second: Chunk) -> bool:
    """`drugs approved for A that have been in trials for B`: something is said of each value."""
    between = question.chunked.tokens[first.last : second.first]
    verbs = {"have", "has", "been", "were", "was", "are", "that", "which", "also"}
    return bool(verbs & {token.low for token in between})


def _in_both(question: Question, family: str, shape: Shape, model: SemanticModel) -> bool:
    if not question.has("both") or _subject_named(question, family, model):
        return False
    both = question.chunked.english("both")[0]
    if both.text.lower() != "both":
        return True
    before = question.lows[both.first - 1] if both.first else ""
    return before in ("in", "by", "reach", "significant", "across") or shape.intent == "count"


def _subject_named(question: Question, family: str, model: SemanticModel) -> bool:
    subject = model.families[family].subject
    return any(chunk.mention and chunk.mention.entity == subject for chunk in question.chunked.mentions)


def _compares_all(question: Question) -> bool:
    return question.has("both") or _says_only(question)


def _says_only(question: Question) -> bool:
    """`significant only in A`; `show only the significant ones` leaves nothing of the others out."""
    return any(not (cue.first and question.lows[cue.first - 1] in _SHOWING) for cue in question.chunked.english("only"))


def _alias(value: str) -> str:
    return "".join(character for character in value.lower() if character.isalnum()) or "t"
