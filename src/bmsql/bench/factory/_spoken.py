"""How people say what is stored: gene aliases, disease names, brands and codes of drugs.

This reads the alias tables of the package by itself: gold must not rest on the linking that it judges.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bmsql.data import aliases

_SYMBOL = re.compile(r"[A-Z][A-Z0-9]{1,}[A-Z0-9-]*")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{3,}( [A-Za-z][A-Za-z0-9-]+)?")
_CODE = re.compile(r"[A-Z]{2,}-?\d{3,}")
_LONGEST = 5  # words of a disease name that people still write


class Genes:
    """Official symbols of genes with their aliases and previous symbols; ties are no aliases."""

    def __init__(self) -> None:
        columns = aliases("genes")
        self._official = frozenset(columns["symbol"])
        owners: dict[str, set[str]] = {}
        self._others: dict[str, list[str]] = {}
        for symbol, other, previous in zip(columns["symbol"], columns["aliases"], columns["previous"], strict=True):
            known = [name for cell in (previous, other) for name in cell.split("|") if name]
            self._others[symbol] = known
            for name in known:
                owners.setdefault(name, set()).add(symbol)
        self._owner = {name: next(iter(of)) for name, of in owners.items() if len(of) == 1}

    def official(self, symbol: str) -> str:
        """The official symbol of a gene, or the symbol itself where that is not certain."""
        return symbol if symbol in self._official else self._owner.get(symbol, symbol)

    def same(self, symbol: str, stored: Iterable[str]) -> tuple[str, ...]:
        """All stored symbols of the gene that `symbol` stands for."""
        official = self.official(symbol)
        return tuple(dict.fromkeys((symbol, *(other for other in stored if self.official(other) == official))))

    def said(self, symbol: str, stored: frozenset[str]) -> list[str]:
        """Other ways to write a gene: its official symbol, and aliases that are nobody else's."""
        official = self.official(symbol)
        known = [official, *self._others.get(official, ())]
        return [
            name
            for name in dict.fromkeys(known)
            if name != symbol
            and name not in stored
            and (name == official or (name not in self._official and self._owner.get(name) == official))
            and _SYMBOL.fullmatch(name)
            and len(name) > 3
        ]


@dataclass(frozen=True)
class _Row:
    name: str
    synonyms: tuple[str, ...]
    ids: frozenset[str]


class Diseases:
    """Disease terms: what is one thing under several names, and how it is said."""

    def __init__(self) -> None:
        columns = aliases("diseases")
        self._rows = [
            _Row(name, tuple(filter(None, synonyms.split("|"))), frozenset(filter(None, (efo, mesh))))
            for name, synonyms, efo, mesh in zip(
                columns["name"], columns["synonyms"], columns["efo"], columns["mesh"], strict=True
            )
        ]
        self._by_name: dict[str, set[int]] = {}
        self._primary = {_plain(row.name): number for number, row in enumerate(self._rows)}
        self._by_id: dict[str, set[int]] = {}
        for number, row in enumerate(self._rows):
            for synonym in row.synonyms:
                self._by_name.setdefault(_plain(synonym), set()).add(number)
            for identifier in row.ids:
                self._by_id.setdefault(identifier, set()).add(number)

    def row_of(self, term: str, ids: Iterable[str]) -> int | None:
        """The row of a stored term: by its name, else by an identifier that is one row's only."""
        known = self._primary.get(_plain(term))
        if known is not None:
            return known
        found = {row for identifier in ids for row in self._by_id.get(_bare(identifier), ())}
        return next(iter(found)) if len(found) == 1 else None

    def same(self, term: str, ids: Iterable[str], stored: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
        """All stored terms, in lower case, that name the same disease. `stored`: term to its identifiers."""
        row = self.row_of(term, ids)
        names = {_plain(term)}
        wanted: frozenset[str] = frozenset()
        if row is not None:
            names |= {_plain(name) for name in (self._rows[row].name, *self._rows[row].synonyms)}
            wanted = self._rows[row].ids
        found = [term.lower()]
        for other, other_ids in stored.items():
            plain = _plain(other)
            elsewhere = self._primary.get(plain, row) != row
            by_id = bool(wanted & {_bare(identifier) for identifier in other_ids})
            if (plain in names or by_id) and not elsewhere:
                found.append(other.lower())
        return tuple(sorted(set(found)))

    def said(self, term: str, ids: Iterable[str]) -> list[str]:
        """How the disease is said: the term as it is spoken, and synonyms that are no other disease's name."""
        said = [_spoken(term)]
        row = self.row_of(term, ids)
        if row is not None:
            said += [self._rows[row].name, *self._rows[row].synonyms]
        return [
            name
            for name in dict.fromkeys(said)
            if self._primary.get(_plain(name), row) == row
            and self._by_name.get(_plain(name), {row}) <= {row}
            and len(name.split()) <= _LONGEST
            and len(name) > 4
            and not re.search(r"[,()\[\]/]|suscepti|familial", name)
        ]


def drug_names(name: str, listed: Sequence[str]) -> tuple[list[str], list[str]]:
    """What a drug is called: its generic name, and the brands and codes that a question could hold."""
    generic = [name] if _NAME.fullmatch(name) else []
    others = [other for other in listed if _NAME.fullmatch(other) or _CODE.fullmatch(other)]
    return generic, [other for other in dict.fromkeys(others) if other.lower() != name.lower() and len(other) > 4]


def _spoken(term: str) -> str:
    """A heading written backwards as it is spoken."""
    return " ".join(reversed(term.split(", ")))


def _plain(text: str) -> str:
    """A term without case, order of heading, possessives, plurals and punctuation."""
    words = re.findall(r"[a-z0-9]+", " ".join(reversed(text.lower().replace("'s", "").split(", "))))
    return " ".join(
        word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith("is") else word for word in words
    )


def _bare(identifier: str) -> str:
    """An identifier without its prefix: `EFO:0000685` and `0000685` are one."""
    return re.split(r"[:_]", identifier)[-1]
