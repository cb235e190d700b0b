from __future__ import annotations

import pytest

from bmsql.linking._normal import compact, inverted, keys_of, norm, tokenize
from bmsql.linking._words import is_common


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Parkinson's", "parkinson"), ("Parkinson’s", "parkinson"), ("Parkinsons", "parkinson"),
        ("leukaemia", "leukemia"), ("oesophageal", "esophageal"), ("tumours", "tumor"), ("antibodies", "antibody"),
        ("sclerosis", "sclerosis"), ("virus", "virus"), ("Behçet's", "behcet"), ("I'm", "i'm"), ("MS", "ms"),
        ("β", "beta"),
    ],
)  # fmt: skip
def test_words_are_compared_in_normal_form(word: str, expected: str) -> None:
    assert norm(word) == expected


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("Pre-Filled Syringe", ("pre filled syringe", "prefilled syringe")),
        ("CT-P13", ("ct p13", "ctp13")),
        ("insulin glargine", ("insulin glargine",)),
        ("...", ()),
    ],
)
def test_a_name_is_found_with_and_without_its_hyphens(name: str, keys: tuple[str, ...]) -> None:
    assert keys_of(name) == keys


def test_names_do_not_go_across_sentences_or_brackets() -> None:
    assert keys_of("multiple. sclerosis") == ()
    assert keys_of("stromal tumor (GIST)") == ()
    assert keys_of("351(k) Interchangeable") == ("351 k interchangeable",)


def test_headings_are_read_backwards() -> None:
    assert inverted("Leukemia, Lymphocytic, Chronic, B-Cell") == "B-Cell Chronic Lymphocytic Leukemia"
    assert inverted("Psoriasis") == ""


def test_symbols_without_hyphens() -> None:
    assert compact("HLA-DRB1") == compact("hla drb1") == "HLADRB1"


def test_places_of_words() -> None:
    text = "Is MAO-B, or “MAOB”?"
    assert [text[token.start : token.end] for token in tokenize(text)] == ["Is", "MAO", "B", "or", "MAOB"]


@pytest.mark.parametrize("word", ["rest", "Set", "running", "studies", "calm", "largest"])
def test_everyday_words(word: str) -> None:
    assert is_common(word)


@pytest.mark.parametrize("word", ["humira", "alzheimer", "lrrk2", "ace", "sclerosis"])
def test_names_are_not_everyday_words(word: str) -> None:
    assert not is_common(word)
