"""The query plan: a small, flat, typed language over a semantic model.

Both reasoners fill it; a compiler turns it into SQL. It is kept free of nesting so that a small
language model can write it as structured output.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from pydantic import Field

from bmsql.types._base import Frozen

Intent = Literal["list", "lookup", "exists", "count", "rank", "group", "compare"]
Scalar = bool | int | float | str


class Mention(Frozen):
    """A stretch of the question that was linked to stored values.

    `value` is the canonical value (an official symbol, a disease code or name, a category);
    `stored` gives, by family, the values to look for in its tables: those that occur there, or
    none (an empty tuple) where the family matches this entity but does not hold the value.
    """

    text: str
    start: int
    end: int
    entity: str
    value: str
    stored: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    method: Literal["exact", "normalised", "alias", "synonym", "pattern", "fuzzy", "unlinked"] = "exact"
    score: float = 1.0
    alternatives: tuple[str, ...] = ()
    note: str = ""


LinkQuestion: TypeAlias = Callable[[str], tuple[Mention, ...]]
"""What a text names: `Linker.link`, or a function in its place."""


class Source(Frozen):
    """A table that the query reads, under an alias."""

    alias: str
    table: str


class Filter(Frozen):
    """One condition. `target` is an entity (matched by its recipe), a role, or a column.

    `source` is an alias; empty means every source that has the target. Filters with the same
    non-zero `any_of` are alternatives (OR); all else is AND. Values of a `match` or `=` are
    alternatives; `between` takes low and high; `null_or` keeps NULL and the value; `region` takes
    build, chromosome, first and last base pair; `bonferroni` divides its value by the table's rows;
    `near` takes a distance in base pairs and the values of an entity whose rows give its place.
    """

    target: str
    op: Literal[
        "match",
        "=",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "between",
        "null",
        "not_null",
        "null_or",
        "starts_with",
        "contains",
        "region",
        "bonferroni",
        "near",
    ]
    values: tuple[Scalar, ...] = ()
    source: str = ""
    negated: bool = False
    any_of: int = 0
    words: str = ""


class PlanJoin(Frozen):
    """Two sources that share an entity: `inner`, `semi` (exists) or `anti` (does not exist)."""

    left: str
    right: str
    entity: str
    kind: Literal["inner", "semi", "anti"] = "inner"


class SelectItem(Frozen):
    """An output column: a column or role (derived ones too) of a source, or an entity (its key).

    `value` instead makes a constant column, such as the disease that a source is about.
    """

    column: str = ""
    source: str = ""
    alias: str = ""
    value: str = ""


class Aggregate(Frozen):
    """What is counted or computed: `count` of rows, or a function of a column or an entity."""

    function: Literal["count", "count_distinct", "min", "max", "avg", "sum"] = "count"
    column: str = ""
    source: str = ""
    alias: str = "n"


class Order(Frozen):
    """A sort key: a column of a source, or the alias of the aggregate."""

    column: str
    source: str = ""
    descending: bool = False


class ConventionUse(Frozen):
    """How the question stands to a convention.

    `implied`: apply it; `complement`: keep what fails it; `stated`: the user gave an own
    condition, which stands in the filters; `waived`: the user asked for no threshold;
    `judge`: not applied, the answer says how the rows stand to it.
    """

    rule: str
    mode: Literal["implied", "complement", "stated", "waived", "judge"]
    source: str = ""
    value: str = ""
    words: str = ""


class Clarification(Frozen):
    """A question back to the user, with the readings to choose from."""

    question: str
    alternatives: tuple[str, ...]


class Plan(Frozen):
    """What a question asks, over the semantic model.

    `answerable=False` with a `problem` is an abstention; `clarification` asks back. `select` is
    empty for a bare count. `combine="union"` asks the same of each source; `"join"` follows
    `joins` from the first source. `limit_per` keeps the first `limit` rows (one by default) of each
    value of a column; in a union, `limit_per="source"` those of each source. `complete=False`: the
    plan cannot say all of the question, and its query is written as text.
    """

    intent: Intent = "list"
    answerable: bool = True
    problem: str = ""
    clarification: Clarification | None = None
    subject: str = ""
    sources: tuple[Source, ...] = ()
    combine: Literal["single", "union", "join"] = "single"
    select: tuple[SelectItem, ...] = ()
    distinct: bool = False
    filters: tuple[Filter, ...] = ()
    joins: tuple[PlanJoin, ...] = ()
    group_by: tuple[SelectItem, ...] = ()
    aggregate: Aggregate | None = None
    having: tuple[Filter, ...] = ()
    order: tuple[Order, ...] = ()
    limit: int | None = None
    limit_per: str = ""
    conventions: tuple[ConventionUse, ...] = ()
    mentions: tuple[Mention, ...] = ()
    not_understood: tuple[str, ...] = ()
    notes: tuple[str, ...] = Field(default=(), description="what the answer must say")
    confidence: float = 1.0
    complete: bool = True
