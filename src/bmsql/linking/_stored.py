"""A lexicon in a column file: written once, then looked up where it lies, whatever its size."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from bmsql.linking._arrow import ColumnFile, Texts, beginning, find
from bmsql.linking._lexicon import RANK, SOURCES, Concept, Entry, Held, LexiconBuilder, NameTable

_SHORTEST_WORD = 4
_KEPT = 4096
"""Look-ups that are kept: questions have most of their words in common."""


def lexicon_columns(built: LexiconBuilder) -> tuple[dict[str, Any], dict[str, list[str] | list[int]]]:
    """A built lexicon as what is said about it, and its columns."""
    concepts = built.concepts
    entities = list(dict.fromkeys(concept.entity for concept in concepts))
    places = {entity: place for place, entity in enumerate(entities)}
    columns: dict[str, list[str] | list[int]] = {
        "concept.entity": [places[concept.entity] for concept in concepts],
        "concept.lines*": [json.dumps([c.value, c.stored, c.texts], separators=(",", ":")) for c in concepts],
    }
    for name, table in (("names", built.names), ("symbols", built.symbols)):
        columns |= _name_columns(name, table)
    for entity, families in built.texts.items():
        for family, items in families.items():
            # Each ends its line, so that nothing is found across two of them.
            columns[f"text {entity} {family}*"] = [f"{item}\n" for item in sorted(set(items), key=_utf8)]
    words = {word for key in built.names for word in key.split()}
    columns["words*"] = sorted(words, key=_utf8)
    spelt = [word for word in words if len(word) >= _SHORTEST_WORD and word.isalpha()]
    columns["reversed*"] = sorted((word[::-1] for word in spelt), key=_utf8)
    texts = {entity: list(families) for entity, families in built.texts.items()}
    return {"entities": entities, "texts": texts, "endings": built.endings}, columns


def _utf8(text: str) -> bytes:
    return text.encode()


def _name_columns(name: str, table: NameTable) -> dict[str, list[str] | list[int]]:
    keys = sorted(table, key=_utf8)
    rows = [(key, entry) for key in keys for entry in table.get(key)]
    ends = [0]
    for key in keys:
        ends.append(ends[-1] + len(table.get(key)))
    return {
        f"{name}.keys*": keys,
        f"{name}.ends": ends,
        f"{name}.concepts": [entry.concept for _, entry in rows],
        f"{name}.sources": [RANK[entry.source] for _, entry in rows],
        f"{name}.surfaces*": ["" if entry.surface == key else entry.surface for key, entry in rows],
    }


class Looked(NamedTuple):
    """What is known of a key: its entries, and whether a key begins with it and another word."""

    entries: Sequence[Entry]
    goes_on: bool


_UNKNOWN = Looked((), goes_on=False)


class StoredNames:
    """Entries by key in a column file."""

    def __init__(self, file: ColumnFile, name: str) -> None:
        self._keys = file.texts(f"{name}.keys*")
        self._ends = file.ints(f"{name}.ends")
        self._concepts = file.ints(f"{name}.concepts")
        self._sources = file.ints(f"{name}.sources")
        self._surfaces = file.texts(f"{name}.surfaces*")
        rows = len(self._surfaces)
        if len(self._ends) != len(self._keys) + 1 or {len(self._concepts), len(self._sources)} != {rows}:
            raise ValueError(f"the columns of its {name} differ in length")
        self.look = lru_cache(maxsize=_KEPT)(self._look)

    def __len__(self) -> int:
        return len(self._keys)

    def beginning(self, prefix: str) -> Iterator[str]:
        """The keys that begin with `prefix`."""
        return (str(key, "utf-8") for key in beginning(self._keys, prefix.encode(errors="surrogatepass")))

    def get(self, key: str) -> Sequence[Entry]:
        """The entries of a key, none for an unknown one."""
        return self.look(key).entries

    def _look(self, key: str) -> Looked:
        text = key.encode(errors="surrogatepass")
        place, count = self._keys.place(text), len(self._keys)
        if place == count:
            return _UNKNOWN
        entries: Sequence[Entry] = ()
        following = self._keys[place]
        if following == text:
            entries = tuple(
                Entry(self._concepts[row], self._surfaces.text(row) or key, SOURCES[self._sources[row]])
                for row in range(self._ends[place], self._ends[place + 1])
            )
            following = self._keys[place + 1] if place + 1 < count else b""
        # A space sorts before all that words consist of, so that longer names follow at once.
        goes_on = following.startswith(text + b" ")
        return Looked(entries, goes_on) if entries or goes_on else _UNKNOWN


class StoredConcepts:
    """Concepts by number in a column file; each is decoded when it is asked for."""

    def __init__(self, file: ColumnFile) -> None:
        self._names: list[str] = file.about["entities"]
        self._entities = file.ints("concept.entity")
        self._lines = file.texts("concept.lines*")
        if len(self._entities) != len(self._lines):
            raise ValueError("the columns of its concepts differ in length")
        self._decoded = lru_cache(maxsize=_KEPT)(self._decode)

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, number: int) -> Concept:
        """A concept, which many questions may share: not to be changed."""
        return self._decoded(number)

    def _decode(self, number: int) -> Concept:
        value, stored, texts = json.loads(self._lines[number])
        return Concept(self.entity(number), value, stored, texts)

    def entity(self, number: int) -> str:
        """The entity of a concept, without decoding it."""
        return self._names[self._entities[number]]


class StoredTexts:
    """Lower-case items, one a line, in a column file."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def holds(self, name: str) -> bool:
        """Whether a name is an item, or occurs in one."""
        text = name.encode(errors="surrogatepass")
        return find(self._texts, text + b"\n") >= 0 or self._texts.holds(text)


