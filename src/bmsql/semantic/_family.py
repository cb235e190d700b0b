"""Families of tables and their roles, as a YAML file may describe them: meanings, units and wordings."""

from __future__ import annotations

import re

from pydantic import Field

from bmsql.types import Frozen, Scalar

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
