"""Names of a plan resolved in one source: roles, derived columns, entities, plain columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from sqlglot import exp

from bmsql.errors import PlanError
from bmsql.semantic import ROLE_REFERENCE, Family, Join, Recipe, SemanticModel, Table
from bmsql.sql import copied
from bmsql.types import Scalar, Source

ITEMS = "items:"


@dataclass(frozen=True)
class Bound:
    """A source of the plan bound to its table in the semantic model.

    `qualifier` is the alias columns are written with, or empty where there is only one table.
    """

    source: Source
    table: Table
    family: Family
    model: SemanticModel
    qualifier: str = ""

    def column(self, name: str) -> exp.Column:
        """A column of this source."""
        table = exp.to_identifier(self.qualifier) if self.qualifier else None
        return exp.Column(this=exp.to_identifier(name), table=table)

    def expression(self, name: str) -> exp.Expr:
        """The SQL of a role, a derived role, an entity's shown column, or a column name."""
        column = self.column_name(name)
        if column:
            return self.column(column)
        derived = self.family.derived.get(name)
        if derived:
            return self.template(derived.sql)
        raise PlanError(
            f"'{name}' is neither a role, an entity nor a column of {self.source.table}.",
            remedy="Use a name that `bmsql schema` shows for this table.",
        )

    def column_name(self, name: str) -> str | None:
        """The plain column behind a role, an entity or a column name; None for derived roles."""
        found = self.table.column_by_role.get(name)
        if found:
            return found
        recipe = self.recipe(name)
        if recipe:
            return self.table.column_by_role.get(recipe.shown)
        for column in self.table.columns:
            if column.lower() == name.lower():
                return column
        return None

    def has(self, name: str) -> bool:
        """Whether `name` means something in this source."""
        return self.column_name(name) is not None or name in self.family.derived or self.recipe(name) is not None

    def recipe(self, entity: str) -> Recipe | None:
        """How an entity is matched in this source, or None."""
        spec = self.model.entities.get(entity)
        return spec.match.get(self.table.family) if spec else None

    def alias(self, name: str) -> str:
        """The output name of a derived role, or an empty string for plain columns."""
        derived = self.family.derived.get(name)
        return derived.alias if derived else ""

    def missing(self, name: str) -> tuple[Scalar, ...]:
        """Values of a role that stand for "not recorded"."""
        role = self.model.role(name) or self.model.role(self.model.role_of(self.source.table, name))
        return role.missing if role else ()

    def type_of(self, name: str) -> str:
        """The BigQuery type of the column behind a name; derived columns count as FLOAT64."""
        column = self.column_name(name)
        return self.table.columns[column].type if column else "FLOAT64"

    def template(self, sql: str) -> exp.Expr:
        """SQL of the semantic model with its roles replaced by columns of this source."""
        template = _parse_template(sql)
        if isinstance(template, exp.Column):
            return self._in_place_of(template)
        tree = copied(template)
        for placeholder in list(tree.find_all(exp.Column)):
            placeholder.replace(self._in_place_of(placeholder))
        return tree

    def _in_place_of(self, placeholder: exp.Column) -> exp.Column:
        role = ".".join(part.name for part in placeholder.parts)
        column = self.table.column_by_role.get(role)
        if column is None:
            raise PlanError(f"{self.source.table} has no column with the role '{role}'.")
        return self.column(column)

    def join_key(self, entity: str) -> tuple[exp.Expr, bool]:
        """The SQL that joins this source by an entity, and whether it is an array of items."""
        join = join_by(self.model, entity, self.table.family)
        if join is None:
            if self.has(entity):
                return self.expression(entity), False
            raise PlanError(f"{self.source.table} cannot be joined by {entity}.")
        sql = join.keys[self.table.family]
        return self.template(sql.removeprefix(ITEMS)), sql.startswith(ITEMS)


def join_by(model: SemanticModel, entity: str, family: str) -> Join | None:
    """The join over an entity in which a family takes part."""
    return next((join for join in model.joins if join.entity == entity and family in join.keys), None)


@lru_cache(maxsize=512)
def _parse_template(sql: str) -> exp.Expr:
    return sqlglot.parse_one(ROLE_REFERENCE.sub(lambda match: match.group(1), sql), read="bigquery")
