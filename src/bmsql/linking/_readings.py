"""All believable readings of the stretches of a question, and the choice among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bmsql.linking._context import Context
from bmsql.linking._gate import admits, admits_symbol, is_abbreviation
from bmsql.linking._lexicon import Concept, Entry
from bmsql.linking._normal import GREEK, Token, compact, fold, norm, split_key, symbol_keys
from bmsql.linking._stored import StoredLexicon
from bmsql.linking._stretches import stretches
from bmsql.semantic import Entity, SemanticModel

_TIER = {
    "value": 0.0, "group": 0.5, "synonym": 1.0, "stored": 3.0, "official": 3.0, "extra": 3.5, "previous": 4.0,
    "alias": 5.0, "table": 5.5, "eponym": 4.8, "head": 6.0, "part": 6.5,
}  # fmt: skip
_SCORE = {
    "value": 1.0, "group": 0.95, "synonym": 0.98, "stored": 1.0, "official": 1.0, "extra": 0.95, "previous": 0.95,
    "alias": 0.9, "table": 0.9, "eponym": 0.9, "head": 0.85, "part": 0.8,
}  # fmt: skip


_LONGEST_SYMBOL = 3
"""In words: `HLA-DQA1`, `IL-1 beta`."""


class Reading(NamedTuple):
    """Words `i` to `j` read as a concept, the last `salts` of them not in its name. A lower tier is more believable."""

    i: int
    j: int
    entry: Entry
    concept: Concept
    tier: float
    score: float
    corrected: str = ""
    salts: int = 0


def readings(
    context: Context, lexicon: StoredLexicon, model: SemanticModel, tokens: list[Token] | None = None, must: int = -1
) -> Iterator[Reading]:
    """Every believable reading; `tokens` may replace the question's, and then word `must` takes part."""
    words = context.tokens if tokens is None else tokens
    for i in range(len(words) if must < 0 else must + 1):
        for j, found in stretches(words, i, lexicon.names, _LONGEST_SYMBOL):
            if j <= must:
                continue
            seen: set[int] = set()
            together, said = "", len(found)
            span = words[i:j] if 1 < j - i <= _LONGEST_SYMBOL else ()
            if j - i == 2:
                together = split_key(span)
                found += [(key, lexicon.names.get(key)) for key in (together, _closed(span)) if key]
            for place, (key, entries) in enumerate(found):
                for entry in entries:
                    if entry.concept in seen:
                        continue
                    name = lexicon.concepts.entity(entry.concept)
                    entity = model.entities.get(name)
                    if entity is None or (place >= said and key != together and entity.kind != "category"):
                        continue
                    if not admits(context, i, j, entry, name, entity):
                        continue
                    concept = lexicon.concepts[entry.concept]
                    held = _is_held(lexicon, concept)
                    if not held and not _speaks_of_absent(context, i, j, entry, entity, name):
                        continue
                    seen.add(entry.concept)
                    # Of several things of one name, one that the data hold.
                    tier = _tier(context, i, j, entry, entity, name) + 0.2 * (not held)
                    reading = Reading(i, j, entry, concept, tier, _SCORE[entry.source])
                    yield reading
                    salts = context.salts(j) if entity.kind == "name" else 0
                    if salts:
                        yield reading._replace(j=j + salts, tier=reading.tier + 0.1, salts=salts)
            if j - i == 1 or (j - i <= _LONGEST_SYMBOL and (together or _is_joined(span) or _parted(span))):
                if j - i == 1:
                    text = words[i].text
                else:
                    text = context.text(i, j) if tokens is None else "".join(token.text for token in span)
                text = text[:-2] if text.endswith(("'s", "’s")) else text
                yield from _symbol_readings(context, lexicon, i, j, text, seen)


