"""The linker: a question in, mentions out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from bmsql.linking._context import Context, nouns_of
from bmsql.linking._fuzzy import Speller
from bmsql.linking._index import ValueIndex
from bmsql.linking._lexicon import Held
from bmsql.linking._readings import Reading, choose, readings, same_text
from bmsql.linking._series import Series
from bmsql.linking._unlinked import Unlinked
from bmsql.linking._words import category_cues, model_words
from bmsql.semantic import SemanticModel
from bmsql.types import Mention

Method = Literal["exact", "normalised", "alias", "synonym", "pattern", "fuzzy", "unlinked"]
_METHODS: dict[str, Method] = {
    "synonym": "synonym", "group": "synonym", "official": "exact", "extra": "alias", "previous": "alias",
    "alias": "alias", "table": "synonym", "eponym": "alias", "head": "normalised", "part": "normalised",
}  # fmt: skip
_APART = re.compile(r"\(\?<?[=!][^)]*\)|\(\?:[^)]*\)[?*]")
"""Parts of a pattern that are no part of what it matches: look-arounds and what may be absent."""
_OTHER_NAMES = frozenset({"previous", "alias"})
"""Sources of names that are not what most people would call it."""
_SHOWN = 3
_OPTIONAL = re.compile(r"(?:\\.|\[[^\]]*\]|[^\\])(?:[?*]|\{0,\d*\})")
_LITERAL = re.compile(r"\\(?:[bBsSdDwWAZ]|(.))")


class Linker:
    """Finds what a question names, and the stored values that answer to it.

    Made once for a semantic model and an index; `link` may be called from several threads.
    """

    def __init__(self, model: SemanticModel, index: ValueIndex) -> None:
        self.model = model
        self.index = index
        self._nouns = nouns_of(model)
        self._model_words = model_words(model)
        self._cues = category_cues(model)
        self._patterns = [
            (name, re.compile(entity.pattern, re.IGNORECASE), _prefix(entity.pattern))
            for name, entity in model.entities.items()
            if entity.kind == "identifier" and entity.pattern
        ]
        self._speller = Speller(index, model, self._model_words)
        self._series = Series(index, model)
        self._unlinked = Unlinked(index, model, self._speller)

    def link(self, question: str) -> tuple[Mention, ...]:
        """The mentions of `question`, in order and not overlapping.

        What looks like a name but is in no table comes with empty `stored`; with method `unlinked`
        it is not known at all.
        """
        context = Context(question, self._nouns, self._model_words, self._cues)
        mentions = self._identifiers(question)
        blocked = context.places(mentions)
        phrases = context.phrases
        found = [
            reading
            for reading in readings(context, self.index.lexicon, self.model)
            if blocked.isdisjoint(range(reading.i, reading.j)) and not _inside(reading, phrases)
        ]
        series = self._series.mentions(context, {(reading.i, reading.j) for reading in found})
        mentions += [each for each in series if blocked.isdisjoint(context.places([each]))]
        blocked |= context.places(mentions)
        found = [reading for reading in found if blocked.isdisjoint(range(reading.i, reading.j))]
        compounds = self._unlinked.compounds(context, {(reading.i, reading.j) for reading in found})
        if compounds:
            mentions += compounds
            blocked |= context.places(compounds)
            found = [reading for reading in found if blocked.isdisjoint(range(reading.i, reading.j))]
        explained = blocked | {place for reading in found for place in range(reading.i, reading.j)}
        explained |= {place for i, j in phrases for place in range(i, j)}
        found += [
            reading
            for reading in self._speller.readings(context, explained)
            if blocked.isdisjoint(range(reading.i, reading.j))
        ]
        chosen = choose(found)
        mentions += [self._mention(context, reading, rivals) for reading, rivals in chosen]
        covered = blocked | {place for reading, _ in chosen for place in range(reading.i, reading.j)}
        covered |= {place for i, j in phrases for place in range(i, j)}
        mentions += self._unlinked.mentions(context, covered)
        return tuple(sorted(mentions, key=lambda mention: mention.start))

    def _identifiers(self, question: str) -> list[Mention]:
        found: list[Mention] = []
        for name, pattern, prefix in self._patterns:
            for match in pattern.finditer(question):
                if any(match.start() < other.end and other.start < match.end() for other in found):
                    continue
                value = _identifier(match, prefix)
                found.append(
                    Mention(
                        text=match.group(),
                        start=match.start(),
                        end=match.end(),
                        entity=name,
                        value=value,
                        stored=dict.fromkeys(self.model.entities[name].match, (value,)),
                        method="pattern",
                    )
                )
        return found

    def _mention(self, context: Context, reading: Reading, rivals: list[Reading]) -> Mention:
        start, end = context.tokens[reading.i].start, context.tokens[reading.j - 1].end
        text = context.question[start:end]
        entity = reading.concept.entity
        surface = reading.entry.surface
        value = reading.concept.value
        equals = [rival for rival in rivals if rival.tier - reading.tier < 1.0 and self._compete(entity, rival)]
        method: Method = _METHODS.get(reading.entry.source, "exact")
        if method == "exact" and not same_text(surface, text):
            method = "normalised"
        if reading.entry.source == "synonym" and not any(reading.concept.stored.values()):
            # Known as a word only: the semantic model names it, and no table holds it.
            method = "unlinked"
        if reading.corrected:
            method = "fuzzy"
        held = self.index.lexicon.held(entity)
        if held is None:
            stored = {family: tuple(values) for family, values in reading.concept.stored.items()}
        else:
            stored = self._text_values(reading, held)
            if any(texts.holds(surface.lower()) for texts in held.values()):
                same = [rival for rival in equals if rival.concept.entity == entity]
                equals = [rival for rival in equals if rival.concept.entity != entity]
                if same:
                    # Names are searched for as text, which finds every record of that name.
                    value = surface
        alternatives = tuple(dict.fromkeys(rival.concept.value for rival in equals if rival.concept.value != value))
        return Mention(
            text=text,
            start=start,
            end=end,
            entity=entity,
            value=value,
            stored=stored,
            method=method,
            score=round(min(reading.score, 0.5) if alternatives else reading.score, 2),
            alternatives=alternatives,
            note=_note(text, value, reading, alternatives),
        )

    def _compete(self, entity: str, rival: Reading) -> bool:
        """Whether a rival is another meaning: a category over the same column as a name is not."""
        other = rival.concept.entity
        return other == entity or all(self.model.entities[name].kind != "category" for name in (other, entity))

    def _text_values(self, reading: Reading, texts: Mapping[str, Held]) -> dict[str, tuple[str, ...]]:
        """The text to look for in each family: the name itself, else another name of the same thing."""
        surface = reading.entry.surface.lower()
        stored: dict[str, tuple[str, ...]] = {}
        for family in self.model.entities[reading.concept.entity].match:
            held = texts.get(family)
            names = (surface, *reading.concept.texts)
            stored[family] = next(((name,) for name in names if held is not None and held.holds(name)), ())
        return stored


def _note(text: str, value: str, reading: Reading, alternatives: tuple[str, ...]) -> str:
    """What a reader should know of how a stretch was read, nothing where that goes without saying."""
    source, surface = reading.entry.source, reading.entry.surface
    note = ""
    if reading.corrected:
        note = f"'{text}' read as '{surface}'"
    elif source == "group":
        members = list(dict.fromkeys(each for values in reading.concept.stored.values() for each in values))
        note = f"'{text}' read as {len(members)} values: {', '.join(members)}"
    elif alternatives or reading.salts or source in _OTHER_NAMES:
        note = f"'{text}' read as '{value}'"
    if not alternatives:
        return note
    others = " or ".join(f"'{each}'" for each in alternatives[:_SHOWN])
    return f"{note}; it may also be {others}"


def _inside(reading: Reading, phrases: list[tuple[int, int]]) -> bool:
    """Whether a reading takes words out of a noun phrase."""
    return any(reading.i < j and i < reading.j and not (reading.i <= i and j <= reading.j) for i, j in phrases)


def _prefix(pattern: str) -> str:
    """What a pattern's identifiers begin with, in the case that the data have: `rs`, `CHEMBL`, `GRD-`."""
    plain = _APART.sub("", pattern)
    before, group, inside = plain.partition("(")
    literal = _LITERAL.sub(lambda escaped: escaped.group(1) or "", _OPTIONAL.sub("", before))
    if group and not literal:
        letters = re.match("[A-Za-z]+", inside)
        return letters.group() if letters else ""
    return literal if group else re.split(r"[\[\\(.*+?{]", literal)[0]


def _identifier(match: re.Match[str], prefix: str) -> str:
    value = match.group(1) if match.re.groups else match.group()
    if prefix and value.lower().startswith(prefix.lower()):
        return prefix + value[len(prefix) :]
    return prefix + value if prefix and not value[:1].isalpha() else value