class StoredLexicon:
    """A lexicon in a column file. Raises LookupError, ValueError or TypeError for a damaged one."""

    def __init__(self, file: ColumnFile) -> None:
        self.concepts = StoredConcepts(file)
        self.names = StoredNames(file, "names")
        self.symbols = StoredNames(file, "symbols")
        self.endings: dict[str, list[str]] = file.about["endings"]
        self.truncated: list[str] = file.about["truncated"]
        self._words = file.texts("words*")
        self._reversed = file.texts("reversed*")
        self._held: dict[str, dict[str, Held]] = {
            entity: {family: StoredTexts(file.texts(f"text {entity} {family}*")) for family in families}
            for entity, families in file.about["texts"].items()
        }

    def held(self, entity: str) -> Mapping[str, Held] | None:
        """The texts by family of an entity whose names are looked for in texts, None for another."""
        return self._held.get(entity)

    def knows(self, word: str) -> bool:
        """Whether a word occurs in a name."""
        return find(self._words, word.encode(errors="surrogatepass")) >= 0

    def similar(self, word: str, edits: int) -> Iterator[str]:
        """Words of names that may be within so many edits of `word`."""
        return similar(self._words, self._reversed, word, edits)


def similar(words: Texts | list[bytes], backwards: Texts | list[bytes], word: str, edits: int) -> Iterator[str]:
    """Words that share with `word` the part before the first edit, or the part after the last one.

    Of a word with one edit a half is whole; with two edits a third at its beginning or its end is, unless
    they lie in both of those.
    """
    size = max(1, (len(word) - 1) // (edits + 1))
    for known in beginning(words, word[:size].encode()):
        yield str(known, "utf-8")
    for known in beginning(backwards, word[: -size - 1 : -1].encode()):
        yield str(known, "utf-8")[::-1]


def word_columns(words: Iterable[str]) -> tuple[list[bytes], list[bytes]]:
    """Words sorted as `similar` wants them, forwards and backwards."""
    known = [word for word in words if word.isalpha()]
    return sorted(word.encode() for word in known), sorted(word[::-1].encode() for word in known)
