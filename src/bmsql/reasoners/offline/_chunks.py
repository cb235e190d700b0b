"""The question cut into chunks: linked mentions, phrases of the vocabulary, numbers, the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from rapidfuzz import fuzz, process

from bmsql.reasoners.offline._tokens import Token
from bmsql.reasoners.offline._vocabulary import ARTICLES, LESS_OF, Phrases, Sense, Vocabulary, stem
from bmsql.types import Mention

# Words that may stand inside a trigger phrase beside its own.
_WIDEST_GAP = 4


@lru_cache(maxsize=4096)
def _by_kind(senses: tuple[Sense, ...]) -> dict[str, tuple[str, ...]]:
    """The names of some senses by their kind; phrases have the same senses in every question."""
    found: dict[str, tuple[str, ...]] = {}
    for sense in senses:
        found[sense.kind] = (*found.get(sense.kind, ()), sense.name)
    return found


@dataclass(slots=True)
class Chunk:
    """A stretch of tokens `[first, last)` with its possible meanings, or one mention. Not to be changed."""

    first: int
    last: int
    start: int
    end: int
    text: str
    senses: tuple[Sense, ...] = ()
    mention: Mention | None = None
    _names: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._names = _by_kind(self.senses)

    @property
    def linked(self) -> Mention:
        """The mention of a chunk that is known to be one."""
        if self.mention is None:
            raise ValueError(f"'{self.text}' is not a linked mention")
        return self.mention

    @property
    def kinds(self) -> Iterable[str]:
        """What kinds of things it may stand for."""
        return self._names

    def names(self, kind: str) -> tuple[str, ...]:
        """What the chunk may stand for as a `kind`."""
        return self._names.get(kind, ())

    def is_english(self, *intents: str) -> bool:
        """Whether the chunk is one of these intents of plain English."""
        said = self._names.get("english")
        return said is not None and any(intent in said for intent in intents)


def is_part(one: Chunk, other: Chunk) -> bool:
    """Whether a chunk is only part of another, as the `significant` of `nominally significant`."""
    return other.first <= one.first and one.last <= other.last and other.last - other.first > one.last - one.first


@dataclass
class Chunked:
    """A question in chunks, which stay as they are once they are asked for. `unknown`: words that nothing explains."""

    text: str
    tokens: list[Token]
    chunks: list[Chunk]
    rules: list[Chunk]
    hints: list[Chunk]
    unknown: list[Token] = field(default_factory=list)
    corrected: dict[str, str] = field(default_factory=dict)

    def english(self, *intents: str) -> Sequence[Chunk]:
        """Chunks of plain English with one of these intents."""
        said = [intent for intent in intents if intent in self._by_intent]
        if len(said) > 1:
            return [chunk for chunk in self.of("english") if chunk.is_english(*said)]
        return self._by_intent[said[0]] if said else ()

    def of(self, kind: str) -> Sequence[Chunk]:
        """Chunks that may be of a kind."""
        return self._by_kind.get(kind, ())

    @cached_property
    def mentions(self) -> Sequence[Chunk]:
        """Chunks that are linked mentions."""
        return [chunk for chunk in self.chunks if chunk.mention]

    @cached_property
    def _by_kind(self) -> dict[str, list[Chunk]]:
        found: dict[str, list[Chunk]] = {}
        for chunk in self.chunks:
            for kind in chunk.kinds:
                found.setdefault(kind, []).append(chunk)
        return found

    @cached_property
    def _by_intent(self) -> dict[str, list[Chunk]]:
        found: dict[str, list[Chunk]] = {}
        for chunk in self.of("english"):
            for intent in dict.fromkeys(chunk.names("english")):
                found.setdefault(intent, []).append(chunk)
        return found


def cut(text: str, tokens: list[Token], mentions: Sequence[Mention], vocabulary: Vocabulary) -> Chunked:
    """Cut a tokenised question into chunks. Mentions win over phrases unless the phrase is longer."""
    words, corrected = _spelling(tokens, mentions, vocabulary)
    chunks: list[Chunk] = []
    taken = [False] * len(tokens)
    spans = {index: mention for mention in mentions if (index := _first(tokens, mention)) is not None}
    position = 0
    while position < len(tokens):
        token = tokens[position]
        mention = spans.get(position)
        found = vocabulary.main.match(words, position, token.text) if token.kind != "stop" else None
        length = _length(tokens, mention) if mention else 0
        if mention and (found is None or found[0] <= length):
            last = position + length
            senses = tuple(found[1]) if found and found[0] == length else ()
            chunks.append(_chunk(text, tokens, position, last, senses, mention))
        elif found:
            last = position + found[0]
            chunks.append(_chunk(text, tokens, position, last, tuple(found[1]), None))
            chunks += _inside(text, tokens, words, position, last, vocabulary)
        else:
            position += 1
            continue
        for index in range(position, last):
            taken[index] = True
        position = last
    inside = {index for chunk in chunks if chunk.mention for index in range(chunk.first, chunk.last)}
    chunks += _around(text, tokens, words, inside, vocabulary)
    rules = _triggers(text, tokens, words, inside, vocabulary)
    rules = [rule for rule in rules if not _covered(rule, chunks)]
    hints = _layer(text, tokens, words, vocabulary.hints)
    for chunk in (*rules, *hints, *chunks):
        for index in range(chunk.first, chunk.last):
            taken[index] = True
    unknown = [
        token
        for index, token in enumerate(tokens)
        if token.kind == "word" and not taken[index] and not vocabulary.explains(words[index])
    ]
    return Chunked(text, tokens, chunks, rules, hints, unknown, corrected)


def _inside(
    text: str, tokens: list[Token], words: list[str], first: int, last: int, vocabulary: Vocabulary
) -> list[Chunk]:
    """`how many targets` names a measure, but also counts targets: the count and the noun in it."""
    count = next(
        (size for size in range(last - first - 1, 0, -1) if _is_count(words[first : first + size], vocabulary)), 0
    )
    if not count:
        return []
    found = vocabulary.main.match(words, first)
    parts = [_chunk(text, tokens, first, first + count, (Sense("english", "count"),), None)] if found else []
    rest = vocabulary.main.match(words[:last], first + count)
    if rest:
        parts.append(_chunk(text, tokens, first + count, first + count + rest[0], tuple(rest[1]), None))
    return parts


def _around(text: str, tokens: list[Token], words: list[str], inside: set[int], vocabulary: Vocabulary) -> list[Chunk]:
    """`reduced cerebellar expression`: a phrase of plain English with a name in the midst of it."""
    if not inside or vocabulary.lessening.isdisjoint(words):
        return []
    places = [index for index in range(len(tokens)) if index not in inside]
    outside = [words[index] for index in places]
    found = []
    for position, place in enumerate(places):
        match = vocabulary.main.match(outside, position)
        if match is None or match[0] < 2 or LESS_OF not in match[1]:
            continue
        last = places[position + match[0] - 1] + 1
        if last - place > match[0]:
            found.append(_chunk(text, tokens, place, last, (LESS_OF,), None))
    return found


def _is_count(words: list[str], vocabulary: Vocabulary) -> bool:
    found = vocabulary.main.match(words, 0)
    return found is not None and found[0] == len(words) and Sense("english", "count") in found[1]


def _covered(rule: Chunk, chunks: list[Chunk]) -> bool:
    """Whether a trigger is only part of a condition, as `significant` in `labelled not significant`."""
    if any(
        (chunk.first <= rule.first < chunk.last or chunk.first < rule.last < chunk.last) and _says_when(chunk)
        for chunk in chunks
    ):
        return True  # `first approved`, and `lack an approval year`
    return any(
        chunk.first <= rule.first
        and rule.last <= chunk.last
        and chunk.last - chunk.first > 1
        and chunk.names("condition")
        for chunk in chunks
    )


def _says_when(chunk: Chunk) -> bool:
    """`approval year`, `first approved`: the words of a year say nothing about being approved."""
    return chunk.last - chunk.first > 1 and any(sense.mode == "year" for sense in chunk.senses)


def _triggers(
    text: str, tokens: list[Token], words: list[str], inside: set[int], vocabulary: Vocabulary
) -> list[Chunk]:
    """Trigger phrases, read over names and articles: `raises Parkinson's risk` raises risk."""
    places = [
        index
        for index, token in enumerate(tokens)
        if index not in inside and token.kind != "stop" and words[index] not in ARTICLES
    ]
    stems = [stem(words[index]) for index in places]
    found: list[Chunk] = []
    # Each rule has phrases of its own: the longest one counts, wherever those of other rules end.
    until: dict[str, int] = {}
    for position in range(len(places)):
        for length, senses in vocabulary.rules.matches(stems, position):
            end = position + length
            fresh = tuple(sense for sense in senses if until.get(sense.name, 0) <= position)
            between = tokens[places[position] : places[end - 1]]
            if not fresh or len(between) > length + _WIDEST_GAP or any(token.text in ",;:.?!" for token in between):
                continue
            until.update({sense.name: end for sense in fresh})
            found.append(_chunk(text, tokens, places[position], places[end - 1] + 1, fresh, None))
    return found


def _layer(text: str, tokens: list[Token], words: list[str], phrases: Phrases) -> list[Chunk]:
    found, position = [], 0
    while position < len(tokens):
        match = phrases.match(words, position) if tokens[position].kind != "stop" else None
        if match is None:
            position += 1
            continue
        found.append(_chunk(text, tokens, position, position + match[0], tuple(match[1]), None))
        position += match[0]
    return found


def _chunk(
    text: str, tokens: list[Token], first: int, last: int, senses: tuple[Sense, ...], mention: Mention | None
) -> Chunk:
    start, end = tokens[first].start, tokens[last - 1].end
    return Chunk(first, last, start, end, text[start:end], senses, mention)


def _first(tokens: list[Token], mention: Mention) -> int | None:
    return next((index for index, token in enumerate(tokens) if token.end > mention.start), None)


def _length(tokens: list[Token], mention: Mention) -> int:
    covered = [token for token in tokens if token.end > mention.start and token.start < mention.end]
    return max(1, len(covered))


def _spelling(
    tokens: list[Token], mentions: Sequence[Mention], vocabulary: Vocabulary
) -> tuple[list[str], dict[str, str]]:
    """Words as compared with phrases: near misses of vocabulary words are put right."""
    known = vocabulary.words
    words, corrected = [], {}
    for token in tokens:
        low = token.low
        if (
            token.kind != "word"
            or low in known
            or low in vocabulary.filler
            or len(low) < 5
            or not low.isalpha()
            or any(mention.start <= token.start < mention.end for mention in mentions)
        ):
            words.append(low)
            continue
        if low.endswith("s") and low[:-1] in known:
            words.append(low[:-1])
            continue
        best = process.extractOne(low, vocabulary.resembling(low), scorer=fuzz.ratio, score_cutoff=84)
        if best:
            corrected[token.text] = best[0]
            words.append(best[0])
        else:
            words.append(low)
    return words, corrected
