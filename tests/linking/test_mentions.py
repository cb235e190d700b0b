from __future__ import annotations

import pytest

from bmsql.linking import Linker
from tests.linking.measure import cases, measure, spelled


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["q"][:60])
def test_a_question_names_what_the_table_says(linker: Linker, case: dict) -> None:
    assert [spelled(mention) for mention in linker.link(case["q"])] == case["m"]


@pytest.mark.parametrize("case", cases("stored.yaml"), ids=lambda case: case["q"])
def test_stored_values_by_family(linker: Linker, case: dict) -> None:
    mention = linker.link(case["q"])[0]
    assert mention.entity == case["entity"]
    assert {family: list(mention.stored[family]) for family in case["stored"]} == case["stored"]


def test_recall_and_precision(linker: Linker) -> None:
    measured = measure(linker)
    assert measured.expected >= 300
    assert measured.recall >= 0.97
    assert measured.precision >= 0.97


def test_a_correction_is_said(linker: Linker) -> None:
    (mention,) = linker.link("When was rasagilline approved?")
    assert mention.method == "fuzzy"
    assert mention.score < 1
    assert mention.note == "'rasagilline' read as 'Rasagiline'"


def test_an_alias_of_several_things_is_a_tie(linker: Linker) -> None:
    (mention,) = linker.link("SNPs near RP42")
    assert mention.entity == "gene"
    assert mention.alternatives
    assert mention.score <= 0.5


def test_the_same_name_twice_is_two_mentions(linker: Linker) -> None:
    mentions = linker.link("LRRK2 in PD and LRRK2 in AD")
    assert [mention.value for mention in mentions] == ["LRRK2", "PD", "LRRK2", "AD"]


@pytest.mark.parametrize("question", ["", "   ", "?!", "''", "𝔸𝔹ℂ", "’s", "a" * 5000, "- - -", "rs", "\n\n"])
def test_odd_questions_name_nothing(linker: Linker, question: str) -> None:
    assert linker.link(question) == ()


def test_an_unknown_name_comes_with_those_close_to_it(linker: Linker) -> None:
    (mention,) = linker.link("Is Humirra approved?")
    assert mention.method == "unlinked"
    assert mention.alternatives == ("Humira",)
