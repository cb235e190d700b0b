"""One question being read: its chunks, regions and numbers, and which family each belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from bmsql.reasoners.offline._chunks import Chunk, Chunked, cut
from bmsql.reasoners.offline._comparisons import Numbers, read_numbers
from bmsql.reasoners.offline._exclusions import exclusions, meant
from bmsql.reasoners.offline._families import Fit, Weighted
from bmsql.reasoners.offline._regions import Region, regions, window
from bmsql.reasoners.offline._tokens import tokenise
from bmsql.reasoners.offline._vocabulary import Sense, Vocabulary
from bmsql.semantic import SemanticModel
from bmsql.types import Mention

_ASKING = frozenset(
    "which what who whom where when list show give find name display get report print count tell enumerate rank"
    " identify return fetch provide present many".split()
)


_PREPOSITIONS = frozenset({"for", "of", "in", "on", "by", "to", "with", "from", "at"})


# `blackBoxWarning = FALSE`, `approved is set to false`.
_SETTING = frozenset({"=", "is", "set", "to", "equals", "equal"})
_SAID_WITHIN = 4


@dataclass
class Question:
    """What was found in a question before it is understood. `judged`: words of numbers that filter nothing."""

    text: str
    chunked: Chunked
    regions: list[tuple[Region, Chunk]]
    numbers: Numbers
    model: SemanticModel
    weighted: list[Weighted] = field(default_factory=list)
    distances: set[int] = field(default_factory=set)
    distance: int = 0
    vocabulary: Vocabulary | None = None
    quoted: list[tuple[int, int]] = field(default_factory=list)
    judged: set[str] = field(default_factory=set)
    fit: Fit | None = None
    directions: frozenset[str] = frozenset()
    _asked: tuple[Fit | None, Chunk | None] | None = None

    @property
    def families(self) -> tuple[str, ...]:
        """The chosen families, once they are chosen."""
        return self.fit.families if self.fit else ()

    @cached_property
    def lows(self) -> list[str]:
        """The tokens in lower case."""
        return [token.low for token in self.chunked.tokens]

    def has(self, *intents: str) -> bool:
        """Whether plain English of one of these intents occurs."""
        return bool(self.chunked.english(*intents))

    def families_of(self, chunk: Chunk) -> Mapping[str, float]:
        """How strongly a chunk speaks for each family of the chosen set."""
        chosen = set(self.fit.families) if self.fit else set()
        for item in self.weighted:
            if item.chunk is chunk:
                return {family: weight for family, weight in item.weights.items() if family in chosen}
        return {}

    def asked(self) -> Chunk | None:
        """The noun or attribute that is asked for: the first one behind a question word."""
        # The families that are chosen decide which chunks name something.
        if self._asked is None or self._asked[0] is not self.fit:
            self._asked = self.fit, self._find_asked()
        return self._asked[1]

    def _find_asked(self) -> Chunk | None:
        arrow = self.text.find("->")
        if arrow >= 0:
            start = next((index for index, token in enumerate(self.chunked.tokens) if token.start > arrow), 0)
        else:
            asking = (index for index, low in enumerate(self.lows[:12]) if low in _ASKING)
            start = next((index for index in asking if not self._is_relative(index)), 0)
        candidates = [
            chunk for chunk in self.chunked.chunks if self._names_something(chunk) and not self.is_compared(chunk)
        ]
        after = [chunk for chunk in candidates if chunk.first >= start] or candidates
        before = [chunk for chunk in candidates if chunk.last <= start]
        if before and self._asks_for_ones(start, after[0].first):
            return before[-1]
        if (
            len(after) > 1
            and self.chunked.tokens[after[1].first - 1].text == "("
            and after[1].first - after[0].last == 1
        ):
            return after[1]  # which disease (MeSH heading)
        return after[0] if after else None

    def _asks_for_ones(self, start: int, until: int) -> bool:
        """`Antibodies: which approved ones ...`, `which of them ...`: of what was named before."""
        return any(
            low == "ones"
            or (low == "one" and index == start + 1)
            or (low == "them" and self.lows[max(0, index - 1) : index] == ["of"])
            for index, low in enumerate(self.lows[:until])
            if index > start
        )

    def _is_relative(self, index: int) -> bool:
        """Whether a `which` stands behind what it is of: `genes for which ...`, `genes which ...`."""
        if self.lows[index] not in ("which", "whom", "that"):
            return False
        nouns = [chunk for chunk in self.chunked.of("noun") if not chunk.mention]
        if any(chunk.first == index + 1 for chunk in nouns):
            return False
        if index and self.lows[index - 1] in _PREPOSITIONS:
            return any(chunk.last < index for chunk in nouns)
        return any(chunk.last == index for chunk in nouns)

    def is_judged(self, chunk: Chunk, subject: str) -> bool:
        """Whether a value is judged against the row of a named thing: `is G the effect allele of rs356228`."""
        entity = self.model.entities[chunk.linked.entity]
        subjects = {family.subject for family in self.model.families.values()}
        if entity.kind != "identifier" or entity.same_as or chunk.linked.entity in subjects:
            return False
        return any(other.linked.entity == subject for other in self.chunked.mentions)

    def is_compared(self, chunk: Chunk) -> bool:
        """Whether a chunk is only part of a number's phrase, as `phase` in `phase 2`."""
        return any(one.first <= chunk.first and chunk.last <= one.last for one in self.numbers.comparisons)

    def _names_something(self, chunk: Chunk) -> bool:
        if chunk.mention is not None:
            return bool(self.model.entities[chunk.mention.entity].classifies) and bool(self.families_of(chunk))
        attributes = [self.model.attributes[name] for name in chunk.names("attribute")]
        if not (chunk.names("noun") or any(attribute.entity or attribute.groups for attribute in attributes)):
            return False
        if not chunk.names("noun") and all(sense.mode == "cue" for sense in chunk.senses if sense.kind == "attribute"):
            return False
        return bool(self.families_of(chunk))

    def family_of(self, chunk: Chunk, main: str = "") -> str:
        """The family a chunk belongs to: the only one that can express it, else the nearest anchor's."""
        weights = self.families_of(chunk)
        if not weights:
            return main
        best = max(weights.values())
        candidates = {family for family, weight in weights.items() if weight >= best / 2}
        if len(candidates) == 1:
            return next(iter(candidates))
        nearest, distance = main if main in candidates else min(candidates), 10**6
        for item in self.weighted:
            anchors = self.families_of(item.chunk)
            if item.chunk is chunk or len(anchors) != 1:
                continue
            family = next(iter(anchors))
            gap = self._gap(chunk, item.chunk)
            if family in candidates and gap < distance:
                nearest, distance = family, gap
        return nearest

    def _gap(self, one: Chunk, other: Chunk) -> int:
        first, last = (one, other) if one.first < other.first else (other, one)
        between = self.chunked.tokens[first.last : last.first]
        breaks = sum(1 for token in between if token.low in ("that", "which", "whose", ",", "and", "but", "with", ";"))
        return max(0, last.first - first.last) + 3 * breaks

    def negated(self, chunk: Chunk) -> bool:
        """Whether the words around a chunk leave it out: `outside X`, `with X excluded`."""
        return any(chunk.first == one.first for out in self.left_out.values() for one in out)

    def is_false(self, chunk: Chunk) -> bool:
        """Whether a true-or-false attribute is said to be false: `not X`, `X = FALSE`; "not false" is true."""
        behind = [low for low in self.lows[chunk.last : chunk.last + _SAID_WITHIN] if low not in _SETTING]
        return self.negated(chunk) != (behind[:1] == ["false"])

    @cached_property
    def left_out(self) -> dict[int, list[Chunk]]:
        """What is left out, by where the words begin that say so."""
        return exclusions(self.chunked, [name for name, one in self.model.attributes.items() if one.test])


