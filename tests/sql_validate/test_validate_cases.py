"""`validate` against recorded verdicts of the GoogleSQL analyser."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bmsql.sql import validate
from bmsql.types import Rejected, ValidatedQuery
from tests.sql_validate.catalogue import CATALOG, DATA
from tests.yaml_files import read_yaml

CASES: list[dict[str, Any]] = json.loads((DATA / "cases.json").read_text(encoding="utf-8"))
FULL = f"`{CATALOG.qualified('Extra')}`"
VALID = [case for case in CASES if case["oracle"] is None and "stricter" not in case]
STRICTER = [case for case in CASES if "stricter" in case]
INVALID = [case for case in CASES if case["oracle"] is not None and "gap" not in case]
GAPS = [case for case in CASES if "gap" in case]


def _yaml(name: str) -> list[Any]:
    loaded = read_yaml(DATA / name)
    assert isinstance(loaded, list)
    return loaded


def test_the_lists_are_long_enough() -> None:
    assert len(VALID) >= 150
    assert len(INVALID) >= 250
    assert len(GAPS) <= 5


@pytest.mark.parametrize("case", VALID, ids=lambda case: case["sql"][:70])
def test_what_the_analyser_accepts_is_never_rejected(case: dict[str, Any]) -> None:
    outcome = validate(case["sql"], CATALOG)
    assert isinstance(outcome, ValidatedQuery), outcome
    assert outcome.sql == case["result"]


@pytest.mark.parametrize("case", INVALID, ids=lambda case: case["sql"][:70])
def test_what_the_analyser_refuses_is_rejected_or_repaired(case: dict[str, Any]) -> None:
    outcome = validate(case["sql"], CATALOG)
    if "result" in case:
        # The recorded result was accepted by the analyser.
        assert isinstance(outcome, ValidatedQuery), outcome
        assert outcome.sql == case["result"]
        assert outcome.fixes
    else:
        assert isinstance(outcome, Rejected)
        assert [problem.code for problem in outcome.problems] == case["codes"]
        assert all(problem.message.endswith((".", "?")) for problem in outcome.problems)


@pytest.mark.parametrize("case", STRICTER, ids=lambda case: case["sql"][:70])
def test_what_only_bigquery_itself_or_the_policy_refuses(case: dict[str, Any]) -> None:
    outcome = validate(case["sql"], CATALOG)
    assert isinstance(outcome, Rejected)
    assert [problem.code for problem in outcome.problems] == case["codes"]


@pytest.mark.parametrize("case", GAPS, ids=lambda case: case["sql"][:70])
def test_known_gaps_are_still_gaps(case: dict[str, Any]) -> None:
    assert isinstance(validate(case["sql"], CATALOG), ValidatedQuery), "closed: move it to the other cases"


@pytest.mark.parametrize("case", _yaml("repairs.yaml"), ids=lambda case: case["given"][:70])
def test_repairs(case: dict[str, Any]) -> None:
    outcome = validate(case["given"].replace("{T}", FULL), CATALOG)
    assert isinstance(outcome, ValidatedQuery), outcome
    assert outcome.sql == case["sql"].replace("{T}", FULL)
    assert [fix.code for fix in outcome.fixes if fix.code != "table-name"] == case["codes"]
    if outcome.sql != case["given"].replace("{T}", FULL):
        assert outcome.fixes
    again = validate(outcome.sql, CATALOG)
    assert isinstance(again, ValidatedQuery)
    assert again.sql == outcome.sql
    assert again.fixes == ()


@pytest.mark.parametrize("sql", _yaml("untouched.yaml"), ids=lambda sql: sql[:50])
def test_a_right_query_stays_as_written(sql: str) -> None:
    sql = sql.replace("{T}", FULL)
    outcome = validate(sql, CATALOG)
    assert isinstance(outcome, ValidatedQuery), outcome
    assert outcome.sql == sql
    assert outcome.fixes == ()
    assert outcome.tables == ("Extra",)


MESSAGES = [
    ("SELECT Gen FROM NeurodegenerativeDiseases_SMR_Genes_Full", "unknown-column", "Did you mean Gene?", 1, 8),
    ("SELECT s\nFROM Extra\nWHERE f > 1 AND\n  missing = 2", "unknown-column", "The columns are: id, tags", 4, 3),
    (
        "SELECT p_SMR FROM Extra",
        "unknown-column",
        "p_SMR is a column of NeurodegenerativeDiseases_SMR_Genes_Full.",
        1,
        8,
    ),
    ("SELECT s FROM SMR_Genes", "unknown-table", "bio_sql_benchmark.NeurodegenerativeDiseases_SMR_Genes_Full`?", 1, 15),
    (
        "SELECT s FROM `other.d.Extra`",
        "forbidden-table",
        "Did you mean `card-ai-389220.bio_sql_benchmark.Extra`?",
        1,
        15,
    ),
    ("SELECT s FROM Extra a, Extra b", "ambiguous-column", "Write a.s or b.s.", 1, 8),
    ("SELECT f * 2 AS g FROM Extra WHERE g > 1", "alias-not-visible", "Repeat the expression", 1, 36),
    ("SELECT x.s FROM Extra e", "unknown-alias", "In scope: e.", 1, 8),
    ("SELECT s FROM Extra WHERE s = 5", "type-mismatch", "Write the value as a text: '5'.", 1, 27),
    ("SELECT SUM(ok) FROM Extra", "argument-type", "Use COUNTIF(condition).", 1, 8),
    ("SELECT TO_CHAR(f) FROM Extra", "unknown-function", "CAST(x AS STRING)", 1, 8),
    ("SELECT UPER(s) FROM Extra", "unknown-function", "Did you mean UPPER(...)?", 1, 8),
    ("SELECT s, COUNT(*) FROM Extra", "not-grouped", "Add s to GROUP BY", 1, 8),
    ("SELECT s FROM Extra LIMIT 10 ORDER BY f", "clause-order", "The order of clauses is", 1, 30),
]


@pytest.mark.parametrize(("sql", "code", "advice", "line", "column"), MESSAGES, ids=[case[1] for case in MESSAGES])
def test_problems_say_where_and_what_would_be_right(sql: str, code: str, advice: str, line: int, column: int) -> None:
    outcome = validate(sql, CATALOG)
    assert isinstance(outcome, Rejected)
    problem = outcome.problems[0]
    assert (problem.code, problem.line, problem.column) == (code, line, column)
    assert advice in problem.suggestion
    assert problem.snippet


def test_all_problems_are_reported_at_once() -> None:
    outcome = validate("SELECT nope, SUM(s) FROM Extra WHERE f = 'x' AND id LIKE 'a'", CATALOG)
    assert isinstance(outcome, Rejected)
    assert [problem.code for problem in outcome.problems] == [
        "type-mismatch",
        "type-mismatch",
        "unknown-column",
        "argument-type",
    ]
