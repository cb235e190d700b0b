"""Alias tables of the package, as look-ups: symbols, and terms by identifier and name."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from bmsql.data import aliases
from bmsql.linking._normal import compact


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
        self._official = {compact(symbol): row for row, symbol in enumerate(self.symbols)}
        self._ids = {
            value: row
            for name, cells in columns.items()
            if name not in {"symbol", "name", "aliases", "previous", "locus_type"}
            for row, value in enumerate(cells)
            if value
        }
        self._former: dict[str, list[int]] = {}
        self._other: dict[str, list[int]] = {}
        for where, cells in ((self._former, self.previous), (self._other, self.aliases)):
            for row, cell in enumerate(cells):
                if cell:
                    for alias in cell.split("|"):
                        where.setdefault(compact(alias), []).append(row)

    def owners(self, text: str) -> list[Owner]:
        """Whose symbol `text` is: its official owner alone, else those it was or is an alias of."""
        key = compact(text)
        row = self._official.get(key)
        if row is None and len(key) > 8:
            row = self._ids.get(key)
        if row is not None:
            return [Owner(self.symbols[row], "official")]
        former = [Owner(self.symbols[row], "previous") for row in self._former.get(key, ())]
        return former + [
            Owner(self.symbols[row], "alias")
            for row in self._other.get(key, ())
            if self.symbols[row] not in {owner.symbol for owner in former}
        ]

    def row(self, symbol: str) -> int | None:
        """The row of an official symbol."""
        return self._official.get(compact(symbol))


@lru_cache(maxsize=2)
def symbol_table(name: str) -> SymbolTable:
    """The alias table `name` for symbols; about 0.1 s when it is first used."""
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


def extra_names(*tables: str) -> Iterator[tuple[str, str]]:
    """Our own names for entities or alias tables called `tables`, as (known name, other name)."""
    text = (files("bmsql.data") / "aliases" / "extra_names.tsv").read_text(encoding="utf-8")
    for row in csv.DictReader(io.StringIO(text), delimiter="\t"):
        if row["for"] in tables:
            yield row["name"], row["alias"]
