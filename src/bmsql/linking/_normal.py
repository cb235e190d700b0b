"""Text to comparable form: tokens with their places, and the keys under which names are found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

MAX_TOKENS = 10
"""Longer names are not indexed: nobody writes a systematic chemical name into a question."""

_WORD = re.compile(r"[^\W_]+(?:['’`´][^\W_]+)*")
_HYPHENS = frozenset("-‐‑–.")
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "θ": "theta", "κ": "kappa", "ω": "omega",
}  # fmt: skip
_CONTRACTIONS = ("'m", "'t", "'re", "'ve", "'ll", "'d")
_BREAK = re.compile(r"\s\(|[.;?!]\s|\n")
_BRITISH = (("ae", "e"), ("oe", "e"), ("sulph", "sulf"))


class Token(NamedTuple):
    """A word of a text. `glue` is what stands between it and the word before, if only a hyphen or a point.

    `breaks` is true where a sentence or a bracket begins, which no name goes across.
    """

    text: str
    start: int
    end: int
    norm: str
    glue: str = ""
    breaks: bool = False


def tokenize(text: str) -> list[Token]:
    """The words of `text`, in order."""
    found: list[Token] = []
    end = -1
    for match in _WORD.finditer(text):
        between = text[end : match.start()] if end >= 0 else " "
        glue = between if between in _HYPHENS else ""
        breaks = len(between) > 1 and _BREAK.search(between) is not None
        word, (start, end) = match.group(), match.span()
        found.append(Token(word, start, end, norm(word), glue, breaks))
    return found


@lru_cache(maxsize=65536)
def norm(word: str) -> str:
    """A word without case, accents, possessive, plural or British spelling."""
    text = fold(word)
    for mark in ("’", "`", "´"):
        text = text.replace(mark, "'")
    if text.endswith(_CONTRACTIONS):
        return text
    text = text.removesuffix("'s").replace("'", "")
    if len(text) > 5:
        for british, american in _BRITISH:
            text = text.replace(british, american)
        if (text.endswith(("our", "ours")) and len(text) > 6) or text in {"tumour", "tumours"}:
            text = text.replace("our", "or")
    return singular(text)


def singular(text: str) -> str:
    """`text` without a plural ending; words of three letters and less stay."""
    if len(text) < 4 or not text.endswith("s") or text.endswith(("ss", "us", "is")):
        return text
    if text.endswith("ies") and len(text) > 4:
        return text[:-3] + "y"
    if text.endswith(("ches", "shes", "sses", "xes")):
        return text[:-2]
    return text[:-1]


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """`text` without case and accents, Greek letters spelt out."""
    if text.isascii():
        return text.lower()
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return "".join(_GREEK.get(c, c) for c in plain.casefold())


def keys_of(text: str) -> tuple[str, ...]:
    """The keys under which a stored name is found: words apart, and hyphenated words joined."""
    return span_keys(tokenize(text))


def span_keys(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The keys of some consecutive words, most literal first; none across the end of a sentence."""
    if len(tokens) == 1:
        return (tokens[0].norm,)
    if not tokens or len(tokens) > MAX_TOKENS or any(token.breaks for token in tokens[1:]):
        return ()
    apart = " ".join(token.norm for token in tokens)
    if not any(token.glue for token in tokens[1:]):
        return (apart,)
    words: list[str] = []
    for place, token in enumerate(tokens):
        if place and token.glue:
            words[-1] += token.text
        else:
            words.append(token.text)
    joined = " ".join(norm(word) for word in words)
    return (apart,) if joined == apart else (apart, joined)


def split_key(tokens: Sequence[Token]) -> str:
    """A symbol that a stray space parted at a digit (`IL 17A`, `CD 20`) as one word, or nothing."""
    if len(tokens) != 2 or tokens[1].breaks:
        return ""
    left, right = tokens[0].text, tokens[1].text
    return norm(left + right) if left.isupper() and left.isalpha() and right[0].isdigit() and len(left) < 6 else ""


def compact(text: str) -> str:
    """A symbol without hyphens, spaces and points, in upper case: `MAO-B` and `MAOB` agree."""
    return text.upper() if text.isalnum() else "".join(c for c in text if c.isalnum()).upper()


_LETTERS = {"alpha": "a", "beta": "b", "gamma": "g", "delta": "d", "epsilon": "e", "kappa": "k", "theta": "q"}
GREEK = frozenset(_LETTERS)
_SPELT = re.compile(rf"(?<=[^a-z])({'|'.join(_LETTERS)})(?=[^a-z]|$)", re.IGNORECASE)
_VERSION = re.compile(r"(?=(?:\D*\d){7})(.*\d)\.\d{1,3}")


def symbol_keys(text: str) -> tuple[str, ...]:
    """The keys under which a symbol may be found, the most literal first.

    Symbols write Greek letters as Latin ones (`IL-1β`, `TNF alpha`), and identifiers have no version
    (`ENSG00000188906.14`).
    """
    if text.isascii() and text.isalpha():
        return (text.upper(),)
    spelt = fold(text)
    latin = "".join(_LETTERS[_GREEK[c]] if _GREEK.get(c) in _LETTERS else c for c in text.lower())
    forms = [
        compact(text),
        compact(spelt),
        compact(latin),
        compact(_SPELT.sub(lambda found: _LETTERS[found.group().lower()], spelt)),
    ]
    version = _VERSION.fullmatch(text)
    if version:
        forms.append(compact(version.group(1)))
    return tuple(dict.fromkeys(filter(None, forms)))


def inverted(term: str) -> str:
    """A heading written backwards as it is spoken: `Arthritis, Rheumatoid` -> `Rheumatoid Arthritis`."""
    return " ".join(reversed(term.split(", "))) if ", " in term else ""
