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


@pytest.mark.parametrize("file", ["mentions.yaml", "researchers.yaml"])
def test_recall_and_precision(linker: Linker, file: str) -> None:
    measured = measure(linker, file)
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


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("PARK8 SNPs", "'PARK8' read as 'LRRK2'"),
        ("SNPs near RP42", "'RP42' read as 'DCUN1D1'; it may also be 'KLHL7'"),
        ("Sinemet", "'Sinemet' read as 'Levodopa'; it may also be 'Carbidopa'"),
        ("donepezil mesylate", "'donepezil mesylate' read as 'Donepezil'"),
        ("cortical tissues", "'cortical tissues' read as 2 values: cortex, prefrontal cortex"),
        ("PD SNPs near the SIPA1L family", ""),
        ("donepezil", ""),
        ("LRRK2", ""),
    ],
)
def test_what_is_not_plain_is_said(linker: Linker, question: str, note: str) -> None:
    assert linker.link(question)[0].note == note


def test_a_beginning_stands_for_all_symbols_that_begin_so(linker: Linker) -> None:
    (mention,) = linker.link("SNPs near the MS4A cluster")
    assert (mention.text, mention.value, mention.method) == ("MS4A cluster", "MS4A*", "pattern")
    assert mention.stored["gwas"] == ("MS4A2", "MS4A3", "MS4A4A", "MS4A4E", "MS4A6A", "MS4A6E")
    assert mention.note.startswith("'MS4A' read as the 7 genes whose symbols begin so: MS4A1, MS4A2")
    assert linker.link("kcnq*")[0].stored["drug"] == linker.link("KCNQ genes")[0].stored["drug"]
    assert [each.value for each in linker.link("LRRK2 genes in PD")] == ["LRRK2", "PD"]


def test_brain_tissues_are_all_of_the_brain(linker: Linker) -> None:
    (brain,) = linker.link("brain eQTL")[:1]
    (tissues,) = linker.link("which brain tissues")
    assert brain.stored["smr"] == ("whole brain",)
    assert len(tissues.stored["smr"]) == 12
    assert not {"whole blood", "skeletal muscle"} & set(tissues.stored["smr"])


def test_a_tissue_that_no_table_holds_is_known_as_one(linker: Linker) -> None:
    liver = linker.link("eQTL hits in the liver")[-1]
    assert (liver.entity, liver.value, liver.method, liver.stored) == ("tissue", "Liver", "unlinked", {"smr": ()})
    assert [mention.entity for mention in linker.link("drugs for liver failure")] == ["disease"]


@pytest.mark.parametrize("typed", ["lzheimer's disease", "Slzheimer's disease", "zarkinson disease"])
def test_a_first_letter_may_be_wrong(linker: Linker, typed: str) -> None:
    (mention,) = linker.link(f"SNPs for {typed}")
    assert (mention.entity, mention.method) == ("disease", "fuzzy")
    assert mention.value in {"AD", "PD"}


@pytest.mark.parametrize("typed", ["nilotinib", "saracumab", "benlafaxine"])
def test_a_drug_of_a_series_is_not_taken_for_another(linker: Linker, typed: str) -> None:
    (mention,) = linker.link(f"Is {typed} approved?")
    assert mention.method == "unlinked"
