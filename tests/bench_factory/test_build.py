"""Built questions: the same each time, of every template, with gold that holds, and no leak between splits."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from bmsql.backends import Backend, DuckDBBackend
from bmsql.bench import BIO_CATEGORIES, SQL_CATEGORIES, Question
from bmsql.bench.factory import Built, TemplateBook, build_questions, load_templates, shipped_templates
from bmsql.bench.factory._templates import mask
from bmsql.errors import ConfigurationError
from bmsql.semantic import SemanticModel, load_semantic_model
from bmsql.sql import validate
from bmsql.types import ValidatedQuery
from tests.second_kb.data import build as build_seed_bank

# Hundreds of questions are built and their gold is run.
pytestmark = pytest.mark.all

HERE = Path(__file__).parent
SEED_BANK = HERE.parent / "second_kb"
BOOK = shipped_templates()
# What the embedded knowledge base does not hold, and so cannot be asked about.
NOT_HELD = {"indication.patents": "nothing could be drawn for its slots"}
N = len(BOOK.templates)


@pytest.fixture(scope="session")
def built(backend: Backend, model: SemanticModel) -> Built:
    return build_questions(backend, model, BOOK, n=N, seed=7)


def masked(question: Question) -> str:
    """The question without what its slots were filled with."""
    text = question.question
    for said in sorted(question.entities.values(), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(said)}(?!\w)", "_", text, flags=re.IGNORECASE)
    return mask(text)


def test_templates_are_many_and_of_all_kinds() -> None:
    assert len(BOOK.templates) >= 60
    assert len({template.family for template in BOOK.templates}) >= 15
    assert {template.split for template in BOOK.templates} == {"train", "dev", "test"}
    assert {bio for template in BOOK.templates for bio in template.bio} == set(BIO_CATEGORIES)
    for template in BOOK.templates:
        assert len(template.ask) >= 3, template.id


def test_every_template_gives_a_question_or_says_why_not(built: Built) -> None:
    given = Counter(question.template for question in built.questions)
    assert {template.id for template in BOOK.templates if not given[template.id]} == set(NOT_HELD)
    assert built.unused == NOT_HELD


def test_there_are_as_many_as_asked_for_and_none_twice(built: Built) -> None:
    assert len(built.questions) == N
    assert len({question.id for question in built.questions}) == N
    assert len({mask(question.question) for question in built.questions}) == N


def test_gold_is_valid_and_its_rows_are_of_a_sane_size(built: Built, backend: Backend) -> None:
    catalog = backend.catalog()
    for question in built.questions:
        if question.unanswerable:
            assert question.expected is None
            assert question.gold_answer
            continue
        assert isinstance(validate(question.gold_sql, catalog), ValidatedQuery), question
        assert question.expected is not None
        assert not question.expected.truncated
        assert len(question.expected.rows) <= 100
        assert question.expected.fingerprint == backend.fingerprint()
        if question.key:
            assert question.key in question.expected.columns
        if question.answer_kind == "numbers":
            assert question.expected.rows
        assert "select" in question.sql_categories


def test_some_results_are_empty_and_some_large(built: Built) -> None:
    sizes = [len(question.expected.rows) for question in built.questions if question.expected is not None]
    assert 0.01 < sizes.count(0) / len(sizes) < 0.3
    assert max(sizes) >= 20


def test_all_categories_occur(built: Built) -> None:
    found = {category for question in built.questions for category in question.sql_categories}
    assert found == set(SQL_CATEGORIES)


def test_splits_share_no_template_and_no_wording(built: Built) -> None:
    templates: dict[str, set[str]] = defaultdict(set)
    wordings: dict[str, set[str]] = defaultdict(set)
    for question in built.questions:
        templates[question.template].add(question.split)
        wordings[masked(question)].add(question.split)
    assert all(len(splits) == 1 for splits in templates.values())
    assert {text: splits for text, splits in wordings.items() if len(splits) > 1} == {}


@pytest.mark.all
def test_the_same_seed_gives_the_same_bytes_and_another_gives_others(backend: Backend, model: SemanticModel) -> None:
    few = BOOK.model_copy(update={"templates": BOOK.templates[:8]})
    again, twice, other = (build_questions(backend, model, few, n=12, seed=seed).questions for seed in (7, 7, 8))
    assert [question.model_dump_json() for question in again] == [question.model_dump_json() for question in twice]
    assert {question.question for question in again} != {question.question for question in other}


@pytest.mark.all
def test_a_split_has_its_templates_alone(backend: Backend, model: SemanticModel) -> None:
    few = BOOK.model_copy(update={"templates": BOOK.templates[:8]})
    assert {question.split for question in build_questions(backend, model, few, n=5, split="dev").questions} == {"dev"}


@pytest.mark.all
def test_the_profiles_differ_where_the_conventions_do(backend: Backend, model: SemanticModel) -> None:
    chosen = tuple(BOOK.by_id[name] for name in ("indication.approved", "smr_gene.signals"))
    book = BOOK.model_copy(update={"templates": chosen})
    strict = build_questions(backend, model, book, n=6, seed=1, profile="strict").questions
    benchmark = build_questions(backend, model, book, n=6, seed=1, profile="biomedsql").questions
    approved = [question for question in benchmark if question.template == "indication.approved"]
    assert {question.key for question in approved} == {"UUID"}
    assert all("yearOfFirstApproval > 0" in question.gold_sql for question in approved)
    assert {question.key for question in strict if question.template == "indication.approved"} == {"drug"}
    for question in strict:
        assert ("p_HEIDI > 0.01" in question.gold_sql) == (question.template == "smr_gene.signals")
    assert not any("p_HEIDI > 0.01" in question.gold_sql for question in benchmark)


@pytest.fixture(scope="session")
def seed_bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Backend, TemplateBook]]:
    path = build_seed_bank(tmp_path_factory.mktemp("seeds") / "seeds.duckdb")
    with DuckDBBackend(path) as opened:
        yield opened, load_templates([HERE / "seedbank.yaml"])


def test_another_knowledge_base_is_asked_by_templates_of_its_own(
    seed_bank: tuple[Backend, TemplateBook], model: SemanticModel
) -> None:
    backend, book = seed_bank
    built = build_questions(backend, load_semantic_model(SEED_BANK / "model.yaml"), book, n=6)
    assert len(built.questions) == 6
    assert {question.key for question in built.questions} == {"row_id"}
    assert all(question.expected is not None and question.expected.rows for question in built.questions)
    with pytest.raises(ConfigurationError, match="seedbank"):
        build_questions(backend, model, book, n=6)
