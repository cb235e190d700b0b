"""Which families of tables can answer: the smallest set that expresses what the question says."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

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
# Sets of phrases, and of families, that are met again in other questions.
_KEPT, _KEPT_SETS = 4096, 256


@dataclass(frozen=True)
class Fit:
    """A set of families with its score, and the chunks that it cannot express."""

    families: tuple[str, ...]
    score: float
    left_out: tuple[Chunk, ...]


@dataclass(slots=True)
class Weighted:
    """A chunk with how strongly it speaks for each family that can express it."""

    chunk: Chunk
    weights: Mapping[str, float]

    @property
    def strongest(self) -> float:
        """How strongly it speaks for the family that it speaks for most."""
        return max(self.weights.values())


class Families:
    """The families of a semantic model: what speaks for each, and which can be joined. Made once; thread-safe.

    rule_families: the families of each rule; thresholds: the rules whose own phrases name a study;
    tables: those that there are.
    """

    def __init__(
        self,
        model: SemanticModel,
        rule_families: Mapping[str, tuple[str, ...]],
        thresholds: frozenset[str],
        tables: frozenset[str],
    ) -> None:
        self._model, self._rule_families, self._thresholds = model, rule_families, thresholds
        self._present = frozenset(model.tables[table].family for table in tables)
        self._subjects = frozenset(family.subject for family in model.families.values())
        specs = model.tables.values()
        self._studied = frozenset(value for spec in specs for value in spec.about.values()) | frozenset(
            value for spec in specs for values in spec.covers.values() for value in values
        )
        self._joinable = _joinable_families(model)
        # Keyed by phrases and names of families alone, of which a model has so many.
        self._said = lru_cache(maxsize=_KEPT)(self._said_by)
        self._named = lru_cache(maxsize=_KEPT)(self._naming)
        self._connected = lru_cache(maxsize=_KEPT)(self._are_connected)
        self._sets = lru_cache(maxsize=_KEPT_SETS)(self._connected_sets)

    # -- what is said for each ----------------------------------------------------------------

    def weigh(self, chunked: Chunked) -> list[Weighted]:
        """All chunks that speak for a family."""
        own = [rule for rule in chunked.rules if self._of_thresholds(rule)]
        speaking = [chunk for chunk in chunked.chunks if not (chunk.mention and _part_of_hint(chunk, chunked))]
        for cue in chunked.english("whole_table"):
            # `the Parkinson's dataset` is the table about it, not one of the data sets that rows name.
            if any(one.last == cue.first and one.linked.value in self._studied for one in chunked.mentions):
                speaking = [chunk for chunk in speaking if chunk is not cue]
        speaking += [rule for rule in chunked.rules if not _part_of(rule, own)]
        speaking += [hint for hint in chunked.hints if not _part_of(hint, chunked.chunks)]
        weighted = []
        for chunk in speaking:
            weights = self._said(chunk.senses) if chunk.mention is None else self._with_mention(chunk, chunk.mention)
            if len(weights) == 1 and chunk.last - chunk.first > 1 and self._of_thresholds(chunk):
                # A threshold's own phrase, such as "genome-wide significant", names the study.
                weights = dict.fromkeys(weights, _HARD)
            if weights:
                weighted.append(Weighted(chunk, weights))
        return weighted

    def _of_thresholds(self, chunk: Chunk) -> bool:
        return all(sense.name in self._thresholds for sense in chunk.senses)

    def _said_by(self, senses: tuple[Sense, ...]) -> Mapping[str, float]:
        return self._strongest(voice for sense in senses for voice in _voices(sense, self._model, self._rule_families))

    def _with_mention(self, chunk: Chunk, mention: Mention) -> Mapping[str, float]:
        """What a mention says, by the families that hold its value, and what its words say besides."""
        held = tuple(family for family, values in mention.stored.items() if values)
        named = self._named(mention.entity, mention.value if mention.value in self._studied else None, held)
        if not chunk.senses:
            return named
        weights = dict(named)
        for family, weight in self._said(chunk.senses).items():
            weights[family] = max(weights.get(family, 0.0), weight)
        return weights

    def _naming(self, entity: str, value: str | None, held: tuple[str, ...]) -> Mapping[str, float]:
        return self._strongest(_mention_voices(entity, value, held, self._model))

    def _strongest(self, voices: Iterable[tuple[str, str, float]]) -> Mapping[str, float]:
        weights: dict[str, float] = {}
        for kind, family, factor in voices:
            if family in self._present:
                weights[family] = max(weights.get(family, 0.0), _WEIGHTS[kind] * factor)
        return weights

    # -- the smallest set ---------------------------------------------------------------------

    def choose(self, weighted: Sequence[Weighted]) -> list[Fit]:
        """Sets of families, best first; each further family must express enough more to be worth it."""
        known = tuple(sorted({family for item in weighted for family in item.weights}))
        said = list(_once(weighted))
        needed = [item for item in weighted if item.strongest >= _HARD or self._names_things(item.chunk)]
        said_for = {family: [item.weights.get(family, 0.0) for item in said] for family in known}
        needed_for = {family: [item.weights.get(family, 0.0) for item in needed] for family in known}
        # Families as bits: by family, what else those chunks speak for that matter to it.
        bits = {family: 1 << place for place, family in enumerate(known)}
        matter: dict[str, set[int]] = {family: set() for family in known}
        for item in weighted:
            spoken = sum(bits[family] for family in item.weights)
            for family, weight in item.weights.items():
                if weight >= _MATTERS:
                    matter[family].add(spoken ^ bits[family])

        def fit(families: tuple[str, ...]) -> Fit:
            """How well some families express what is said, and what of the needed they do not."""
            score = sum(_best(said_for, families))
            score += sum(self._model.families[family].weight for family in families) - _EXTRA_FAMILY * (
                len(families) - 1
            )
            best = _best(needed_for, families)
            left_out = tuple(item.chunk for item, weight in zip(needed, best, strict=True) if weight <= 0)
            return Fit(families, score, left_out)

        def each_needed(families: tuple[str, ...]) -> bool:
            """Whether each family alone can express something that matters, or joins the others."""
            together = 0
            for family in families:
                together |= bits[family]
            for family in families:
                if all(map(together.__and__, matter[family])):
                    others = tuple(other for other in families if other != family)
                    if len(others) < 2 or self._connected(others):
                        return False
            return True

        fits = [fit((family,)) for family in known]
        fits.sort(key=lambda one: -one.score)
        if not fits:
            return fits
        fits.extend(fit(families) for families in self._sets(known) if each_needed(families))
        # What cannot be expressed weighs more than any preference: no part of a question is dropped.
        fits.sort(key=lambda one: (len(one.left_out), -one.score))
        return fits

    def _connected_sets(self, known: tuple[str, ...]) -> Sequence[tuple[str, ...]]:
        """The sets of two families and more that can be joined, the smallest first."""
        sizes = range(2, _MOST_FAMILIES + 1)
        sets = itertools.chain.from_iterable(itertools.combinations(known, size) for size in sizes)
        return [families for families in sets if self._connected(families)]

    def _names_things(self, chunk: Chunk) -> bool:
        """Whether a noun stands for what rows are of, or what they are found by: such things are not dropped."""
        return chunk.mention is None and any(
            name in self._subjects or self._model.entities[name].kind in ("symbol", "name", "identifier")
            for name in chunk.names("noun")
        )

    def _are_connected(self, families: tuple[str, ...]) -> bool:
        reached, frontier = {families[0]}, [families[0]]
        while frontier:
            for other in self._joinable.get(frontier.pop(), ()):
                if other in families and other not in reached:
                    reached.add(other)
                    frontier.append(other)
        return len(reached) == len(families)


def _best(weights: Mapping[str, list[float]], families: tuple[str, ...]) -> Iterable[float]:
    """How strongly each chunk speaks for the one of some families that it speaks for most."""
    lists = [weights[family] for family in families]
    return lists[0] if len(lists) == 1 else map(max, *lists)


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
    sense: Sense, model: SemanticModel, rule_families: Mapping[str, tuple[str, ...]]
) -> Iterable[tuple[str, str, float]]:
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


def _mention_voices(
    name: str, value: str | None, held: tuple[str, ...], model: SemanticModel
) -> Iterable[tuple[str, str, float]]:
    """Families that match the entity, more so those that hold the value, and tables that are about it.

    value: None for one that no table is about; held: the families that hold it.
    """
    entity = model.entities[name]
    for family in entity.match:
        yield "mention", family, 1.0 if family in held else _NOT_HELD
    for family, spec in model.families.items():
        subject = model.entities.get(spec.subject)
        recipe = subject.match.get(family) if subject is not None and subject.kind == "category" else None
        if entity.kind == "category" and recipe is not None and recipe.how == "contains":
            yield "mention", family, _IN_A_NAME
    for table in model.tables.values():
        covered = table.covers.get(name, ())
        if value is not None and (table.about.get(name) == value or value in covered):
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


def _once(weighted: Sequence[Weighted]) -> Iterable[Weighted]:
    """What speaks for families, without the repetitions of a rule: `approved for X and also approved for Y`."""
    said: set[tuple[Sense, ...]] = set()
    for item in weighted:
        if item.chunk.names("rule"):
            if item.chunk.senses in said:
                continue
            said.add(item.chunk.senses)
        yield item


def _joinable_families(model: SemanticModel) -> dict[str, frozenset[str]]:
    """For each family, the families it can be joined to."""
    pairs: dict[str, set[str]] = {}
    for join in model.joins:
        for left, right in itertools.permutations(join.keys, 2):
            pairs.setdefault(left, set()).add(right)
    return {family: frozenset(others) for family, others in pairs.items()}
