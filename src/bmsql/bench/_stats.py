"""Intervals and measures of agreement.

The interval of a mean is 1.96 standard errors to each side, with the sample's variance (n - 1); for a share that is the
normal (Wald) interval, which the paper uses. It may reach beyond 0 and 1, and degenerates to nothing there, so shares
carry Wilson's interval too.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bmsql.types import Frozen

Z = 1.96


class Estimate(Frozen):
    """A mean or share with its 95 % interval; low and high are None below two values.

    n: values; value: their mean, None without any. low, high: value -+ 1.96 standard errors.
    wilson: Wilson's interval of a share.
    """

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    wilson: tuple[float, float] | None = None

    @property
    def margin(self) -> float | None:
        """Half of the interval's width."""
        return None if self.high is None or self.value is None else self.high - self.value


@dataclass
class Mean:
    """A running mean with its variance (Welford's method): exact however many values, none of them kept."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0
    total: float = 0.0

    def add(self, value: float) -> None:
        """Take in one value."""
        self.n += 1
        self.total += value
        step = value - self.mean
        self.mean += step / self.n
        self.squares += step * (value - self.mean)

    def estimate(self) -> Estimate:
        """The mean and its interval."""
        if not self.n:
            return Estimate(n=0)
        if self.n == 1:
            return Estimate(n=1, value=self.mean)
        margin = Z * math.sqrt(self.squares / (self.n - 1) / self.n)
        return Estimate(n=self.n, value=self.mean, low=self.mean - margin, high=self.mean + margin)


@dataclass
class Share:
    """A running share: how many of those looked at are so."""

    n: int = 0
    hits: int = 0

    def add(self, hit: bool) -> None:
        """Take in one case."""
        self.n += 1
        self.hits += hit

    def estimate(self) -> Estimate:
        """The share with both of its intervals."""
        if not self.n:
            return Estimate(n=0)
        p = self.hits / self.n
        wilson = wilson_interval(self.hits, self.n)
        if self.n == 1:
            return Estimate(n=1, value=p, wilson=wilson)
        margin = Z * math.sqrt(p * (1 - p) / (self.n - 1))
        return Estimate(n=self.n, value=p, low=p - margin, high=p + margin, wilson=wilson)


def wilson_interval(hits: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share (Wilson 1927), which stays within 0 and 1."""
    p, z2 = hits / n, Z * Z
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    margin = Z * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, centre - margin), min(1.0, centre + margin)


def cramers_v(counts: Mapping[tuple[Any, Any], int]) -> float | None:
    """Cramér's V of a contingency table: 0 for independence, 1 for complete association.

    counts: cases by (row, column). None where a side has one category only: nothing can then be said.
    """
    rows: dict[Hashable, int] = {}
    columns: dict[Hashable, int] = {}
    for (row, column), count in counts.items():
        rows[row] = rows.get(row, 0) + count
        columns[column] = columns.get(column, 0) + count
    rows, columns = _positive(rows), _positive(columns)
    n = sum(rows.values())
    smaller = min(len(rows), len(columns))
    if smaller < 2:
        return None
    chi2 = sum(
        (counts.get((row, column), 0) - a * b / n) ** 2 / (a * b / n)
        for row, a in rows.items()
        for column, b in columns.items()
    )
    return math.sqrt(chi2 / (n * (smaller - 1)))


def cohens_kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """Cohen's kappa of two judges over the same cases; None where chance alone would agree on all."""
    if not pairs:
        return None
    n = len(pairs)
    agreed = sum(a == b for a, b in pairs) / n
    first, second = _shares(a for a, _ in pairs), _shares(b for _, b in pairs)
    chance = sum(share * second.get(label, 0.0) for label, share in first.items())
    return None if chance == 1.0 else (agreed - chance) / (1 - chance)


def krippendorff_alpha(units: Iterable[Sequence[float]]) -> float | None:
    """Krippendorff's alpha for interval data: units, each with the scores it was given by two or more judges.

    1 is perfect agreement, 0 what chance would give; None where there are no pairs, or all scores are one.
    """
    pairable = [tuple(scores) for scores in units if len(scores) > 1]
    values = [score for scores in pairable for score in scores]
    n = len(values)
    if n < 2:
        return None
    expected = _squared_differences(values) / (n - 1)
    if expected == 0:
        return None
    observed = sum(_squared_differences(scores) / (len(scores) - 1) for scores in pairable)
    return 1 - observed / expected


def _squared_differences(values: Sequence[float]) -> float:
    """The sum of (a - b) squared over all ordered pairs."""
    total = math.fsum(values)
    return max(0.0, 2 * (len(values) * math.fsum(value * value for value in values) - total * total))


def _positive(counts: Mapping[Hashable, int]) -> dict[Hashable, int]:
    return {label: count for label, count in counts.items() if count}


def _shares(labels: Iterable[Hashable]) -> dict[Hashable, float]:
    counts: dict[Hashable, int] = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    n = sum(counts.values())
    return {label: count / n for label, count in counts.items()}
