"""What a rule file may say: rules as data, and the phrases that call for them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from bmsql.types import Frozen, Scalar

Kind = Literal["threshold", "direction", "approval", "lookup", "key", "limit"]
Operator = Literal["", "<", "<=", ">", ">=", "=", "!=", "between"]
Profile = Literal["strict", "biomedsql"]

PROFILES: tuple[Profile, ...] = ("strict", "biomedsql")


def _number(value: Any) -> Any:
    """YAML reads `5e-8` as text (its numbers need a point), and nobody writes 5.0e-8."""
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    if isinstance(value, list | tuple):
        return tuple(_number(item) for item in value)
    return value


Value = Annotated[Scalar | tuple[float, float], BeforeValidator(_number)]


class Comparison(Frozen):
    """An operator with its value."""

    op: Operator
    value: Value


class Mistaken(Frozen):
    """A condition that stands for the rule but on the wrong column, and is replaced by it.

    Without `op`, any condition in the rule's direction on the column of `role` is meant.
    """

    role: str
    op: Operator = ""
    value: Value = 0


class NotRecorded(Frozen):
    """Values, beside NULL, that mean "not recorded": those below `below`. `label` says so in words."""

    below: float | None = None
    label: str = "not recorded"


class RuleWording(Frozen):
    """How answers word a rule; all of it is optional, the title is used otherwise.

    one, many: what holds for one row or for several that keep to it, as in "is approved" and "are
    approved"; not_one, not_many: for rows that fail it; condition: the condition in words;
    without: begins the sentence that says how many rows there are without it, as in "whatever the
    p-value"; holds, fails, unknown: sentences that judge one thing, with `{name}`, `{about}` (such as
    "for a disease"), `{value}`, `{eq}` (the value with its equals sign) and `{condition}`;
    caveat: a sentence to add where the question used one of `caveat_words`.
    """

    one: str = ""
    many: str = ""
    not_one: str = ""
    not_many: str = ""
    condition: str = ""
    without: str = ""
    holds: str = ""
    fails: str = ""
    unknown: str = ""
    caveat: str = ""
    caveat_words: tuple[str, ...] = ()


class Rule(Frozen):
    """One convention. `docs/conventions.md` explains every field.

    role: the column it speaks of (`roles` where it is one of several); op, value: the condition;
    of: whether a direction is the effect of an allele or of a trait, such as expression;
    words: phrases of a question that imply it; waive: phrases that ask for no such condition;
    complement_words: phrases that ask for the rows that fail it; complement: the rule that says
    what failing means, where it is not simply the opposite; companions: rules that go with it, by
    profile; instead_of: what a draft puts mistakenly in its place; same_as: other conditions that
    keep the same rows; stricter: whether a narrower condition in a draft is kept or corrected;
    best: which end of the column is the best value; say: how answers word it.
    """

    name: str
    title: str
    kind: Kind = "threshold"
    role: str = ""
    roles: tuple[str, ...] = ()
    op: Operator = ""
    value: Value = ""
    unit: str = ""
    of: Literal["", "allele", "trait"] = ""
    reason: str
    citation: str = ""
    words: tuple[str, ...] = ()
    waive: tuple[str, ...] = ()
    complement_words: tuple[str, ...] = ()
    complement: str = ""
    companions: dict[Profile, tuple[str, ...]] = Field(default_factory=dict)
    profiles: tuple[Profile, ...] = PROFILES
    instead_of: tuple[Mistaken, ...] = ()
    same_as: tuple[Comparison, ...] = ()
    stricter: Literal["", "keep", "correct"] = ""
    best: Literal["", "min", "max"] = ""
    not_recorded: NotRecorded = NotRecorded()
    beside_distinct: tuple[Profile, ...] = ()
    say: RuleWording = RuleWording()

    @model_validator(mode="after")
    def _complete(self) -> Rule:
        if self.kind in {"threshold", "direction", "approval"}:
            if not self.role:
                raise ValueError("the rule needs a `role`: the column that it speaks of")
            if not self.op:
                raise ValueError("the rule needs an operator `op`: one of < <= > >= = != between")
        if self.op == "between":
            if not isinstance(self.value, tuple):
                raise ValueError("`between` needs two values, as in `value: [0, 0.01]`")
        elif isinstance(self.value, tuple):
            raise ValueError(f"the operator {self.op!r} takes one value")
        elif self.op in {"<", "<=", ">", ">="} and (
            isinstance(self.value, bool) or not isinstance(self.value, int | float)
        ):
            raise ValueError(f"the operator {self.op!r} needs a number as `value`, not {self.value!r}")
        return self

    @property
    def all_roles(self) -> tuple[str, ...]:
        """The roles that the rule looks at."""
        return (self.role, *self.roles) if self.role else self.roles

    @property
    def families(self) -> tuple[str, ...]:
        """The families of tables that it belongs to; none means all of them."""
        return tuple(dict.fromkeys(role.partition(".")[0] for role in self.all_roles))

    @property
    def corrects_stricter(self) -> bool:
        """Whether a narrower condition in a draft is replaced by the rule's own."""
        return (self.stricter or ("correct" if self.kind == "threshold" else "keep")) == "correct"


class RuleFile(Frozen):
    """A rule file: rules by name, and the names of rules to leave out."""

    format: Literal[1] = 1
    rules: dict[str, Rule] = Field(default_factory=dict)
    disable: tuple[str, ...] = ()


class Trigger(Frozen):
    """The phrases that call for a rule, waive it, or ask for what fails it; longest first."""

    imply: tuple[str, ...] = ()
    waive: tuple[str, ...] = ()
    complement: tuple[str, ...] = ()
