"""What a page consists of, whatever form it is written in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bmsql.bench._stats import Estimate


@dataclass(frozen=True)
class Paragraph:
    """A plain text."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table of texts; the first column heads its row, `marked` rows are set apart."""

    caption: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


@dataclass(frozen=True)
class Radar:
    """Shares by category, a line for each run; None where a run has none."""

    title: str
    axes: Sequence[str]
    series: Sequence[tuple[str, Sequence[float | None]]]


@dataclass(frozen=True)
class Scatter:
    """Points of x and y, each with its name; `reference` ones are not one's own."""

    title: str
    x: str
    y: str
    points: Sequence[tuple[str, float, float]]
    reference: Sequence[tuple[str, float, float]] = ()


@dataclass(frozen=True)
class Bars:
    """Counts by category, a bar for each run."""

    title: str
    categories: Sequence[str]
    series: Sequence[tuple[str, Sequence[int]]]


@dataclass(frozen=True)
class Code:
    """A query, or other text in fixed width."""

    title: str
    text: str


@dataclass(frozen=True)
class Listing:
    """Short lines under a title."""

    title: str
    items: Sequence[str]


@dataclass(frozen=True)
class Details:
    """Blocks that are opened when asked for."""

    summary: str
    blocks: Sequence[Block]


Block: TypeAlias = "Paragraph | Table | Radar | Scatter | Bars | Code | Listing | Details"


@dataclass(frozen=True)
class Section:
    """A titled part of the page."""

    title: str
    blocks: Sequence[Block]


def percent(estimate: Estimate | None) -> str:
    """A share in per cent with its margin: `62.6 ± 4.1`; at 0 and 100 with Wilson's interval, as no margin is left."""
    if estimate is None or estimate.value is None:
        return "–"
    value = 100 * estimate.value
    if estimate.wilson is not None and estimate.value in (0.0, 1.0):
        low, high = (100 * bound for bound in estimate.wilson)
        return f"{value:.1f} ({low:.1f} to {high:.1f})"
    if estimate.margin is None:
        return f"{value:.1f}"
    return f"{value:.1f} ± {100 * estimate.margin:.1f}"


def points(estimate: Estimate) -> str:
    """A difference of shares in percentage points, with its sign and margin."""
    if estimate.value is None:
        return "–"
    margin = f" ± {100 * estimate.margin:.1f}" if estimate.margin is not None else ""
    return f"{100 * estimate.value:+.1f}{margin}".replace("-", "−")


def amount(estimate: Estimate, digits: int = 0) -> str:
    """A mean with its margin."""
    if estimate.value is None:
        return "–"
    margin = f" ± {estimate.margin:,.{digits}f}" if estimate.margin else ""
    return f"{estimate.value:,.{digits}f}{margin}"


def dollars(value: float | None) -> str:
    """An amount of money."""
    if value is None:
        return "–"
    return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.5f}"


def number(value: float | None, digits: int = 2) -> str:
    """A number, or a dash."""
    return "–" if value is None else f"{value:.{digits}f}"
