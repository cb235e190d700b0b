"""Alias tables of the package, as look-ups: symbols, and terms by identifier and name."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from bmsql.data import aliases
from bmsql.errors import ConfigurationError
from bmsql.linking._normal import compact, symbol_keys


class Owner(NamedTuple):
    """The official symbol that a symbol leads to, and how."""

    symbol: str
    source: str


class SymbolTable:
    """Official symbols with their aliases, previous symbols, names and identifiers."""

    def __init__(self, columns: dict[str, list[str]]) -> None:
        self.symbols = columns["symbol"]
        self.names = columns.get("name", [])
        self.aliases = columns["aliases"]
        self.previous = columns["previous"]
        self._official = {key: row for row, keys in enumerate(_keys(self.symbols)) for key in keys}
        self._ids = {
            value: row
            for name, cells in columns.items()
            if name not in {"symbol", "name", "aliases", "previous", "locus_type"}
            for row, value in enumerate(cells)
            if value
        }
        self._former, self._other = _rows(self.previous), _rows(self.aliases)

    def owners(self, text: str) -> list[Owner]:
        """Whose symbol `text` is: its official owner alone, else those it was or is an alias of."""
        return next(filter(None, map(self._owners, symbol_keys(text))), [])

    def _owners(self, key: str) -> list[Owner]:
        row = self._official.get(key)
        if row is None and len(key) > 8:
            row = self._ids.get(key)
        if row is not None:
            return [Owner(self.symbols[row], "official")]
        found = {self.symbols[row]: "previous" for row in self._former.get(key, ())}
        for row in self._other.get(key, ()):
            found.setdefault(self.symbols[row], "alias")
        return [Owner(symbol, source) for symbol, source in found.items()]

    def spelling(self, symbol: str, alias: str) -> str:
        """How the row of an official symbol spells an alias."""
        row = self._official[compact(symbol)]
        known = (*self.previous[row].split("|"), *self.aliases[row].split("|"))
        return next((each for each in known if compact(each) == compact(alias)), alias)

    def row(self, symbol: str) -> int | None:
        """The row of an official symbol."""
        return self._official.get(compact(symbol))


def _rows(cells: list[str]) -> dict[str, tuple[int, ...]]:
    """The rows in whose cells each key stands."""
    where: dict[str, tuple[int, ...]] = {}
    for row, keys in enumerate(_keys(cells)):
        for key in keys:
            # Tuples, of which there are tens of thousands, cost the garbage collector nothing; lists do.
            where[key] = (*where[key], row) if key in where else (row,)
    return where


def _keys(cells: list[str]) -> Iterator[list[str]]:
    """What `compact` makes of each name in a cell; as far as possible of all cells at once."""
    text = "\n".join(cells).upper().replace("-", "")
    for cell in text.split("\n"):
        if cell.isalnum():
            yield [cell]
        else:
            yield [name if name.isalnum() else compact(name) for name in cell.split("|")] if cell else []


@lru_cache(maxsize=2)
def symbol_table(name: str) -> SymbolTable:
    """The alias table `name` for symbols, read when it is first used."""
    return SymbolTable(aliases(name))


class Term(NamedTuple):
    """A term of an alias table."""

    name: str
    synonyms: tuple[str, ...]
    ids: tuple[str, ...]


def terms(name: str) -> list[Term]:
    """The terms of the alias table `name`, with their identifiers as knowledge bases write them."""
    columns = aliases(name)
    id_columns = [column for column in columns if column not in {"name", "synonyms"}]
    found: list[Term] = []
    for row, label in enumerate(columns["name"]):
        ids: list[str] = []
        for column in id_columns:
            for value in filter(None, columns[column][row].split("|")):
                ids += (value, f"{column.upper()}:{value}")
        synonyms = tuple(filter(None, columns["synonyms"][row].split("|")))
        found.append(Term(label, synonyms, tuple(ids)))
    return found


class ExtraName(NamedTuple):
    """Another name for something: `entity` is an entity or an alias table, `name` what is known already."""

    entity: str
    name: str
    alias: str


@lru_cache(maxsize=1)
def shipped_names() -> tuple[ExtraName, ...]:
    """The package's own abbreviations, lay names and brand names."""
    text = (files("bmsql.data") / "aliases" / "extra_names.tsv").read_text(encoding="utf-8")
    return read_names(text, file="extra_names.tsv")


def read_names(text: str, *, file: str, kinds: Collection[str] = ()) -> tuple[ExtraName, ...]:
    """Names from tab-separated text with the columns `for`, `name`, `alias` and any others.

    kinds: what may stand under `for`; anything if it is empty. Raises ConfigurationError, with file and
    line, for a missing column, an empty cell or another kind.
    """
    rows = csv.DictReader(io.StringIO(text), delimiter="\t")
    missing = [column for column in ("for", "name", "alias") if column not in (rows.fieldnames or ())]
    if missing:
        raise ConfigurationError(
            f"{file}: there is no column '{missing[0]}'.",
            remedy="The first line must name the tab-separated columns for, name and alias.",
        )
    found: list[ExtraName] = []
    for row in rows:
        cells = [(row[column] or "").strip() for column in ("for", "name", "alias")]
        if not all(cells):
            raise ConfigurationError(
                f"{file}:{rows.line_num}: a cell is empty.", remedy="Give for, name and alias in each line."
            )
        if kinds and cells[0] not in kinds:
            raise ConfigurationError(
                f"{file}:{rows.line_num}: there is no entity '{cells[0]}'.",
                remedy=f"Under for, write one of: {', '.join(sorted(kinds))}.",
            )
        found.append(ExtraName(*cells))
    return tuple(found)
