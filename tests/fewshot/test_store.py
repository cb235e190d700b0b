"""Examples kept in a file and found again: by question, by structure, and not where they are held out."""

from __future__ import annotations

import json
import multiprocessing
import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path

import pytest

from bmsql.backends import open_backend
from bmsql.errors import ConfigurationError, ForbiddenSqlError, SemanticModelError, SqlSyntaxError
from bmsql.fewshot import Example, ExampleStore, same_template
from bmsql.semantic import Example as ModelExample
from bmsql.semantic import SemanticModel, load_semantic_model
from bmsql.sql import validate
from bmsql.types import Limits, Mention, ValidatedQuery
from tests.fewshot.quality import gold, share_right

MODEL = load_semantic_model().model_copy(update={"examples": ()})
GWAS = "AlzheimerDisease_CombinedGeneData_UUID"


def link(question: str) -> tuple[Mention, ...]:
    """Words with a digit or of capitals only are names here."""
    found, at = [], 0
    for word in question.replace("?", " ").split():
        at = question.index(word, at)
        if word.isupper() or any(char.isdigit() for char in word):
            entity = "variant" if word.startswith("rs") else "gene"
            found.append(Mention(text=word, start=at, end=at + len(word), entity=entity, value=word))
    return tuple(found)


@pytest.fixture
def store(tmp_path: Path) -> ExampleStore:
    made = ExampleStore(MODEL, tmp_path / "mine" / "examples.jsonl", link=link)
    made.add(
        "Which SNPs near BIN1 are significant?", f"SELECT UUID, SNP FROM {GWAS} WHERE nearestGene = 'BIN1' AND p < 5e-8"
    )
    made.add("Is rs7412 significant?", f"SELECT UUID, p FROM {GWAS} WHERE SNP = 'rs7412'")
    made.add("How many SNPs are near CLU?", f"SELECT COUNT(*) FROM {GWAS} WHERE nearestGene = 'CLU'", template="count")
    return made


def found(store: ExampleStore, question: str, **options: object) -> list[str]:
    return [one.example.question for one in store.nearest(question, **options)]  # type: ignore[arg-type]


def test_the_nearest_is_of_the_same_kind_whatever_it_names(store: ExampleStore) -> None:
    assert found(store, "Which SNPs near TREM2 are significant?", k=1) == ["Which SNPs near BIN1 are significant?"]
    assert found(store, "is rs6733839 significant", k=1) == ["Is rs7412 significant?"]
    assert found(store, "How many SNPs are near APOE?", k=1) == ["How many SNPs are near CLU?"]
    [first, second, third] = store.nearest("Is rs1 significant?")
    assert first.similarity == 1.0 > second.similarity >= third.similarity >= 0.0
    assert first.structure is None
    assert len(store.nearest("anything", k=2)) == 2


def test_with_a_draft_the_structure_decides_first(store: ExampleStore) -> None:
    draft = "SELECT COUNT(*) FROM x WHERE g = 'TREM2'"
    best = store.nearest("Which SNPs near TREM2 are significant?", draft_sql=draft)[0]
    assert best.example.question == "How many SNPs are near CLU?"
    assert best.structure == 1.0
    unreadable = found(store, "Which SNPs near TREM2 are significant?", draft_sql="SELECT FROM", k=1)
    assert unreadable == ["Which SNPs near BIN1 are significant?"]


def test_hold_out_leaves_out_the_template(store: ExampleStore) -> None:
    question = "How many SNPs are near APOE?"
    assert "How many SNPs are near CLU?" not in found(store, question, hold_out="count")
    assert "How many SNPs are near CLU?" in found(store, question, hold_out="another")
    # Without a template's name, the same masked question or the same skeleton is the same template.
    assert "Is rs7412 significant?" not in found(store, "Is rs1 significant?", hold_out="")
    draft = f"SELECT p FROM {GWAS} WHERE SNP = 'rs9'"
    assert "Is rs7412 significant?" not in found(store, "Judge rs9", draft_sql=draft, hold_out="")
    assert found(store, question, hold_out=lambda one: True) == []


