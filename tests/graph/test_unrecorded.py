"""Rows that fail a condition only for lack of a value are counted apart."""

from __future__ import annotations

import pytest

from bmsql import Agent
from bmsql.graph._unrecorded import unrecorded_query
from bmsql.sql import format_sql, parse
from bmsql.types import ConventionRecord


@pytest.fixture(scope="module")
def agent() -> Agent:
    return Agent()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT a FROM t WHERE flag = TRUE AND LOWER(name) = 'x'",
            "SELECT COUNTIF(flag IS NULL AND LOWER(name) = 'x') AS flag FROM t",
        ),
        (
            "SELECT a FROM t WHERE year < 1960 AND year <> 0 AND b > 1",
            (
                "SELECT COUNTIF(year IS NULL AND b > 1) AS year, "
                "COUNTIF(b IS NULL AND year < 1960 AND year <> 0) AS b FROM t"
            ),
        ),
        ("SELECT a FROM t WHERE name = 'x'", None),
        ("SELECT a FROM t JOIN u USING (a) WHERE flag = TRUE", None),
        ("SELECT a FROM t", None),
    ],
)
def test_the_query(sql: str, expected: str | None) -> None:
    query = unrecorded_query(parse(sql), ())
    assert (format_sql(query, pretty=False) if query is not None else None) == expected


def test_columns_of_conventions_are_left_to_the_ladder() -> None:
    record = ConventionRecord(rule="r", status="applied", predicate="p < 5e-8")
    assert unrecorded_query(parse("SELECT a FROM t WHERE p < 5e-8"), (record,)) is None


def test_an_empty_answer_says_what_is_not_recorded(agent: Agent) -> None:
    answer = agent.ask("How many drugs are withdrawn?")
    assert answer.rows[0]["n"] == 0
    assert "315 further rows" in answer.text
    assert any("drugHasBeenWithdrawn" in warning for warning in answer.warnings)


def test_nothing_is_said_where_all_is_recorded(agent: Agent) -> None:
    answer = agent.ask("Which SNPs near BIN1 are significantly associated with Alzheimer's disease?")
    assert not [warning for warning in answer.warnings if warning.startswith("Not recorded")]
