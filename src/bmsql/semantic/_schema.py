"""The semantic model as data: what a YAML file may say, and the look-ups the other parts need."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from bmsql.types import Frozen

Scalar = bool | int | float | str

# A role in SQL of the model, as in `EXP({gwas.effect})`; quantifiers such as `{4}` are none.
ROLE_REFERENCE = re.compile(r"\{([A-Za-z_]\w*\.[A-Za-z_]\w*)\}")

# A role in a text of an answer, with how it is said, as in `p {eq:gwas.p_value}`.
SAID_ROLE = re.compile(r"\{(?:[a-z]+:)?([A-Za-z_]\w*\.\w+)\}")


class Role(Frozen):
    """The meaning of a column, shared by the tables of a family.

    missing: values that stand for "not recorded", beside NULL; comparisons and rankings leave
    them out.
    """

    meaning: str
    unit: str = ""
    missing: tuple[Scalar, ...] = ()


class Derived(Frozen):
    """A computed output column: `sql` names roles in braces, as in `1 - {gwas.frequency}`."""

    sql: str
    alias: str
    meaning: str = ""
    unit: str = ""


class Case(Frozen):
    """A text with roles in braces, said where all conditions of `when` hold.

    A placeholder may say how: `{eq:role}` (with "=", or "below 1e-308" for a probability of 0),
    `{exp:role}` (an odds ratio from its logarithm), `{rest:role}` (1 minus it), `{list:role}` (the
    items of a list in text, the first of them), `{size:role}` (without its sign). Conditions read
    `role op value`, with <, <=, >, >=, =, !=, `contains`, or `role missing` and `role recorded`.
    """

    say: str
    when: tuple[str, ...] = ()


class Fact(Frozen):
    """A statement about one row: the first of `cases` that fits is said, where `about` is asked for.

    about: roles that it answers; cases: texts with roles in braces, which fit where their columns
    were selected and hold something; a case may have conditions, see `Case`.
    """

    about: tuple[str, ...]
    cases: tuple[Case, ...]


class Avoid(Frozen):
    """Words that say more than the rows of a family can, and what to say instead.

    An answer may use them where it denies or doubts them, or where the rows themselves hold them.
    """

    words: tuple[str, ...]
    instead: str


class Wording(Frozen):
    """How answers word the rows of a family; all of it is optional, labels are used otherwise.

    name: a text with roles in braces that names a row, the subject's role by default; detail: what
    lists say of a row in brackets; best: what the first row by `order` is, such as "strongest";
    lead: how a sentence about a row begins, with the values that hold for its table in `{}`;
    labels: by role, what it is called; filters: by entity or role (`role=value` for one value), how a
    condition is said, with the value in `{}`, as in "near {}";
    linked: by entity, how things are tied to the rows of this family, which stand in `{}`, as in
    "targeted by {}"; facts: statements about one row; avoid: words that answers must not use.
    """

    name: str = ""
    detail: str = ""
    best: str = ""
    lead: str = ""
    labels: dict[str, str] = Field(default_factory=dict)
    filters: dict[str, str] = Field(default_factory=dict)
    linked: dict[str, str] = Field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    avoid: tuple[Avoid, ...] = ()


class Family(Frozen):
    """Tables that hold the same kind of row.

    subject: the entity a row is of; exploded: one subject has many rows, so that lists of
    subjects are made distinct; nouns: words that name this family; weight: how readily it is
    chosen among families that fit equally (higher is sooner); assume: the rule that a question
    about these rows implies where it enumerates things and says nothing else; show: roles selected beside
    what was asked; order: the role a list is ordered by; say: how answers word its rows.
    """

    label: str
    row: str = ""
    subject: str = ""
    exploded: bool = False
    nouns: tuple[str, ...] = ()
    weight: float = 0.0
    assume: str = ""
    show: tuple[str, ...] = ()
    order: str = ""
    descending: bool = False
    roles: dict[str, Role] = Field(default_factory=dict)
    derived: dict[str, Derived] = Field(default_factory=dict)
    say: Wording = Wording()


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
    builds: for a region, chromosome and position roles by genome build, the default build first.
    ids: for values known by identifier, the roles that hold it.
    """

    how: Literal["equals", "item", "listed", "contains", "term", "word", "prefix", "region"]
    roles: tuple[str, ...] = ()
    separator: str = ";"
    suffix: str = ""
    key: str = ""
    none: str = ""
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
    "phase", or a sign ("how many raise and how many lower it") is about it; judged: where it is
    asked for, a direction in the question is judged in the answer rather than filtered by.
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
    numbers: Literal["", "year", "phase", "sign"] = ""
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

    def with_tables(self, tables: dict[str, Any]) -> SemanticModel:
        """A copy with other tables; for adapting to what a backend holds."""
        copied = self.model_copy(update={"tables": tables})
        # What was worked out from the old tables would be copied too.
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied
