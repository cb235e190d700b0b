"""The names that may begin at a word of a question, without a look-up for each of its stretches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bmsql.linking._lexicon import Entry
from bmsql.linking._normal import MAX_TOKENS, Token, norm
from bmsql.linking._stored import StoredNames

Keyed = list[tuple[str, Sequence[Entry]]]
"""The keys of a stretch with their entries, most literal first; keys of no name may be left out."""


def stretches(words: Sequence[Token], i: int, names: StoredNames, least: int) -> Iterator[tuple[int, Keyed]]:
    """For each stretch from word `i`, where it ends and what it may name, under the keys of `span_keys`.

    Ends with the sentence or bracket, and where no name goes on, but not before `least` words.
    """
    end = min(len(words), i + MAX_TOKENS)
    glued = False
    for place in range(i + 1, end):
        if words[place].glue:
            glued = True
            break
    apart, closed, last = "", "", ""
    on_apart, on_joined, joins = True, glued, False
    for j in range(i + 1, end + 1):
        token = words[j - 1]
        if j - 1 > i and token.breaks:
            return
        found: Keyed = []
        apart = f"{apart} {token.norm}" if j - 1 > i else token.norm
        if on_apart:
            looked = names.look(apart)
            on_apart = looked.goes_on
            if looked.entries:
                found.append((apart, looked.entries))
        if on_joined:
            joins = joins or (j - 1 > i and token.glue != "")
            if j - 1 == i or token.glue:
                last += token.text
            else:
                closed = f"{closed} {norm(last)}" if closed else norm(last)
                last = token.text
                on_joined = names.look(closed).goes_on
            if on_joined and joins:
                joined = f"{closed} {norm(last)}" if closed else norm(last)
                if joined != apart:
                    found.append((joined, names.get(joined)))
        yield j, found
        if j - i >= least and not (on_apart or on_joined):
            return
