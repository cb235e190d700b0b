"""Symbols named together by what they begin with: `HLA-* genes`, `the MS4A cluster`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bmsql.linking._context import Context
from bmsql.linking._index import ValueIndex
from bmsql.linking._normal import compact
from bmsql.linking._words import field_words, is_common
from bmsql.semantic import SemanticModel
from bmsql.types import Mention

_TOGETHER = frozenset("family families cluster clusters complex locus region members".split())
_SHORTEST = 3
_SHOWN = 5
_STAR = re.compile(r"-?\*")


class Series:
    """Finds beginnings of symbols that stand for all stored symbols that begin so."""

    def __init__(self, index: ValueIndex, model: SemanticModel) -> None:
        self._index = index
        self._entities = [(name, entity) for name, entity in model.entities.items() if entity.kind == "symbol"]

    def mentions(self, context: Context, taken: set[tuple[int, int]]) -> Iterator[Mention]:
        """Such mentions; `taken` are the stretches that are read as something else."""
        starred = "*" in context.question
        for name, entity in self._entities:
            for i, j in _spans(context):
                star = _STAR.match(context.question, context.tokens[j - 1].end) if starred else None
                if not star and not self._is_together(context, j, name):
                    continue
                text = context.text(i, j)
                covered = any(start <= i and j <= end for start, end in taken)
                if not _is_beginning(context, i, j, starred=star is not None) or (covered and not star):
                    continue
                members = self._members(name, compact(text))
                if len(members) < 2:
                    continue
                stored = {
                    family: tuple(dict.fromkeys(value for held in members.values() for value in held.get(family, ())))
                    for family in entity.match
                }
                end = star.end() if star else context.tokens[j - (context.after(j) not in _TOGETHER)].end
                yield Mention(
                    text=context.question[context.tokens[i].start : end],
                    start=context.tokens[i].start,
                    end=end,
                    entity=name,
                    value=f"{text}*",
                    stored=stored,
                    method="pattern",
                    score=0.9,
                    note=_note(text, list(members), entity.plural),
                )

    def _is_together(self, context: Context, j: int, name: str) -> bool:
        """Whether what follows speaks of several: the entity's noun in the plural, or `family`, `cluster`."""
        after = context.after(j)
        return after in _TOGETHER or (after.endswith("s") and context.opens_noun(j, j, name))

    def _members(self, name: str, beginning: str) -> dict[str, dict[str, list[str]]]:
        """The stored symbols that begin so, with what is held of each; none where it is a symbol itself."""
        lexicon = self._index.lexicon
        if lexicon.symbols.get(beginning):
            return {}
        found: dict[str, dict[str, list[str]]] = {}
        for key in lexicon.symbols.beginning(beginning):
            for entry in lexicon.symbols.get(key):
                if entry.source == "stored" and lexicon.concepts.entity(entry.concept) == name:
                    concept = lexicon.concepts[entry.concept]
                    found[concept.value] = concept.stored
        return found


def _spans(context: Context) -> Iterator[tuple[int, int]]:
    """Words, and words joined by hyphens, the longer ones first."""
    count = len(context.tokens)
    if context.joins:
        yield from ((i, i + 2) for i in range(count - 1) if context.tokens[i + 1].glue)
    yield from ((i, i + 1) for i in range(count))


def _is_beginning(context: Context, i: int, j: int, *, starred: bool) -> bool:
    text = context.text(i, j)
    if len(compact(text)) < _SHORTEST or not text[0].isalpha():
        return False
    plain = is_common(text) or text.lower() in field_words() or context.is_plain(i)
    return starred or (not plain and any(c.isupper() for c in text) and not context.shouting)


def _note(text: str, symbols: list[str], plural: str) -> str:
    shown = ", ".join(symbols[:_SHOWN])
    rest = f" and {len(symbols) - _SHOWN} more" if len(symbols) > _SHOWN else ""
    return f"'{text}' read as the {len(symbols)} {plural} whose symbols begin so: {shown}{rest}"
