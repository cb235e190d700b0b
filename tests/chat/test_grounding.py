"""The check of answers: sentences that hold pass, and each invented piece is named."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmsql.conventions import load_rules
from bmsql.linking import Linker
from bmsql.reasoners import Evidence
from bmsql.reasoners.chat import Finding, check_text, plain_summary
from bmsql.reasoners.chat._figures import figures
from bmsql.semantic import load_semantic_model
from bmsql.types import ColumnInfo, ConventionRecord, Mention, Plan, QueryResult
from tests.chat.evidence import evidence, offline_answer, questions
from tests.yaml_files import read_yaml

MODEL, RULES = load_semantic_model(), load_rules()
HERE = Path(__file__).parent
SETS = ("grounding", "grounding_heldout", "grounding_heldout_more", "grounding_heldout_last")
FLOOR = 0.97


@dataclass(frozen=True)
class Case:
    """A sentence with its evidence; `piece` is what must be named in it, empty where it holds."""

    text: str
    evidence: Evidence
    piece: str = ""
    kind: str = ""


def cases(name: str) -> Iterator[Case]:
    for entry in read_yaml(HERE / f"{name}.yaml"):
        changes = {key: value for key, value in entry.items() if key not in ("evidence", "fine", "wrong")}
        made = evidence(entry["evidence"], **changes)
        for text in entry.get("fine", []):
            yield Case(text, made)
        for wrong in entry.get("wrong", []):
            yield Case(wrong["text"], made, wrong.get("match", wrong["piece"]) or " ", wrong.get("kind", ""))


def check(case: Case, linker: Linker) -> tuple[Finding, ...]:
    return check_text(case.text, case.evidence, names=linker.link, model=MODEL)


def named(case: Case, found: tuple[Finding, ...]) -> bool:
    return any(case.piece.strip().lower() in one.piece.lower() for one in found)


def test_there_are_enough_sentences() -> None:
    found = [case for name in SETS for case in cases(name)]
    assert len(found) >= 120
    assert len([case for case in found if case.piece]) >= 60
    assert len([case for name in SETS[1:] for case in cases(name)]) >= 100


@pytest.mark.parametrize("sets", [SETS[:1], SETS[1:]], ids=["development", "held out"])
def test_precision_and_recall(sets: tuple[str, ...], linker: Linker) -> None:
    """Of the sentences that are flagged, how many are wrong; of the wrong pieces, how many are named."""
    wrong, alarms, missed = 0, [], []
    for name in sets:
        for case in cases(name):
            found = check(case, linker)
            if case.piece:
                wrong += 1
                if not named(case, found):
                    missed.append((case.text, case.piece, found))
            elif found:
                alarms.append((case.text, found))
    right = wrong - len(missed)
    assert right / (right + len(alarms)) >= FLOOR, alarms
    assert right / wrong >= FLOOR, missed


@pytest.mark.parametrize("question", questions(), ids=lambda question: question[:50])
def test_the_offline_reasoners_sentences_hold(question: str, linker: Linker) -> None:
    if text := offline_answer(question):
        assert check(Case(text, evidence(question)), linker) == ()


def test_a_changed_number_or_gene_is_found(linker: Linker) -> None:
    """The offline reasoner's sentences with one digit or one gene replaced by another."""
    chosen = random.Random(4)
    numbers, genes = [0, 0], [0, 0]
    for question in questions()[::3]:
        text, made = offline_answer(question), evidence(question)
        for figure in [one for one in figures(text) if one.kind == "number" and len(one.text) > 2]:
            first = re.search(r"[1-9]", figure.text)
            assert first is not None
            digit = chosen.choice([other for other in "123456789" if other != first.group()])
            place = figure.start + first.start()
            changed = text[:place] + digit + text[place + 1 :]
            numbers[0] += 1
            numbers[1] += bool(check(Case(changed, made), linker))
        for mention in [one for one in linker.link(text) if one.entity == "gene" and one.method == "exact"]:
            changed = f"{text[: mention.start]}CACNA1A{text[mention.end :]}"
            genes[0] += 1
            genes[1] += any(one.piece == "CACNA1A" for one in check(Case(changed, made), linker))
    assert genes[0] > 20
    assert genes[1] == genes[0]
    assert numbers[0] > 40
    assert numbers[1] / numbers[0] >= 0.97


def test_rows_are_read_for_names_only_as_far_as_needed(linker: Linker) -> None:
    """A name that the evidence has under another one is looked for in its texts, one after the other."""
    made = GWAS.model_copy(update={"question": "Which SNPs lie near DJ-1?", "result": NAMED, "plan": Plan()})
    asked: list[str] = []

    def names(text: str) -> tuple[Mention, ...]:
        asked.append(text)
        return linker.link(text)

    text = "It is near PARK7."
    assert check_text(text, made, names=names, model=MODEL) == ()
    assert asked == [text, made.question]
    assert [one.piece for one in check_text("It is near SNCA.", made, names=names, model=MODEL)] == ["SNCA"]
    assert {"APOE", "Humira"} <= set(asked)


