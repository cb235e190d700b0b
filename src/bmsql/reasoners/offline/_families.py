"""Which families of tables can answer: the smallest set that expresses what the question says."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bmsql.reasoners.offline._chunks import Chunk, Chunked
from bmsql.reasoners.offline._vocabulary import Sense
from bmsql.semantic import SemanticModel
from bmsql.types import Mention

_WEIGHTS = {"hint": 2.6, "mention": 2.0, "attribute": 1.8, "condition": 2.0, "rule": 1.0, "noun": 1.2, "region": 2.0}
_HARD = 1.5
_MATTERS = 1.0
# Factors: a weak word, a value that the family does not hold, a value that may stand in a name.
_WEAK, _NOT_HELD, _IN_A_NAME = 0.4, 0.35, 0.3
_EXTRA_FAMILY = 2.0
_MOST_FAMILIES = 3


@dataclass(frozen=True)
class Fit:
    """A set of families with its score, and the chunks that it cannot express."""

    families: tuple[str, ...]
    score: float
    left_out: tuple[Chunk, ...]


@dataclass(frozen=True)
class Weighted:
    """A chunk with how strongly it speaks for each family that can express it."""

    chunk: Chunk
    weights: Mapping[str, float]

    @property
    def strongest(self) -> float:
        """How strongly it speaks for the family that it speaks for most."""
        return max(self.weights.values())


def weigh(
    chunked: Chunked,
    model: SemanticModel,
    rule_families: Mapping[str, tuple[str, ...]],
    thresholds: frozenset[str],
    tables: frozenset[str],
) -> list[Weighted]:
    """All chunks that speak for a family. `thresholds` are the rules whose own phrases name a study."""
    present = {model.tables[table].family for table in tables}
    weighted = []
    for chunk in (*chunked.chunks, *chunked.rules, *chunked.hints):
        if chunk.mention and _part_of_hint(chunk, chunked):
            continue
        if chunk in chunked.hints and _part_of(chunk, chunked.chunks):
            continue
        own = [rule for rule in chunked.rules if {sense.name for sense in rule.senses} <= thresholds]
        if chunk in chunked.rules and _part_of(chunk, own):
            continue
        weights: dict[str, float] = {}
        for kind, family, factor in _voices(chunk, model, rule_families):
            if family in present:
                weights[family] = max(weights.get(family, 0.0), _WEIGHTS[kind] * factor)
        names = {sense.name for sense in chunk.senses}
        if len(weights) == 1 and names <= thresholds and chunk.last - chunk.first > 1:
            # A threshold's own phrase, such as "genome-wide significant", names the study.
            weights = dict.fromkeys(weights, _HARD)
        if weights:
            weighted.append(Weighted(chunk, weights))
    return weighted


def _part_of(chunk: Chunk, others: list[Chunk]) -> bool:
    """Whether a longer chunk covers this one."""
    return any(
        other.first <= chunk.first and chunk.last <= other.last and other.last - other.first > chunk.last - chunk.first
        for other in others
    )


def _part_of_hint(chunk: Chunk, chunked: Chunked) -> bool:
    """Whether a mention is only part of a table's name, as ALS in `the ALS/FTD/LBD table`."""
    return any(
        hint.first <= chunk.first and chunk.last <= hint.last and hint.last - hint.first > chunk.last - chunk.first + 1
        for hint in chunked.hints
    )


def _voices(
    chunk: Chunk, model: SemanticModel, rule_families: Mapping[str, tuple[str, ...]]
) -> Iterable[tuple[str, str, float]]:
    if chunk.mention is not None:
        yield from _mention_voices(chunk.mention, model)
    for sense in chunk.senses:
        match sense.kind:
            case "noun":
                yield from _noun_voices(sense.name, model)
            case "attribute":
                weak = sense.mode == "cue" or model.attributes[sense.name].weak
                yield from _voice("attribute", model.attributes[sense.name].show, _WEAK if weak else 1.0)
            case "condition":
                condition = model.conditions[sense.name]
                yield from _voice("condition", condition.where, _WEAK if condition.weak else 1.0)
            case "rule":
                yield from _voice("rule", rule_families.get(sense.name, ()), 1.0)
            case "hint":
                yield "hint", sense.name, 1.0
            case "region":
                yield from _voice("region", model.entities[sense.name].match, 1.0)
            case _:
                pass


def _voice(kind: str, families: Iterable[str], factor: float) -> Iterable[tuple[str, str, float]]:
    return ((kind, family, factor) for family in families)


