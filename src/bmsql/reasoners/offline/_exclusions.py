"""What a question leaves out: `excluding A and B`, `outside chromosome 6`, `with A left out`, `A aside`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from bmsql.reasoners.offline._chunks import Chunk, Chunked, is_part
from bmsql.semantic import SemanticModel

_REACH = 4
# What may stand between a "not" and what it leaves out.
_PASSED = frozenset(
    "the of on in a an any also as well near nearby nearest closest close to around at by within those these ones"
    " that which are is been be being ever lie lies lying located from".split()
)
# What may stand between the words behind a thing that leave it out, and the thing.
_COPULAS = frozenset("is are was were be being been has have once if when".split())
_JOINING = frozenset({",", "and", "or", "nor", "&"})
_ARTICLES = frozenset({"the", "a", "an"})
# These leave out what they govern, however often a preposition is said again; after "not", that begins anew.
_LEAVING_OUT = frozenset(
    "excluding exclude except other leaving leave leaves setting set putting put aside omitting omit ignoring ignore"
    " disregarding disregard discounting dropping skipping removing minus barring besides apart outside save but"
    " with excepting discarding filtering taking".split()
)
# `leaving A out`: how far the verb may be from its end.
_PARTED = frozenset("leaving leave leaves taking take filtering filter keeping keep cutting cut".split())
_APART = 8
_NAMED = ("symbol", "identifier", "name")
# `SNPs left out of the table`, `removed from the market`: said of the thing itself.
_OF_ITSELF = frozenset({"from", "by", "of", "at", "in"})


def exclusions(chunked: Chunked, tested: Collection[str]) -> dict[int, list[Chunk]]:
    """What is left out, by where the words begin that say so.

    tested: the attributes that are true or false, and can be left out by themselves.
    """
    things = {chunk.first: chunk for chunk in chunked.chunks if _can_be_left_out(chunk, tested)}
    found = {cue.first: list(_behind(chunked, cue, things)) for cue in chunked.english("not", "but_not")}
    ends = {chunk.last: chunk for chunk in things.values()}
    lows = [token.low for token in chunked.tokens]
    for first, last in parted(chunked):
        found[first] = [] if _OF_ITSELF & set(lows[last : last + 1]) else list(_before(lows, first, ends))
    return found


def meant(chunked: Chunked, tested: Collection[str], model: SemanticModel) -> list[Chunk]:
    """The rules that a question calls for, each "not" being said of one thing only.

    `but not X are significant` leaves out X, and asks for what is significant; `do not pass HEIDI` says nothing
    of other tests that are passed.
    """
    negative = [rule for rule in chunked.rules if any(sense.mode == "complement" for sense in rule.senses)]
    if not negative:
        return chunked.rules
    out = [one for chunks in exclusions(chunked, tested).values() for one in chunks if one.mention is not None]
    named = [one for one in out if model.entities[one.linked.entity].kind in _NAMED]
    found = []
    for rule in chunked.rules:
        if rule not in negative:
            found.append(rule)
        elif any(rule.first < one.first and one.last <= rule.last for one in named):
            senses = (sense._replace(mode="imply") if sense.mode == "complement" else sense for sense in rule.senses)
            found.append(replace(rule, senses=tuple(senses)))
        elif not any(is_part(rule, other) for other in negative):
            found.append(rule)
    return found


def parted(chunked: Chunked) -> Iterator[tuple[int, int]]:
    """Where words stand that leave out what is before them: `A excluded`, and the end of `leaving A out`."""
    for cue in chunked.english("left_out"):
        yield cue.first, cue.last
    for index, token in enumerate(chunked.tokens):
        verbs = {one.low for one in chunked.tokens[max(0, index - _APART) : index - 1]}
        if token.low == "out" and verbs & _PARTED:
            yield index, index + 1


def _can_be_left_out(chunk: Chunk, tested: Collection[str]) -> bool:
    if chunk.mention is not None or chunk.names("region") or chunk.names("condition"):
        return True
    return any(name in tested for name in chunk.names("attribute"))


def _behind(chunked: Chunked, cue: Chunk, things: dict[int, Chunk]) -> Iterator[Chunk]:
    """What stands right behind a "not", and what is joined to it."""
    lows = [token.low for token in chunked.tokens]
    if lows[cue.first] == "unlike":
        return  # a comparison
    verbs = {index for one in chunked.of("attribute") for index in range(one.first, one.last)}
    wholly = bool(_LEAVING_OUT & set(lows[cue.first : cue.last]))
    nouns = {index for one in chunked.of("noun") for index in range(one.first, one.last)} if wholly else set()
    place = cue.last
    passed: list[int] = []
    while place < len(lows) and len(passed) <= _REACH:
        thing = things.get(place)
        if thing is not None:
            between = [index for index in passed if lows[index] not in _PASSED and index not in nouns]
            if between and not _repeated(thing, chunked):
                return
            yield thing
            yield from _joined(thing, lows, things, again=wholly)
            return
        if lows[place] not in _PASSED and place not in verbs and place not in nouns:
            return
        passed.append(place)
        place += 1


def _repeated(chunk: Chunk, chunked: Chunked) -> bool:
    """Whether another thing of the same kind is named: `PTGS2 drugs that do not target PTGS1`."""
    return chunk.mention is not None and any(
        other is not chunk and other.mention and other.mention.entity == chunk.mention.entity
        for other in chunked.mentions
    )


def _joined(first: Chunk, lows: list[str], things: dict[int, Chunk], *, again: bool) -> Iterator[Chunk]:
    """Things of the same kind in a row with a first one: `A, B and C`, `near A or near B`."""
    place = first.last
    while place < len(lows) and lows[place] in _JOINING:
        either = False
        while place < len(lows) and lows[place] in _JOINING:
            either |= lows[place] in ("or", "nor")
            place += 1
        passing = _ARTICLES | _PASSED if again or either else _ARTICLES
        while place < len(lows) and place not in things and lows[place] in passing:
            place += 1
        other = things.get(place)
        if other is None or not _alike(first, other):
            return
        yield other
        place = other.last


def _before(lows: list[str], place: int, ends: dict[int, Chunk]) -> Iterator[Chunk]:
    """What stands right before words that leave it out, and what is joined to it."""
    if place and lows[place - 1] == ",":
        place -= 1
    while place and lows[place - 1] in _COPULAS:
        place -= 1
    last = ends.get(place)
    if last is None:
        return
    yield last
    place = last.first
    while place and lows[place - 1] in _JOINING:
        while place and lows[place - 1] in _JOINING:
            place -= 1
        other = ends.get(place)
        if other is None or not _alike(last, other):
            return
        yield other
        place = other.first


def _alike(one: Chunk, other: Chunk) -> bool:
    if one.mention is not None and other.mention is not None:
        return one.mention.entity == other.mention.entity
    return any(one.names(kind) and other.names(kind) for kind in ("region", "condition"))
