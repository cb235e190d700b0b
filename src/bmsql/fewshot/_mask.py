"""Questions with what they name masked, so that two of one kind look alike."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bmsql.types import Mention

_NUMBER = re.compile(
    r"(?<![\w<])[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s?(?:[eE]|[x×]\s?10\s?\^?)\s?[-−+]?\d+)?(?:\s?%)?"
    r"(?:\s?[kM]bp?\b)?(?![\w>])"
)
_QUOTED = re.compile(r"\"[^\"]{1,80}\"|“[^”]{1,80}”")
_SPACE = re.compile(r"\s+")


def mask_question(question: str, mentions: Iterable[Mention] = ()) -> str:
    """`question` with each mention as `<entity>`, each number as `<number>` and quoted text as `<text>`.

    `mentions` have their places in this question, as the linker gives them; where two overlap, the
    longer one counts. Upper and lower case and spacing are kept out of the result, so that it can be compared.
    """
    pieces: list[str] = []
    end = 0
    for mention in _apart(question, mentions):
        pieces += [_mask_rest(question[end : mention.start]), f"<{mention.entity}>"]
        end = mention.end
    pieces.append(_mask_rest(question[end:]))
    return _SPACE.sub(" ", "".join(pieces)).strip()


def _apart(question: str, mentions: Iterable[Mention]) -> list[Mention]:
    """The mentions that stand in the question, in order and without overlaps."""
    kept: list[Mention] = []
    fitting = [one for one in mentions if 0 <= one.start < one.end <= len(question)]
    for one in sorted(fitting, key=lambda one: (one.start - one.end, one.start)):
        if all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)


def _mask_rest(text: str) -> str:
    return _NUMBER.sub("<number>", _QUOTED.sub("<text>", text)).lower()
