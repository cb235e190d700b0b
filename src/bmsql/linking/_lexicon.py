"""The value index as data: concepts, the names that lead to them, and the texts that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from bmsql.linking._normal import compact, keys_of

SOURCES = (
    "value",
    "group",
    "synonym",
    "stored",
    "official",
    "extra",
    "previous",
    "alias",
    "table",
    "eponym",
    "head",
    "part",
)
RANK = {source: place for place, source in enumerate(SOURCES)}
"""Sources, the most trusted first."""


class Entry(NamedTuple):
    """A name of a concept.

    source says how far it can be trusted: `value`, `group` and `synonym` (written in the semantic model),
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


class Held(Protocol):
    """The lower-case texts in which the names of an entity are looked for, of one family."""

    def holds(self, name: str) -> bool:
        """Whether a lower-case name occurs in one of them."""


class NameTable:
    """Entries by key, being built."""

    def __init__(self) -> None:
        self._entries: dict[str, list[Entry]] = {}

    def __iter__(self) -> Iterator[str]:
        """All keys; more may be added meanwhile."""
        return iter(list(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> list[Entry]:
        """The entries of a key, none for an unknown one."""
        return self._entries.get(key, [])

    def put(self, key: str, entry: Entry) -> None:
        """Add an entry; of two for the same concept the more trusted one stays."""
        if not key:
            return
        entries = self._entries.setdefault(key, [])
        for place, known in enumerate(entries):
            if known.concept == entry.concept:
                if RANK[entry.source] < RANK[known.source]:
                    entries[place] = entry
                return
        entries.append(entry)


class ConceptTable(list[Concept]):
    """Concepts by number, being built."""

    def entity(self, number: int) -> str:
        """The entity of a concept."""
        return self[number].entity


@dataclass(slots=True)
class LexiconBuilder:
    """A lexicon being built. texts: by entity and family, the lower-case items that hold its names."""

    concepts: ConceptTable = field(default_factory=ConceptTable)
    names: NameTable = field(default_factory=NameTable)
    symbols: NameTable = field(default_factory=NameTable)
    texts: dict[str, dict[str, Iterable[str]]] = field(default_factory=dict)
    endings: dict[str, list[str]] = field(default_factory=dict)

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
