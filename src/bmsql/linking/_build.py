"""Building the lexicon: what each kind of entity gets from the data and from alias tables."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable

from bmsql.linking._lexicon import Lexicon
from bmsql.linking._normal import keys_of, tokenize
from bmsql.linking._source import Reader
from bmsql.linking._symbols import build_symbols
from bmsql.linking._tables import extra_names
from bmsql.linking._terms import build_terms
from bmsql.linking._words import common_words, is_common
from bmsql.semantic import Entity, Recipe, SemanticModel

_SUFFIXED = re.compile(r"(.{4,})-[a-z]{3,5}")
_TAG = re.compile(r"\s*\[[^\]]*\]")
_LEGAL = frozenset(
    "inc llc ltd limited co corp corporation company gmbh ag sa plc lp kg bv nv spa srl usa us uk and the of "
    "pharmaceutical pharmaceuticals pharma biopharma biotech biologics".split()
)
_MIN_ENDING_NAMES = 5


def build_lexicon(reader: Reader, model: SemanticModel) -> Lexicon:
    """The lexicon of a knowledge base under a semantic model."""
    lexicon = Lexicon()
    for name, entity in model.entities.items():
        if entity.kind == "identifier" or entity.same_as or not entity.match:
            continue
        if any(recipe.how == "region" for recipe in entity.match.values()):
            continue
        match entity.kind:
            case "symbol":
                build_symbols(lexicon, reader, name, entity)
            case "term":
                build_terms(lexicon, reader, name, entity)
                lexicon.endings[name] = _term_endings(lexicon, name)
            case "name":
                _build_names(lexicon, reader, name, entity)
            case _:
                _build_category(lexicon, reader, name, entity)
    lexicon.truncated = sorted(reader.truncated)
    return lexicon


def items_of(text: str, recipe: Recipe) -> list[str]:
    """The whole items of a stored text: of a separated list, a list with suffixes, or a list in text."""
    match recipe.how:
        case "item":
            parts = text.split(recipe.separator)
        case "listed":
            parts = text.split(recipe.separator)
            parts = [part.partition(recipe.suffix)[0] for part in parts] if recipe.suffix else parts
        case "word":
            parts = text.split(", ")
        case "contains" if text.startswith("[") and text.endswith("]"):
            try:
                parts = [str(part) for part in ast.literal_eval(text)]
            except (ValueError, SyntaxError):
                parts = text.strip("[]").split(", ")
        case _:
            parts = [text]
    if recipe.how == "contains":
        parts = [_TAG.sub("", part) for part in parts]
    return [part.strip() for part in parts if part.strip()]


def _build_category(lexicon: Lexicon, reader: Reader, name: str, entity: Entity) -> None:
    found: dict[str, dict[str, list[str]]] = {}
    spelling: dict[str, str] = {}
    whole: dict[str, str] = {}
    for family, recipe in entity.match.items():
        for role in recipe.roles:
            texts = reader.values(family, role)
            whole[family] = "\n".join((whole.get(family, ""), *(text.lower() for text in texts)))
            for text in texts:
                for item in items_of(text, recipe):
                    lowered = item.lower()
                    spelling.setdefault(lowered, item)
                    held = found.setdefault(lowered, {}).setdefault(family, [])
                    # Where case counts, every spelling is a value of its own.
                    value = item if recipe.how in {"equals", "item", "listed"} else lowered
                    if value not in held:
                        held.append(value)

    def concept_of(value: str) -> int:
        lowered = value.lower()
        concept = lexicon.concept(name, spelling.get(lowered, value))
        stored = lexicon.concepts[concept].stored
        for family, recipe in entity.match.items():
            hits = found.get(lowered, {}).get(family, [])
            stored[family] = hits or ([lowered] if _occurs(lowered, whole.get(family, ""), recipe) else [])
        return concept

    concepts: dict[str, int] = {}
    for given in entity.values:
        concept = concepts[given.id.lower()] = concept_of(given.id)
        for alias in (*given.names, given.label, given.id):
            lexicon.add(concept, alias, "value")
    for canonical, names in entity.synonyms.items():
        key = canonical.lower()
        if key not in concepts:
            concepts[key] = concept_of(canonical)
        for alias in (*names, canonical):
            lexicon.add(concepts[key], alias, "synonym")
    if entity.values:
        return
    for lowered, item in spelling.items():
        if lowered not in concepts:
            concepts[lowered] = concept_of(item)
        lexicon.add(concepts[lowered], item, "stored")
    if any(recipe.how == "contains" for recipe in entity.match.values()):
        _add_tails(lexicon, concepts, spelling)


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


def _add_tails(lexicon: Lexicon, concepts: dict[str, int], spelling: dict[str, str]) -> None:
    """Names without their source prefix (`GO_LIPID_TRANSPORT` is also `lipid transport`)."""
    for lowered, item in spelling.items():
        for separator in (": ", "_"):
            head, found, tail = item.partition(separator)
            if found and " " not in head.strip() and len(tail) > 3:
                lexicon.add(concepts[lowered], tail, "part")


def _build_names(lexicon: Lexicon, reader: Reader, name: str, entity: Entity) -> None:
    canonical: dict[str, int] = {}
    heads: list[tuple[int, str]] = []
    texts = lexicon.texts.setdefault(name, {})
    for family, recipe in entity.match.items():
        lines: dict[str, None] = {}
        records: list[list[list[str]]] = []
        for row in reader.rows(family, recipe.roles):
            records.append([_cell_items(cell, recipe, listed=place > 0) for place, cell in enumerate(row)])
        lists = _list_places(records)
        for cells in filter(any, records):
            concept = _record_concept(lexicon, name, cells, lists, canonical)
            for place, items in enumerate(cells):
                for item in items:
                    lines[item.lower()] = None
                    lexicon.add(concept, item, "stored")
                    if place not in lists:
                        heads.append((concept, item))
        texts[family] = "\n".join(lines)
    for known, alias in extra_names(name):
        for key in keys_of(known):
            if key in canonical:
                lexicon.add(canonical[key], alias, "extra")
    single = all(len(recipe.roles) == 1 for recipe in entity.match.values())
    _add_heads(lexicon, name, heads, parts=single)
    lexicon.endings[name] = _endings(lexicon.concepts[concept].value for concept in canonical.values())


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
    lexicon: Lexicon, name: str, cells: list[list[str]], lists: set[int], canonical: dict[str, int]
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


def _add_heads(lexicon: Lexicon, name: str, heads: Iterable[tuple[int, str]], *, parts: bool) -> None:
    """The leading words of longer names: `insulin` of `insulin glargine`, `Celltrion` of `CELLTRION, Inc.`."""
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
        if any(entry.source == "stored" for key in keys for entry in lexicon.names.get(key)
               if lexicon.concepts.entity(entry.concept) == name):
            continue
        if len(by_concept) == 1:
            (concept, piece), = by_concept.items()
            lexicon.add(concept, piece, "head")
        else:
            concept = lexicon.concept(name, next(iter(by_concept.values())))
            lexicon.concepts[concept].texts = [word]
            lexicon.add(concept, word, "head")


def _term_endings(lexicon: Lexicon, name: str) -> list[str]:
    """Endings of one-word terms, and after a space the words that many terms end in, as ` syndrome`."""
    single: list[str] = []
    last: Counter[str] = Counter()
    for key in lexicon.names.keys():
        if any(lexicon.concepts.entity(entry.concept) == name for entry in lexicon.names.get(key)):
            head, _, tail = key.rpartition(" ")
            if head:
                last[tail] += 1
            else:
                single.append(tail)
    common = [word for word, count in last.items() if count >= 8 * _MIN_ENDING_NAMES and len(word) > 5]
    return [*_endings(single), *sorted(f" {word}" for word in common if word.isalpha())]


def _endings(values: Iterable[str]) -> list[str]:
    """Endings that several one-word names share and few everyday words have, as `-mab`."""
    counts: Counter[str] = Counter()
    for value in {value.lower() for value in values}:
        if value.isalpha() and len(value) > 5:
            counts.update(value[-size:] for size in (3, 4, 5))
    ordinary: Counter[str] = Counter()
    for word in common_words():
        if len(word) > 5:
            ordinary.update(word[-size:] for size in (3, 4, 5))
    return sorted(
        ending for ending, count in counts.items() if count >= _MIN_ENDING_NAMES and count > 2 * ordinary[ending]
    )