def test_same_template() -> None:
    one = Example(question="a", sql="s", masked="m", skeleton="k", template="t")
    assert same_template(one)(one.model_copy(update={"masked": "x", "skeleton": "y"}))
    assert not same_template(one)(one.model_copy(update={"template": "u"}))
    assert same_template(one)(one.model_copy(update={"template": "", "masked": "x"}))
    assert not same_template(one)(Example(question="b", sql="s", masked="x", skeleton="y"))


def test_a_later_example_of_a_question_takes_the_earlier_ones_place(store: ExampleStore) -> None:
    changed = store.add("is RS7412  significant?", f"SELECT UUID, p, b FROM {GWAS} WHERE SNP = 'rs7412'")
    assert [one.sql for one in store.examples if one.key == changed.key] == [changed.sql]
    assert len(store.examples) == 3
    assert store.path is not None
    size = store.path.stat().st_size
    store.add("is RS7412  significant?", f"SELECT UUID, p, b FROM {GWAS} WHERE SNP = 'rs7412'")
    assert store.path.stat().st_size == size, "what is there already is not written again"


def test_tables_are_kept_by_their_plain_names(store: ExampleStore) -> None:
    kept = store.add("q", f"SELECT SNP FROM `my-project.data.{GWAS}` AS t WHERE t.b > 0")
    assert kept.sql == f"SELECT SNP FROM {GWAS} AS t WHERE t.b > 0"


def test_another_store_sees_what_was_added(store: ExampleStore) -> None:
    other = ExampleStore(MODEL, store.path, link=link)
    assert other.examples == store.examples
    store.add("Where is rs1?", f"SELECT bp_38 FROM {GWAS} WHERE SNP = 'rs1'")
    assert len(other.examples) == 4


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{not json", "this line is no example"),
        ('["a"]', "it is a list"),
        ('{"question": "q"}', "Field required"),
        ('{"question": "q", "sql": "SELECT 1", "sqll": ""}', "Extra inputs are not permitted"),
        ('{"question": " ", "sql": "SELECT 1"}', "the question or the SQL is empty"),
        ('{"question": "q", "sql": 3}', "valid string"),
    ],
)
def test_a_broken_line_is_one_clear_error(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text('{"question": "fine", "sql": "SELECT 1"}\n\n' + line + "\n", encoding="utf-8")
    with pytest.raises(SemanticModelError, match=r"examples\.jsonl:3") as raised:
        ExampleStore(MODEL, path).nearest("q")
    assert why in raised.value.message
    assert raised.value.line == 3
    assert "correct the line or delete it" in raised.value.remedy


def test_other_wrong_input(tmp_path: Path, store: ExampleStore) -> None:
    with pytest.raises(ConfigurationError, match="no file to keep examples in"):
        ExampleStore(MODEL).add("q", "SELECT 1")
    with pytest.raises(ConfigurationError, match="needs a question"):
        store.add("  ", "SELECT 1")
    with pytest.raises(SqlSyntaxError):
        store.add("q", "SELECT FROM")
    with pytest.raises(ForbiddenSqlError):
        store.add("q", "DROP TABLE x")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        ExampleStore(MODEL, tmp_path).add("q", "SELECT 1")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="cannot be kept in"):
        ExampleStore(MODEL, tmp_path / "file" / "examples.jsonl").add("q", "SELECT 1")
    (tmp_path / "latin").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        ExampleStore(MODEL, tmp_path / "latin").nearest("q")


def test_a_line_cut_off_by_a_crash_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text('{"question": "whole", "sql": "SELECT 1"}', encoding="utf-8")
    ExampleStore(MODEL, path).add("next", "SELECT 2")
    assert [json.loads(line)["question"] for line in path.read_text(encoding="utf-8").splitlines()] == ["whole", "next"]


def _write(path: str, writer: int) -> None:
    store = ExampleStore(MODEL, path)
    for number in range(15):
        store.add(f"question {writer} {number} {'long ' * 40}", f"SELECT {number} AS n")


def test_concurrent_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "examples.jsonl"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(str(path), number)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert len(ExampleStore(MODEL, path).examples) == 60


