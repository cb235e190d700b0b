"""Which values of a column a condition keeps, and how two such conditions stand to each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from bmsql.conventions._schema import Rule
from bmsql.types import Scalar

Standing = Literal["same", "near", "wrong", "other"]

# 7.3 is how -LOG10(5e-8) = 7.301 is written: this close on the log scale, the same threshold is meant.
_LOG_SLACK = 0.02


@dataclass(frozen=True, slots=True)
class Kept:
    """The values that a condition keeps: a range, some points, or all but some points.

    form: how it was written; `between` bounds count as the threshold itself, `log` ones nearly so;
    `parameter` stands for a bound that is known only when the query runs.
    """

    low: float | None = None
    high: float | None = None
    low_in: bool = False
    high_in: bool = False
    points: frozenset[Scalar] | None = None
    excluded: frozenset[Scalar] | None = None
    form: Literal["plain", "between", "log", "parameter"] = "plain"

    @property
    def is_range(self) -> bool:
        """Whether it is a range rather than points."""
        return self.points is None and self.excluded is None

    def holds(self, value: Scalar) -> bool:
        """Whether it keeps `value`."""
        if self.points is not None:
            return value in self.points
        if self.excluded is not None:
            return value not in self.excluded
        if isinstance(value, str):
            return False
        if self.low is not None and (value < self.low or (value == self.low and not self.low_in)):
            return False
        return not (self.high is not None and (value > self.high or (value == self.high and not self.high_in)))

    def negated(self) -> Kept | None:
        """What `NOT` of it keeps, or None where that is not one range."""
        if self.points is not None:
            if len(self.points) == 1 and all(isinstance(point, bool) for point in self.points):
                return Kept(points=frozenset({True not in self.points}))
            return Kept(excluded=self.points)
        if self.excluded is not None:
            return Kept(points=self.excluded)
        if self.low is not None and self.high is not None:
            return None
        if self.low is not None:
            return replace(self, low=None, low_in=False, high=self.low, high_in=not self.low_in)
        return replace(self, high=None, high_in=False, low=self.high, low_in=not self.high_in)

    def also(self, other: Kept) -> Kept:
        """What two ranges together keep."""
        low, low_in = self.low, self.low_in
        if other.low is not None and (low is None or other.low > low or (other.low == low and not other.low_in)):
            low, low_in = other.low, other.low_in
        high, high_in = self.high, self.high_in
        if other.high is not None and (high is None or other.high < high or (other.high == high and not other.high_in)):
            high, high_in = other.high, other.high_in
        return Kept(low=low, high=high, low_in=low_in, high_in=high_in)

    def within(self, other: Kept) -> bool:
        """Whether `other` keeps all that this keeps (for ranges and points)."""
        if self.points is not None:
            return all(other.holds(point) for point in self.points)
        if self.excluded is not None:
            return other.excluded is not None and other.excluded <= self.excluded
        if other.excluded is not None:
            return not any(self.holds(point) for point in other.excluded)
        if other.points is not None:
            return False
        both = self.also(other)
        return (both.low, both.high, both.low_in, both.high_in) == (self.low, self.high, self.low_in, self.high_in)

    def disjoint(self, other: Kept) -> bool:
        """Whether no value is kept by both."""
        if self.points is not None:
            return not any(other.holds(point) for point in self.points)
        if other.points is not None:
            return not any(self.holds(point) for point in other.points)
        if self.excluded is not None or other.excluded is not None:
            return False
        both = self.also(other)
        if both.low is None or both.high is None:
            return False
        return both.low > both.high or (both.low == both.high and not (both.low_in and both.high_in))


def kept_by(op: str, value: Scalar | tuple[float, float]) -> Kept:
    """What `column op value` keeps."""
    if isinstance(value, tuple):
        return Kept(low=value[0], high=value[1], low_in=True, high_in=True, form="between")
    if op in {"=", "!="}:
        return Kept(points=frozenset({value})) if op == "=" else Kept(excluded=frozenset({value}))
    number = float(value)
    if op in {"<", "<="}:
        return Kept(high=number, high_in=op == "<=")
    return Kept(low=number, low_in=op == ">=")


def opposite(op: str, value: Scalar | tuple[float, float]) -> tuple[str, Scalar]:
    """The comparison that fails `op value`; of a recorded value, as NULL neither passes nor fails."""
    if isinstance(value, tuple):
        return ">", value[1]
    if isinstance(value, bool):
        return op, not value
    return {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}[op], value


def failing(rule: Rule, rules: Mapping[str, Rule]) -> tuple[str, Scalar | tuple[float, float]]:
    """The comparison that keeps what fails `rule`: that of its `complement` rule, or the opposite."""
    other = rules.get(rule.complement)
    return (other.op, other.value) if other else opposite(rule.op, rule.value)


def standing(found: Kept, wanted: Kept, rule: Rule, *, own: bool = True) -> Standing:
    """How a condition found on the rule's column stands to the `wanted` one.

    `same` says it (or, where the rule allows it, more); `near` nearly; `wrong` is another value for
    the same thing, or leaves nothing; `other` is a condition beside it. `own` is False for a complement.
    """
    if own and any(found == kept_by(same.op, same.value) for same in rule.same_as):
        return "same"
    if found.form == "parameter":
        return "same" if _same_direction(found, wanted) else "other"
    if not (found.is_range and wanted.is_range):
        return _standing_of_points(found, wanted, rule)
    if _same_direction(found, wanted):
        return _standing_of_ranges(found, wanted, rule)
    return "wrong" if found.disjoint(wanted) else "other"


def _same_direction(found: Kept, wanted: Kept) -> bool:
    if wanted.low is not None and wanted.high is not None:
        return found.high is not None
    return (found.high is not None) if wanted.high is not None else (found.low is not None)


def _standing_of_points(found: Kept, wanted: Kept, rule: Rule) -> Standing:
    if (found.points, found.excluded) == (wanted.points, wanted.excluded) and found.is_range == wanted.is_range:
        return "same"
    if found.disjoint(wanted):
        return "wrong"
    if found.within(wanted):
        narrower_is_wrong = rule.corrects_stricter and wanted.is_range
        return "wrong" if narrower_is_wrong else "same"
    if wanted.points is not None:
        # Keeps the wanted points and others: a weaker form of it, unless it merely excludes others.
        return "other" if found.excluded is not None else "wrong"
    return "other"


def _cuts_the_best(found: Kept, upper: bool, rule: Rule) -> bool:
    """Whether a range ends on the far side too: `p BETWEEN 5e-8 AND 1e-5` leaves out the smallest."""
    if upper:
        return found.low is not None and (found.low > 0 or not found.low_in)
    return found.high is not None and not (rule.unit == "probability" and found.high >= 1)


def _standing_of_ranges(found: Kept, wanted: Kept, rule: Rule) -> Standing:
    both_ends = wanted.low is not None and wanted.high is not None
    if both_ends:
        same = (found.low, found.high) == (wanted.low, wanted.high) and found.low_in and found.high_in
        return "same" if same else "near" if found.high == wanted.high else "wrong"
    upper = wanted.high is not None
    bound, inclusive = (found.high, found.high_in) if upper else (found.low, found.low_in)
    target, target_inclusive = (wanted.high, wanted.high_in) if upper else (wanted.low, wanted.low_in)
    if found.disjoint(wanted) or (rule.corrects_stricter and _cuts_the_best(found, upper, rule)):
        return "wrong"
    if bound == target:
        return "same" if inclusive == target_inclusive or found.form == "between" else "near"
    if found.form == "log" and bound and target and bound > 0 and target > 0:
        return "near" if abs(math.log10(bound) - math.log10(target)) < _LOG_SLACK else "wrong"
    if found.within(wanted) and not rule.corrects_stricter:
        return "same"
    return "wrong"
