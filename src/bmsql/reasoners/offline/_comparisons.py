"""Numbers in a question: cut-offs, ranges, phases, years, and how many rows are wanted."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bmsql.reasoners.offline._chunks import Chunk, Chunked
from bmsql.reasoners.offline._comparators import AFTER, BEFORE
from bmsql.reasoners.offline._tokens import Token, number
from bmsql.reasoners.offline._vocabulary import Vocabulary

_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4}
_FIRST_YEAR, _LAST_YEAR = 1850, 2100
# How far behind a number the noun may stand: `five significant PD variants`.
_NOUN_REACH = 4
_A_CUT_OFF = 1e-3
_PASSING = frozenset(
    "pass passes passed passing past reach reaches reached reaching meet meets survive survives surviving"
    " clear clears cleared clearing beat beats".split()
)
_FAILING = frozenset({"fail", "fails", "failed", "failing"})
_CUT_OFFS = {"threshold", "thresholds", "cutoff", "off", "level"}
_BESIDE_A_CUT_OFF = {"of", "=", "is", "at", "p", "value", "to", "set", "that", "which", ":"}
_CUT_OFF_REACH = 5
_EQUAL = {"of", "=", "is", "equal"}
_GLOSS = 6
_WEAK = {"is", "of", "in", "by", "during", "from", "on"}


@dataclass(frozen=True)
class Comparison:
    """A number that restricts: `kind` is `phase`, `year`, `count` or `value`.

    attribute: the chunk of the attribute that it is compared with, if one stands near.
    first, last: the tokens it takes up. percent: written in percent, which `values` no longer are.
    """

    kind: str
    op: str
    values: tuple[float, ...]
    first: int
    last: int
    attribute: Chunk | None = None
    noun: Chunk | None = None
    negated: bool = False
    words: str = ""
    percent: bool = False


@dataclass(frozen=True)
class Numbers:
    """The numbers of a question, as restrictions and as a wish for so many rows."""

    comparisons: tuple[Comparison, ...]
    limit: int | None
    limit_at: int | None

    def gloss(self, index: int) -> bool:
        """Whether a number close by makes the word at a token exact: `rare variants (MAF below 1 %)`."""
        return any(-_GLOSS <= one.first - index <= _GLOSS for one in self.comparisons)


def read_numbers(chunked: Chunked, vocabulary: Vocabulary, taken: set[int]) -> Numbers:
    """Read all numbers but those whose token index is in `taken` (regions, mentions)."""
    tokens = chunked.tokens
    lows = [token.low for token in tokens]
    found: list[Comparison] = []
    limit: int | None = None
    limit_at: int | None = None
    used: set[int] = set()
    for index, token in enumerate(tokens):
        if index in taken or index in used:
            continue
        value = _value(token, vocabulary, tokens, index)
        if value is None:
            continue
        phase = _phase(chunked, lows, index, vocabulary)
        if phase is not None:
            found.append(phase)
            used.update(range(phase.first, phase.last))
            continue
        if _is_limit(chunked, lows, index, value, vocabulary):
            limit, limit_at = int(value), index
            used.add(index)
            continue
        comparison = _against(chunked, lows, index, value, vocabulary)
        comparison = comparison or _compare(chunked, lows, index, value, vocabulary)
        if comparison is not None:
            found.append(comparison)
            used.update(range(comparison.first, comparison.last))
    found += _signs(chunked)
    return Numbers(tuple(found), limit, limit_at)


def _signs(chunked: Chunked) -> list[Comparison]:
    """`a negative beta`: an attribute whose sign is named; both signs restrict nothing."""
    found: list[Comparison] = []
    if chunked.english("negative") and chunked.english("positive"):
        return found
    for chunk in chunked.english("negative", "positive"):
        near = [
            other
            for other in chunked.chunks
            if other.names("attribute") and (0 <= other.first - chunk.last <= 1 or 0 <= chunk.first - other.last <= 2)
        ]
        if near:
            op = "<" if chunk.is_english("negative") else ">"
            found.append(Comparison("value", op, (0.0,), chunk.first, chunk.last, near[0], words=chunk.text))
    return found


def _value(token: Token, vocabulary: Vocabulary, tokens: list[Token], index: int) -> float | None:
    if token.kind == "number":
        follower = tokens[index + 1].low if index + 1 < len(tokens) else ""
        percent = follower in ("percent", "pct") or (
            follower == "per" and index + 2 < len(tokens) and tokens[index + 2].low == "cent"
        )
        value = number(token.text)
        if not math.isfinite(value) or (value == 0 and "-" in token.text):
            return None  # beyond what a double holds
        return value / 100 if percent else value
    if token.kind == "word" and token.low in _ROMAN and index and tokens[index - 1].low in ("phase", "phases"):
        return float(_ROMAN[token.low])
    if token.kind == "word" and token.low in vocabulary.number_words:
        return float(vocabulary.number_words[token.low])
    return None


def _before(lows: list[str], index: int) -> tuple[str, int] | None:
    """The comparator that ends just before `index`: operator and its first token."""
    for words, op in BEFORE:
        first = index - len(words)
        if first >= 0 and tuple(lows[first:index]) == words:
            return op, first
    return None


def _passed(lows: list[str], index: int, value: float) -> tuple[str, int] | None:
    """`that pass 5e-8`: only a p-value is so small, and what lies below it passes."""
    passed = bool(index) and 0 < value < _A_CUT_OFF and lows[index - 1] in _PASSING
    return ("<", index - 1) if passed else None


def _after(lows: list[str], index: int) -> tuple[str, int] | None:
    """The comparator that begins just after `index`: operator and the token behind it."""
    for words, op in AFTER:
        last = index + 1 + len(words)
        if tuple(lows[index + 1 : last]) == words:
            return op, last
    return None


def _behind_noun(lows: list[str], noun: Chunk | None, op: str, last: int) -> tuple[str, int, bool]:
    """`three tissues or more`: the comparator behind what is counted; "on" alone would be no comparator."""
    found = _after(lows, noun.last - 1) if noun is not None and noun.first >= last and op == "=" else None
    if noun is None or found is None or found[1] - noun.last < 2:
        return op, last, False
    return (*found, True)


def _negated(lows: list[str], first: int) -> bool:
    return bool({"not", "isn't", "aren't", "never"} & set(lows[max(0, first - 2) : first]))


def _phase(chunked: Chunked, lows: list[str], index: int, vocabulary: Vocabulary) -> Comparison | None:
    place = index - 1
    while place >= 0 and lows[place] in ("trial", "trials", "clinical", "of", "is", "="):
        place -= 1
    if place < 0 or lows[place] not in ("phase", "phases", "stage"):
        return None
    values = [_value(chunked.tokens[index], vocabulary, chunked.tokens, index) or 0.0]
    last = index + 1
    while last + 1 < len(lows) and lows[last] in ("or", "and", "/", ",", "to", "&"):
        word = lows[last + 1]
        skip = 2 if word in ("phase", "phases") and last + 2 < len(lows) else 1
        follower = lows[last + skip] if last + skip < len(lows) else ""
        more = float(follower) if follower.isdigit() else float(_ROMAN[follower]) if follower in _ROMAN else None
        if more is None or more > 4:
            break
        values.append(more)
        last += skip + 1
    first, op = place, "="
    before = _before(lows, place)
    after = _after(lows, last - 1)
    if after and len(values) == 1:
        op, last = after
    elif before and before[0] != "=" and lows[before[1]] not in ("from", "by"):
        op, first = before
    elif "only" in lows[max(0, place - 4) : place] or "just" in lows[max(0, place - 4) : place]:
        op = "="
    elif {"reached", "reach"} & set(lows[max(0, place - 3) : place]):
        op = ">="
    if len(values) > 1 and op != "=":
        values = values[:1]
    words = chunked.text[chunked.tokens[first].start : chunked.tokens[last - 1].end]
    negated = _negated(lows, first) or bool(_FAILING & set(lows[max(0, place - 4) : place]))
    return Comparison("phase", op, tuple(values), first, last, negated=negated, words=words)


def _is_limit(chunked: Chunked, lows: list[str], index: int, value: float, vocabulary: Vocabulary) -> bool:
    if value != int(value) or not 1 <= value <= 100_000:
        return False
    if chunked.tokens[index].kind == "number" and "." in chunked.tokens[index].text:
        return False
    previous = lows[index - 1] if index else ""
    if previous in ("top", "best", "first", "strongest", "limit", "only", "leading", "last"):
        return previous != "only" or index + 1 < len(lows)
    following = next((chunk for chunk in chunked.chunks if chunk.first in (index + 1, index + 2)), None)
    if following is not None and following.mention is not None:
        behind = (chunk for chunk in chunked.chunks if following.last <= chunk.first <= index + _NOUN_REACH)
        following = next((chunk for chunk in behind if chunk.names("noun")), following)
    if following and following.is_english("best", "smallest", "largest", "most", "fewest"):
        return True
    superlative = [
        chunk
        for chunk in chunked.chunks
        if chunk.is_english("best", "smallest", "largest", "most", "fewest")
        or (chunk.names("attribute") and chunk.text.lower().startswith(("most ", "fewest ")))
    ]
    noun = following is not None and bool(following.names("noun") or following.names("attribute"))
    return (
        bool(superlative)
        and noun
        and _before(lows, index) is None
        and previous in ("which", "what", "the", "name", "show", "list", "give")
    )


def _compare(chunked: Chunked, lows: list[str], index: int, value: float, vocabulary: Vocabulary) -> Comparison | None:
    before, after = _passed(lows, index, value) or _before(lows, index), _after(lows, index)
    first, last, op = index, index + 1, "="
    values: tuple[float, ...] = (value,)
    opens = lows[max(0, index - 1) : index] in (["between"], ["from"])
    if opens or lows[index + 1 : index + 2] == ["to"]:
        upper = _upper(chunked, lows, index, vocabulary)
        if upper is not None:
            first, last, op = index - 1 if opens else index, upper[1], "between"
            values = tuple(sorted(_in_one_unit(chunked, index, value, upper)))
            before = after = None
    if op != "between":
        if before and lows[before[1]] not in _WEAK:
            op, first = before
        elif after:
            op, last = after
            first = before[1] if before else first
        elif before:
            op, first = before
            op = ">=" if lows[first] == "from" else "<=" if lows[first] == "by" else op
        elif chunked.tokens[index].kind != "number":
            return None
    percent = chunked.tokens[last - 1].text.endswith("%")
    if chunked.tokens[last - 1].kind == "number":
        for words_ in (["percent"], ["pct"], ["per", "cent"]):
            if lows[last : last + len(words_)] == words_:
                last, percent = last + len(words_), True
    is_year = value == int(value) and _FIRST_YEAR <= value <= _LAST_YEAR and "," not in chunked.tokens[index].text
    attribute = _attribute(chunked, first, last, vocabulary)
    noun = _noun(chunked, last)
    if (
        attribute is not None
        and noun is not None
        and any(sense.mode in ("groups", "year") for sense in attribute.senses)
    ):
        attribute = None
    op, last, compared = _behind_noun(lows, noun or attribute, op, last)
    words = chunked.text[chunked.tokens[first].start : chunked.tokens[last - 1].end]
    negated = _negated(lows, first)
    if is_year:
        return Comparison("year", op, values, first, last, attribute, words=words, negated=negated)
    if noun is not None and (attribute is None or attribute.first > noun.first) and (before or after or compared):
        return Comparison("count", op, values, first, last, None, noun, words=words)
    if attribute is None and not before and not after and op != "between":
        return None
    return Comparison("value", op, values, first, last, attribute, words=words, negated=negated, percent=percent)


def _cut_off(lows: list[str], index: int) -> int:
    """Where `a threshold of`, `cut-off p =` begins right before a number; -1 where there is none."""
    place = index - 1
    while place >= 0 and index - place <= _CUT_OFF_REACH and lows[place] in _BESIDE_A_CUT_OFF:
        place -= 1
    if place < 0 or lows[place] not in _CUT_OFFS:
        return -1
    return place - 1 if lows[place] in ("off", "level") and place else place


def _against(chunked: Chunked, lows: list[str], index: int, value: float, vocabulary: Vocabulary) -> Comparison | None:
    """A number called a threshold: what lies below it counts of a p-value; of other measures the side is not said."""
    before, first = _before(lows, index), _cut_off(lows, index)
    if first < 0 or (before is not None and lows[before[1]] not in _EQUAL) or _after(lows, index):
        return None
    attribute = _attribute(chunked, first, index + 1, vocabulary)
    names = attribute.names("attribute") if attribute else ()
    low = attribute is None or any(vocabulary.model.attributes[name].low for name in names)
    words = chunked.text[chunked.tokens[first].start : chunked.tokens[index].end]
    return Comparison("value", "<", (value,), first, index + 1, attribute if low else None, words=words)


def _in_one_unit(chunked: Chunked, index: int, value: float, upper: tuple[float, int]) -> tuple[float, float]:
    """The ends of a range: `between 5 and 10 %` says the unit once for both."""
    low, high = (_is_percent(chunked.tokens, last) for last in (index + 1, upper[1]))
    return value / 100 if high and not low else value, upper[0] / 100 if low and not high else upper[0]


def _is_percent(tokens: list[Token], last: int) -> bool:
    """Whether the number that ends before `last` is written in percent."""
    behind = [token.low for token in tokens[last : last + 2]]
    return tokens[last - 1].text.endswith("%") or behind[:1] in (["percent"], ["pct"]) or behind == ["per", "cent"]


def _upper(chunked: Chunked, lows: list[str], index: int, vocabulary: Vocabulary) -> tuple[float, int] | None:
    for place in range(index + 1, min(index + 3, len(lows))):
        if lows[place] in ("and", "to", "-") and place + 1 < len(lows):
            value = _value(chunked.tokens[place + 1], vocabulary, chunked.tokens, place + 1)
            if value is not None:
                return value, place + 2
    return None


def _attribute(chunked: Chunked, first: int, last: int, vocabulary: Vocabulary) -> Chunk | None:
    """The attribute that a number is compared with: its unit, or one before it, else just behind it."""
    attributes = vocabulary.model.attributes
    near = [chunk for chunk in chunked.chunks if any(attributes[name].measure for name in chunk.names("attribute"))]
    within = [chunk for chunk in near if first <= chunk.first and chunk.last <= last]
    if within:
        return within[0]
    earlier = [chunk for chunk in near if chunk.last <= first and first - chunk.last <= 6]
    unit = next((chunk for chunk in near if chunk.first == last), None)
    if unit is not None and not _compares(chunked, unit.last):
        return unit
    if earlier:
        return earlier[-1]
    later = [chunk for chunk in near if chunk.first >= last and chunk.first - last <= 2]
    return later[0] if later else None


def _compares(chunked: Chunked, index: int) -> bool:
    """Whether a number, or a comparator, stands at a token: then what is before it has a number of its own."""
    tokens = chunked.tokens[index : index + 4]
    return any(token.kind in ("number", "sign") for token in tokens)


def _noun(chunked: Chunked, last: int) -> Chunk | None:
    """The noun that a number counts: `at least 30 genome-wide significant PD variants`."""
    nouns = [
        chunk for chunk in chunked.chunks if chunk.names("noun") and chunk.first >= last and chunk.first - last <= 5
    ]
    return nouns[0] if nouns else None
