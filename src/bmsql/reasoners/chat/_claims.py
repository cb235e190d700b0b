"""Claims about how many there are, and words that say more than the data can."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from bmsql.reasoners.chat._figures import figures
from bmsql.reasoners.chat._finding import Finding
from bmsql.reasoners.chat._known import Known, words_of
from bmsql.reasoners.chat._sentences import NEGATION, Sentence
from bmsql.types import Mention

_ROWS = (
    "rows?|results?|records?|entries|entry|hits?|match|matches|variants?|snps?|genes?|drugs?|therapy|therapies|"
    "associations?|signals?|markers?|loci|locus|compounds?|medicines?|tests?|products?|diseases?|tissues?|"
    "pathways?|sets?|data|evidence|ones?|things?"
)
_COUNT = r"(?:\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
# Not "at all", nor the uses or indications that a value is "over all" of.
_ALL = re.compile(
    r"(?<!\bat )(?<!\bnot )(?<!\bover )(?<!\bacross )\b(?:all|every|each)\s+(?:one\s+)?(?:of\s+)?"
    rf"(?:the\s+|these\s+|those\s+|its\s+)?(?:{_COUNT}\b|(?:[\w'’-]+\s+){{0,4}}?(?:{_ROWS})\b|of\s+(?:them|these|those)\b)",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"\b(?:the only|only (?:one|two|three|four|five|\d+)|in total|altogether|in all|overall total|a total of|"
    r"the (?:complete|full|entire|whole) (?:list|set)|exactly|no others?|no more|nothing else|exhaustive\w*|sole)\b",
    re.IGNORECASE,
)
_THERE = re.compile(rf"\bthere (?:are|is|were|was)\s+(?:exactly\s+)?(?P<n>{_COUNT})\b", re.IGNORECASE)
# What makes a sentence one about the rows that are shown.
_SHOWN = re.compile(
    r"\b(?:first|shown|showing|shows|show|displayed|listed|list(?:s|ing)? (?:only|the first)|fetched|returned|"
    r"retrieved|at least|more than|limited|limit|capped|truncated|sample|subset|some of|among|not all|may be more|"
    r"are more|others exist|more (?:rows|results|exist)|includ\w+|here|top)\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\b(?:there (?:are|is|were|was) (?:no|none|not any)|(?:i|we) (?:found|see|could find) (?:no|none|nothing)|"
    r"(?:found|find|returned|has|have|holds?|contains?|lists?|shows?|yield(?:ed|s)) (?:no|none|nothing|zero)|"
    r"none (?:was|were|is|are|of)|nothing (?:was|is|matches)|"
    rf"no (?:[\w'’-]+\s+){{0,3}}?(?:{_ROWS})\s+(?:\w+\s+){{0,6}}?"
    r"(?:was|were|is|are|has|have|match|matches|matched|exist|exists|found|target|targets))\b",
    re.IGNORECASE,
)
_PARTLY = re.compile(
    r"\b(?:others?|further|more|additional|else|besides|recorded|record of|without|except|only|another|liftover|"
    r"approval|boxed|withdrawn|data for|information)\b",
    re.IGNORECASE,
)
_YES = re.compile(r"^\W*(?:yes|indeed|correct)\b", re.IGNORECASE)
_HEDGE = re.compile(
    r"\b(?:cannot|can't|not|no|whether|putative\w*|potential\w*|possibl[ye]|consistent with|suggest\w*|may|might|could|"
    r"pleiotrop\w*|rather than|or another|some regulator|candidate|plausibl[ye]|likely)\b|n['’]t\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"(\w+)\s*(<=|>=|<|>|=)\s*([-\d.eE]+)$")


def claim_findings(text: str, parts: list[Sentence], known: Known, mentions: tuple[Mention, ...]) -> Iterator[Finding]:
    """What is claimed of the whole, of nothing, or too strongly."""
    if not known.evidence.hidden:
        yield from _whole(parts, known)
        yield from _empty(text, parts, known)
        yield from _none(parts, known, mentions)
        yield from _judged(parts, known)
    yield from _too_strong(text, parts, known)


def _whole(parts: list[Sentence], known: Known) -> Iterator[Finding]:
    """Counts and "all" from rows that are only a part."""
    if not known.incomplete:
        return
    total, shown = known.evidence.total, known.shown
    for part in parts:
        if _SHOWN.search(part.text):
            continue
        for match in _ALL.finditer(part.text):
            numbers = [int(one.value) for one in figures(match.group()) if one.whole]
            if total is None or total not in numbers:
                yield _finding(match, part, _of_part(match.group(), known))
        for match in _TOTAL.finditer(part.text):
            if total is None or (total > 1 and match.group().lower() in ("the only", "sole")):
                yield _finding(match, part, _of_part(match.group(), known))
        for match in _THERE.finditer(part.text):
            numbers = [int(one.value) for one in figures(match.group("n")) if one.whole]
            if shown in numbers and total != shown and shown > 1:
                yield _finding(match, part, _of_part(match.group(), known))


def _of_part(piece: str, known: Known) -> str:
    total = known.evidence.total
    there = "their number is not known" if total is None else f"there are {total}"
    return f"'{piece}' is said of the whole, but only the first {known.shown} rows were fetched and {there}"


def _empty(text: str, parts: list[Sentence], known: Known) -> Iterator[Finding]:
    """Something asserted where no row was found."""
    if not known.nothing:
        return
    first = parts[0]
    yes = _YES.search(first.text)
    if yes or not NEGATION.search(text):
        piece = first.text.strip()
        yield Finding(piece, "claim", f"no row was found, so that '{piece[:80]}' has nothing to rest on", first.start)


def _none(parts: list[Sentence], known: Known, mentions: tuple[Mention, ...]) -> Iterator[Finding]:
    """Nothing found, where rows were."""
    evidence = known.evidence
    if known.nothing or evidence.plan.combine == "union" or evidence.plan.aggregate is not None:
        return
    if any(record.status in ("judged", "waived", "complement") for record in evidence.conventions):
        return  # what is denied is how the rows stand to a rule
    for part in parts:
        match = _NOTHING.search(part.text)
        if match and not _PARTLY.search(part.text) and not _values_in(part, known):
            yield _finding(match, part, f"'{match.group()}' is said, but {known.shown} rows were found")


def _values_in(part: Sentence, known: Known) -> bool:
    """Whether a sentence speaks of single rows, which may lack something."""
    here = words_of(part.text)
    question = words_of(known.evidence.question)
    return any(f" {group} " in here and f" {group} " not in question for group in known.groups if len(group) > 2)


def _judged(parts: list[Sentence], known: Known) -> Iterator[Finding]:
    """A verdict that contradicts the rows, where one condition decides it."""
    result = known.evidence.result
    names = [column.name.lower() for column in result.columns]
    for record in known.evidence.conventions:
        compared = _COMPARED.search(record.predicate)
        if record.status != "judged" or compared is None or not record.words or compared[1].lower() not in names:
            continue
        if float(compared[3]) == 0:
            continue  # a direction, which each allele has its own of
        place = names.index(compared[1].lower())
        cells = [row[place] for row in result.rows]
        numbers = [cell for cell in cells if isinstance(cell, int | float) and not isinstance(cell, bool)]
        if not numbers or len(numbers) != len(cells):
            continue
        holds = {_compare(cell, compared[2], float(compared[3])) for cell in numbers}
        if len(holds) != 1:
            continue
        yield from _contradicted(parts, record.words, holds.pop(), record.predicate)


def _contradicted(parts: list[Sentence], words: str, holds: bool, predicate: str) -> Iterator[Finding]:
    for part in parts:
        match = re.search(rf"\b{re.escape(words)}\b", part.text, re.IGNORECASE)
        if match is None or part.text.rstrip().endswith("?") or _PARTLY.search(part.text):
            continue
        if not holds and not part.negated and not _HEDGE.search(part.text):
            yield _finding(match, part, f"'{match.group()}' is said, but no row keeps to {predicate}")


def _compare(value: float, op: str, bound: float) -> bool:
    return {"<": value < bound, "<=": value <= bound, ">": value > bound, ">=": value >= bound, "=": value == bound}[op]


def _too_strong(text: str, parts: list[Sentence], known: Known) -> Iterator[Finding]:
    """Words that the tables cannot bear out, as the semantic model lists them."""
    if known.model is None:
        return
    families = dict.fromkeys(spec.family for spec in known.table_specs)
    for family in families:
        for avoid in known.model.families[family].say.avoid:
            pattern = _any_of(avoid.words)
            for part in parts:
                match = pattern.search(part.text)
                if match and not _HEDGE.search(part.text) and words_of(match.group()) not in known.cell_words:
                    yield _finding(match, part, f"'{match.group()}' says more than the data show; {avoid.instead}")


@lru_cache(maxsize=256)
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(rf"\b{re.escape(word)}\b" for word in words), re.IGNORECASE)


def _finding(match: re.Match[str], part: Sentence, why: str) -> Finding:
    return Finding(match.group(), "claim", why, part.start + match.start())
