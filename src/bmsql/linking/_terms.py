"""Terms such as diseases: stored terms, alias tables and the model's values, joined by what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bmsql.linking._lexicon import LexiconBuilder
from bmsql.linking._normal import inverted, keys_of, tokenize
from bmsql.linking._reader import Reader
from bmsql.linking._tables import Term, terms
from bmsql.linking._words import is_common
from bmsql.semantic import Entity

_SHORT = 8
_LONG = 7
_BRACKETS = re.compile(r"\s*\([^)]*\)")
_EPONYM_HEADS = ("disease", "syndrome")
_SHORTEST_EPONYM = 5


def build_terms(lexicon: LexiconBuilder, reader: Reader, name: str, entity: Entity) -> None:
    """Add the terms of an entity. Two stored terms are one concept when an identifier or a name says so."""
    book = _Book(terms(entity.aliases) if entity.aliases else [])
    stored, plain, beside = _stored_terms(reader, entity)
    identity = _identities(book, stored, beside)
    groups: dict[str, int] = {}

    def concept_of(key: str, label: str) -> int:
        if key not in groups:
            groups[key] = lexicon.concept(name, label)
            lexicon.concepts[groups[key]].stored = {family: [] for family in entity.match}
        return groups[key]

    for family, text in stored:
        values = lexicon.concepts[concept_of(identity[text], _spoken(text))].stored[family]
        if text.lower() not in values:
            values.append(text.lower())
    for value in entity.values:
        row = book.by_name(value.label or value.id)
        key = f"row {row}" if row is not None else f"key {_reading(value.label or value.id)}"
        concept = concept_of(identity.get(key, key), value.id)
        lexicon.concepts[concept].value = value.id
        for family, texts in plain.items():
            lexicon.concepts[concept].stored[family] = [text for text in texts if text == value.id]
        for alias in (*value.names, value.label, value.id):
            lexicon.add(concept, alias, "value")
    for _, text in stored:
        for form in filter(None, (text, inverted(text))):
            lexicon.add(groups[identity[text]], form, "stored")
    for number, term in enumerate(book.terms):
        key = identity.get(f"row {number}", f"row {number}")
        held = key in groups
        _add_term(lexicon, book, number, concept_of(key, term.name), held=held)
    _add_extra(lexicon, reader, name, entity)
    _add_eponyms(lexicon, name)


Stored = dict[tuple[str, str], set[str]]


def _stored_terms(reader: Reader, entity: Entity) -> tuple[Stored, dict[str, list[str]], set[tuple[str, str]]]:
    """Terms with their identifiers; the values of families that hold codes; terms side by side in a row."""
    stored: Stored = {}
    plain: dict[str, list[str]] = {}
    beside: set[tuple[str, str]] = set()
    for family, recipe in entity.match.items():
        if recipe.how == "equals":
            plain[family] = [text for role in recipe.roles for text in reader.values(family, role, recipe)]
            continue
        width = len(recipe.roles)
        rows = reader.rows(family, (*recipe.roles, *recipe.ids))
        # The role that is shown comes first: its spelling becomes the concept's value.
        for place in sorted(range(width), key=lambda place: recipe.roles[place] != recipe.shown):
            for row in rows:
                text = row[place]
                if text:
                    ids = stored.setdefault((family, text), set())
                    identifier = row[width + place] if place < len(recipe.ids) else None
                    if identifier:
                        ids.add(identifier.replace("_", ":"))
        for row in rows:
            texts = [text for text in row[:width] if text]
            beside.update((one, other) for one in texts for other in texts if one != other)
    return stored, plain, beside


def _identities(book: _Book, stored: Stored, beside: set[tuple[str, str]]) -> dict[str, str]:
    """What each stored term is: a row of the alias table, or its own reading.

    Of two terms in the same row of the data, one may be a synonym of the other's row in the alias
    table, which has a second row for it; then both are the one thing.
    """
    ids: dict[str, set[str]] = {}
    for (_, text), known in stored.items():
        ids.setdefault(text, set()).update(known)
    rows = {text: book.find(text, known) for text, known in ids.items()}
    identity = {text: f"key {_reading(text)}" if row is None else f"row {row}" for text, row in rows.items()}
    for one, other in sorted(beside):
        row = rows[other]
        if row is not None and identity[one] != identity[other] and book.has_name(row, one):
            old, new = identity[one], identity[other]
            identity = {text: new if key == old else key for text, key in identity.items()}
            identity[old] = new
    return identity


class _Book:
    """An alias table of terms, by name and identifier."""

    def __init__(self, rows: list[Term]) -> None:
        self.terms = rows
        self._primary: dict[str, list[int]] = {}
        self._other: dict[str, list[int]] = {}
        self._ids: dict[str, list[int]] = {}
        for number, term in enumerate(rows):
            for key in _readings(term.name):
                self._primary.setdefault(key, []).append(number)
            for synonym in term.synonyms:
                for key in _readings(synonym):
                    owners = self._other.setdefault(key, [])
                    if number not in owners:
                        owners.append(number)
            for identifier in term.ids:
                self._ids.setdefault(identifier, []).append(number)

    def find(self, text: str, ids: Iterable[str]) -> int | None:
        """The row that a stored term is, or None when that is not certain."""
        by_id = {row for identifier in ids for row in self._ids.get(identifier, ())}
        if len(by_id) == 1:
            return next(iter(by_id))
        by_name = self.by_name(text)
        return by_name if by_name is not None and (not by_id or by_name in by_id) else None

    def by_name(self, text: str) -> int | None:
        """The row with this name, else the only one with this synonym."""
        for where in (self._primary, self._other):
            owners = {row for key in _readings(text) for row in where.get(key, ())}
            if len(owners) == 1:
                return next(iter(owners))
            if owners:
                return None
        return None

    def has_name(self, row: int, text: str) -> bool:
        """Whether a row goes by this name, as its own or as a synonym."""
        return any(row in where.get(key, ()) for where in (self._primary, self._other) for key in _readings(text))

    def is_primary_elsewhere(self, key: str, row: int) -> bool:
        """Whether a synonym of `row` is the proper name of another row."""
        owners = self._primary.get(key, ())
        return bool(owners) and row not in owners


def _readings(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*keys_of(text), *keys_of(inverted(text)))))


def _reading(text: str) -> str:
    return (_readings(inverted(text) or text) or (text.lower(),))[0]


def _spoken(text: str) -> str:
    return inverted(text) or text


def _add_term(lexicon: LexiconBuilder, book: _Book, number: int, concept: int, *, held: bool) -> None:
    """The names of one row of the alias table."""
    term = book.terms[number]
    for form in filter(None, (term.name, inverted(term.name))):
        lexicon.add(concept, form, "official" if held else "table")
    for synonym in term.synonyms:
        capitals = sum(c.isupper() for c in synonym)
        short = " " not in synonym and len(synonym) <= _SHORT and capitals > 1
        # Abbreviations of things that are not in the data are mostly gene symbols.
        if (short and not held) or "susceptib" in synonym or len(tokenize(synonym)) > _LONG:
            continue
        if any(book.is_primary_elsewhere(key, number) for key in keys_of(synonym)):
            continue
        plain = _BRACKETS.sub("", synonym)
        for form in filter(None, (plain, inverted(plain))):
            lexicon.add(concept, form, "alias" if held else "table")


def _add_extra(lexicon: LexiconBuilder, reader: Reader, name: str, entity: Entity) -> None:
    for known, alias in reader.names(name, *filter(None, (entity.aliases,))):
        owners = [
            entry.concept
            for key in keys_of(known)
            for entry in lexicon.names.get(key)
            if lexicon.concepts.entity(entry.concept) == name
        ]
        if not owners:
            # Known, though the data do not hold it: the answer can say so.
            owners = [lexicon.concept(name, known)]
            lexicon.concepts[owners[0]].stored = {family: [] for family in entity.match}
            lexicon.add(owners[0], known, "table")
        if alias != known:
            lexicon.add(owners[0], alias, "extra")


def _add_eponyms(lexicon: LexiconBuilder, name: str) -> None:
    """`Crohn's` for `Crohn disease`: a proper name before `disease`, linked only when the question marks it."""
    for head in _EPONYM_HEADS:
        for key in lexicon.names:
            before, _, last = key.rpartition(" ")
            entry = lexicon.names.get(key)[0]
            if last != head or lexicon.concepts.entity(entry.concept) != name:
                continue
            words = tokenize(entry.surface)[:-1]
            if len(words) == 1 and not is_common(before) and len(before) >= _SHORTEST_EPONYM:
                if entry.surface[:1].isupper() or "'" in entry.surface:
                    lexicon.add(entry.concept, before, "eponym")
            elif len(words) > 1 and all(word.text[0].isupper() for word in words) and not is_common(words[0].text):
                lexicon.add(entry.concept, entry.surface[: words[-1].end], "eponym")
