"""Question files: what is read, and what is said about what cannot be."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bmsql.bench import Gold, Question, Reading, read_questions, table_names, write_questions
from bmsql.errors import BenchmarkFileError
from bmsql.semantic import load_semantic_model

DATA = Path(__file__).resolve().parents[1] / "data"
PUBLISHED = (
    "uuid",
    "question",
    "answer",
    "sql_query",
    "execution_results",
    "query_type",
    "sql_category",
    "bio_category",
)


def published(path: Path, *rows: tuple[str, ...]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(PUBLISHED)
        writer.writerows(rows)
    return path


def test_published_csv(tmp_path: Path) -> None:
    path = published(
        tmp_path / "dev.csv",
        (
            "Q25.1274",
            "Which SNPs?",
            "One.",
            "SELECT UUID, p FROM `{dataset_name}.Table` WHERE p < 5e-8",
            "[{'UUID': 'AD_1', 'p': nan, 'when': Timestamp('2020-01-01 00:00:00')}]",
            "General",
            "Threshold, Multi-Filter",
            "Executing Complex Multi-Hop Reasoning Workflows",
        ),
        ("Q2", "How many?", "", "SELECT COUNT(*) AS n FROM `{dataset_name}`.Table", '[{"n": 3}]', "", "", ""),
        (
            "Q3",
            "Which form?",
            "",
            "SELECT DISTINCT form FROM Table",
            '{"form": {"0": "tablet"}}',
            "",
            "['Select']",
            "[]",
        ),
        ("Q4", "None?", "", "SELECT UUID FROM Table", "[]", "refined", "", ""),
        ("Q5", "Not run?", "", "SELECT MAX(year) FROM Table", "", "", "", ""),
    )
    first, count, form, none, unrun = read_questions(path)
    assert first == Question(
        id="Q25.1274",
        question="Which SNPs?",
        answer_kind="keys",
        key="UUID",
        gold_sql="SELECT UUID, p FROM `Table` WHERE p < 5e-8",
        expected=Gold(columns=("UUID", "p", "when"), rows=(("AD_1", None, "2020-01-01 00:00:00"),)),
        gold_answer="One.",
        query_type="General",
        sql_categories=("multi_filter", "threshold"),
        bio_categories=("multi_hop",),
        template="Q25",
        source="dev.csv",
    )
    assert (count.answer_kind, count.gold_sql) == ("numbers", "SELECT COUNT(*) AS n FROM Table")
    assert count.sql_categories == ("select", "calculate")
    assert (form.answer_kind, form.key, form.sql_categories) == ("values", "form", ("select",))
    assert form.expected == Gold(columns=("form",), rows=(("tablet",),))
    assert none.expected == Gold()
    assert (unrun.answer_kind, unrun.expected) == ("numbers", None)


def test_plain_yaml_of_the_development_questions() -> None:
    questions = {question.id: question for question in read_questions(DATA / "questions_dev.yaml")}
    assert len(questions) == 30
    listed, counted, refused = questions["dev01"], questions["dev02"], questions["dev28"]
    assert (listed.answer_kind, listed.key) == ("keys", "UUID")
    assert f"FROM `{table_names()['AD']}`" in listed.gold_sql
    assert listed.sql_categories == ("select", "multi_filter", "threshold", "order_by")
    assert (counted.answer_kind, counted.key) == ("numbers", "")
    assert (refused.unanswerable, refused.gold_sql) == (True, "")
    assert (questions["dev20"].answer_kind, questions["dev20"].key) == ("values", "drugName")


def test_abbreviations_are_tables_of_the_shipped_model() -> None:
    assert set(table_names().values()) <= set(load_semantic_model().tables)


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_written_questions_are_read_back(tmp_path: Path, suffix: str) -> None:
    gold = Gold(columns=("UUID", "p", "ok"), rows=(("a", 1e-300, True), ("ü\n", None, False)), total=2, fingerprint="f")
    questions = [
        Question(id="q1", question="Was ist „das“?", key="UUID", gold_sql="SELECT 1", expected=gold, split="test"),
        Question(id="q2", question="?", answer_kind="abstain", entities={"gene": "BIN1"}, template="t"),
    ]
    path = tmp_path / "deep" / f"questions{suffix}"
    assert write_questions(path, questions) == 2
    assert list(read_questions(path)) == questions


CASES = {
    "no such file": ("absent.yaml", None, "absent.yaml: cannot be read: No such file"),
    "another kind": ("questions.txt", "x", "questions.txt: this is no question file"),
    "no YAML": ("a.yaml", "- {id: 1\n- x", "a.yaml:2: this is no YAML"),
    "no list": ("a.yaml", "id: 1", "a.yaml:1: a list of questions was expected"),
    "an entry that is none": ("a.yaml", "- {id: a, q: b, sql: SELECT 1}\n- c", "a.yaml:2: a question is a mapping"),
    "no id": ("a.yaml", "\n- {q: b, sql: SELECT 1}", "a.yaml:2: id: string should have at least 1 character"),
    "unknown field": ("a.yaml", "- {id: a, q: b, sql: SELECT 1, keys: c}", "a.yaml:1: unknown field 'keys'"),
    "gold and abstention": (
        "a.yaml",
        "- {id: a, q: b, sql: SELECT 1, expect: abstain}",
        "a.yaml:1: a question has either",
    ),
    "neither": ("a.yaml", "- {id: a, q: b}", "a.yaml:1: a question has either gold SQL or"),
    "odd expectation": ("a.yaml", "- {id: a, q: b, expect: laugh}", "a.yaml:1: expect is 'laugh'"),
    "broken gold": ("a.yaml", "- {id: a, q: b, sql: SELECT FROM WHERE}", "a.yaml:1: the gold query does not parse"),
    "unknown category": (
        "a.yaml",
        "- {id: a, q: b, sql: SELECT 1, sql_categories: [Window]}",
        "a.yaml:1: 'Window' is no SQL category; they are Select",
    ),
    "the same id": (
        "a.yaml",
        "- {id: a, q: b, sql: SELECT 1}\n- {id: a, q: c, sql: SELECT 2}",
        "a.yaml:2: the id 'a' was given on line 1 already",
    ),
    "nothing": ("a.yaml", "[]", "a.yaml: the file holds no questions"),
    "columns missing": ("a.csv", "uuid,question\n1,2\n", "a.csv:1: the columns sql_query are missing"),
    "rows that are no rows": (
        "a.csv",
        'uuid,question,sql_query,execution_results\nQ1,"a\nb",SELECT 1,[]\nQ2,a,SELECT 1,"[{"\n',
        "a.csv:4: execution_results is neither JSON nor a Python literal",
    ),
    "no JSON": ("a.jsonl", '{"id": "a"\n', "a.jsonl:1: invalid JSON"),
    "a field of another type": (
        "a.jsonl",
        '\n{"id": "a", "question": "b", "answer_kind": "guess", "gold_sql": "SELECT 1"}\n',
        "a.jsonl:2: answer_kind: input should be 'keys', 'values', 'numbers' or 'abstain'",
    ),
    "no parquet": ("a.parquet", "PAR", "a.parquet: cannot be read as parquet"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, case: tuple[str, str | None, str]) -> None:
    name, text, message = case
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(BenchmarkFileError) as caught:
        list(read_questions(path, Reading()))
    assert message in str(caught.value)
    assert caught.value.remedy


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes("- {id: a, q: für, sql: SELECT 1}".encode("latin-1"))
    with pytest.raises(BenchmarkFileError, match="not UTF-8"):
        list(read_questions(path))


def test_questions_are_not_written_in_other_forms(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkFileError, match=r"Use \.jsonl or \.parquet"):
        write_questions(tmp_path / "a.yaml", [])
