"""Chromosomes and regions in a question, and which genome build they are in."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CHROMOSOME = r"(?:chromosomes?|chrom|chr)\.?\s?"
_NAME = r"(\d{1,2}|[XxYy]|MT)\b"
_SCALED = r"([\d,]+(?:\.\d+)?)\s?(bp|kb|kbp|mb|mbp)?"
_RANGE = re.compile(rf"{_CHROMOSOME}{_NAME}\s?:\s?{_SCALED}\s?(?:-|to|\.\.)\s?{_SCALED}", re.IGNORECASE)
_POINT = re.compile(rf"{_CHROMOSOME}{_NAME}\s?:\s?{_SCALED}", re.IGNORECASE)
_WORDS = re.compile(
    rf"{_CHROMOSOME}{_NAME},?\s"
    rf"(?:at\s|between\s|from\s|positions?\s|in\s|within\s|bp\s|base\spairs?\s|the\s|region\s)+{_SCALED}"
    rf"\s?(?:-|to|and|\.\.)\s?{_SCALED}",
    re.IGNORECASE,
)
_REVERSED = re.compile(
    rf"(?:between|from)\s(?:the\s)?(?:positions?\s|base\spairs?\s|bp\s)?{_SCALED}\s?(?:-|to|and)\s?{_SCALED}"
    rf"\s?(?:of|on|in)\s(?:the\s)?{_CHROMOSOME}{_NAME}",
    re.IGNORECASE,
)
# `position 133,800,000 on chromosome 11`, and `19:44,800,000-45,000,000` without the word.
_ON = re.compile(rf"positions?\s{_SCALED}\s(?:of|on|in)\s(?:the\s)?{_CHROMOSOME}{_NAME}", re.IGNORECASE)
_BARE = re.compile(r"(?<![\w:.])(\d{1,2}|[XxYy])\s?:\s?(\d[\d,]{4,})(?:\s?(?:-|to|\.\.)\s?(\d[\d,]{4,}))?")
_WINDOW = re.compile(
    r"(?:within|in|inside|closer than|no (?:further|farther|more) than|at most|less than|under|\+/-|\u00b1)?"
    r"\s?(?:a\s)?([\d,.]+)\s?(bp|kb|kbp|mb|mbp|kilobases?|megabases?)\b",
    re.IGNORECASE,
)
_SINGLE = re.compile(
    rf"\b{_CHROMOSOME}{_NAME}((?:\s?(?:,|and|or|&|/)\s?(?:and\s|or\s)?(?:chr\.?\s?)?(?:\d{{1,2}}|[XxYy])\b)*)",
    re.IGNORECASE,
)
_BAND = re.compile(r"\b(?:[1-9]|1\d|2[0-2]|[XY])[pq]\d{1,2}(?:\.\d+)?\b")
_SCALE = {"": 1, "bp": 1, "kb": 1_000, "kbp": 1_000, "mb": 1_000_000, "mbp": 1_000_000}
_UNITS = ("bp", "kb", "mb", "base")
"""One of these is in every unit of a distance."""
_SEX = {"X": 23, "Y": 24, "MT": 25}


@dataclass(frozen=True)
class Region:
    """A chromosome (first and last None), or base pairs of it; `text` is as written."""

    chromosomes: tuple[int, ...]
    first: int | None
    last: int | None
    start: int
    end: int
    text: str


def regions(text: str) -> list[Region]:
    """Chromosomes and regions named in the text, without overlaps."""
    found: list[Region] = []
    if ":" not in text and "chr" not in text.lower():
        return found  # of all patterns, only one does without the word, and it has a colon
    for pattern in (_RANGE, _WORDS):
        for match in pattern.finditer(text):
            chromosome, low, low_unit, high, high_unit = match.groups()
            first, last = _base_pairs(low, low_unit or high_unit), _base_pairs(high, high_unit or low_unit)
            _add(found, match, (_number(chromosome),), min(first, last), max(first, last))
    for match in _REVERSED.finditer(text):
        low, low_unit, high, high_unit, chromosome = match.groups()
        first, last = _base_pairs(low, low_unit or high_unit), _base_pairs(high, high_unit or low_unit)
        _add(found, match, (_number(chromosome),), min(first, last), max(first, last))
    points: list[tuple[re.Match[str], str, str, str]] = [
        (match, match.group(1), match.group(2), match.group(3) or "") for match in _POINT.finditer(text)
    ]
    points += [(match, match.group(3), match.group(1), match.group(2) or "") for match in _ON.finditer(text)]
    for bare in _BARE.finditer(text):
        chromosome, low, high = bare.groups()
        if high:
            first, last = _base_pairs(low, ""), _base_pairs(high, "")
            _add(found, bare, (_number(chromosome),), min(first, last), max(first, last))
        else:
            points.append((bare, chromosome, low, ""))
    for point, name, position, unit in points:
        centre = _base_pairs(position, unit)
        width = _window(text, point)
        _add(found, point, (_number(name),), max(1, centre - width), centre + width)
    for match in _SINGLE.finditer(text):
        more = re.findall(r"\d{1,2}|[XxYy]", match.group(2))
        _add(found, match, (_number(match.group(1)), *map(_number, more)), None, None)
    return sorted(found, key=lambda region: region.start)


def band(text: str) -> str:
    """A cytogenetic band such as 17q21 in the text, or an empty string."""
    match = _BAND.search(text)
    return match.group() if match else ""


def window(text: str) -> tuple[int, int, int] | None:
    """A distance such as `within 500 kb`: base pairs, and its place in the text."""
    low = text.lower()
    match = _WINDOW.search(text) if any(unit in low for unit in _UNITS) else None
    return None if match is None else (_base_pairs(match.group(1), match.group(2)), match.start(), match.end())


def _add(
    found: list[Region], match: re.Match[str], chromosomes: tuple[int, ...], first: int | None, last: int | None
) -> None:
    if not any(region.start < match.end() and match.start() < region.end for region in found):
        found.append(Region(chromosomes, first, last, match.start(), match.end(), match.group()))


def _window(text: str, match: re.Match[str]) -> int:
    for other in _WINDOW.finditer(text):
        if other.end() <= match.start() or other.start() >= match.end():
            return _base_pairs(other.group(1), other.group(2))
    return 0


def _base_pairs(number: str, unit: str | None) -> int:
    scale = (unit or "").lower()
    scale = "kb" if scale.startswith("kilo") else "mb" if scale.startswith("mega") else scale
    return round(float(number.replace(",", "").rstrip(".") or 0) * _SCALE[scale])


def _number(name: str) -> int:
    return _SEX.get(name.upper()) or int(name)
