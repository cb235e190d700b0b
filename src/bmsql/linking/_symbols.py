"""Symbols: the stored ones grouped by the official symbol that they stand for."""

from __future__ import annotations

from collections.abc import Iterator

from bmsql.linking._lexicon import LexiconBuilder
from bmsql.linking._normal import compact
from bmsql.linking._reader import Reader
from bmsql.linking._tables import SymbolTable, symbol_table
from bmsql.linking._words import is_common
from bmsql.semantic import Entity

_SHORTEST_NAME = 6


def build_symbols(lexicon: LexiconBuilder, reader: Reader, name: str, entity: Entity) -> None:
    """Add the symbols of an entity: `stored` holds, by family, every spelling of the same thing."""
    stored: dict[str, dict[str, list[str]]] = {}
    for family, recipe in entity.match.items():
        for role in recipe.roles:
            for item in reader.values(family, role, recipe):
                families = stored.setdefault(item.strip(), {})
                if family not in families:
                    families[family] = [item.strip()]
    table = symbol_table(entity.aliases) if entity.aliases else None
    concepts: dict[str, int] = {}
    for symbol, families in stored.items():
        official = official_symbol(symbol, table)
        if official not in concepts:
            concepts[official] = lexicon.concept(name, official)
            lexicon.concepts[concepts[official]].stored = {family: [] for family in entity.match}
        for family, items in families.items():
            lexicon.concepts[concepts[official]].stored[family] += items
    for symbol in stored:
        lexicon.add_symbol(concepts[official_symbol(symbol, table)], symbol, "stored")
    if table is not None:
        _add_aliases(lexicon, concepts, table, tuple(entity.match))
    for official, alias in reader.names(name, *filter(None, (entity.aliases,))):
        if official not in concepts:
            concepts[official] = lexicon.concept(name, official)
            lexicon.concepts[concepts[official]].stored = {family: [] for family in entity.match}
            lexicon.add_symbol(concepts[official], official, "official")
        lexicon.add(concepts[official], alias, "extra")


def official_symbol(symbol: str, table: SymbolTable | None) -> str:
    """The official symbol for a stored one, or the same where it is none or not clear."""
    owners = table.owners(symbol) if table else []
    best = [owner for owner in owners if owner.source == owners[0].source]
    if len(best) > 1:
        # A symbol that became ambiguous was mostly numbered: `QARS` is `QARS1` rather than `EPRS1`.
        best = [owner for owner in best if owner.symbol.rstrip("0123456789") == symbol]
    return best[0].symbol if len(best) == 1 else symbol


def _add_aliases(
    lexicon: LexiconBuilder, concepts: dict[str, int], table: SymbolTable, families: tuple[str, ...]
) -> None:
    """Aliases of the stored symbols; whoever shares one is added too, so that a tie is seen as one."""
    for official, concept in list(concepts.items()):
        row = table.row(official)
        if row is None:
            continue
        lexicon.add_symbol(concept, table.symbols[row], "official")
        for source, cells in (("previous", table.previous), ("alias", table.aliases)):
            for alias in filter(None, cells[row].split("|")):
                owners = table.owners(alias)
                # An alias that is another's official symbol means that other one.
                if owners[0].source == "official" or len(compact(alias)) < 2:
                    continue
                lexicon.add_symbol(concept, alias, source)
                for other in owners:
                    if other.symbol not in concepts:
                        concepts[other.symbol] = lexicon.concept(lexicon.concepts.entity(concept), other.symbol)
                        lexicon.concepts[concepts[other.symbol]].stored = {family: [] for family in families}
                    lexicon.add_symbol(concepts[other.symbol], table.spelling(other.symbol, alias), other.source)
        for form in _spoken_names(table.names[row]):
            lexicon.add(concept, form, "alias")


def _spoken_names(name: str) -> Iterator[str]:
    """A symbol's full name as it is spoken too: `dopamine receptor D2` is the `dopamine D2 receptor`."""
    if " " in name or (len(name) >= _SHORTEST_NAME and name.isalpha() and not is_common(name)):
        yield name
    before, found, after = name.partition(" receptor ")
    if found and len(after) <= _SHORTEST_NAME:
        yield f"{before} {after} receptor"
