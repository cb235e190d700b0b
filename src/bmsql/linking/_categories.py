"""Categories: a few stored values, under their own names and the semantic model's synonyms."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bmsql.linking._items import items_of
from bmsql.linking._lexicon import LexiconBuilder
from bmsql.linking._reader import Reader
from bmsql.semantic import Entity, Recipe

_ACCESSION = re.compile(r"([A-Z][A-Z-]*[:-]\d{4,})_")
"""What a name such as `GO:0048156_tau_protein_binding` begins with."""


def build_category(lexicon: LexiconBuilder, reader: Reader, name: str, entity: Entity) -> None:
    """Add the values of a category: those of the semantic model, and the stored ones it does not close."""
    held = _Held(reader, entity)
    concepts: dict[str, int] = {}

    def concept_of(value: str) -> int:
        lowered = value.lower()
        if lowered not in concepts:
            concepts[lowered] = lexicon.concept(name, held.spelling.get(lowered, value))
            lexicon.concepts[concepts[lowered]].stored = held.values(lowered)
        return concepts[lowered]

    for given in entity.values:
        for alias in (*given.names, given.label, given.id):
            lexicon.add(concept_of(given.id), alias, "value")
    for canonical, names in entity.synonyms.items():
        for alias in (*names, canonical):
            lexicon.add(concept_of(canonical), alias, "synonym")
    for group in entity.groups:
        concept = lexicon.concept(name, group.id)
        members = [held.values(value.lower()) for value in group.values]
        lexicon.concepts[concept].stored = {
            family: list(dict.fromkeys(value for member in members for value in member[family]))
            for family in entity.match
        }
        for alias in group.names:
            lexicon.add(concept, alias, "group")
    if entity.values:
        return
    tails = any(recipe.how == "contains" for recipe in entity.match.values())
    for item in held.spelling.values():
        concept = concept_of(item)
        lexicon.add(concept, item, "stored")
        for tail in _tails(item) if tails else ():
            lexicon.add(concept, tail, "part")
        accession = _ACCESSION.match(item) if tails else None
        if accession:
            lexicon.add(concept, accession.group(1), "head")


class _Held:
    """The values that the data hold for a category, by family, whatever their case."""

    def __init__(self, reader: Reader, entity: Entity) -> None:
        self._entity = entity
        self._items: dict[str, dict[str, list[str]]] = {}
        self._texts: dict[str, str] = {}
        self.spelling: dict[str, str] = {}
        for family, recipe in entity.match.items():
            texts = [text for role in recipe.roles for text in reader.values(family, role, recipe)]
            self._texts[family] = "".join(f"\n{text.lower()}" for text in texts)
            for text in texts:
                for item in items_of(text, recipe):
                    self._add(item, family, recipe)

    def _add(self, item: str, family: str, recipe: Recipe) -> None:
        lowered = item.lower()
        self.spelling.setdefault(lowered, item)
        held = self._items.setdefault(lowered, {}).setdefault(family, [])
        # Where case counts, every spelling is a value of its own.
        value = item if recipe.how in {"equals", "item", "listed"} else lowered
        if value not in held:
            held.append(value)

    def values(self, lowered: str) -> dict[str, list[str]]:
        """What to look for, by family: stored items, else the text itself where it occurs in one."""
        items = self._items.get(lowered, {})
        return {
            family: items.get(family) or ([lowered] if _occurs(lowered, self._texts[family], recipe) else [])
            for family, recipe in self._entity.match.items()
        }


def _tails(item: str) -> Iterator[str]:
    """A name without its source prefix: `GO_LIPID_TRANSPORT` is also `LIPID_TRANSPORT`."""
    for separator in (": ", "_"):
        head, found, tail = item.partition(separator)
        if found and " " not in head.strip() and len(tail) > 3:
            yield tail


def _occurs(value: str, texts: str, recipe: Recipe) -> bool:
    """Whether a value that is no whole text matches one of the texts, which are lines."""
    match recipe.how:
        case "contains":
            return value in texts
        case "word":
            return re.search(rf"\b{re.escape(value)}\b", texts) is not None
        case "prefix":
            return f"\n{value}" in texts
        case _:
            return False