def test_a_line_that_is_being_written_is_waited_for(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    path = tmp_path / "examples.jsonl"
    line = json.dumps({"question": "Which SNPs?", "sql": "SELECT 1 AS n"}) + "\n"
    with path.open("w", encoding="utf-8") as writer, ThreadPoolExecutor(1) as pool:
        fcntl.flock(writer, fcntl.LOCK_EX)
        writer.write(line[:20])
        writer.flush()
        reading = pool.submit(lambda: ExampleStore(MODEL, path).examples)
        with pytest.raises(NotYet):
            reading.result(0.2)
        writer.write(line[20:])
        writer.flush()
        fcntl.flock(writer, fcntl.LOCK_UN)
        assert [one.question for one in reading.result(30)] == ["Which SNPs?"]


class Letters:
    """An embedding of the test: how often each letter occurs. Counts its calls."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.embedded += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [float(text.count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]


def test_an_embedding_model_takes_the_place_of_the_index(store: ExampleStore) -> None:
    letters = Letters()
    embedding = ExampleStore(MODEL, store.path, link=link, embed=letters)
    assert found(embedding, "Is rs99 significant?", k=1) == ["Is rs7412 significant?"]
    store.add("Where is rs1?", f"SELECT bp_38 FROM {GWAS} WHERE SNP = 'rs1'")
    assert len(embedding.nearest("Where is rs2?", k=9)) == 4
    assert sorted(letters.embedded) == sorted(one.masked for one in embedding.examples), "each text is embedded once"


def test_equals_stay_in_the_order_of_the_file(tmp_path: Path) -> None:
    store = ExampleStore(MODEL, tmp_path / "examples.jsonl")
    for number in range(8):
        store.add(f"same question {number}", f"SELECT {number} AS x")
    first = found(store, "same question", k=8)
    assert first == [f"same question {number}" for number in range(8)]
    assert found(store, "same question", k=3) == first[:3]


# -- the semantic model's own examples -----------------------------------------------------------


def test_examples_of_the_model_are_sound_and_find_rows() -> None:
    """Each names its tables by family, passes validation, and finds rows in the embedded knowledge base."""
    model = load_semantic_model()
    store = ExampleStore(model)
    assert len(store.examples) == len(model.examples) > 10
    with open_backend() as backend:
        for one in store.examples:
            assert "{" not in one.sql
            query = validate(one.sql, backend.catalog())
            assert isinstance(query, ValidatedQuery), (one.question, query)
            assert backend.execute(query, Limits()).rows, one.question


def test_a_table_that_is_not_one_is_a_clear_error() -> None:
    model: SemanticModel = MODEL.model_copy(
        update={"examples": (ModelExample(question="q", sql="SELECT 1 FROM {gwas}"),)}
    )
    with pytest.raises(SemanticModelError, match=r"'\{gwas\}' in the example 'q' stands for 2 tables"):
        ExampleStore(model)


# -- how good it is ------------------------------------------------------------------------------


@pytest.mark.all
def test_the_nearest_example_fits_far_more_often_than_any_other() -> None:
    """Leave one out; fewer than these 240 give another figure with each list of questions that is added.

    `benchmarks/bench_fewshot.py` measures all, with what they name masked.
    """
    examples = gold(240)
    nearest, with_draft, at_random = (share_right(examples, by=by) for by in ("lexical", "draft", "random"))
    assert nearest > 0.12
    assert with_draft > 0.25
    assert nearest > 5 * at_random


@pytest.mark.slow
def test_a_query_is_fast(tmp_path: Path) -> None:
    """Below 5 ms of this process with 1,000 examples."""
    store = ExampleStore(MODEL, tmp_path / "examples.jsonl")
    several = gold(120)
    examples = [
        one.model_copy(update={"question": f"{one.question} {word}", "masked": f"{one.masked} {word}"})
        for word in ("please", "today", "again", "now", "then", "once", "twice", "first", "soon")
        for one in several
    ][:1000]
    lines = [one.model_dump_json(exclude={"source"}) for one in examples]
    (tmp_path / "examples.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert len(store.examples) == 1000
    rounds = []
    for _ in range(3):
        start = time.process_time()
        for one in examples[:50]:
            store.nearest(one.question, ())
        rounds.append((time.process_time() - start) / 50)
    assert min(rounds) < 0.05
