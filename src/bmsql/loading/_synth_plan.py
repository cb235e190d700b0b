"""Where synthetic variants lie: genes along the chromosomes, peaks of association, and stretches of both."""

from __future__ import annotations

import hashlib
import math
import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import accumulate, pairwise
from typing import Any

from bmsql.data import aliases, safe_yaml

_REACH = 6  # widths beyond which a peak is not felt
_CODING = "gene with protein product"


@cache
def specification() -> dict[str, Any]:
    """`synthetic.yaml` as data."""
    loaded: dict[str, Any] = safe_yaml((files("bmsql.loading") / "synthetic.yaml").read_text(encoding="utf-8"))
    return loaded


def number_of(*parts: object) -> int:
    """A number of 64 bits that is always the same for the same parts."""
    return int.from_bytes(hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()[:8], "big")


@dataclass(frozen=True)
class Gene:
    """A gene from `start` to `end` (base pairs) of a chromosome."""

    symbol: str
    chromosome: int
    start: int
    end: int


@dataclass(frozen=True)
class Peak:
    """An association around `position`: the lead's z, and the width over which it decays."""

    position: int
    z: float
    width: float


@dataclass(frozen=True)
class Stretch:
    """Base pairs `start` to `end` of a chromosome with the variants numbered `first` to `last` (exclusive).

    genes: what names them as nearest; shift: what takes a position to the older build.
    """

    chromosome: int
    start: int
    end: int
    first: int
    last: int
    genes: str
    shift: int


@lru_cache(maxsize=4)
def place_genes(known: tuple[tuple[str, int, int], ...], seed: int) -> list[Gene]:
    """All protein-coding genes, in order: the known ones around their position, the others at random ones.

    known: symbol, chromosome and position. A gene never reaches beyond the middle of the next one.
    """
    lengths = specification()["chromosomes"]
    table = aliases("genes")
    coding = {s for s, kind in zip(table["symbol"], table["locus_type"], strict=True) if kind == _CODING}
    draw = random.Random(number_of("genes", seed))  # noqa: S311 - made up, not secret
    middles: dict[int, list[tuple[int, str]]] = {chromosome: [] for chromosome in lengths}
    places = {symbol: (chromosome, position) for symbol, chromosome, position in known}
    for symbol in sorted(coding | places.keys()):
        chromosome, position = places.get(symbol) or _anywhere(draw)
        if chromosome in middles:
            middles[chromosome].append((position, symbol))
    sizes = specification()["gene_lengths"]
    genes = []
    for chromosome, placed in middles.items():
        placed.sort()
        positions = [0, *(position for position, _ in placed), lengths[chromosome][0]]
        for number, (position, symbol) in enumerate(placed, 1):
            half = draw.lognormvariate(math.log(sizes["median"]), sizes["spread"]) / 2
            start = max(position - half, (positions[number - 1] + position) / 2)
            end = min(position + half, (position + positions[number + 1]) / 2)
            genes.append(Gene(symbol, chromosome, round(start), max(round(end), round(start))))
    return genes


def _anywhere(draw: random.Random) -> tuple[int, int]:
    """A chromosome and a position on it, all positions of the genome being equally likely."""
    lengths, ends = _genome()
    position = draw.randrange(ends[-1])
    number = bisect_right(ends, position)
    before = ends[number - 1] if number else 0
    return lengths[number], position - before + 1


@cache
def _genome() -> tuple[list[int], list[int]]:
    """The chromosomes, and where each ends when they lie one behind the other."""
    lengths = specification()["chromosomes"]
    return list(lengths), list(accumulate(length for length, _ in lengths.values()))


def place_peaks(table: str, seed: int) -> dict[int, list[Peak]]:
    """The peaks of association of a table, by chromosome, in order of position."""
    draw = random.Random(number_of("peaks", table, seed))  # noqa: S311 - made up, not secret
    lengths = specification()["chromosomes"]
    peaks: dict[int, list[Peak]] = {chromosome: [] for chromosome in lengths}
    for kind in specification()["peaks"]:
        for _ in range(kind["loci"]):
            chromosome, position = _anywhere(draw)
            z = kind["least"] + draw.expovariate(1 / kind["mean"])
            peaks[chromosome].append(Peak(position, draw.choice((-1, 1)) * z, draw.uniform(*kind["widths"])))
    for placed in peaks.values():
        placed.sort(key=lambda peak: peak.position)
    return peaks


def stretches(genes: Sequence[Gene], variants: int, *, separator: str, none: str) -> Iterator[Stretch]:
    """The chromosomes cut at the ends of genes, with `variants` spread evenly over their whole length."""
    lengths = specification()["chromosomes"]
    genome = sum(length for length, _ in lengths.values())
    before = 0
    for chromosome, (length, older) in lengths.items():
        here = [gene for gene in genes if gene.chromosome == chromosome]
        named = [(gene.start, gene.end, gene.symbol) for gene in here]
        edges = [(0, 0, none), *named, (length, length, none)]
        for (start, end, symbol), (following, _, next_symbol) in pairwise(edges):
            for low, high, label in ((start, end, symbol), (end, following, f"{symbol}{separator}{next_symbol}")):
                first, last = ((before + each) * variants // genome for each in (low, high))
                if last > first:
                    shift = _shift(length, older, low)
                    yield Stretch(chromosome, low, high, first, last, label, shift)
        before += length


def _shift(length: int, older: int, position: int) -> int:
    """How far a position moves to the older build: the builds differ by more towards the chromosome's end."""
    return round((older - length) * position / length)


def felt_peak(peaks: Sequence[Peak], stretch: Stretch) -> Peak | None:
    """The strongest peak that reaches into a stretch."""
    reach = _REACH * max((peak.width for peak in peaks), default=0)
    first = bisect_left(peaks, stretch.start - reach, key=lambda peak: peak.position)
    strongest, most = None, 0.0
    for peak in peaks[first:]:
        if peak.position > stretch.end + reach:
            break
        distance = max(stretch.start - peak.position, peak.position - stretch.end, 0)
        felt = abs(peak.z) * math.exp(-distance / peak.width)
        if distance <= _REACH * peak.width and felt > most:
            strongest, most = peak, felt
    return strongest
