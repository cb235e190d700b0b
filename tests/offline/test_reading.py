"""What the reader makes of a question's parts: words, numbers, places, tables, and what it will not answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bmsql import Agent
from bmsql.errors import QuestionError
from bmsql.reasoners.offline._chunks import Chunk, cut
from bmsql.reasoners.offline._tokens import clean, number, tokenise
from bmsql.reasoners.offline._vocabulary import Phrases, Sense, Vocabulary
from bmsql.semantic import load_semantic_model
from bmsql.types import Plan
from tests.offline.embedded import TABLES
from tests.yaml_files import read_yaml

CASES = Path(__file__).parent / "cases"
PREFIXES = {"number": "N:", "stop": "S:", "sign": "G:", "word": ""}


def cases(name: str) -> Any:
    return read_yaml(CASES / f"{name}.yaml")


def answered(agent: Agent, question: str) -> Plan:
    plan = agent.plan(question)
    assert plan.answerable, plan.problem
    assert plan.clarification is None, plan.clarification
    return plan


@pytest.mark.parametrize("case", cases("tokens"), ids=lambda case: repr(case["text"]))
def test_tokens(case: dict[str, Any]) -> None:
    text = clean(case["text"])
    tokens = tokenise(text)
    assert [PREFIXES[token.kind] + token.low for token in tokens] == case["tokens"]
    assert all(text[token.start : token.end] == token.text for token in tokens)


@pytest.mark.parametrize(("text", "value"), cases("numbers"))
def test_numbers(text: str, value: float) -> None:
    assert number(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("question", "role", "op", "values"),
    [
        pytest.param(group["q"].format(phrase), group["role"], op, values, id=f"{group['role']}: {phrase}")
        for group in cases("comparisons")
        for phrase, (op, *values) in group["phrases"].items()
    ],
)
def test_comparisons(agent: Agent, question: str, role: str, op: str, values: list[float]) -> None:
    found = [one for one in answered(agent, question).filters if one.target == role and one.op != "not_null"]
    assert [(one.op, [float(value) for value in one.values]) for one in found] == [
        (op, [pytest.approx(value) for value in values])
    ]


@pytest.mark.parametrize("case", cases("regions"), ids=lambda case: case["q"])
def test_regions(agent: Agent, case: dict[str, Any]) -> None:
    (found,) = (
        one
        for one in answered(agent, case["q"]).filters
        if one.op == "region" or one.target.startswith("gwas.chromosome")
    )
    if "region" in case:
        assert (found.target, found.op, list(found.values)) == ("region", "region", case["region"])
    else:
        role = f"gwas.chromosome_{case.get('build', '38')}"
        assert (found.target, found.op, list(found.values)) == (role, "=", case["chromosomes"])


def test_a_build_that_is_not_named_is_said(agent: Agent) -> None:
    notes = " ".join(answered(agent, "PD SNPs in chr4:90,000,000-91,000,000").notes)
    assert "GRCh38" in notes
    assert answered(agent, "PD SNPs in chr4:90,000,000-91,000,000 (hg38)").notes == ()


@pytest.mark.parametrize(
    ("question", "reason"), [(question, reason) for reason, group in cases("refused").items() for question in group]
)
def test_refused(agent: Agent, question: str, reason: str) -> None:
    plan = agent.plan(question)
    assert not plan.answerable
    assert reason in plan.problem


@pytest.mark.parametrize("case", cases("doubts"), ids=lambda case: case["q"])
def test_doubts(agent: Agent, case: dict[str, Any]) -> None:
    plan = agent.plan(case["q"])
    assert not plan.answerable, plan
    assert plan.problem
    assert case["says"] in plan.problem


@pytest.mark.parametrize("case", cases("families"), ids=lambda case: case["q"])
def test_families(agent: Agent, case: dict[str, Any]) -> None:
    plan = answered(agent, case["q"])
    assert [source.table for source in plan.sources] == [TABLES[short] for short in case["tables"]]


@pytest.mark.parametrize("case", cases("readings"), ids=lambda case: case["q"])
def test_readings(agent: Agent, case: dict[str, Any]) -> None:
    plan = answered(agent, case["q"])
    thresholds = {use.rule: use.mode for use in plan.conventions if use.mode not in ("waived", "stated")}
    assert thresholds == case["uses"]
    assert {one.target for one in plan.filters if one.op != "not_null"} == set(case["filters"])


@pytest.mark.parametrize("case", cases("alternatives"), ids=lambda case: case["q"])
def test_alternatives(agent: Agent, case: dict[str, Any]) -> None:
    found = [one for one in answered(agent, case["q"]).filters if one.any_of]
    assert [one.target for one in found] == case["either"]
    assert len({one.any_of for one in found}) == bool(found)


@pytest.mark.parametrize("case", cases("shapes"), ids=lambda case: case["q"])
def test_shapes(agent: Agent, case: dict[str, Any]) -> None:
    plan = answered(agent, case["q"])
    aggregate = f"{plan.aggregate.function} {plan.aggregate.column}" if plan.aggregate else ""
    assert (plan.intent, aggregate) == (case["intent"], case["aggregate"])
    assert [item.column for item in plan.group_by] == ([case["group"]] if case["group"] else [])
    assert plan.limit == case.get("limit")


@pytest.mark.parametrize(
    ("question", "role", "direction"),
    [
        ("Which significant PD SNP on chromosome 1 has the largest effect?", "gwas.absolute_effect", "desc"),
        ("Which gene has the largest SMR effect in AD?", "smr.absolute_effect", "desc"),
        ("Which significant PD SNP has the highest beta?", "gwas.effect", "desc"),
        ("Which significant PD SNP has the smallest effect size?", "gwas.absolute_effect", "asc"),
        ("The five most protective PD variants", "gwas.absolute_effect", "desc"),
        ("Which significant AD SNP raises the risk the most?", "gwas.absolute_effect", "desc"),
        ("Which gene's expression raises PD risk the most?", "smr.absolute_effect", "desc"),
    ],
)
def test_an_effect_is_ranked_by_its_size(agent: Agent, question: str, role: str, direction: str) -> None:
    first = answered(agent, question).order[0]
    assert (first.column, first.descending) == (role, direction == "desc")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Significant SNPs near CLU in AD and near SNCA in PD", [[("gene", "CLU")], [("gene", "SNCA")]]),
        (
            "PD SNPs near SNCA or LRRK2 and AD SNPs on chromosome 8 with p < 1e-10",
            [
                [("gene", "SNCA"), ("gene", "LRRK2")],
                [("gwas.chromosome_38", 8), ("gwas.p_value", 1e-10)],
            ],
        ),
        ("AD SNPs on chr 8 and PD SNPs on chr 4", [[("gwas.chromosome_38", 8)], [("gwas.chromosome_38", 4)]]),
        ("AD SNPs with p < 1e-20 and PD SNPs with p < 1e-10", [[("gwas.p_value", 1e-20)], [("gwas.p_value", 1e-10)]]),
    ],
)
def test_what_is_said_of_two_studies_in_pairs_goes_to_its_own(
    agent: Agent, question: str, said: list[list[tuple[str, object]]]
) -> None:
    plan = answered(agent, question)
    assert plan.combine == "union"
    for source, own in zip(plan.sources, said, strict=True):
        kept = [(one.target, value) for one in plan.filters if one.source == source.alias for value in one.values]
        assert kept == own
        assert all(one.source for one in plan.filters)


def test_an_answer_says_what_was_asked_of_each_of_two_studies(agent: Agent) -> None:
    text = agent.ask("Significant SNPs near CLU in AD and near SNCA in PD").text
    assert "SNPs near CLU are" in text
    assert "near SNCA: " in text
    text = agent.ask("Significant SNPs near LRRK2 in AD and near CLU in PD").text
    assert "No SNP near LRRK2" in text
    assert "none near CLU for Parkinson's disease" in text


def test_what_things_have_is_recorded(agent: Agent) -> None:
    plan = answered(agent, "Which drugs have a trade name?")
    assert [(one.target, one.op) for one in plan.filters] == [("drug.trade_names", "not_null")]
    assert not agent.ask("Which drugs have patents?").rows


@pytest.mark.parametrize(
    ("question", "found", "left"),
    [
        ("What is the target of tetrabenazine?", {"Tetrabenazine"}, {"Dutetrabenazine"}),
        ("Is prednisolone approved?", {"Prednisolone Sodium Phosphate"}, {"Methylprednisolone Acetate"}),
        ("Which drugs are partial agonists?", {"Methysergide"}, set()),
        ("Which inhibitors were first approved in 2018?", {"Patisiran", "Inotersen"}, set()),
    ],
)
def test_a_name_does_not_match_longer_ones_that_hold_it(
    agent: Agent, question: str, found: set[str], left: set[str]
) -> None:
    names = {row["drugName"] for row in agent.ask(question).rows}
    assert found <= names
    assert not left & names


@pytest.mark.parametrize("question", ["", "   ", "\n\t", "\0", "x" * 5000, "caf\udce9"])
def test_no_question(agent: Agent, question: str) -> None:
    with pytest.raises(QuestionError):
        agent.plan(question)


def test_the_same_question_gives_the_same_plan(agent: Agent) -> None:
    question = "Which approved antibodies target genes at a significant PD locus?"
    assert agent.plan(question) == agent.plan(question)


def test_phrases_are_matched_whole_and_the_longest_first() -> None:
    phrases = Phrases()
    for text in ("number of targets", "number", "OR"):
        phrases.add(text, Sense("attribute", text))
    phrases.finish()
    assert phrases.match("the number of targets".split(), 1) == (3, [Sense("attribute", "number of targets")])
    assert [length for length, _ in phrases.matches("number of targets".split(), 0)] == [3, 1]
    assert phrases.match("number of".split(), 0) == (1, [Sense("attribute", "number")])
    assert phrases.match("of targets".split(), 0) is None
    assert phrases.match(["or"], 0) is None
    assert phrases.match(["or"], 0, "OR") == (1, [Sense("attribute", "OR")])
    assert phrases.exactly(("number", "of")) == []


def test_phrases_of_several_intents_come_once_and_in_the_order_of_the_question() -> None:
    vocabulary = Vocabulary(load_semantic_model(), {})
    text = "most of the drugs, how many of them, and the most targets"
    chunked = cut(text, tokenise(text), (), vocabulary)
    found = chunked.english("count", "most", "no such intent")
    assert [chunk.first for chunk in found] == sorted({chunk.first for chunk in found})
    assert {*found_texts(chunked.english("most")), *found_texts(chunked.english("count"))} == set(found_texts(found))
    assert "how many" in found_texts(found)
    assert not chunked.english("no such intent")


def found_texts(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]
