"""All phrases the reader knows, from the semantic model, the rules and plain English."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from bmsql.data import safe_yaml
from bmsql.reasoners.offline._tokens import phrase
from bmsql.semantic import SemanticModel


class Sense(NamedTuple):
    """One meaning of a phrase: its kind (`noun`, `attribute`, ...) and the name it stands for."""

    kind: str
    name: str
    mode: str = ""


# `reduced`, `lower`: what is said is meant of less of a thing.
LESS_OF = Sense("english", "less_of")
# Passed over inside trigger phrases, in the question as in the rules.
ARTICLES = frozenset(
    {
        "the",
        "a",
        "an",
        "their",
        "its",
        "your",
        "statistically",
        "usual",
        "customary",
        "default",
        "applying",
        "imposing",
        "it",
        "do",
        "does",
        "did",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
    }
)
# "aren't significant" says what "not significant" says.
_NEGATED = frozenset(
    {"aren't", "isn't", "wasn't", "weren't", "don't", "doesn't", "didn't", "cannot", "can't", "haven't", "hasn't"}
)
# `OR` is an odds ratio and `GO` the Gene Ontology only in capitals.
_LONGEST_ABBREVIATION = 3
# A shorter word is as likely another one as it is misspelt.
_SHORTEST_SPELT = 5


def stem(word: str) -> str:
    """A word without the ending of a verb's third person or a plural, for trigger phrases."""
    if word in _NEGATED:
        return "not"
    if len(word) > 4 and word.endswith("s") and not word.endswith(("ss", "is", "us")):
        return word[:-1]
    return word


@dataclass
class Phrases:
    """Phrases by their words, for matching against tokens.

    lengths: by first word, how many words its phrases have, the most first; known once all are added.
    """

    senses: dict[tuple[str, ...], list[Sense]] = field(default_factory=dict)
    lengths: dict[str, tuple[int, ...]] = field(default_factory=dict)
    form: Callable[[str], str] = str

    def add(self, text: str, sense: Sense) -> None:
        """Add one phrase with one meaning. A short one in capitals, such as OR, is meant as written."""
        words = tuple(self.form(word) for word in phrase(text))
        if not words:
            return
        if len(words) == 1 and text.isupper() and len(text) <= _LONGEST_ABBREVIATION:
            words = (text,)
        senses = self.senses.setdefault(words, [])
        if sense not in senses:
            senses.append(sense)

    def opening(self, sense: Sense) -> frozenset[str]:
        """The first words of the phrases of several words that have a sense."""
        return frozenset(words[0] for words, senses in self.senses.items() if len(words) > 1 and sense in senses)

    def finish(self) -> None:
        """Note the lengths of the phrases, so that the longest one is found first."""
        lengths: dict[str, set[int]] = {}
        for words in self.senses:
            lengths.setdefault(words[0], set()).add(len(words))
        self.lengths = {word: tuple(sorted(found, reverse=True)) for word, found in lengths.items()}

    @property
    def words(self) -> set[str]:
        """All words that occur in phrases."""
        return {word for words in self.senses for word in words}

    def match(self, words: list[str], start: int, written: str = "") -> tuple[int, list[Sense]] | None:
        """The longest phrase that begins at `start`: its length in words, and its senses.

        `written` is the first word as it stands in the question.
        """
        if written.isupper() and (senses := self.senses.get((written,))):
            return 1, senses
        if words[start] not in self.lengths:
            return None
        return next(self.matches(words, start), None)

    def matches(self, words: list[str], start: int) -> Iterator[tuple[int, list[Sense]]]:
        """All phrases that begin at `start`, longest first."""
        for length in self.lengths.get(words[start], ()):
            senses = self.senses.get(tuple(words[start : start + length]))
            if senses is not None and start + length <= len(words):
                yield length, senses

    def exactly(self, words: Iterable[str]) -> list[Sense]:
        """The senses of a phrase of just these words, none for an unknown one."""
        return self.senses.get(tuple(words), [])


@lru_cache(maxsize=1)
def english() -> dict[str, Any]:
    """The lexicon of plain English."""
    text = (files("bmsql.reasoners.offline") / "english.yaml").read_text(encoding="utf-8")
    data: dict[str, Any] = safe_yaml(text)
    return data


def _with_numbers_of(words: Iterable[str]) -> Iterator[str]:
    """The words, and for `most targets` also `greatest number of targets`, for `fewest` likewise."""
    for text in words:
        yield text
        for intent in ("most", "fewest"):
            if text.startswith(f"{intent} "):
                rest = text.removeprefix(f"{intent} ")
                yield from (f"{often} {rest}" for often in english()[intent] if often.endswith("number of"))


