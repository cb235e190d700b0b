"""Pieces of names in a question: quoted, beside `in their name`, `about`, or right before what they name."""

from __future__ import annotations

from collections.abc import Sequence

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._question import Question
from bmsql.semantic import SemanticModel
from bmsql.types import Filter

# How many words may describe a thing before its noun, and what ends in these says how it is, not its name.
_DESCRIBING = 4
_NO_NAME = ("ed", "able", "ible", "ly", "est", "ing")
_TIES = frozenset({"related", "associated", "linked", "type", "specific", "based"})


def named_text(question: Question, family: str, filters: Sequence[Filter], model: SemanticModel) -> list[Filter]:
    """`gene sets with lipoprotein in their name`, `immune pathways`, or a quoted name."""
    entity = model.families[family].subject
    recipes = text_entities(family, model)
    if not recipes or any(one.target in recipes for one in filters):
        return []
    name = quoted(question.text)
    target = entity if entity in recipes else recipes[0]
    if name and not any(name in chunk.text or chunk.text in name for chunk in question.chunked.mentions):
        return [Filter(target=target, op="match", values=(name,), words=name)]
    if question.families != (family,):
        return []
    texts = [(text, text) for cue in question.chunked.english("name_contains") if (text := text_beside(question, cue))]
    texts += [
        (_without_noun(chunk, model), chunk.text)
        for chunk in question.chunked.mentions
        if chunk.mention
        and model.entities[chunk.mention.entity].kind == "category"
        and searches_text(family, model)
        and family not in model.entities[chunk.mention.entity].match
        and not _is_about(chunk, family, model)
    ]
    first, last = described(question, family, model)
    if last:
        between = question.text[question.chunked.tokens[first].start : question.chunked.tokens[last - 1].end]
        texts.append((between, between))
    if not texts:
        return []
    text, words = texts[0]
    return [Filter(target=target, op="match", values=spellings(text), words=words)]


def _without_noun(chunk: Chunk, model: SemanticModel) -> str:
    """`brain tissues` are named by `brain` where names are searched."""
    nouns = (noun for noun in model.entities[chunk.linked.entity].nouns if chunk.text.lower().endswith(f" {noun}"))
    return chunk.text[: -len(next(nouns, "")) or None].strip()


def _is_about(chunk: Chunk, family: str, model: SemanticModel) -> bool:
    """Whether a mention chooses the table rather than names something in it."""
    return any(chunk.linked.entity in model.tables[name].about for name in model.tables_of(family))


def described(question: Question, family: str, model: SemanticModel) -> tuple[int, int]:
    """The tokens `[first, last)` of words right before the noun of what is found by its name; (0, 0) for none.

    `immune-response pathways`: the first of the words is one that nothing else explains.
    """
    unknown = {token.start for token in question.chunked.unknown}
    if not unknown or not searches_text(family, model):
        return 0, 0
    tokens, subject = question.chunked.tokens, model.families[family].subject
    taken = {index for one in question.chunked.chunks for index in range(one.first, one.last)}
    for noun in question.chunked.of("noun"):
        if noun.mention or subject not in noun.names("noun"):
            continue
        last = noun.first
        while last and tokens[last - 1].low in _TIES:
            last -= 1
        first = last
        while first and last - first < _DESCRIBING and tokens[first - 1].kind == "word" and first - 1 not in taken:
            first -= 1
        while first < last and tokens[first].start not in unknown:
            first += 1
        if first < last and not any(token.low.endswith(_NO_NAME) for token in tokens[first:last]):
            return first, last
    return 0, 0


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
    whole = single.replace("-", " ")
    return tuple(dict.fromkeys((single, single.replace(" ", "_"), whole, whole.replace(" ", "_"))))


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
