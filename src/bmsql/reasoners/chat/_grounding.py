"""The check of an answer against its evidence: nothing is said that is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from bmsql.reasoners._base import Evidence
from bmsql.reasoners.chat._claims import claim_findings
from bmsql.reasoners.chat._figures import figures
from bmsql.reasoners.chat._finding import Finding
from bmsql.reasoners.chat._known import Known, words_of
from bmsql.reasoners.chat._numbers import number_findings
from bmsql.reasoners.chat._sentences import sentences
from bmsql.semantic import SemanticModel
from bmsql.types import LinkQuestion, Mention

"""Finds what a text names, such as `Linker(...).link`."""

_TOKEN = re.compile(r"(?<![\w.])[^\W_](?:[\w]|[-.](?=\w))*")
_MEASURE = re.compile(r"\d+(?:[.,]\d+)*(?:-?[A-Za-zµμ%]{1,6}|-(?:fold|year|month|week|day|item|gene|drug|row)s?)")
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.|data:[a-z]+/)[^\s<>()\[\]\"']+", re.IGNORECASE)
_ADDRESS_MARKS = ("://", "www.", "data:")
_CHROMOSOME = re.compile(r"chr(?:omosome)?_?\d+", re.IGNORECASE)
_FIGURE_AFTER = re.compile(r"(?:,|\s\(|:)\s*\d+$")
_LIST = re.compile(r"[,;:=]")
_RELINKED = 400


def check_text(
    text: str, evidence: Evidence, *, names: LinkQuestion | None = None, model: SemanticModel | None = None
) -> tuple[Finding, ...]:
    """What `text` says that the evidence does not, in the order of the text; empty where all is sound.

    `names` finds genes, drugs, diseases and the like (without it, only numbers, identifiers and claims are
    checked); `model` tells the units of columns, which say what may be derived from them, what the tables
    are about, and which words overstate them. Numbers may be rounded, written in any notation and be a
    percentage, an odds ratio or the other allele's frequency of a value of the rows. Deterministic.
    """
    if not text.strip():
        return (Finding("", "claim", "the answer is empty"),)
    known = Known(evidence, model)
    mentions = names(text) if names else ()
    parts = sentences(text)
    mentions = tuple(one for one in mentions if _stands_alone(one, text))
    named = list(_name_findings(mentions, known, names, model))
    fine = [(one.start, one.end) for one in mentions]
    found = [
        *named,
        *_identifier_findings(text, known, fine),
        *_address_findings(text, known),
        *number_findings(text, parts, known),
        *claim_findings(text, parts, known, mentions),
    ]
    return tuple(one for one in _once(sorted(found, key=lambda one: one.start)))


def _once(found: list[Finding]) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for one in found:
        key = (one.piece.casefold(), one.kind)
        if key not in seen:
            seen.add(key)
            yield one


def _name_findings(
    mentions: tuple[Mention, ...], known: Known, names: LinkQuestion | None, model: SemanticModel | None
) -> Iterator[Finding]:
    again = _Again(known, names)
    for mention in mentions:
        spec = model.entities.get(mention.entity) if model else None
        if (spec and spec.kind == "region") or _is_known(mention, known):
            continue
        if spec and spec.kind == "symbol" and _LIST.search(mention.text):
            continue  # two things of a list
        if mention.method == "unlinked" and words_of(mention.text).rstrip() in known.text:
            continue  # what several known names begin with, such as GRIN
        if spec and spec.kind == "category" and _is_jargon(mention.text, known):
            continue
        if again.finds(mention):
            continue
        label = spec.label if spec else mention.entity
        yield Finding(
            mention.text,
            mention.entity,
            f"the {label} '{mention.text}' is named in neither the question, the rows nor the applied rules",
            mention.start,
        )


def _stands_alone(mention: Mention, text: str) -> bool:
    """Whether a mention is no piece of a key such as `AD_gene_17`, and no number in words."""
    if text[mention.end : mention.end + 1] == "_" or (mention.start and text[mention.start - 1] == "_"):
        return False
    return mention.method != "unlinked" or not any(one.kind == "word" for one in figures(mention.text))


def _is_known(mention: Mention, known: Known) -> bool:
    """Whether the evidence holds what is named, under any of its names."""
    stored = (value for values in mention.stored.values() for value in values)
    # A figure that follows a name is none of it: `Alzheimer's disease, 1 SNP`.
    bare = _FIGURE_AFTER.sub("", mention.text)
    return any(known.holds(name) for name in (bare, mention.value, *stored, *mention.alternatives) if name)


class _Again:
    """What the evidence names, found as it is found in the text: for names that it has under another name."""

    def __init__(self, known: Known, names: LinkQuestion | None) -> None:
        self._found = {(one.entity, one.value) for one in known.evidence.plan.mentions}
        self._texts = islice(known.texts(), _RELINKED) if names else iter(())
        self._names = names

    def finds(self, mention: Mention) -> bool:
        """Whether the evidence names the same thing; looks no further into it than it must."""
        wanted = (mention.entity, mention.value)
        while wanted not in self._found:
            text = next(self._texts, None)
            if text is None or self._names is None:
                return False
            if any(char.isalpha() for char in text):
                self._found |= {(one.entity, one.value) for one in self._names(text) if one.method != "unlinked"}
        return True


def _is_jargon(text: str, known: Known) -> bool:
    return words_of(text) in known.jargon


def _identifier_findings(text: str, known: Known, mentioned: list[tuple[int, int]]) -> Iterator[Finding]:
    """Names with digits in them, such as ids, keys and codes, that the evidence does not hold."""
    if not any(map(str.isdigit, text)):
        return
    for match in _TOKEN.finditer(text):
        token = match.group()
        if not (any(char.isdigit() for char in token) and any(char.isalpha() for char in token)):
            continue
        digits = [place for place, char in enumerate(token, match.start()) if char.isdigit()]
        if all(any(start <= place < end for start, end in mentioned) for place in digits):
            continue
        if _CHROMOSOME.fullmatch(token) or _MEASURE.fullmatch(token) or _is_number(token):
            continue
        if known.holds(token) or _is_jargon(token, known):
            continue
        if text.startswith(("…", "..."), match.end()) and words_of(token).rstrip() in known.text:
            continue  # a long name, cut
        yield Finding(
            token, "identifier", f"the identifier '{token}' is in neither the question nor the rows", match.start()
        )


def _address_findings(text: str, known: Known) -> Iterator[Finding]:
    """Addresses that the evidence does not hold: what opens one would send the rows named in it there."""
    lowered = text.lower()
    if not any(mark in lowered for mark in _ADDRESS_MARKS):
        return
    for match in _ADDRESS.finditer(text):
        address = match.group().rstrip(".,;:")
        if not any(address in said for said in known.texts()):
            piece = f"the address '{address[:80]}' is in neither the question nor the rows"
            yield Finding(address, "identifier", piece, match.start())


def _is_number(token: str) -> bool:
    return re.fullmatch(r"log(?:2|10)|\d+(?:\.\d+)?(?:[eE][-−–]?\d+|[x×]10.*)", token) is not None
