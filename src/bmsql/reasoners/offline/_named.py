"""Pieces of names in a question: quoted, or beside `in their name`, `about`."""

from __future__ import annotations

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._question import Question
from bmsql.semantic import SemanticModel


def text_entities(family: str, model: SemanticModel) -> list[str]:
    """Entities of a family that are found by a piece of their name."""
    return [
        name
        for name, spec in model.entities.items()
        if family in spec.match and spec.match[family].how == "contains" and spec.kind == "category"
    ]


def searches_text(family: str, model: SemanticModel) -> bool:
    """Whether the rows of a family are of things that are found by a piece of their name."""
    return model.families[family].subject in text_entities(family, model)


def spellings(text: str) -> tuple[str, ...]:
    """A text as names may spell it: with underscores, and in the singular."""
    single = text[:-1] if text.endswith("s") and not text.endswith("ss") else text
    return tuple(dict.fromkeys((single, single.replace(" ", "_"))))


def quoted(text: str) -> str:
    for opening, closing in (('"', '"'), ("\u201c", "\u201d"), ("'", "'")):
        first = text.find(opening)
        while opening == "'" and first > 0 and text[first - 1].isalnum():
            first = text.find(opening, first + 1)
        last = text.find(closing, first + 1)
        if 0 <= first < last and last - first > 2:
            return text[first + 1 : last]
    return ""


def text_beside(question: Question, cue: Chunk) -> str:
    """The unexplained words just before `in their name`, or just after `named`."""
    unknown = {(token.start, token.end): token for token in question.chunked.unknown}
    tokens = question.chunked.tokens
    before: list[str] = []
    index = cue.first - 1
    while index >= 0 and (tokens[index].start, tokens[index].end) in unknown:
        before.insert(0, tokens[index].text)
        index -= 1
    if before:
        return " ".join(before)
    after: list[str] = []
    index = cue.last
    while index < len(tokens) and (tokens[index].start, tokens[index].end) in unknown:
        after.append(tokens[index].text)
        index += 1
    return " ".join(after)