def _column_words(model: SemanticModel) -> Iterable[tuple[str, str]]:
    """Column names as people who know the tables type them, with the attribute that shows them."""
    owners: dict[str, str] = {}
    for name, attribute in model.attributes.items():
        matches = model.entities[attribute.entity].match if attribute.entity else {}
        shown = [recipe.shown for family, recipe in matches.items() if family in attribute.show]
        for role in (*attribute.measure.values(), *attribute.test.values(), *shown):
            owners.setdefault(role, name)
    for name, attribute in model.attributes.items():
        for family, roles in attribute.show.items():
            for role in roles:
                if role not in model.families[family].show:
                    owners.setdefault(role, name)
    for table in model.tables.values():
        for column, spec in table.columns.items():
            if spec.role in owners and len(column) > _LONGEST_ABBREVIATION:
                yield column, owners[spec.role]


def _column_nouns(model: SemanticModel) -> Iterable[tuple[str, str]]:
    """Column names that stand for the subject of their table, such as drugName for drugs."""
    for table in model.tables.values():
        subject = model.entities.get(model.families[table.family].subject)
        recipe = subject.match.get(table.family) if subject else None
        column = table.column_by_role.get(recipe.shown) if recipe else None
        if column and len(column) > _LONGEST_ABBREVIATION:
            yield column, model.families[table.family].subject


class Vocabulary:
    """The phrases of one semantic model and rule book.

    main: phrases that name something (entities, attributes, conditions, intents); rules: trigger
    phrases; hints: words of families. Matching the three apart lets one word do several things.
    """

    def __init__(self, model: SemanticModel, triggers: Mapping[str, Mapping[str, Iterable[str]]]) -> None:
        lexicon = english()
        self.model = model
        self.main, self.rules, self.hints = Phrases(), Phrases(form=stem), Phrases()
        self.people = frozenset(lexicon["people"])
        self.graded = frozenset(lexicon["graded"])
        self.filler = frozenset(lexicon["filler"].split()) | self.people
        self.number_words: dict[str, int] = lexicon["number_words"]
        self.hostile = tuple(frozenset(group) for group in lexicon["hostile"])
        self._add_model(model)
        self._add_english(lexicon)
        for rule, modes in triggers.items():
            for mode, phrases in modes.items():
                for words in phrases:
                    kept = [word for word in words.split() if word.lower() not in ARTICLES]
                    self.rules.add(" ".join(kept) or words, Sense("rule", rule, mode))
        for layer in (self.main, self.rules, self.hints):
            layer.finish()
        self.lessening = self.main.opening(LESS_OF)
        self.words = frozenset(self.main.words | self.rules.words | self.hints.words)

    def _add_model(self, model: SemanticModel) -> None:
        """Phrases of the semantic model: what its entities, attributes and conditions are called."""
        for name, entity in model.entities.items():
            self._add_all(entity.nouns, Sense("noun", name))
        for name, attribute in model.attributes.items():
            mode = "year" if attribute.numbers == "year" else "groups" if attribute.groups else ""
            self._add_all(_with_numbers_of(attribute.words), Sense("attribute", name, mode))
            self._add_all(attribute.cues, Sense("attribute", name, "cue"))
        for column, name in _column_words(model):
            self.main.add(column, Sense("attribute", name))
        for column, name in _column_nouns(model):
            self.main.add(column, Sense("noun", name))
        for name, condition in model.conditions.items():
            self._add_all(condition.words, Sense("condition", name))
        for topic, names in model.outside.items():
            self._add_all(names, Sense("outside", topic))
        for word in model.neutral:
            self.main.add(word, Sense("neutral", word))
        for name, family in model.families.items():
            for words in family.nouns:
                self.hints.add(words, Sense("hint", name))

    def _add_english(self, lexicon: Mapping[str, Any]) -> None:
        """Phrases of plain English; each list of the lexicon is an intent."""
        for intent, phrases in lexicon.items():
            if intent in ("chatter", "abuse"):
                self._add_all(phrases, Sense(intent, intent))
            elif isinstance(phrases, list) and intent not in ("hostile", "people", "graded"):
                self._add_all(phrases, Sense("english", intent))

    def _add_all(self, phrases: Iterable[str], sense: Sense) -> None:
        for words in phrases:
            self.main.add(words, sense)

    def explains(self, word: str) -> bool:
        """Whether a word, in lower case, is plain English that changes nothing."""
        return word in self.filler or word in self.number_words

    def resembling(self, word: str) -> list[str]:
        """Words of phrases that may be meant by a misspelt word: of about its length, with its first letter."""
        return [known for known in self._by_letter.get(word[0], ()) if abs(len(known) - len(word)) <= 2]

    @cached_property
    def _by_letter(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in sorted(self.words):
            if len(word) >= _SHORTEST_SPELT:
                found.setdefault(word[0], []).append(word)
        return found
