"""Each number of an answer, looked for among what the evidence holds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bmsql.reasoners.chat._figures import Figure, figures
from bmsql.reasoners.chat._finding import Finding
from bmsql.reasoners.chat._known import Known, Quantity, words_of
from bmsql.reasoners.chat._sentences import Sentence, sentence_at
from bmsql.reasoners.chat._units import EXP, LOG10, PERCENT, PROBABILITY, RULE, UNKNOWN

_LOWERS = re.compile(
    r"\b(?:lower|reduc|decreas|protect|less|smaller|drop|declin|negativ|minus|fall|fewer|absolute|magnitude|size of)"
    r"\w*|\|",
    re.IGNORECASE,
)
_SIGNS = re.compile(
    r"\b(?:rais|lower|increas|decreas|risk|protect|positiv|negativ|approved|withdrawn|boxed|black|yes|no\b|not\b)\w*",
    re.IGNORECASE,
)
_ODDS = re.compile(r"odds|\bOR\b|\b-?fold\b|\btimes\b|\bexp\b")
_LOG = re.compile(r"log", re.IGNORECASE)
_BELOW = re.compile(
    r"(?:<|≤|below|under|less than|smaller than|at most|beyond|underflow\w*)\s*(?:a\s+|the\s+)?$", re.IGNORECASE
)
_REST = re.compile(r"\s*(?:\w+\s+)?(?:other|others|more|further|additional|remaining|rest)\b", re.IGNORECASE)
_APART = re.compile(
    r"\b(?:more|fewer|fail|drop|remov|exclud|filter|miss|lost|los[et]|less|remain|leav|left|other|rest|besides|further|only)\w*",
    re.IGNORECASE,
)
_BEFORE_REST = re.compile(r"\b(?:other|another|further|additional|remaining|plus)\s*$", re.IGNORECASE)
# What a number counts stands before the next number and the verb.
_CLAUSE = re.compile(
    r"[,;:.()\n\d]|\b(?:is|are|was|were|has|have|had|leads?|holds?|carr(?:y|ies)|with|at|on|in|for|near|than|and|or)\b"
)
_ADJECTIVES = 5
_TIMES = re.compile(r"[\s-]*(?:times|fold)\b", re.IGNORECASE)
_PHASE = re.compile(r"\bphases?\s*$", re.IGNORECASE)
# The smallest number that a FLOAT64 holds in full; what is below it is 0.
_UNDERFLOW = 1e-300


def number_findings(text: str, parts: list[Sentence], known: Known) -> Iterator[Finding]:
    """The numbers that neither occur in the evidence nor follow from it."""
    said = figures(text)
    sound: list[Figure] = []
    doubtful: list[Figure] = []
    for figure in said:
        (sound if _is_sound(figure, text, parts, known) else doubtful).append(figure)
    for figure in doubtful:
        if not (_is_ratio(figure, sound) or _is_multiple(figure, text, sound)):
            yield Finding(figure.text, "number", _why(figure, known), figure.start)


def _is_sound(figure: Figure, text: str, parts: list[Sentence], known: Known) -> bool:
    sentence = sentence_at(parts, figure.start)
    if _verbatim(figure, text, known):
        return True
    if figure.kind in ("number", "word", "ordinal") and figure.whole and _is_count(figure, text, sentence, known):
        return True
    around = _Around.of(figure, text, sentence)
    return any(_fits(figure, one, around) for one in _candidates(figure, text, known))


def _verbatim(figure: Figure, text: str, known: Known) -> bool:
    """Whether the word around it, such as `5-HT2A` or `351(k)`, is in the evidence as it stands."""
    start = max(text.rfind(mark, 0, figure.start) for mark in " \n\t([") + 1
    end = min((place for mark in " \n\t" if (place := text.find(mark, figure.end)) >= 0), default=len(text))
    word = text[start:end].strip(".,;:!?*'\"`")
    return any(char.isalpha() for char in word) and len(word) < 40 and known.holds(word)


def _candidates(figure: Figure, text: str, known: Known) -> Iterable[Quantity]:
    """The numbers that it may be: of the same kind, where the sentence tells the kind."""
    if figure.kind == "percent":
        return [one for one in known.quantities if one.unit in (PERCENT, RULE, "")]
    wanted = ""
    if figure.kind == "chromosome":
        wanted = "chromosome"
    elif _PHASE.search(text[: figure.start]):
        wanted = "phase"
    if wanted and any(one.unit.startswith(wanted) for one in known.quantities):
        besides = ("", RULE) if wanted == "phase" else ("",)
        return [one for one in known.quantities if one.unit.startswith(wanted) or one.unit in besides]
    if figure.whole and (entity := _counted(figure, text, known)):
        return [one for one in known.quantities if one.unit in ("", UNKNOWN) or one.unit.lower() in known.nouns[entity]]
    return known.quantities


def _counted(figure: Figure, text: str, known: Known) -> str:
    """The entity whose noun follows a number, as in `4 significant SNPs`; empty where none does."""
    after = _CLAUSE.split(text[figure.end : figure.end + 80])[0]
    words = words_of(after).split()[:_ADJECTIVES]
    found = [(words.index(noun), entity) for entity, nouns in known.nouns.items() for noun in nouns if noun in words]
    return min(found, default=(0, ""))[1]


@dataclass(frozen=True)
class _Around:
    """What the words around a number allow: an odds ratio, a logarithm, a bound, a number without its sign."""

    odds: bool
    log: bool
    below: bool
    lowers: bool

    @classmethod
    def of(cls, figure: Figure, text: str, sentence: Sentence) -> _Around:
        """The words of the sentence; an odds ratio may be named anywhere in the text."""
        return cls(
            odds=_ODDS.search(text) is not None,
            log=_LOG.search(sentence.text) is not None,
            below=_BELOW.search(text[: figure.start]) is not None,
            lowers=not figure.signed and _LOWERS.search(sentence.text) is not None,
        )


def _fits(figure: Figure, one: Quantity, around: _Around) -> bool:
    if one.unit == PERCENT and figure.kind != "percent":
        return False
    if (one.unit == EXP and not around.odds) or (one.unit == LOG10 and not around.log):
        return False
    if one.unit == PROBABILITY and one.value == 0:
        return figure.value == 0 or (around.below and 0 < figure.value <= _UNDERFLOW)
    return figure.says(one.value) or (one.value < 0 and around.lowers and figure.says(-one.value))


def _is_count(figure: Figure, text: str, sentence: Sentence, known: Known) -> bool:
    value = int(figure.value)
    counts = known.counts | known.sums | known.counts_of(_counted(figure, text, known))
    if value in counts or (figure.kind == "ordinal" and value <= max(counts, default=0)):
        return True
    if figure.rough and any(figure.says(count) for count in counts):
        return True
    if value in known.differences and _APART.search(sentence.text):
        return True
    if _REST.match(text[figure.end :]) or _BEFORE_REST.search(text[: figure.start]):
        stretches = (sentence.text, text[: figure.start], text)
        return any(value in known.left_after(words_of(stretch)) for stretch in stretches)
    if value in known.signs and _SIGNS.search(sentence.text):
        return True
    here = words_of(sentence.text)
    return any(value in numbers and f" {group} " in here for group, numbers in known.groups.items() if group)


def _is_ratio(figure: Figure, others: list[Figure]) -> bool:
    """Whether a percentage is that of two counts of the text."""
    if figure.kind != "percent":
        return False
    counts = {one.value for one in others if one.whole and one.kind in ("number", "word") and one.value > 0}
    return any(figure.says(100 * part / whole) for part in counts for whole in counts if part <= whole)


def _is_multiple(figure: Figure, text: str, others: list[Figure]) -> bool:
    """Whether a number of times is that of one number of the text over another."""
    if not _TIMES.match(text[figure.end :]):
        return False
    values = {abs(one.value) for one in others if one.value and one.kind in ("number", "word", "percent")}
    slack = 0.5 * figure.step if figure.step < 1 or not figure.rough else 1.0
    return any(abs(more / less - figure.value) <= slack for more in values for less in values if more > less)


def _why(figure: Figure, known: Known) -> str:
    text = f"the number {figure.text} is in neither the question, the rows, the counts nor the applied rules"
    near = [
        one.value
        for one in known.quantities
        if one.value and figure.value and one.value * figure.value > 0 and one.unit != PERCENT
        and abs(math.log10(abs(one.value / figure.value))) < 0.1
    ]  # fmt: skip
    if not near:
        return text
    best = min(near, key=lambda value: abs(value - figure.value))
    return f"{text}; the nearest there is {best:.6g}"