def _symbol_readings(
    context: Context, lexicon: StoredLexicon, i: int, j: int, text: str, seen: set[int]
) -> Iterator[Reading]:
    keys = [(key, j) for key in symbol_keys(text)]
    if context.next_norm(j) == "receptor" and not context.tokens[j].breaks:
        # A receptor is mostly named after what binds to it: `GLP-1 receptor` is GLP1R.
        keys = [(f"{compact(text)}R", j + 1), *keys]
    for key, end in keys:
        for entry in lexicon.symbols.get(key):
            name = lexicon.concepts.entity(entry.concept)
            if entry.concept in seen or not admits_symbol(context, i, j, entry, name):
                continue
            seen.add(entry.concept)
            concept = lexicon.concepts[entry.concept]
            tier = _symbol_tier(context, i, j, entry, name)
            # Of several owners of an alias, one that the data hold, or that spells it so.
            tier += (not any(concept.stored.values())) * 0.2 - (context.text(i, j) == entry.surface) * 0.3
            yield Reading(i, end, entry, concept, tier, _SCORE[entry.source])


def _is_held(lexicon: StoredLexicon, concept: Concept) -> bool:
    """Whether any table holds a value of a concept."""
    held = lexicon.held(concept.entity)
    if held is None:
        return any(concept.stored.values())
    return any(texts.holds(name) for name in concept.texts[:1] for texts in held.values())


def _speaks_of_absent(context: Context, i: int, j: int, entry: Entry, entity: Entity, name: str) -> bool:
    """Whether a short name may be meant of something that no table holds: it could be much else."""
    if j - i > 1:
        return True
    if entity.kind == "category":
        return entry.source != "synonym" or context.speaks_of(name)
    return entity.kind != "term" or not is_abbreviation(entry.surface) or context.is_upper(i, j)


def _is_joined(span: Sequence[Token]) -> bool:
    """Whether hyphens or points join all words."""
    return len(span) < 2 or (span[1].glue != "" and all(token.glue for token in span[2:]))


def _parted(span: Sequence[Token]) -> bool:
    """Whether a space stands where a symbol has a hyphen (`HLA DQA1`), or before a Greek letter (`IL-1 beta`)."""
    if span[-1].breaks or (len(span) > 2 and not _is_joined(span[:-1])):
        return False
    if span[-1].norm in GREEK:
        return True
    upper = len(span) == 2 and span[0].text.isupper() and span[1].text.isupper()
    return upper and any(c.isdigit() for c in span[1].text)


def _closed(span: Sequence[Token]) -> str:
    """Two words as one: a category may be stored as one word (`multi ancestry` for `multiancestry`)."""
    return norm(span[0].text + span[1].text) if len(span) == 2 and len(span[1].text) > 3 and not span[1].breaks else ""


def _tier(context: Context, i: int, j: int, entry: Entry, entity: Entity, name: str) -> float:
    tier = _TIER[entry.source]
    match entity.kind:
        case "term" if is_abbreviation(entry.surface) and entry.source in {"extra", "stored"}:
            return 1.8
        case "name" if entry.source == "stored":
            return 3.6
        case "symbol" if entry.source == "extra":
            # Before another's alias of the same letters.
            return _symbol_tier(context, i, j, entry, name)
        case "category" if entry.source == "stored":
            return 4.6
        case _:
            return tier


def _symbol_tier(context: Context, i: int, j: int, entry: Entry, entity: str) -> float:
    tier = _TIER[entry.source] - 1.0
    return tier - 1.5 if context.is_place(i, j, entity) else tier


def choose(found: Iterable[Reading]) -> list[tuple[Reading, list[Reading]]]:
    """Readings that do not overlap, longest and most believable first; each with its rivals."""
    ranked = sorted(found, key=lambda r: (-(r.j - r.i), r.tier, -r.score, r.i))
    taken: set[int] = set()
    chosen: list[tuple[Reading, list[Reading]]] = []
    for reading in ranked:
        span = range(reading.i, reading.j)
        if taken.isdisjoint(span):
            rivals = [
                other for other in ranked
                if (other.i, other.j) == (reading.i, reading.j) and other.entry.concept != reading.entry.concept
            ]  # fmt: skip
            chosen.append((reading, rivals))
            taken.update(span)
    return sorted(chosen, key=lambda pair: pair[0].i)


def same_text(surface: str, text: str) -> bool:
    """Whether a stored name is what the user wrote, apart from case."""
    return fold(surface) == fold(text)
