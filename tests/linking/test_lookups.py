"""Look-ups of stored names: the short ways find what looking everything up would find."""

from __future__ import annotations

from bisect import bisect_left

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bmsql.linking import Linker, ValueIndex
from bmsql.linking._arrow import ColumnFile, beginning, find, pack
from bmsql.linking._lexicon import Entry
from bmsql.linking._normal import MAX_TOKENS, span_keys, tokenize
from bmsql.linking._stretches import stretches

Named = set[tuple[int, int, str, tuple[Entry, ...]]]
PIECES = st.sampled_from(
    ["multiple", "sclerosis", "Alzheimer", "disease", "type", "2", "diabetes", "Pre", "Filled", "syringe", "insulin",
     "glargine", "progressive", "supranuclear", "palsy", "IL", "17A", "the", "of", "subcutaneous"]
)  # fmt: skip
BETWEEN = st.sampled_from([" ", " ", " ", "-", "–", ".", ". ", " (", ", ", "'s "])
TEXTS = st.lists(st.tuples(PIECES, BETWEEN), max_size=14).map(lambda parts: "".join(map("".join, parts)))


def by_short_ways(text: str, index: ValueIndex, least: int) -> Named:
    words, names = tokenize(text), index.lexicon.names
    return {
        (i, j, key, tuple(entries))
        for i in range(len(words))
        for j, found in stretches(words, i, names, least)
        for key, entries in found
        if entries
    }


def by_looking_up_everything(text: str, index: ValueIndex) -> Named:
    words, names = tokenize(text), index.lexicon.names
    return {
        (i, j, key, tuple(names.get(key)))
        for i in range(len(words))
        for j in range(i + 1, min(len(words), i + MAX_TOKENS) + 1)
        for key in span_keys(words[i:j])
        if names.get(key)
    }


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(TEXTS, st.text(max_size=40)), least=st.integers(1, 3))
def test_no_name_is_missed(facts_index: ValueIndex, text: str, least: int) -> None:
    assert by_short_ways(text, facts_index, least) == by_looking_up_everything(text, facts_index)


def test_names_of_several_words_go_on(facts_index: ValueIndex) -> None:
    found = by_short_ways("of progressive supranuclear palsy, or multiple-sclerosis", facts_index, 1)
    assert {(i, j, key) for i, j, key, _ in found} >= {(1, 4, "progressive supranuclear palsy")}
    assert facts_index.lexicon.names.look("progressive supranuclear").goes_on
    assert not facts_index.lexicon.names.look("progressive supranuclear pal").goes_on


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 1000])
def test_a_text_is_found_in_a_sorted_column(size: int) -> None:
    texts = sorted(f"{number * 7919 % 10007:x}" for number in range(size))
    column = ColumnFile(pack({}, {"texts*": texts}), "in memory").texts("texts*")
    known = [text.encode() for text in texts]
    for wanted in {*known, *(text + b"0" for text in known), b"", b"~", b"8"}:
        assert column.place(wanted) == bisect_left(known, wanted)
        assert find(column, wanted) == (known.index(wanted) if wanted in known else -1)
        assert [*beginning(column, wanted)] == [text for text in known if text.startswith(wanted)]


def test_of_two_names_as_close_the_things_own_is_meant(linker: Linker) -> None:
    """`memantina` and `memantine` are one letter away; both are stored, for the same drug."""
    (mention,) = linker.link("memantin")
    assert (mention.value, mention.stored["drug"]) == ("Memantine", ("memantine",))
