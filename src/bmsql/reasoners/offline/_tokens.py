"""Questions as words and numbers with their places in the text."""

from __future__ import annotations

import re
from typing import NamedTuple

_UNIFIED = str.maketrans(
    {**dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"), **dict.fromkeys("\u2019\u2018\u02bc", "'")}
)
_NUMBER = (
    r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
    r"(?:\s?[x*\u00d7\u00b7]\s?10\s?(?:\^|\*\*)?\s?\(?-?\s?\d+\)?|\s?[eE]-?\d+)?"
)
_POWER = r"10\s?(?:\^|\*\*)\s?\(?-\s?\d+\)?"
# A minus behind a space or a sign, as in `beta below -0.1`; elsewhere a hyphen joins words or ranges.
_NEGATIVE = r"(?<=[\s<>=(])-(?:\d+(?:\.\d+)?|\.\d+)(?![\w.^*\u00d7\u00b7-])"
_TOKEN = re.compile(
    rf"(?P<number>{_NEGATIVE}|(?<![A-Za-z0-9_.-])(?:{_POWER}|{_NUMBER}|\.\d+)(?:\s?%)?(?![A-Za-z0-9_]*[A-Za-z_]))"
    r"|(?P<word>[A-Za-z0-9_]+(?:'[A-Za-z]+)?)"
    r"|(?P<sign><=|>=|=<|=>|[<>=\u2264\u2265+@|]|/)"
    r"|(?P<stop>[.;:?!,()\"\u201c\u201d])"
)
_SPACES = re.compile(r"\s+")
_DIGIT = re.compile(r"\d")
_LATIN = re.compile(r"\b(?:i\.e\.|e\.g\.),?\s?")
# `Tell me about X. Is it ...?`: the second sentence is what is asked.
_INTRODUCED = re.compile(r"^Tell me (?:more )?about ([^.?!:]{2,60})[.!:]\s(?=\w)", re.IGNORECASE)
_PERCENT = re.compile(r"(?<=\d)\s(?:percent|per\scent|pct)\b(?!\sof\b)", re.IGNORECASE)
# `Isn't X significant?` asks whether it is; `Don't show ...` does not.
_ASKED_NEGATIVELY = re.compile(r"^(is|are|does|did|has|have|was|were|can|could)n't\b", re.IGNORECASE)
# The end of a transcript, whose number is no number of the question's.
_UNTRANSLATED = re.compile(r"\b[35]'?[\s-]?(?=UTRs?\b)")
_SMALL = {
    word: number
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
        " eighteen nineteen twenty".split(),
        start=1,
    )
}
_SCALES = {"thousand": 1_000, "million": 1_000_000}
_CHROMOSOME_WORD = re.compile(
    rf"\b(chromosome|chr)\s({'|'.join(sorted(_SMALL, key=len, reverse=True))})\b", re.IGNORECASE
)
_SCALED_WORD = re.compile(rf"\b({'|'.join(_SMALL)}|[\d.,]*\d)\s(thousand|million)\b", re.IGNORECASE)
# `in the 1990s`, `before the 1990s`; and `10-15 genes`, `of 10 to 15 genes`, but no region, phase or name.
_DECADE = re.compile(
    r"(?<!early\s)(?<!late\s)(?<!mid\s)(?<!mid-)\b(?:(before|since|after|until)\s)?(?:(?:in|during|of|from)\s)?(?:the\s)?((?:1[89]|20)\d)0'?s\b",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"(?<![\w.:,+/-])(?<!between\s)(?<!from\s)(?<!phase\s)(?<!phases\s)(?:of\s|with\s)?(\d{1,4}(?:\.\d+)?)(?:\s?%)?(?:-|\sto\s)(\d{1,4}(?:\.\d+)?)"
    r"(?=\s(?!mb|kb|bp|base|on\s)[a-z]|\s?%)",
    re.IGNORECASE,
)


class Token(NamedTuple):
    """A word, number or sign; `low` is what phrases are compared by."""

    kind: str
    text: str
    low: str
    start: int
    end: int


def clean(text: str) -> str:
    """The question with quotes and dashes unified and spaces folded; length may change."""
    if not text.isascii():
        text = text.translate(_UNIFIED)
    text = _SPACES.sub(" ", text).strip()
    if "UTR" in text:
        text = _UNTRANSLATED.sub("", text)
    if "." in text:
        text = _LATIN.sub("", text)
    if _DIGIT.search(text):
        text = _DECADE.sub(_decade, text)
        text = _RANGE.sub(r"between \1 and \2", text)
    low = text.lower()
    if "pe" in low or "pct" in low:
        text = _PERCENT.sub("%", text)
    if "chr" in low:
        text = _CHROMOSOME_WORD.sub(lambda match: f"{match.group(1)} {_SMALL[match.group(2).lower()]}", text)
    scaled = any(word in low for word in _SCALES) or not low.isascii()  # where letters fold otherwise
    return _SCALED_WORD.sub(_scaled, text) if scaled else text


def asked(text: str) -> str:
    """The question, put positively where it is a negative one: `Isn't X significant?`."""
    return _ASKED_NEGATIVELY.sub(lambda match: match.group(1), _INTRODUCED.sub(r"\1: ", text))


def _decade(match: re.Match[str]) -> str:
    side, decade = (match.group(1) or "").lower(), match.group(2)
    if side in ("before", "since"):
        return f"{side} {decade}0"
    return f"{side} {decade}9" if side else f"between {decade}0 and {decade}9"


def _scaled(match: re.Match[str]) -> str:
    amount = match.group(1).lower()
    value = float(_SMALL[amount]) if amount in _SMALL else float(amount.replace(",", ""))
    return f"{round(value * _SCALES[match.group(2).lower()])}"


def tokenise(text: str) -> list[Token]:
    """The tokens of a cleaned question. Hyphens part words: `genome-wide` is two tokens."""
    tokens = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "word"
        raw = match.group()
        low = raw.lower()
        if kind == "word":
            low = low.removesuffix("'s").removesuffix("'")
        tokens.append(Token(kind, raw, low, match.start(), match.end()))
    return tokens


def phrase(text: str) -> tuple[str, ...]:
    """A vocabulary phrase as it is compared with tokens."""
    if text.islower() and text.isascii() and text.replace(" ", "").isalpha():
        return tuple(text.split())  # what tokenising would give, for most of some thousand phrases
    return tuple(token.low for token in tokenise(clean(text)) if token.kind != "stop")


def number(text: str) -> float:
    """The value of a number token: `5 x 10^-8`, `1e-9`, `90,700,000`, `5%`."""
    text = text.replace(",", "").replace(" ", "").replace("(", "").replace(")", "").lower()
    percent = text.endswith("%")
    text = text.removesuffix("%").replace("\u00d7", "x").replace("\u00b7", "x").replace("**", "^")
    power = re.fullmatch(r"10\^(-?\d+)", text)
    scientific = re.fullmatch(r"([\d.]+)[x*]10\^?(-?\d+)", text)
    if power:
        value = float(f"1e{power.group(1)}")
    elif scientific:
        value = float(f"{scientific.group(1)}e{scientific.group(2)}")
    else:
        value = float(text)
    return value / 100 if percent else value
