"""Names in text: every name of a record leads to it, and so do the beginnings of longer names."""

from __future__ import annotations

import re
from collections import Counter

from bmsql.linking._endings import name_endings
from bmsql.linking._items import items_of
from bmsql.linking._lexicon import LexiconBuilder
from bmsql.linking._normal import keys_of, norm, tokenize
from bmsql.linking._reader import Reader
from bmsql.linking._words import is_common
from bmsql.semantic import Entity, Recipe

_SUFFIXED = re.compile(r"(.{4,})-[a-z]{3,5}")
_FEW = 2
_LEGAL = frozenset(
    "inc llc ltd limited co corp corporation company gmbh ag sa plc lp kg bv nv spa srl usa us uk and the of "
    "pharmaceutical pharmaceuticals pharma biopharma biotech biologics".split()
)


def build_names(lexicon: LexiconBuilder, reader: Reader, name: str, entity: Entity) -> None:
    """Add the names of an entity. The names of one record, such as generic and brand, are one concept."""
    canonical: dict[str, int] = {}
    heads: list[tuple[int, str]] = []
    texts = lexicon.texts.setdefault(name, {})
    for family, recipe in entity.match.items():
        lines: dict[str, None] = {}
        records = [
            [_cell_items(cell, recipe, listed=place > 0) for place, cell in enumerate(row)]
            for row in reader.rows(family, recipe.roles)
        ]
        lists = _list_places(records)
        for cells in filter(any, records):
            concept = _record_concept(lexicon, name, cells, lists, canonical)
            for place, items in enumerate(cells):
                for item in items:
                    lines[item.lower()] = None
                    lexicon.add(concept, item, "stored")
                    if place not in lists:
                        heads.append((concept, item))
        texts[family] = lines
    for known, alias in reader.names(name):
        lexicon.add(_owner(lexicon, name, known, canonical), alias, "extra")
    single = all(len(recipe.roles) == 1 for recipe in entity.match.values())
    _add_heads(lexicon, name, heads, parts=single)
    lexicon.endings[name] = name_endings(lexicon.concepts[concept].value for concept in canonical.values())


def _owner(lexicon: LexiconBuilder, name: str, known: str, canonical: dict[str, int]) -> int:
    """Whose name it is; a new concept, which no table holds, if nobody's."""
    for key in keys_of(known):
        if key in canonical:
            return canonical[key]
        for entry in lexicon.names.get(key):
            if lexicon.concepts.entity(entry.concept) == name:
                return entry.concept
    concept = lexicon.concept(name, known)
    lexicon.concepts[concept].texts = [known.lower()]
    lexicon.add(concept, known, "table")
    return concept


def _list_places(records: list[list[list[str]]]) -> set[int]:
    """The places of a record that hold lists of names; a single comma in a name makes no list."""
    several = Counter(place for cells in records for place, items in enumerate(cells) if len(items) > 1)
    filled = Counter(place for cells in records for place, items in enumerate(cells) if items)
    return {place for place, count in several.items() if 5 * count > filled[place]}


def _cell_items(cell: str | None, recipe: Recipe, *, listed: bool) -> list[str]:
    if not cell:
        return []
    items = items_of(cell, recipe)
    if listed and len(items) == 1 and ", " in items[0] and not cell.startswith("["):
        items = [part.strip() for part in items[0].split(", ")]
    return [item for item in items if len(item) > 2 and not item.isdigit()]


def _record_concept(
    lexicon: LexiconBuilder, name: str, cells: list[list[str]], lists: set[int], canonical: dict[str, int]
) -> int:
    """The concept of one record: a known one if its name, or what comes before a suffix of it, is known."""
    names = [items[0] for place, items in enumerate(cells) if items and place not in lists]
    names = names or [next(items[0] for items in cells if items)]
    stems = [match.group(1) for match in map(_SUFFIXED.fullmatch, names) if match]
    for text in (*names, *stems):
        for key in keys_of(text):
            if key in canonical:
                return canonical[key]
    concept = lexicon.concept(name, names[0])
    lexicon.concepts[concept].texts = list(dict.fromkeys(text.lower() for text in (*names, *stems)))
    for key in keys_of(names[0]):
        canonical[key] = concept
    return concept


def _add_heads(lexicon: LexiconBuilder, name: str, heads: list[tuple[int, str]], *, parts: bool) -> None:
    """The leading words of longer names: `insulin` of `insulin glargine`, `Celltrion` of `CELLTRION, Inc.`."""
    # A word that is found inside names as often (`sodium`) does not stand for those that begin with it.
    inner = Counter(word for item in {item for _, item in heads} for word in {t.norm for t in tokenize(item)[1:]})
    owners: dict[str, set[int]] = {}
    for concept, item in heads:
        tokens = tokenize(item)
        meaningful = [token for token in tokens if token.text.lower() not in _LEGAL]
        pieces = [item[: token.end] for token in tokens[:-1]]
        if parts:
            pieces += [token.text for token in meaningful]
        for piece in pieces:
            word = piece.lower()
            if len(word) > 3 and word not in _LEGAL and not is_common(word):
                owners.setdefault(piece, set()).add(concept)
    merged: dict[str, dict[int, str]] = {}
    for piece, concepts in owners.items():
        for concept in concepts:
            merged.setdefault(piece.lower(), {})[concept] = piece
    for word, by_concept in merged.items():
        keys = keys_of(word)
        if not parts and inner[norm(word)] >= max(_FEW, len(by_concept)):
            continue
        if any(
            entry.source == "stored"
            for key in keys
            for entry in lexicon.names.get(key)
            if lexicon.concepts.entity(entry.concept) == name
        ):
            continue
        if len(by_concept) == 1:
            ((concept, piece),) = by_concept.items()
            lexicon.add(concept, piece, "head")
        else:
            concept = lexicon.concept(name, next(iter(by_concept.values())))
            lexicon.concepts[concept].texts = [word]
            lexicon.add(concept, word, "head")
