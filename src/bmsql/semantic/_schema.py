"""The semantic model as data: what a YAML file may say, and the look-ups the other parts need."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from bmsql.semantic._family import Family, Role
from bmsql.types import Frozen, Scalar


class Column(Frozen):
    """A column of a table: its BigQuery type and role; meaning and unit default to the role's."""

    type: str
    role: str = ""
    meaning: str = ""
    unit: str = ""


class Table(Frozen):
    """A table.

    about: entity values that hold for each of its rows; covers: values that it is about as a
    whole, without telling them apart; study: the study it holds; optional: may be absent.
    """

    family: str
    description: str = ""
    study: str = ""
    optional: bool = False
    about: dict[str, str] = Field(default_factory=dict)
    covers: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    columns: dict[str, Column] = Field(default_factory=dict)

    @cached_property
    def column_by_role(self) -> dict[str, str]:
        """Column name by role."""
        return {column.role: name for name, column in self.columns.items() if column.role}


class Recipe(Frozen):
    """How an entity is matched in the tables of a family.

    how: `equals` (the column is the value), `item` (one whole item of a separated list), `listed`
    (one whole item of a list whose items carry a suffix, as in `SYM (ENSG...)`), `contains`
    (the text occurs, ignoring case), `term` (the whole text, ignoring case), `word` (a whole word
    of the text, ignoring case), `prefix` (the text begins with it, ignoring case), `region`
    (chromosome and position columns, by genome build).
    key: the role shown for this entity, the first of `roles` by default.
    none: an item that stands for no value.
    whole: what `contains` finds is no part of a longer word (`tetrabenazine`, but not
    `deutetrabenazine`), and what `word` finds is a whole item of a list parted by `separator`
    (`agonist`, but not `partial agonist`).
    builds: for a region, chromosome and position roles by genome build, the default build first.
    ids: for values known by identifier, the roles that hold it.
    """

    how: Literal["equals", "item", "listed", "contains", "term", "word", "prefix", "region"]
    roles: tuple[str, ...] = ()
    separator: str = ";"
    suffix: str = ""
    key: str = ""
    none: str = ""
    whole: bool = False
    builds: dict[str, tuple[str, str]] = Field(default_factory=dict)
    ids: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The role that shows the entity in an output row."""
        return self.key or (self.roles[0] if self.roles else "")


class Value(Frozen):
    """A value that the entity can have, under the names people give it.

    `id` is the value as `about` and `equals` columns hold it; `names` are matched in the question.
    """

    id: str
    names: tuple[str, ...] = ()
    label: str = ""


class Group(Frozen):
    """Several stored values under one name; a name of one word counts before a noun of the entity only."""

    id: str
    names: tuple[str, ...]
    values: tuple[str, ...]


class Entity(Frozen):
    """A kind of thing that questions name.

    kind: `identifier` (a pattern), `symbol` (gene symbols: upper case, aliases), `name` (names in
    text, near misses allowed), `term` (diseases), `category` (a few stored values), `region`
    (a chromosome or a stretch of one).
    same_as: the entity that this identifies; classifies: the entity whose kinds its values name,
    as antibodies are drugs; missing: what to say where a value is not held.
    """

    label: str
    plural: str
    kind: Literal["identifier", "symbol", "name", "term", "category", "region"]
    nouns: tuple[str, ...] = ()
    pattern: str = ""
    aliases: Literal["", "genes", "diseases"] = ""
    same_as: str = ""
    values: tuple[Value, ...] = ()
    synonyms: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    groups: tuple[Group, ...] = ()
    match: dict[str, Recipe] = Field(default_factory=dict)
    classifies: str = ""
    missing: str = ""


class Attribute(Frozen):
    """Something that can be asked of a row: the words for it and the columns that answer it.

    cues: everyday words for it that say nothing about the family, as `where` for a position.
    show: roles by family; entity: the entity it enumerates, if it is one; measure: the role by
    family that it is compared and ranked by; test: a role by family that is true or false of the
    row; low: True when "top" and "best" mean the smallest value; weak: the words say little about
    the family; groups: rows can be grouped by it; numbers: a bare year, a number behind
    "phase", a sign ("how many raise and how many lower it") or a size ("the most protective") is
    about it; judged: where it is asked for, a direction in the question is judged in the answer
    rather than filtered by.
    """

    label: str
    words: tuple[str, ...]
    cues: tuple[str, ...] = ()
    show: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    entity: str = ""
    measure: dict[str, str] = Field(default_factory=dict)
    test: dict[str, str] = Field(default_factory=dict)
    low: bool = False
    weak: bool = False
    groups: bool = False
    numbers: Literal["", "year", "phase", "sign", "size"] = ""
    judged: bool = False


class Condition(Frozen):
    """Words that are a filter by themselves: by family, a role, an operator and a value.

    weak: the words say little about the family.
    """

    words: tuple[str, ...]
    where: dict[str, tuple[str, str, Scalar]]
    weak: bool = False
    note: str = ""
    subject: str = ""


class Join(Frozen):
    """How tables of two families are joined through an entity.

    `keys` gives, by family, SQL over roles; a text that begins with `items:` gives an array, of
    which any element may match.
    """

    entity: str
    keys: dict[str, str]


class Example(Frozen):
    """An example question with its SQL, in the BigQuery dialect.

    Tables are written by name, or as `{family}` or `{family.value}`: `{gwas.AD}` is the table of the family `gwas`
    that is about `AD`. template: a name that the examples of one template share.
    """

    question: str
    sql: str
    template: str = ""


class SemanticModel(Frozen):
    """A knowledge base as its experts see it; see `docs/semantic-models.md` for every field."""

    format: Literal[1] = 1
    name: str
    title: str = ""
    description: str = ""
    evidence_key: str = ""
    default_limit: int = Field(default=100, gt=0)
    families: dict[str, Family]
    tables: dict[str, Table]
    entities: dict[str, Entity] = Field(default_factory=dict)
    attributes: dict[str, Attribute] = Field(default_factory=dict)
    conditions: dict[str, Condition] = Field(default_factory=dict)
    joins: tuple[Join, ...] = ()
    neutral: tuple[str, ...] = ()
    outside: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    examples: tuple[Example, ...] = ()
    questions: tuple[str, ...] = ()
    file: str = Field(default="", exclude=True)

    def family_of(self, table: str) -> Family:
        """The family of a table."""
        return self.families[self.tables[table].family]

    def tables_of(self, family: str) -> tuple[str, ...]:
        """The tables of a family, in the order of the file."""
        return self._tables_by_family.get(family, ())

    @cached_property
    def _tables_by_family(self) -> dict[str, tuple[str, ...]]:
        grouped: dict[str, list[str]] = {}
        for name, table in self.tables.items():
            grouped.setdefault(table.family, []).append(name)
        return {family: tuple(names) for family, names in grouped.items()}

    def role(self, role: str) -> Role | None:
        """The definition of a role, or None."""
        family = self.families.get(role.partition(".")[0])
        return family.roles.get(role) if family else None

    def column(self, table: str, role: str) -> str | None:
        """The column of `table` that has `role`, or None."""
        return self.tables[table].column_by_role.get(role)

    def role_of(self, table: str, column: str) -> str:
        """The role of a column, or an empty string; column names ignore case, as in BigQuery."""
        return self._roles_by_column.get((table, column.lower()), "")

    @cached_property
    def _roles_by_column(self) -> dict[tuple[str, str], str]:
        return {
            (table, name.lower()): column.role
            for table, spec in self.tables.items()
            for name, column in spec.columns.items()
        }

    def meaning(self, table: str, column: str) -> tuple[str, str]:
        """Meaning and unit of a column: its own, else its role's, else empty."""
        spec = self.tables[table].columns[column]
        role = self.role(spec.role)
        return spec.meaning or (role.meaning if role else ""), spec.unit or (role.unit if role else "")

    def unit_of(self, column: str, tables: tuple[str, ...] = ()) -> str | None:
        """The unit of a column by its name alone, or None where no table has such a column; ignores case.

        It is that of the first of `tables` that has the column, else of any table, else of a derived column.
        """
        units = self._units_by_column.get(column.lower(), {})
        return next((units[table] for table in (*tables, *units) if table in units), None)

    @cached_property
    def _units_by_column(self) -> dict[str, dict[str, str]]:
        """By column name in lower case, its unit in each table."""
        found: dict[str, dict[str, str]] = {}
        for name, table in self.tables.items():
            for column in table.columns:
                found.setdefault(column.lower(), {}).setdefault(name, self.meaning(name, column)[1])
        for family in self.families.values():
            for one in family.derived.values():
                found.setdefault(one.alias.lower(), {"": one.unit})
        return found

    def with_tables(self, tables: dict[str, Any]) -> SemanticModel:
        """A copy with other tables; for adapting to what a backend holds."""
        copied = self.model_copy(update={"tables": tables})
        # What was worked out from the old tables would be copied too.
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied
