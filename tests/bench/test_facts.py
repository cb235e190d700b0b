"""The deterministic check of answers in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bmsql.bench import Failure, Gold, Question, Ran, Record
from bmsql.bench._facts import check_facts
from tests.yaml_files import read_yaml

CASES = read_yaml(Path(__file__).parent / "facts.yaml")


def rows(data: list[list[Any]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in data)


def asked(kind: str, gold: Gold, text: str = "Which?") -> Question:
    key = "" if kind == "numbers" else gold.columns[0]
    return Question(id="q", question=text, answer_kind=kind, key=key, gold_sql="SELECT 1", expected=gold)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_verdicts(case: dict[str, Any]) -> None:
    columns, gold_rows = tuple(case["gold"][0]), rows(case["gold"][1])
    question = asked(case.get("kind", "keys"), Gold(columns=columns, rows=gold_rows), case.get("question", "Which?"))
    found = Ran(sql="SELECT 1", columns=columns, rows=rows(case.get("found", case["gold"][1])))
    record = Record(question_id="q", system="s", result=found, text=case["text"])
    assert check_facts(question, record) == case["verdict"]


def test_what_was_not_answered_has_no_verdict() -> None:
    question = asked("numbers", Gold(columns=("n",), rows=((1,),)))
    given = {"question_id": "q", "system": "s", "text": "1"}
    assert check_facts(question, Record(**given)) == "stated"
    assert check_facts(question, Record(**given, abstained=True)) == ""
    assert check_facts(question, Record(**given, error=Failure(type="E", message="m"))) == ""
