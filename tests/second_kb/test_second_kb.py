"""The same code answers over a seed bank: only the semantic model and the rules are of that field."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

import bmsql
from bmsql import Agent
from bmsql.semantic import load_semantic_model
from tests.offline.scoring import Question, Scorer, load

HERE = Path(__file__).parent
QUESTIONS = load(HERE / "questions.yaml")
ANOTHER_FIELD = re.compile(r"\b(genes?|snps?|drugs?|gwas|variants?|p-values?|alzheimer|parkinson)\b", re.IGNORECASE)


def test_the_questions_are_many_and_of_many_kinds(seed_scorer: Scorer) -> None:
    assert len(QUESTIONS) >= 100
    assert min(Counter(question.family for question in QUESTIONS).values()) >= 3
    for question in QUESTIONS:
        if question.sql:
            names, rows = seed_scorer.gold_rows(question)
            assert 1 <= len(rows) <= 50, question
            assert question.key in (*names, "", "numbers"), question


def test_nine_in_ten_are_right_and_hardly_any_wrong(seed_scorer: Scorer) -> None:
    score = seed_scorer.score("seed bank", QUESTIONS)
    if score.share("right") < 0.90 or score.share("wrong", "error") > 0.03:
        pytest.fail(f"{score.summary()}\n{score.failures()}", pytrace=False)


def test_the_convention_is_applied_with_its_source_and_count(seed_agent: Agent, seed_scorer: Scorer) -> None:
    answer = seed_agent.ask("Which accessions in the cold store are viable?")
    (record,) = (one for one in answer.conventions if one.rule == "seed_viability")
    assert record.status == "applied"
    assert "FAO" in record.citation
    assert "germination_pct >= 85" in answer.sql
    everything = Question(id="all", q="", sql="SELECT row_id FROM {COLD}")
    assert record.rows_without == len(seed_scorer.gold_rows(everything)[1])
    assert record.rows_with == len(answer.rows) < 50
    assert "germination_pct >= 85" not in answer.general.sql


@pytest.mark.parametrize(
    ("question", "condition"),
    [
        ("Which accessions in the cold store are viable?", "germination_pct >= 85"),
        ("Which accessions in the cold store are not viable?", "germination_pct < 85"),
        ("List the accessions of the cold store that germinated poorly", "germination_pct < 85"),
        ("Which accessions in the cold store are viable, with germination of at least 95?", "germination_pct >= 95"),
        ("Tests of the cold store with germination above 40", "germination_pct > 40"),
    ],
)
def test_viable_or_not_or_by_an_own_standard(seed_agent: Agent, question: str, condition: str) -> None:
    sql = seed_agent.ask(question).sql
    assert re.findall(r"germination_pct [<>=]+ \d+", sql) == [condition]


def test_the_convention_can_be_waived(seed_agent: Agent) -> None:
    answer = seed_agent.ask("Viable accessions of the dry room, whatever their germination")
    assert not re.search(r"germination_pct [<>=]+ \d+", answer.sql)


def test_lists_have_the_evidence_key_and_the_limit_of_this_model(seed_agent: Agent) -> None:
    answer = seed_agent.ask("List all accessions")
    assert len(answer.rows) == 50
    assert answer.sql.rstrip().endswith("LIMIT 50")
    assert all(str(row["row_id"]).startswith("ac_") for row in answer.rows)
    (record,) = (one for one in answer.conventions if one.rule == "default_limit")
    assert "labels" in record.reason


def test_rules_and_words_of_another_field_stay_away(seed_agent: Agent) -> None:
    """Neither rules nor the program's own words are about the field of the shipped model."""
    assert "genome_wide_significance" not in seed_agent.dependencies.rules
    for question in QUESTIONS:
        if question.family == "unanswerable" and not ANOTHER_FIELD.search(question.q):
            assert not ANOTHER_FIELD.search(seed_agent.ask(question.q).text), question.q
    answer = seed_agent.ask("Which plants are pollinated by hoverflies?")
    assert not ANOTHER_FIELD.search(answer.text)


def test_the_library_names_nothing_of_the_shipped_model() -> None:
    """Tables, columns, roles, families and values live in the semantic model, not in code."""
    model = load_semantic_model()
    names = set(model.tables) | {value.id for entity in model.entities.values() for value in entity.values}
    names |= {column for table in model.tables.values() for column in table.columns if len(column) > 3}
    names |= {role for family in model.families.values() for role in (*family.roles, *family.derived)}
    names |= set(model.families) | {name for name in (*model.attributes, *model.entities) if "_" in name}
    # Alias tables that a model may ask for, a word that introspection looks for, a type, and plain English.
    allowed = {"genes", "p_value", "Source", "size"}
    found = {
        f"{path.name}:{node.lineno}: {node.value}"
        for path in Path(bmsql.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names - allowed
    }
    assert found == set()
