"""Filling the slots of a template with what the knowledge base holds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bmsql.bench.factory._gold import Drawn, Filling
from bmsql.bench.factory._pools import Column, Combination
from bmsql.bench.factory._templates import Slot, Template
from bmsql.bench.factory._values import Values
from bmsql.errors import ConfigurationError

_APART = 0.12  # how often slots of one source are drawn apart, and may have no row in common
_ABSENT = 0.06  # how often a slot is filled with what its source does not hold
_LARGE = 0.1  # the share of a pool that counts as frequent
_TRIES = 40

Slots = dict[str, Drawn]
Tables = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Filled:
    """The slots of one question, and the tables that its gold reads."""

    slots: Slots
    tables: Tables


@dataclass
class Filler:
    """Draws fillings for one template; the same ones for the same random numbers."""

    values: Values
    filling: Filling
    rng: random.Random

    @property
    def template(self) -> Template:
        """The template that is filled."""
        return self.filling.template

    def missing(self) -> str:
        """Why the template cannot be used over this knowledge base, or an empty text."""
        for source in self.template.bound_sources.values():
            tables = self.values.tables_of(source.family)
            if not any(self.values.model.tables[table].columns for table in tables):
                return f"no table of the family {source.family} with known columns is held"
        return ""

    def draws(self) -> Iterator[Filled]:
        """Fillings without end; ends where nothing can be drawn any more."""
        strata = self.template.strata or ("",)
        failed = turn = 0
        while failed < _TRIES:
            filled = self._draw(strata[turn % len(strata)])
            turn += 1
            if filled is None:
                failed += 1
                continue
            failed = 0
            yield filled

    def _draw(self, stratum: str) -> Filled | None:
        slots: Slots = {}
        for name, slot in self.template.slots.items():
            if slot.of or slot.about:
                drawn = self._given(slot, slots)
                if drawn is None:
                    return None
                slots[name] = drawn
        tables = self._tables(slots)
        for alias in self.template.bound_sources:
            names = [name for name, slot in self.template.slots.items() if slot.source == alias]
            if names and not self._from_source(alias, names, tables[alias], slots, stratum):
                return None
        return Filled({name: slots[name] for name in self.template.slots}, tables)

    def _given(self, slot: Slot, slots: Slots) -> Drawn | None:
        """A value that the template gives, or one that tells the tables of a source apart."""
        taken = slots[slot.differs].values if slot.differs else ()
        if slot.of:
            value = self.rng.choice([value for value in slot.of if (value,) != taken])
            return Drawn((value,), self.rng.choice(slot.of[value] or (str(value),)))
        family = self.template.bound_sources[slot.about].family
        about = [
            (entity, value)
            for table in self.values.tables_of(family)
            for entity, value in self.values.model.tables[table].about.items()
            if (value,) != taken and (not slot.only or value in slot.only)
        ]
        if not about:
            return None
        entity, value = self.rng.choice(about)
        return self.values.named(entity, value, self.rng) or Drawn((value,), value, entity)

    def _tables(self, slots: Slots) -> Tables:
        found: Tables = {}
        for alias, source in self.template.bound_sources.items():
            held = self.values.tables_of(source.family)
            if source.pinned:
                wanted = slots[source.pinned].values[0]
                held = tuple(table for table in held if wanted in self.values.model.tables[table].about.values())
            elif len(held) > 1 and alias != self.template.each:
                raise ConfigurationError(
                    f"template {self.template.id}: source {alias} may be any of {', '.join(held)}.",
                    remedy="Name a slot that chooses among them, as `family(slot)`, or ask all of them by `each`.",
                )
            found[alias] = held
        return found

    def _from_source(self, alias: str, names: list[str], tables: Sequence[str], slots: Slots, stratum: str) -> bool:
        table = self.rng.choice(tables)
        for group in self._groups(names):
            drawn = self._combination(alias, table, group, slots, stratum)
            if drawn is None:
                return False
            slots.update(drawn)
        for name in self.template.absent:
            if name in names and self.rng.random() < _ABSENT:
                entity = self.template.slots[name].entity
                choices = self.values.elsewhere(entity, table)
                if choices:
                    value = self.rng.choice(choices)
                    slots[name] = Drawn((value,), value, entity)
        return True

    def _groups(self, names: list[str]) -> list[list[str]]:
        """Which slots are drawn together."""
        if self.rng.random() < _APART:
            return [[name] for name in names]
        together = [name for name in names if not self.template.slots[name].free]
        return ([together] if together else []) + [[name] for name in names if self.template.slots[name].free]

    def _combination(self, alias: str, table: str, group: list[str], slots: Slots, stratum: str) -> Slots | None:
        columns = [self._column(alias, table, self.template.slots[name]) for name in group]
        speaks = "{" + alias + "." in stratum
        where = self.filling.text(stratum, {alias: table}) if speaks else ""
        pool = self.values.pools.pool(f"`{table}` AS {alias}", columns, where)
        for _ in range(_TRIES if pool else 0):
            found = self._accepted(group, _stratified(pool, self.rng), table, slots)
            if found is not None:
                return found
        return None

    def _accepted(self, group: list[str], combination: Combination, table: str, slots: Slots) -> Slots | None:
        """The slots of a combination, or None where one of them must not have its value."""
        found: Slots = {}
        for name, cells in zip(group, combination, strict=True):
            slot = self.template.slots[name]
            if slot.role:
                role = f"{self.values.model.tables[table].family}.{slot.role}"
                drawn = self.values.role_value(role, cells[0], table)
            else:
                drawn = self.values.entity_value(slot.entity, cells, table, self.rng)
            taken = {**slots, **found}[slot.differs].values if slot.differs else ()
            if drawn is None or drawn.values == taken or (slot.only and drawn.values[0] not in slot.only):
                return None
            found[name] = drawn
        return found

    def _column(self, alias: str, table: str, slot: Slot) -> Column:
        """The columns that a slot is drawn from: the one that shows the entity, and those beside it."""
        at = {alias: table}
        if slot.role:
            return Column((self.filling.role(alias, slot.role, at),))
        recipe = self.values.recipe(slot.entity, table)
        if recipe is None:
            raise ConfigurationError(
                f"template {self.template.id}: the semantic model has no match for {slot.entity} in {table}."
            )
        names = self.values.model.entities[slot.entity].kind == "name"
        roles = sorted(recipe.roles, key=lambda role: role != recipe.shown) if names else [recipe.shown]
        held = [role for role in roles if self.values.model.column(table, role)]
        return Column.of(tuple(self.filling.role(alias, role.partition(".")[2], at) for role in held), recipe)


def _stratified(pool: Sequence[tuple[Combination, int]], rng: random.Random) -> Combination:
    """One of the frequent, of the rare, or of the rest, each as likely; the pool is sorted by frequency."""
    frequent = max(1, int(len(pool) * _LARGE))
    rarest = pool[-1][1]
    rare = next(place for place, (_, n) in enumerate(pool) if n == rarest)
    first, last = ((0, frequent), (frequent, rare), (rare, len(pool)))[rng.randrange(3)]
    place = rng.randrange(first, last) if first < last else rng.randrange(len(pool))
    return pool[place][0]
