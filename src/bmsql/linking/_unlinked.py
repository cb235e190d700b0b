"""Names that the data do not hold: known elsewhere, or only looking like a name."""

from __future__ import annotations

from collections.abc import Iterator

from bmsql.linking._context import Context
from bmsql.linking._fuzzy import Speller
from bmsql.linking._gate import GRAMMAR, is_named
from bmsql.linking._index import ValueIndex
from bmsql.linking._normal import compact, norm
from bmsql.linking._tables import Owner, symbol_table
from bmsql.linking._words import field_words, is_common
from bmsql.semantic import Entity, SemanticModel
from bmsql.types import Mention

_ASKED = frozenset(
    "is was are were does do did can could has have had will would makes make sells about called named".split()
)

_HELD = frozenset("in there here included covered listed present available".split())


class Unlinked:
    """Finds mentions of symbols, terms and names that no stored value answers to."""

    def __init__(self, index: ValueIndex, model: SemanticModel, speller: Speller) -> None:
        self._index = index
        self._speller = speller
        self._cues = {name: _cues(model, entity) for name, entity in model.entities.items()}
        self._kinds: dict[str, list[tuple[str, Entity]]] = {}
        for name, entity in model.entities.items():
            if entity.match:
                self._kinds.setdefault(entity.kind, []).append((name, entity))
        self._term_endings = {name: _heads_and_tails(index, name) for name, _ in self._of_kind("term")}

    def mentions(self, context: Context, covered: set[int]) -> Iterator[Mention]:
        """Such mentions among the words that nothing else explains."""
        for finder in (self._symbols, self._terms, self._names):
            for mention in finder(context, covered):
                yield mention
                covered |= context.places([mention])

    def compounds(self, context: Context, read: set[tuple[int, int]]) -> list[Mention]:
        """Hyphenated symbols that are known elsewhere, so that no part of one is read by itself (`PD-L1`)."""
        found: list[Mention] = []
        taken: set[int] = set()
        for name, entity in self._of_kind("symbol") if context.joins else ():
            for i, j in _symbol_spans(context, taken):
                if (
                    j - i < 2
                    or any(start <= i and j <= end for start, end in read)
                    or not context.is_upper(i, j)
                    or not entity.aliases
                ):
                    continue
                owners = symbol_table(entity.aliases).owners(context.text(i, j))
                if owners:
                    found.append(self._known(context, i, j, name, entity, owners))
                    taken.update(range(i, j))
        return found

    def _symbols(self, context: Context, covered: set[int]) -> Iterator[Mention]:
        for name, entity in self._of_kind("symbol"):
            for i, j in _symbol_spans(context, covered):
                if not covered.isdisjoint(range(i, j)):
                    continue
                text = context.text(i, j).removesuffix("'s").removesuffix("’s")
                if not _symbol_like(context, i, j, text, name):
                    continue
                place = context.is_place(i, j, name)
                owners = symbol_table(entity.aliases).owners(text) if entity.aliases else []
                if owners and _believable(owners, text, place):
                    yield self._known(context, i, j, name, entity, owners)
                elif context.is_upper(i, j) and (place or _coded(text)) and not self._asks_for_name(context, i, j):
                    yield _unlinked(context, i, j, name, text, entity)

    def _known(self, context: Context, i: int, j: int, name: str, entity: Entity, owners: list[Owner]) -> Mention:
        first = owners[0]
        held = [entry for entry in self._index.lexicon.symbols.get(compact(first.symbol)) if entry.source != "alias"]
        stored = self._index.lexicon.concepts[held[0].concept].stored if held else {}
        others = tuple(owner.symbol for owner in owners[1:])
        return Mention(
            text=context.text(i, j),
            start=context.tokens[i].start,
            end=context.tokens[j - 1].end,
            entity=name,
            value=first.symbol,
            stored={family: tuple(stored.get(family, ())) for family in entity.match},
            method="exact" if first.source == "official" else "alias",
            score=0.5 if others else 0.9,
            alternatives=others,
        )

    def _asks_for_name(self, context: Context, i: int, j: int) -> bool:
        return any(context.beside_noun(i, j, name) for name, _ in self._of_kind("name"))

    def _terms(self, context: Context, covered: set[int]) -> Iterator[Mention]:
        for name, entity in self._of_kind("term"):
            heads, tails = self._term_endings[name]
            for place, token in enumerate(context.tokens):
                if place in covered:
                    continue
                if token.norm in heads and place and place - 1 not in covered and _modifies(context, place - 1):
                    i = place - 1
                    if i and i - 1 not in covered and context.tokens[i].glue and not context.is_plain(i - 1):
                        i -= 1
                    yield _unlinked(context, i, place + 1, name, context.text(i, place + 1), entity)
                elif len(token.norm) > 6 and token.norm.endswith(tails) and self._unknown(context, place):
                    yield _unlinked(context, place, place + 1, name, token.text.lower(), entity)

    def _names(self, context: Context, covered: set[int]) -> Iterator[Mention]:
        for name, entity in self._of_kind("name"):
            endings = self._index.lexicon.endings.get(name, [])
            if not endings:
                continue
            for place, token in enumerate(context.tokens):
                if place in covered or not self._unknown(context, place):
                    continue
                lowered = token.text.lower()
                ending = max((len(e) for e in endings if lowered.endswith(e)), default=0)
                asked = context.before(place) in _ASKED or context.beside_noun(place, place + 1, name)
                asked = asked or context.begins_sentence(place)
                named = _is_held(context, place) or _is_for(context, place)
                asked = asked or named
                cued = not self._cues[name].isdisjoint(context.words) or named
                beside = context.beside_noun(place, place + 1, name) or _is_one(context, place, name)
                asked = asked or beside
                cue_follows = not beside and context.next_norm(place + 1) in self._cues[name]
                if (len(lowered) > 5 and (ending > 3 or (ending == 3 and (cued or asked)))) or (
                    cued
                    and asked
                    and (token.text[0].isupper() or ending or cue_follows or _is_one(context, place, name))
                ):
                    close = self._close(token.norm, name)
                    yield _unlinked(context, place, place + 1, name, token.text, entity, close)

    def _close(self, word: str, name: str) -> tuple[str, ...]:
        """Stored names that an unknown one is close to, for the user to choose from."""
        lexicon = self._index.lexicon
        entries = [entry for close in self._speller.close_to(word)[1] for entry in lexicon.names.get(close)]
        named = [entry for entry in entries if lexicon.concepts.entity(entry.concept) == name]
        return tuple(dict.fromkeys(entry.surface for entry in named if entry.source == "stored"))

    def _of_kind(self, kind: str) -> list[tuple[str, Entity]]:
        return self._kinds.get(kind, [])

    def _unknown(self, context: Context, place: int) -> bool:
        token = context.tokens[place]
        return (
            len(token.text) > 4
            and token.norm.isalpha()
            and not context.is_plain(place)
            and not self._index.lexicon.knows(token.norm)
        )