def _mention_voices(mention: Mention, model: SemanticModel) -> Iterable[tuple[str, str, float]]:
    """Families that match the entity, more so those that hold the value, and tables that are about it."""
    entity = model.entities[mention.entity]
    for family in entity.match:
        yield "mention", family, 1.0 if mention.stored.get(family) else _NOT_HELD
    for family, spec in model.families.items():
        subject = model.entities.get(spec.subject)
        recipe = subject.match.get(family) if subject is not None and subject.kind == "category" else None
        if entity.kind == "category" and recipe is not None and recipe.how == "contains":
            yield "mention", family, _IN_A_NAME
    for table in model.tables.values():
        covered = table.covers.get(mention.entity, ())
        if table.about.get(mention.entity) == mention.value or mention.value in covered:
            yield "mention", table.family, 1.0


def _noun_voices(name: str, model: SemanticModel) -> Iterable[tuple[str, str, float]]:
    """Families whose rows are of the entity, match it, or are about one of it."""
    for family, spec in model.families.items():
        if spec.subject == name:
            yield "noun", family, 1.1
        elif family in model.entities[name].match:
            yield "noun", family, 0.9
    for table in model.tables.values():
        if name in table.about or name in table.covers:
            yield "noun", table.family, 0.9


def choose(weighted: list[Weighted], model: SemanticModel, joinable: Mapping[str, frozenset[str]]) -> list[Fit]:
    """Sets of families, best first; each further family must express enough more to be worth it."""
    known = sorted({family for item in weighted for family in item.weights})
    said = list(_once(weighted))
    needed = [item for item in weighted if item.strongest >= _HARD or _names_things(item.chunk, model)]
    fits = [_fit((family,), said, needed, model) for family in known]
    fits.sort(key=lambda fit: -fit.score)
    if not fits:
        return fits
    for size in range(2, _MOST_FAMILIES + 1):
        fits.extend(
            _fit(families, said, needed, model)
            for families in itertools.combinations(known, size)
            if _connected(families, joinable) and _each_needed(families, weighted, joinable)
        )
    # What cannot be expressed weighs more than any preference: no part of a question is dropped.
    fits.sort(key=lambda fit: (len(fit.left_out), -fit.score))
    return fits


def _each_needed(families: tuple[str, ...], weighted: list[Weighted], joinable: Mapping[str, frozenset[str]]) -> bool:
    """Whether each family alone can express something that matters, or joins the others."""
    for family in families:
        others = [other for other in families if other != family]
        if not any(
            item.weights.get(family, 0.0) >= _MATTERS and not any(other in item.weights for other in others)
            for item in weighted
        ) and (len(others) < 2 or _connected(tuple(others), joinable)):
            return False
    return True


def _fit(families: tuple[str, ...], said: list[Weighted], needed: list[Weighted], model: SemanticModel) -> Fit:
    """How well some families express what is said, and what of the needed they do not."""
    score = sum(max(item.weights.get(family, 0.0) for family in families) for item in said)
    score += sum(model.families[family].weight for family in families) - _EXTRA_FAMILY * (len(families) - 1)
    left_out = tuple(item.chunk for item in needed if max(item.weights.get(family, 0.0) for family in families) <= 0)
    return Fit(families, score, left_out)


def _once(weighted: list[Weighted]) -> Iterable[Weighted]:
    """What speaks for families, without the repetitions of a rule: `approved for X and also approved for Y`."""
    said: set[tuple[Sense, ...]] = set()
    for item in weighted:
        if item.chunk.names("rule"):
            if item.chunk.senses in said:
                continue
            said.add(item.chunk.senses)
        yield item


def _names_things(chunk: Chunk, model: SemanticModel) -> bool:
    """Whether a noun stands for what rows are of, or what they are found by: such things are not dropped."""
    subjects = {family.subject for family in model.families.values()}
    return chunk.mention is None and any(
        name in subjects or model.entities[name].kind in ("symbol", "name", "identifier")
        for name in chunk.names("noun")
    )


def _connected(families: tuple[str, ...], joinable: Mapping[str, frozenset[str]]) -> bool:
    reached, frontier = {families[0]}, [families[0]]
    while frontier:
        for other in joinable.get(frontier.pop(), ()):
            if other in families and other not in reached:
                reached.add(other)
                frontier.append(other)
    return len(reached) == len(families)


def joinable_families(model: SemanticModel) -> dict[str, frozenset[str]]:
    """For each family, the families it can be joined to."""
    pairs: dict[str, set[str]] = {}
    for join in model.joins:
        for left, right in itertools.permutations(join.keys, 2):
            pairs.setdefault(left, set()).add(right)
    return {family: frozenset(others) for family, others in pairs.items()}
