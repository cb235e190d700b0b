"""Near misses: a misspelt word read as the one name it is close to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

from bmsql.linking._context import Context
from bmsql.linking._index import ValueIndex
from bmsql.linking._normal import Token, keys_of
from bmsql.linking._readings import Reading, readings
from bmsql.linking._stored import similar, word_columns
from bmsql.linking._words import common_norms
from bmsql.semantic import SemanticModel

_SHORTEST = 5
_LONG = 9
_KEPT = 4096
_SURE = frozenset({"value", "synonym", "stored", "official", "extra", "alias"})


class Speller:
    """Finds the words of the index that a misspelt word is close to."""

    def __init__(self, index: ValueIndex, model: SemanticModel, model_words: frozenset[str]) -> None:
        self._index = index
        self._model = model
        self._plain = common_norms() | model_words
        # By the word alone, as many questions have the same unknown ones.
        self.close_to = lru_cache(maxsize=_KEPT)(self._close_to)

    def readings(self, context: Context, covered: set[int]) -> Iterator[Reading]:
        """Readings with one word corrected, for the words that nothing else explains."""
        for place, token in enumerate(context.tokens):
            if place in covered or not self._is_misspelt(context, place):
                continue
            distance, words = self.close_to(token.norm)
            # Where an everyday word is as close, only a longer name may be meant (`mutliple sclerosis`).
            plain = any(word in self._plain for word in words)
            found = [[*self._corrected(context, place, word, distance, plain=plain)] for word in words]
            # Of words that are as close, first one that is the thing's own name: `Memantine` before `Memantina`.
            yield from chain.from_iterable(sorted(found, key=lambda each: not any(map(_is_own_name, each))))

    def _corrected(self, context: Context, place: int, word: str, distance: int, *, plain: bool) -> Iterator[Reading]:
        """Readings with `word` at a place; `plain`: in longer names only."""
        token, tokens = context.tokens[place], list(context.tokens)
        tokens[place] = Token(word, token.start, token.end, word, token.glue)
        for reading in readings(context, self._index.lexicon, self._model, tokens, must=place):
            if plain and reading.j - reading.i == 1:
                continue
            if self._is_safe(reading, word) and self._is_no_other(reading, word, token.norm, distance):
                yield reading._replace(tier=reading.tier + distance, score=1.0 - 0.1 * distance, corrected=word)

    def _is_safe(self, reading: Reading, word: str) -> bool:
        """Whether a correction is worth proposing: short words are as likely other names."""
        if len(word) >= _LONG or reading.j - reading.i > 1:
            return True
        entity = self._model.entities[reading.concept.entity]
        if entity.kind == "name":
            return len(word) > _SHORTEST and word in keys_of(reading.concept.value)
        if entity.kind == "category" and any(recipe.how == "contains" for recipe in entity.match.values()):
            return False
        return reading.entry.source in _SURE

    def _is_no_other(self, reading: Reading, word: str, typed: str, distance: int) -> bool:
        """Whether it is hardly another name of a series: those end alike and differ in what comes before."""
        entity = reading.concept.entity
        if self._model.entities[entity].kind != "name":
            return word[0] == typed[0] or (distance == 1 and len(word) > _SHORTEST)
        endings = self._index.lexicon.endings.get(entity, [])
        ending = max((len(each) for each in endings if word.endswith(each)), default=0)
        return word[0] == typed[0] and (distance == 1 or len(word) - ending > _SHORTEST)

    def _is_misspelt(self, context: Context, place: int) -> bool:
        token = context.tokens[place]
        return (
            len(token.norm) >= _SHORTEST
            and token.norm.isalpha()
            and not context.is_upper(place, place + 1)
            and not context.is_plain(place)
            and not self._index.lexicon.knows(token.norm)
        )

    def _close_to(self, word: str) -> tuple[int, tuple[str, ...]]:
        """The closest known words in the order of letters, and their distance; everyday words among them."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        allowed = 2 if len(word) >= _LONG else 1
        known_words = sorted(self._candidates(word, allowed))  # a set has them in another order in each process
        candidates = [known for known in known_words if abs(len(known) - len(word)) <= allowed]
        found = process.extract(word, candidates, scorer=OSA.distance, score_cutoff=allowed, limit=8)
        if not found:
            return 0, ()
        best = int(min(distance for _, distance, _ in found))
        return best, tuple(sorted(known for known, distance, _ in found if distance == best))

    def _candidates(self, word: str, allowed: int) -> set[str]:
        forwards, backwards = _plain_columns(self._plain)
        return {*self._index.lexicon.similar(word, allowed), *similar(forwards, backwards, word, allowed)}


def _is_own_name(reading: Reading) -> bool:
    return reading.corrected in keys_of(reading.concept.value)


@lru_cache(maxsize=4)
def _plain_columns(words: frozenset[str]) -> tuple[list[bytes], list[bytes]]:
    return word_columns(word for word in words if len(word) >= _SHORTEST - 1)