def _heads_and_tails(index: ValueIndex, name: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Words that names of a kind of term end with, and ends of such words."""
    endings = index.lexicon.endings.get(name, [])
    heads = frozenset(ending[1:] for ending in endings if ending.startswith(" "))
    return heads, tuple(ending for ending in endings if len(ending) > 3 and not ending.startswith(" "))


def _is_held(context: Context, place: int) -> bool:
    """Whether it is asked if something with a name's capital is there at all (`is Keytruda in the data`)."""
    return context.is_proper(place) and context.before(place) in _ASKED and context.after(place + 1) in _HELD


def _is_for(context: Context, place: int) -> bool:
    """Whether a word with a capital stands before `for`, as in `Nuplazid for psychosis`."""
    return context.tokens[place].text[0].isupper() and not context.shouting and context.after(place + 1) == "for"


def _is_one(context: Context, place: int, name: str) -> bool:
    """Whether it is asked if it is one at all (`is X a drug`)."""
    article = context.after(place + 1) in {"a", "an"}
    return article and context.before(place) in _ASKED and context.opens_noun(place + 2, place + 2, name)


def _modifies(context: Context, place: int) -> bool:
    """Whether a word makes a particular thing of the noun after it (`prion disease`, not `other disease`)."""
    token = context.tokens[place]
    return len(token.text) > 4 and token.norm.isalpha() and not context.is_plain(place)


def _cues(model: SemanticModel, entity: Entity) -> frozenset[str]:
    """Words that speak of rows of this entity: its nouns, and attributes that only its families have."""
    families = set(entity.match)
    phrases = [entity.label, entity.plural, *entity.nouns]
    for attribute in model.attributes.values():
        held = {*attribute.show, *attribute.measure, *attribute.test}
        if held and held <= families:
            phrases += attribute.words
    words = {word for phrase in phrases for word in phrase.split()}
    return frozenset(norm(word) for word in words if len(word) > 3 and word not in GRAMMAR)


def _symbol_spans(context: Context, covered: set[int]) -> Iterator[tuple[int, int]]:
    for size in (3, 2) if context.joins else ():
        for i in range(len(context.tokens) - size + 1):
            span = range(i, i + size)
            if covered.isdisjoint(span) and all(context.tokens[k].glue for k in span[1:]):
                yield i, i + size
    for i in range(len(context.tokens)):
        if i not in covered:
            yield i, i + 1


def _coded(text: str) -> bool:
    """Letters then digits, as symbols and codes are written."""
    return len(text) > 3 and text[:2].isalpha() and any(c.isdigit() for c in text)


def _symbol_like(context: Context, i: int, j: int, text: str, name: str) -> bool:
    lowered = text.lower()
    letters = lowered.rstrip("0123456789.")
    if len(text) < 2 or not text[0].isalpha() or not field_words().isdisjoint({lowered, letters}):
        return False
    if j - i == 1 and context.tokens[i].norm in context.model_words and not context.is_place(i, j, name):
        return False
    if context.is_upper(i, j):
        return len(text) > 2 or (text.isalpha() and not is_common(text)) or context.is_place(i, j, name)
    if any(c.isdigit() for c in text):
        return len(text) > 3
    if any(c.isupper() for c in text[1:]):
        return len(text) > 3 and not context.shouting
    return is_named(context, i, j, name) if is_common(text) else context.beside_noun(i, j, name)


def _believable(owners: list[Owner], text: str, place: bool) -> bool:
    if owners[0].source == "official":
        return True
    return len(text) > 2 and not is_common(text) and (place or any(c.isdigit() for c in text))


def _unlinked(
    context: Context, i: int, j: int, name: str, value: str, entity: Entity, close: tuple[str, ...] = ()
) -> Mention:
    return Mention(
        text=context.text(i, j),
        start=context.tokens[i].start,
        end=context.tokens[j - 1].end,
        entity=name,
        value=value,
        stored=dict.fromkeys(entity.match, ()),
        method="unlinked",
        score=0.0,
        alternatives=close,
    )
