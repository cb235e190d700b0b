"""What a cell of the knowledge base becomes in a slot: the values for gold, and the words of the question."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bmsql.bench.factory._gold import Drawn
from bmsql.bench.factory._pools import Column, Pools, names_of
from bmsql.bench.factory._spoken import Diseases, Genes, drug_names
from bmsql.bench.factory._templates import TemplateBook
from bmsql.semantic import Recipe, SemanticModel
from bmsql.types import Scalar

OTHER_NAME = 0.3
"""How often a question uses a name that is not the stored one."""


@dataclass
class Values:
    """The values of one knowledge base, and how they are said."""

    book: TemplateBook
    model: SemanticModel
    pools: Pools
    genes: Genes = field(default_factory=Genes)
    diseases: Diseases = field(default_factory=Diseases)

    @cached_property
    def held(self) -> frozenset[str]:
        """The tables of the knowledge base."""
        return frozenset(table.name for table in self.pools.runner.backend.catalog().tables)

    def tables_of(self, family: str) -> tuple[str, ...]:
        """The tables of a family that the knowledge base holds."""
        return tuple(table for table in self.model.tables_of(family) if table in self.held)

    def recipe(self, entity: str, table: str) -> Recipe | None:
        """How an entity is matched in a table."""
        return self.model.entities[entity].match.get(self.model.tables[table].family)

    def role_value(self, role: str, text: str, table: str) -> Drawn | None:
        """A value of a plain column; None where it stands for "not recorded"."""
        spec = self.model.role(role)
        column = self.model.column(table, role)
        value = _typed(text, self.model.tables[table].columns[column].type if column else "STRING")
        if spec is not None and value in spec.missing:
            return None
        return Drawn((value,), f"{value:g}" if isinstance(value, float) else str(value))

    def entity_value(self, entity: str, cells: Sequence[str], table: str, rng: random.Random) -> Drawn | None:
        """A value of an entity; None where nobody would write it. `cells`: its text, and those beside it."""
        named = self.named(entity, cells[0], rng)
        if named is not None:
            return named
        recipe = self.recipe(entity, table)
        match self.model.entities[entity].kind:
            case "symbol":
                return self._symbol(entity, cells[0], table, rng)
            case "name":
                return _name(entity, cells, rng)
            case "term" if recipe is not None and recipe.how == "term":
                return self._term(entity, cells, recipe, table, rng)
            case _:
                return Drawn((cells[0],), cells[0], entity)

    def named(self, entity: str, value: str, rng: random.Random) -> Drawn | None:
        """A value by a name that the template book gives, if it gives one."""
        names = self.book.names.get(entity, {}).get(value)
        if names is None:
            return None
        place = 0 if rng.random() > OTHER_NAME else rng.randrange(max(len(names.one), len(names.many)))
        many = _at(names.many, place)
        return Drawn((value,), _at(names.one, place) or many, entity, many)

    def stored(self, entity: str, table: str) -> list[str]:
        """All values of an entity that a table holds."""
        recipe = self.recipe(entity, table)
        column = self.model.column(table, recipe.shown) if recipe else None
        if recipe is None or column is None:
            return []
        pool = self.pools.pool(f"`{table}` AS t", [Column.of((f"t.{column}",), recipe)])
        return [item for ((item, *_),), _ in pool]

    def elsewhere(self, entity: str, table: str) -> list[str]:
        """Values of an entity that other tables hold and this one does not, under any of its names."""
        here = self.stored(entity, table)
        known = {*here, *(self.genes.official(value) for value in here)}
        others = {
            value
            for family in self.model.entities[entity].match
            for other in self.tables_of(family)
            if other != table
            for value in self.stored(entity, other)
        }
        return sorted(value for value in others if value not in known and self.genes.official(value) not in known)

    def _symbol(self, entity: str, symbol: str, table: str, rng: random.Random) -> Drawn:
        stored = self.stored(entity, table)
        others = self.genes.said(symbol, frozenset(stored))
        say = rng.choice(others) if others and rng.random() < OTHER_NAME else symbol
        return Drawn(self.genes.same(symbol, stored), say, entity)

    def _term(self, entity: str, cells: Sequence[str], recipe: Recipe, table: str, rng: random.Random) -> Drawn | None:
        stored = self._terms(recipe, table)
        ids = stored.get(cells[0], frozenset())
        said = self.diseases.said(cells[0], ids)
        if not said:
            return None
        say = rng.choice(said) if rng.random() < OTHER_NAME else said[0]
        return Drawn(self.diseases.same(cells[0], ids, stored), say, entity)

    def _terms(self, recipe: Recipe, table: str) -> dict[str, frozenset[str]]:
        """Every stored term with its identifiers."""
        found: dict[str, set[str]] = {}
        for role, identifier in zip(recipe.roles, (*recipe.ids, *[""] * len(recipe.roles)), strict=False):
            columns = filter(None, (self.model.column(table, role), self.model.column(table, identifier)))
            column = Column(tuple(f"t.{name}" for name in columns))
            for ((term, *beside),), _ in self.pools.pool(f"`{table}` AS t", [column]):
                found.setdefault(term, set()).update(filter(None, beside))
        return {term: frozenset(ids) for term, ids in found.items()}


def _name(entity: str, cells: Sequence[str], rng: random.Random) -> Drawn | None:
    """A drug as the question writes it; gold looks for that text wherever names stand."""
    generic, others = drug_names(cells[0], [name for cell in cells[1:] for name in names_of(cell)])
    choices = others if others and (not generic or rng.random() < OTHER_NAME) else generic
    if not choices:
        return None
    say = rng.choice(choices)
    return Drawn((say,), say, entity)


def _typed(text: str, kind: str) -> Scalar:
    if kind == "INT64":
        return int(text)
    return float(text) if kind == "FLOAT64" else text


def _at(names: Sequence[str], place: int) -> str:
    return names[min(place, len(names) - 1)] if names else ""
