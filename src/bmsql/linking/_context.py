"""What the words around a stretch of the question say about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from bmsql.linking._normal import keys_of, norm, span_keys, tokenize
from bmsql.linking._words import field_words, is_common, salt_words
from bmsql.semantic import SemanticModel
from bmsql.types import Mention

_NEAR = frozenset(
    "near around at nearest nearby within targeting target targeted hitting hit bind binding locus".split()
)
_LONGEST_NOUN = 4
_WITH_PREPOSITION = 2
_NUMBERED = frozenset("phase stage type class grade part step".split())


@dataclass(frozen=True)
class Nouns:
    """The entities that each noun of a semantic model stands for, by the noun's key; and the keys' first words."""

    entities: Mapping[str, tuple[str, ...]]
    firsts: frozenset[str]


class Context:
    """A question, its words, and how it uses capitals."""

    def __init__(
        self, question: str, nouns: Nouns, model_words: frozenset[str], cues: Mapping[str, frozenset[str]] | None = None
    ) -> None:
        self.question = question
        self.tokens = tokenize(question)
        self.model_words = model_words
        self._cues = cues or {}
        self.phrases: list[tuple[int, int]] = []
        self._ends: dict[str, set[int]] = {}
        self._starts: dict[str, set[int]] = {}
        self._find_nouns(nouns)
        words = [token.text for token in self.tokens if token.text[0].isalpha()]
        self.shouting = len(words) > 3 and all(word.isupper() for word in words)
        long = [token.text for token in self.tokens if len(token.text) > 3 and token.text.isalpha()]
        self.titled = len(long) > 2 and sum(word[0].isupper() for word in long) > 0.7 * len(long)

    def _find_nouns(self, nouns: Nouns) -> None:
        for i, token in enumerate(self.tokens):
            if token.norm.partition(" ")[0] not in nouns.firsts and not self.is_glued(i + 1):
                continue
            for j in range(i + 1, min(len(self.tokens), i + _LONGEST_NOUN) + 1):
                for key in span_keys(self.tokens[i:j]):
                    for entity in nouns.entities.get(key, ()):
                        self._starts.setdefault(entity, set()).add(i)
                        self._ends.setdefault(entity, set()).add(j)
                        if j - i > 1 and (i, j) not in self.phrases:
                            self.phrases.append((i, j))

    def text(self, i: int, j: int) -> str:
        """The question from word `i` up to, not including, word `j`."""
        return self.question[self.tokens[i].start : self.tokens[j - 1].end]

    def places(self, mentions: Iterable[Mention]) -> set[int]:
        """The words that some mentions take up."""
        spans = [(mention.start, mention.end) for mention in mentions]
        if not spans:
            return set()
        return {
            place
            for place, token in enumerate(self.tokens)
            if any(token.start < end and start < token.end for start, end in spans)
        }

    def is_glued(self, i: int) -> bool:
        """Whether a hyphen or point joins word `i`, if there is one, to the word before."""
        return i < len(self.tokens) and self.tokens[i].glue != ""

    @cached_property
    def joins(self) -> bool:
        """Whether any words are joined so."""
        return any(token.glue for token in self.tokens)

    def before(self, i: int) -> str:
        """The word before word `i`, folded, or nothing."""
        return self.tokens[i - 1].text.lower() if i else ""

    def after(self, j: int) -> str:
        """The word that follows, folded, or nothing."""
        return self.tokens[j].text.lower() if j < len(self.tokens) else ""

    def next_norm(self, j: int) -> str:
        """The word that follows, in normal form, or nothing."""
        return self.tokens[j].norm if j < len(self.tokens) else ""

    def begins_sentence(self, i: int) -> bool:
        """Whether word `i` is the first of a sentence."""
        if i == 0:
            return True
        between = self.question[self.tokens[i - 1].end : self.tokens[i].start]
        return any(mark in between for mark in ".!?:\n")

    def is_upper(self, i: int, j: int) -> bool:
        """Whether the writer put it in capitals on purpose; `GISTs` counts."""
        text = self.text(i, j)
        text = text[:-1] if text.endswith("s") and len(text) > 3 else text
        return text.isupper() and not self.shouting

    def is_proper(self, i: int) -> bool:
        """Whether word `i` has a capital that only a name would have."""
        return (
            self.tokens[i].text[0].isupper() and not self.begins_sentence(i) and not self.titled and not self.shouting
        )

    def is_numbered(self, i: int) -> bool:
        """Whether word `i` is a numeral after `phase` and the like."""
        return self.before(i) in _NUMBERED

    def beside_noun(self, i: int, j: int, entity: str) -> bool:
        """Whether a noun for the entity stands directly before or after (`the gene cat`, `cat gene`)."""
        return i in self._ends.get(entity, ()) or j in self._starts.get(entity, ())

    def opens_noun(self, i: int, j: int, entity: str) -> bool:
        """Whether words `i` to `j` stand before a noun for the entity, or open one (`brain` of `brain region`)."""
        return not self._starts.get(entity, set()).isdisjoint((i, j))

    def names_noun(self, entity: str) -> bool:
        """Whether a noun for the entity stands anywhere in the question."""
        return entity in self._starts

    def speaks_of(self, entity: str) -> bool:
        """Whether the question speaks of rows that tell values of this category apart."""
        return self.names_noun(entity) or not self._cues.get(entity, frozenset()).isdisjoint(self.words)

    def salts(self, j: int) -> int:
        """How many of the words from word `j` on name the salt of what stands before."""
        count = 0
        while j + count < len(self.tokens) and not self.tokens[j + count].breaks:
            if self.tokens[j + count].text.lower() not in salt_words():
                break
            count += 1
        return count

    def is_place(self, i: int, j: int, entity: str) -> bool:
        """Whether it stands where a symbol stands: beside its noun, after `near`, `at`, `targeting`, in `SNPs in X`."""
        if self.beside_noun(i, j, entity):
            return True
        gap = self.question[self.tokens[i - 1].end : self.tokens[i].start] if i else ""
        previous = self.before(i)
        if "@" in gap or previous in _NEAR or norm(previous) in _NEAR:
            return True
        if not self.is_upper(i, j) or i < _WITH_PREPOSITION:
            return False
        if previous in {"in", "of", "for"}:
            return any(i - 1 in ends for ends in self._ends.values())
        return previous in {"and", "or"} and self.is_upper(i - 2, i - 1) and self.is_place(i - 2, i - 1, entity)

    def is_plain(self, i: int) -> bool:
        """Whether word `i` is everyday English, of the field, or of the semantic model."""
        token = self.tokens[i]
        lowered = token.text.lower()
        return lowered in field_words() or token.norm in self.model_words or is_common(token.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words in normal form."""
        return frozenset(token.norm for token in self.tokens)


def nouns_of(model: SemanticModel) -> Nouns:
    """The nouns of a semantic model."""
    found: dict[str, tuple[str, ...]] = {}
    for name, entity in model.entities.items():
        for noun in (entity.label, entity.plural, *entity.nouns):
            for key in keys_of(noun):
                if name not in found.get(key, ()):
                    found[key] = (*found.get(key, ()), name)
    return Nouns(found, frozenset(map(_first_word, found)))


def _first_word(key: str) -> str:
    return key.partition(" ")[0]