NOTATIONS = read_yaml(HERE / "notations.yaml")

# -- single notations ----------------------------------------------------------------------------

ROW = QueryResult(
    columns=tuple(ColumnInfo(name=name, type="FLOAT64") for name in ("SNP", "freq", "b", "p", "bp_38", "chr_38")),
    rows=(("rs1", 0.1234, -0.0849, 4.321e-12, 12_345_678, 6), ("rs2", 0.5, 0.3, 0.0, 700, 7)),
)
NAMED = QueryResult(columns=(ColumnInfo(name="name", type="STRING"),), rows=(("APOE",), ("Humira",)))
GWAS = Evidence(
    question="What is known of these SNPs?",
    plan=Plan.model_validate({"sources": [{"alias": "g", "table": "AlzheimerDisease_CombinedGeneData_UUID"}]}),
    sql="SELECT",
    result=ROW,
    total=1234,
    conventions=(
        ConventionRecord(
            rule="genome_wide_significance", status="applied", predicate="p < 5e-8", rows_without=2000, rows_with=1234
        ),
    ),
)  # fmt: skip


@pytest.mark.parametrize("said", NOTATIONS["fine"])
def test_notations_that_hold(said: str) -> None:
    assert check_text(f"There is {said}.", GWAS, model=MODEL) == ()


@pytest.mark.parametrize(("said", "piece"), NOTATIONS["wrong"])
def test_notations_of_another_number(said: str, piece: str) -> None:
    [found] = check_text(f"There is {said}.", GWAS, model=MODEL)
    assert found.piece == piece
    assert piece in str(found)


def test_what_may_be_derived_follows_from_the_unit() -> None:
    """1 - x of a frequency, exp of a log odds ratio: not the other way round, nor of a p-value."""
    assert check_text("The odds ratio is 1.13.", GWAS, model=MODEL) != ()
    assert check_text("The other allele has 1.08.", GWAS, model=MODEL) != ()
    unknown = GWAS.model_copy(update={"plan": Plan()})
    assert check_text("The other allele has 0.877, the odds ratio is 0.92.", unknown) == ()


def test_hidden_rows_support_their_number_only() -> None:
    hidden = GWAS.model_copy(update={"hidden": True, "result": ROW.model_copy(update={"rows": ()}), "conventions": ()})
    assert check_text("1234 SNPs were found; they are not shown.", hidden, model=MODEL) == ()
    assert [one.piece for one in check_text("1234 SNPs were found, rs7 with p = 3e-9.", hidden, model=MODEL)] == [
        "rs7",
        "3e-9",
    ]


def test_an_empty_text_is_no_answer() -> None:
    assert check_text("  ", GWAS)[0].kind == "claim"


@given(text=st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_is_checked_without_an_error(text: str) -> None:
    for one in check_text(text, GWAS, model=MODEL):
        assert one.piece in text
        assert str(one)


# -- the summary without a model -----------------------------------------------------------------


@pytest.mark.parametrize("question", questions(), ids=lambda question: question[:50])
def test_the_plain_summary_holds(question: str, linker: Linker) -> None:
    made = evidence(question)
    assert plain_summary(made, MODEL, RULES) == offline_answer(question)
    other = made.model_copy(update={"plan": Plan()})
    listing = plain_summary(other, MODEL, RULES)
    assert listing
    assert check(Case(listing, made), linker) == ()


def renamed(**changes: Any) -> Evidence:
    """Rows of a query that was not made from its plan."""
    columns = (ColumnInfo(name="band", type="FLOAT64"), ColumnInfo(name="snps", type="INT64"))
    result = QueryResult(columns=columns, rows=tuple((number / 10, number) for number in range(5)), **changes)
    return GWAS.model_copy(update={"result": result, "total": None, "plan": GWAS.plan})


def test_a_query_that_is_not_the_plans_is_listed() -> None:
    text = plain_summary(renamed(), MODEL, RULES)
    assert text == (
        "5 rows were found. The first are: band = 0, snps = 0; band = 0.1, snps = 1; band = 0.2, snps = 2. "
        "Conditions: p < 5e-8."
    )
    assert plain_summary(renamed(truncated=True), MODEL, RULES).startswith(
        "More rows were found than the 5 that are shown."
    )
    counted = renamed().model_copy(update={"total": 77})
    assert plain_summary(counted, MODEL, RULES).startswith("77 rows were found, of which 5 are shown.")
