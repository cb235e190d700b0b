"""Figures in running text: numbers in every notation, with how exactly they were written."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal

_DIGIT = re.compile(r"\d")
_MINUS = "-−–‒﹣－"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_EXPONENT = rf"""
    (?: [eE]\s?(?P<e>[{_MINUS}+]?\d{{1,3}}) (?![\w.]*[A-Za-z])
      | \s?(?:[x×·∙⋅*✕✖]|\\times|\\cdot)\s?10\s?
        (?: (?:\^|\*\*|<sup>)\s?[{{(]?(?P<caret>\s?[{_MINUS}+]?\s?\d{{1,3}})[)}}]?(?:</sup>)?
          | (?P<raised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
          | (?P<flat>[{_MINUS}]\d{{1,3}})(?!\d) ) )
"""
_NUMBER = re.compile(
    rf"""
    (?P<chromosome>\b[Cc]hr(?:omosome)?s?[ _]?)?
    (?P<sign>(?<![\w)\]%.])[{_MINUS}+])?\s?
    (?(chromosome)|(?<![A-Za-z_\d])(?<!\d[.,]))
    (?: (?P<power>10)
        (?: (?:\^|\*\*|<sup>)\s?[{{(]?(?P<pcaret>[{_MINUS}+]?\d{{1,3}})[)}}]?(?:</sup>)?
          | (?P<praised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+) )
      | (?P<digits> \d{{1,3}}(?:[,\u00a0\u2009\u202f’']\d{{3}})+(?![\d])(?:\.\d+)? | \d+(?:\.\d+)? | \.\d+ )
        (?:{_EXPONENT})? )
    (?P<after> \s?(?:%|％|per\s?cent\b|percent\b)
             | \s?(?:Mbp?|kbp?|KB|kB|million|thousand|billion|megabases?|kilobases?)\b
             | (?:st|nd|rd|th)\b )?
    """,
    re.VERBOSE,
)
_ONES = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
         "seventeen eighteen nineteen").split()  # fmt: skip
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
# "one" and "zero" are pronouns and negations as often as figures.
_SAID_WORDS = "|".join(sorted((word for word in _WORDS if word not in ("zero", "one")), key=len, reverse=True))
_WORD = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})-(?P<ones>{'|'.join(_ONES[1:10])})|(?P<word>{_SAID_WORDS})"
    r"|(?P<dozen>(?:a|half a|one|two|three)\s+dozen)|(?P<hundred>(?:a|one|two|three|four|five)\s+hundred))\b"
    r"(?!-(?:sided|tailed|sample|thirds?|letter|fold|pore|step|way|stage))(?!\s+(?:thirds?|quarters?|fifths?)\b)",
    re.IGNORECASE,
)
_DOZENS = {"a dozen": 12, "one dozen": 12, "half a dozen": 6, "two dozen": 24, "three dozen": 36}
_SCALE = {"m": 1e6, "k": 1e3, "b": 1e9, "t": 1e3}
_ROUGH = re.compile(
    r"(?:about|around|roughly|approximately|nearly|almost|over|more than|some|close to|just under|just over|"
    r"at least|circa|ca\.?|approx\.?|[~≈≃≅])\s*$",
    re.IGNORECASE,
)
_ENUMERATION = re.compile(r"^[ \t]*(?:[-*•>#]+[ \t]*)?\(?(\d{1,3})[.):](?=\s)", re.MULTILINE)


@dataclass(frozen=True)
class Figure:
    """A number as it was written.

    value: what it says (a percentage as written: 12 for 12 %); step: the worth of its last digit;
    kind: `number`, `percent`, `ordinal`, `word` or `chromosome`; signed: whether a minus stands before it;
    rough: whether a word such as "about" does; digits: significant digits written; scale: 1e6 for 42.4 Mb.
    """

    text: str
    start: int
    end: int
    value: float
    step: float
    kind: str = "number"
    signed: bool = False
    rough: bool = False
    digits: int = 1
    scale: float = 1.0

    @property
    def whole(self) -> bool:
        """Whether it was written as a whole number, in digits or in words."""
        return self.step >= 1 and self.value == int(self.value) and self.scale == 1

    def says(self, known: float) -> bool:
        """Whether this is `known`, rounded or cut to the digits written."""
        if not math.isfinite(known):
            return False
        apart = abs(self.value - known)
        if apart <= 1e-9 * abs(known):
            return True
        step = self.step
        if self.whole:
            if not (self.rough or self.kind == "percent"):
                # A count is exact; only what was no whole number is rounded to one.
                return known != int(known) and abs(known) >= 10 and apart <= 0.5 + 1e-9
            step = max(step, _trailing(self.value)) if self.rough else step
            return apart <= (step if self.rough else step / 2) * (1 + 1e-9)
        if apart <= step / 2 * (1 + 1e-6):
            return True
        cut = self.digits > 1 and abs(known) > abs(self.value) and known * self.value > 0
        return apart < (step if cut or self.rough else 0)


def figures(text: str) -> list[Figure]:
    """The numbers of `text`, in order; list numbering is none, nor are digits inside names such as rs7412."""
    found: list[Figure] = []
    if _DIGIT.search(text):
        listed = {match.start(1) for match in _ENUMERATION.finditer(text)}
        found += [_figure(match, text) for match in _NUMBER.finditer(text) if _first_digit(match) not in listed]
    found += [_worded(match, text) for match in _WORD.finditer(text)]
    return sorted(found, key=lambda figure: figure.start)


def _first_digit(match: re.Match[str]) -> int:
    return match.start("digits") if match["digits"] else match.start("power")


def _figure(match: re.Match[str], text: str) -> Figure:
    exponent = next((match[name] for name in ("e", "caret", "raised", "flat", "pcaret", "praised") if match[name]), "0")
    exponent = exponent.translate(_SUPERSCRIPTS).replace(" ", "")
    for minus in _MINUS:
        exponent = exponent.replace(minus, "-")
    digits = re.sub(r"[,\u00a0\u2009\u202f’']", "", match["digits"] or "1")
    mantissa = Decimal(digits)
    power = int(exponent)
    places = -int(mantissa.as_tuple().exponent)
    negative = bool(match["sign"]) and match["sign"] != "+"
    value = float(f"{'-' if negative else ''}{digits}e{power}")
    # A power of ten is a bound or exact; its own digit is the one that counts.
    step = float(f"1e{power - places}")
    after = (match["after"] or "").strip().lower()
    kind, scale = "number", 1.0
    if match["chromosome"]:
        kind = "chromosome"
    elif after.startswith(("%", "％", "per")):
        kind = "percent"
    elif after in ("st", "nd", "rd", "th"):
        kind = "ordinal"
    elif after:
        scale = _SCALE[after[0]]
    start = match.start() + len(match.group()) - len(match.group().lstrip())
    return Figure(
        text=match.group().strip(),
        start=start,
        end=match.end(),
        value=value * scale,
        step=step * scale,
        kind=kind,
        signed=negative,
        rough=bool(_ROUGH.search(text[:start])),
        digits=len(digits.replace(".", "").lstrip("0")) or 1,
        scale=scale,
    )


def _worded(match: re.Match[str], text: str) -> Figure:
    said = " ".join(match.group().lower().split())
    if match["tens"]:
        value = _WORDS[match["tens"].lower()] + _WORDS[match["ones"].lower()]
    elif match["dozen"]:
        value = _DOZENS.get(said, 12)
    elif match["hundred"]:
        value = 100 * (_WORDS.get(said.split()[0], 1))
    else:
        value = _WORDS[said]
    rough = bool(match["dozen"] or match["hundred"] or _ROUGH.search(text[: match.start()]))
    return Figure(match.group(), match.start(), match.end(), float(value), 1.0, "word", rough=rough)


def _trailing(value: float) -> float:
    """The worth of the last digit that is not 0: 100 for 300."""
    whole, step = int(abs(value)), 1
    while whole and whole % 10 == 0:
        whole //= 10
        step *= 10
    return float(step)
