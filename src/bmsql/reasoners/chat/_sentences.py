"""Sentences of a text with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass

_END = re.compile(r"(?<=[.!?;])[)\"'*_]*\s+(?=[\"'(*_A-Z0-9])|\n+")
_ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|vs|cf|approx|ca|et al|no|fig)\.|^\s*\d+\.)$", re.IGNORECASE)
NEGATION = re.compile(
    r"\b(?:no|not|none|nothing|neither|nor|never|cannot|without|zero|lacks?|lacking|absent|absence|unable|fails?|failed|"
    r"missing|nobody)\b|n['’]t\b|(?<![\d.,])0(?![\d.,]*\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Sentence:
    """A stretch of text from `start` to `end`."""

    text: str
    start: int
    end: int

    @property
    def negated(self) -> bool:
        """Whether a word in it denies something."""
        return NEGATION.search(self.text) is not None


def sentences(text: str) -> list[Sentence]:
    """The sentences and lines of `text`, in order."""
    found: list[Sentence] = []
    start = 0
    for match in _END.finditer(text):
        if "\n" not in match.group() and _ABBREVIATED.search(text[start : match.start()]):
            continue
        found.append(Sentence(text[start : match.start()], start, match.end()))
        start = match.end()
    found.append(Sentence(text[start:], start, len(text)))
    return [one for one in found if one.text.strip()]


def sentence_at(found: list[Sentence], place: int) -> Sentence:
    """The sentence that a place of the text is in."""
    return next((one for one in found if one.start <= place < one.end), found[-1])
