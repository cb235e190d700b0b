"""The value index as data: concepts, the names that lead to them, and the texts that hold them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

from bmsql.linking._normal import compact, keys_of

SOURCES = ("value", "synonym", "stored", "official", "extra", "previous", "alias", "table", "eponym", "head", "part")
RANK = {source: place for place, source in enumerate(SOURCES)}
"""Sources, the most trusted first."""


class Entry(NamedTuple):
    """A name of a concept.

    source says how far it can be trusted: `value` and `synonym` (written in the semantic model),
    `stored` (in the data), `official`, `previous` and `alias` (alias tables), `extra` (our own
    names), `table` (known, but not in the data), `eponym` (`Crohn's` for `Crohn disease`),
    `head` and `part` (a piece of a longer stored name).
    """

    concept: int
    surface: str
    source: str


@dataclass(slots=True)
class Concept:
    """One thing: its entity, canonical value and the values to look for, by family.

    `texts` instead holds the names to look for, best first, where the match is inside a text.
    """

    entity: str
    value: str
    stored: dict[str, list[str]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)


class Names:
    """Entries by key. Kept as columns, which load fast; entries are made when they are asked for."""

    def __init__(self) -> None:
        self._built: dict[str, list[Entry]] = {}
        self._places: dict[str, int] = {}
        self._ends: list[int] = [0]
        self._concepts: list[int] = []
        self._surfaces: list[str] = []
        self._sources: list[int] = []

    def __len__(self) -> int:
        return len(self._built) + len(self._places)

    def __iter__(self) -> Iterator[str]:
        """All keys; more may be added meanwhile."""
        return iter([*self._built, *self._places])

    def get(self, key: str) -> list[Entry]:
        """The entries of a key, none for an unknown one."""
        found = self._built.get(key)
        if found is not None:
            return found
        place = self._places.get(key)
        if place is None:
            return []
        return [
            Entry(self._concepts[row], self._surfaces[row] or key, SOURCES[self._sources[row]])
            for row in range(self._ends[place], self._ends[place + 1])
        ]

    def put(self, key: str, entry: Entry) -> None:
        """Add an entry; of two for the same concept the more trusted one stays."""
        if not key:
            return
        entries = self._built.setdefault(key, [])
        for place, known in enumerate(entries):
            if known.concept == entry.concept:
                if RANK[entry.source] < RANK[known.source]:
                    entries[place] = entry
                return
        entries.append(entry)

    def to_data(self) -> dict[str, Any]:
        """The entries as JSON data; long strings and flat lists, because they load several times faster."""
        rows = [(key, entry) for key in self for entry in self.get(key)]
        counts = [len(self.get(key)) for key in self]
        return {
            "keys": "\n".join(self),
            "counts": counts,
            "concepts": [entry.concept for _, entry in rows],
            "surfaces": "\n".join("" if entry.surface == key else entry.surface for key, entry in rows),
            "sources": [RANK[entry.source] for _, entry in rows],
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Names:
        """What `to_data` gave."""
        names = cls()
        ends = list(accumulate(data["counts"], initial=0))
        keys = data["keys"].split("\n") if data["counts"] else []
        names._places = dict(zip(keys, range(len(keys)), strict=True))
        names._ends = ends
        names._concepts, names._sources = data["concepts"], data["sources"]
        names._surfaces = data["surfaces"].split("\n") if keys else []
        columns = (names._concepts, names._sources, names._surfaces)
        if len(keys) + 1 != len(ends) or any(len(column) != ends[-1] for column in columns):
            raise ValueError("columns of different length")
        return names


class Concepts:
    """Concepts by number; of a loaded index each is decoded when it is asked for."""

    def __init__(self) -> None:
        self._built: list[Concept] = []
        self._entities: list[str] = []
        self._lines: list[str] = []

    def __len__(self) -> int:
        return len(self._built) or len(self._lines)

    def __getitem__(self, number: int) -> Concept:
        if self._built:
            return self._built[number]
        value, stored, texts = json.loads(self._lines[number])
        return Concept(self._entities[number], value, stored, texts)

    def append(self, concept: Concept) -> None:
        """Add a concept."""
        self._built.append(concept)

    def entity(self, number: int) -> str:
        """The entity of a concept, without decoding it."""
        return self._built[number].entity if self._built else self._entities[number]

    def to_data(self) -> dict[str, Any]:
        """The concepts as JSON data: one long text of lines, which loads fast."""
        concepts = [self[number] for number in range(len(self))]
        return {
            "entities": [concept.entity for concept in concepts],
            "lines": "\n".join(json.dumps([c.value, c.stored, c.texts], separators=(",", ":")) for c in concepts),
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Concepts:
        """What `to_data` gave."""
        concepts = cls()
        concepts._entities = data["entities"]
        concepts._lines = data["lines"].split("\n") if data["entities"] else []
        if len(concepts._entities) != len(concepts._lines):
            raise ValueError("columns of different length")
        return concepts


@dataclass(slots=True)
class Lexicon:
    """Everything the linker looks things up in.

    names: entries by key; symbols: entries by compact symbol; texts: by entity and family, the
    lower-case text that a name must occur in; endings: by entity, endings that several of its
    names share.
    """

    concepts: Concepts = field(default_factory=Concepts)
    names: Names = field(default_factory=Names)
    symbols: Names = field(default_factory=Names)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    endings: dict[str, list[str]] = field(default_factory=dict)
    truncated: list[str] = field(default_factory=list)

    def concept(self, entity: str, value: str) -> int:
        """A new concept; its number."""
        self.concepts.append(Concept(entity, value))
        return len(self.concepts) - 1

    def add(self, concept: int, surface: str, source: str) -> None:
        """Make a concept known under a name."""
        surface = " ".join(surface.split())
        for key in keys_of(surface):
            self.names.put(key, Entry(concept, surface, source))

    def add_symbol(self, concept: int, surface: str, source: str) -> None:
        """Make a concept known under a symbol."""
        self.symbols.put(compact(surface), Entry(concept, surface, source))
