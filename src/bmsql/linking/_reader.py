"""The values of roles, over every table of a family that the knowledge base has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bmsql.linking._reads import Read, Row
from bmsql.linking._tables import ExtraName, shipped_names
from bmsql.semantic import Entity, Recipe, SemanticModel
from bmsql.types import Catalog


def indexed(model: SemanticModel) -> Iterator[tuple[str, Entity]]:
    """The entities whose values the index holds: identifiers and regions are matched by their form."""
    for name, entity in model.entities.items():
        if entity.kind == "identifier" or entity.same_as or not (entity.match or entity.values):
            continue
        if any(recipe.how == "region" for recipe in entity.match.values()):
            continue
        yield name, entity


def plan(model: SemanticModel, catalog: Catalog) -> list[Read]:
    """Every read that the index of a knowledge base needs, each once."""
    columns = Columns(model, catalog)
    reads: dict[Read, None] = {}
    for _, entity in indexed(model):
        for family, recipe in entity.match.items():
            if reads_rows(entity, recipe):
                for table, present in columns.of(family, (*recipe.roles, *recipe.ids), all_of=False):
                    reads[Read(table, tuple(filter(None, present)))] = None
            else:
                for role in recipe.roles:
                    for table, (column,) in columns.of(family, (role,)):
                        reads[Read.items(table, column, recipe)] = None
    return list(reads)


def reads_rows(entity: Entity, recipe: Recipe) -> bool:
    """Whether the columns of an entity are read together, because what stands in a row belongs together."""
    return entity.kind == "name" or (entity.kind == "term" and recipe.how != "equals")


class Columns:
    """The columns of roles, of the tables that the catalogue has."""

    def __init__(self, model: SemanticModel, catalog: Catalog) -> None:
        self._model = model
        self._tables = {table.name: {column.name.lower() for column in table.columns} for table in catalog.tables}

    def of(self, family: str, roles: Sequence[str], *, all_of: bool = True) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Tables of a family with the columns of `roles`, `""` for one that is missing."""
        for table in self._model.tables_of(family):
            known = self._tables.get(table)
            if known is None:
                continue
            columns = [self._model.column(table, role) or "" for role in roles]
            columns = [column if column.lower() in known else "" for column in columns]
            if all(columns) if all_of else any(columns):
                yield table, tuple(columns)


def _model_names(model: SemanticModel) -> list[ExtraName]:
    """The synonyms that a semantic model gives for single symbols, names and terms."""
    return [
        ExtraName(name, known, alias)
        for name, entity in model.entities.items()
        if entity.kind in {"symbol", "name", "term"}
        for known, others in entity.synonyms.items()
        for alias in others
    ]


class Reader:
    """Hands the values that were read to the builders of the lexicon."""

    def __init__(
        self,
        model: SemanticModel,
        catalog: Catalog,
        rows: Mapping[Read, Sequence[Row]],
        names: tuple[ExtraName, ...] = (),
    ) -> None:
        self._columns = Columns(model, catalog)
        self._rows = rows
        self._names = (*names, *_model_names(model), *shipped_names())

    def names(self, *entities: str) -> list[tuple[str, str]]:
        """Further names for entities or alias tables, as (known name, other name); the user's come first."""
        return [(row.name, row.alias) for row in self._names if row.entity in entities]

    def values(self, family: str, role: str, recipe: Recipe) -> list[str]:
        """The distinct values of a role; items, where the recipe takes lists apart."""
        found: dict[str, None] = {}
        for table, (column,) in self._columns.of(family, (role,)):
            rows = self._rows[Read.items(table, column, recipe)]
            found.update((value, None) for (value,) in rows if value)
        return list(found)

    def rows(self, family: str, roles: Sequence[str]) -> list[Row]:
        """The distinct combinations of roles; a role that a table lacks is None there."""
        found: dict[Row, None] = {}
        for table, columns in self._columns.of(family, roles, all_of=False):
            for row in self._rows[Read(table, tuple(filter(None, columns)))]:
                cells = iter(row)
                found[tuple(next(cells) if column else None for column in columns)] = None
        return list(found)