def open_question(text: str, mentions: tuple[Mention, ...], model: SemanticModel, vocabulary: Vocabulary) -> Question:
    """Cut a cleaned question up, with its regions and numbers."""
    tokens = tokenise(text)
    named = next((name for name, entity in model.entities.items() if entity.kind == "region"), "")
    found = regions(text) if named else []
    mentions = tuple(
        mention
        for mention in mentions
        if model.entities[mention.entity].kind != "region"
        and not any(region.start < mention.end and mention.start < region.end for region in found)
    )
    chunked = cut(text, tokens, mentions, vocabulary)
    taken: set[int] = set()
    placed = []
    for region in found:
        indices = [index for index, token in enumerate(tokens) if token.end > region.start and token.start < region.end]
        taken.update(indices)
        chunk = Chunk(indices[0], indices[-1] + 1, region.start, region.end, region.text, (Sense("region", named),))
        placed.append((region, chunk))
    distance = window(text)
    distances: set[int] = set()
    if distance:
        distances = {
            index for index, token in enumerate(tokens) if token.end > distance[1] and token.start < distance[2]
        }
        taken |= distances
    if placed:
        kept = [
            chunk
            for chunk in chunked.chunks
            if not any(chunk.first < place.last and place.first < chunk.last for _, place in placed)
        ]
        chunked.chunks[:] = [*kept, *(chunk for _, chunk in placed)]
    chunked.chunks.sort(key=lambda chunk: chunk.first)
    chunked.unknown[:] = [token for token in chunked.unknown if tokens.index(token) not in taken]
    for chunk in chunked.mentions:
        taken.update(range(chunk.first, chunk.last))
    for chunk in chunked.english("build_37", "build_38"):
        taken.update(range(chunk.first, chunk.last))
    chunked.rules[:] = meant(chunked, {name for name, one in model.attributes.items() if one.test}, model)
    numbers = read_numbers(chunked, vocabulary, taken)
    used = {index for one in numbers.comparisons for index in range(one.first, one.last)}
    chunked.unknown[:] = [
        token
        for token in chunked.unknown
        if (index := tokens.index(token)) not in used and not (token.low in vocabulary.graded and numbers.gloss(index))
    ]
    around = distance[0] if distance and not any(region.first for region in found) else 0
    return Question(text, chunked, placed, numbers, model, distances=distances, distance=around, vocabulary=vocabulary)


def without(question: Question, chunk: Chunk, kinds: frozenset[str]) -> Chunk:
    """The chunk without its senses of some kinds."""
    return replace(chunk, senses=tuple(sense for sense in chunk.senses if sense.kind not in kinds))
