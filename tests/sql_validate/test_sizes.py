"""What makes a text or an array must say how large, and stay small."""

from __future__ import annotations

import time

import pytest

from bmsql.sql import validate
from bmsql.types import Rejected, ValidatedQuery
from tests.sql_validate.catalogue import CATALOG


@pytest.mark.parametrize(
    "call",
    [
        "ARRAY_LENGTH(GENERATE_ARRAY(1, 100000000))",
        "ARRAY_LENGTH(GENERATE_ARRAY(0, 1, 0.000000001))",
        "ARRAY_LENGTH(GENERATE_ARRAY(100000000, -(1), -(1)))",
        "ARRAY_LENGTH(GENERATE_ARRAY(1, LENGTH(s)))",
        "ARRAY_LENGTH(GENERATE_ARRAY(1, 10 * 1000))",
        "LENGTH(REPEAT('x', 3000000000))",
        "LENGTH(REPEAT(s, LENGTH(s)))",
        "LENGTH(REPEAT(REPEAT('x', 10000), 10000))",
        "LENGTH(REPEAT(LPAD(s, 9000), 9000))",
        "LENGTH(REPEAT('0123456789', 9999))",
        "LENGTH(LPAD(s, 2000000000))",
        "LENGTH(RPAD(s, 2000000000, 'y'))",
        "LENGTH(RPAD(s, CAST(f AS INT64)))",
        "LENGTH(FORMAT('%1000000000d', 1))",
        "LENGTH(FORMAT('a %s %-5.200000f', s, f))",
        "ARRAY_LENGTH(GENERATE_TIMESTAMP_ARRAY(TIMESTAMP '0001-01-01', TIMESTAMP '9999-01-01', INTERVAL 1 SECOND))",
        "ARRAY_LENGTH(GENERATE_TIMESTAMP_ARRAY('2000-01-01', '2020-01-01', INTERVAL 1 MINUTE))",
        "ARRAY_LENGTH(GENERATE_TIMESTAMP_ARRAY(ts, '2020-01-01', INTERVAL 1 HOUR))",
        "ARRAY_LENGTH(GENERATE_DATE_ARRAY('0001-01-01', DATE '9999-12-31'))",
        "ARRAY_LENGTH(GENERATE_DATE_ARRAY('9999-12-31', DATE(1, 1, 1), INTERVAL -1 DAY))",
        "ARRAY_LENGTH(GENERATE_DATE_ARRAY(d, CURRENT_DATE()))",
        "ARRAY_LENGTH(GENERATE_DATE_ARRAY('2024-01-01', '2024-02-01', INTERVAL id DAY))",
    ],
)
def test_large_or_unknown_sizes_are_refused(call: str) -> None:
    outcome = validate(f"SELECT {call} AS n FROM Extra", CATALOG)
    assert isinstance(outcome, Rejected)
    assert [problem.code for problem in outcome.problems] == ["size"]
    assert outcome.problems[0].line == 1
    assert outcome.problems[0].suggestion


@pytest.mark.parametrize(
    "call",
    [
        "ARRAY_LENGTH(GENERATE_ARRAY(1, 22))",
        "ARRAY_LENGTH(GENERATE_ARRAY(10, 0, -2))",
        "LPAD(s, 2, '0')",
        "REPEAT('ab', 100)",
        "FORMAT('%12.3f', f)",
        "REPEAT(s, 3)",
        "ARRAY_LENGTH(GENERATE_TIMESTAMP_ARRAY(TIMESTAMP '2024-01-01', TIMESTAMP '2024-02-01', INTERVAL 1 DAY))",
        "ARRAY_LENGTH(GENERATE_TIMESTAMP_ARRAY('2024-01-01', '2024-01-01 00:01:00', INTERVAL 1 SECOND))",
        "ARRAY_LENGTH(GENERATE_DATE_ARRAY('2024-01-31', DATE(2024, 5, 31)))",
        "ARRAY_LENGTH(GENERATE_DATE_ARRAY('2000-01-01', CURRENT_DATE(), INTERVAL 1 WEEK))",
        "ARRAY_LENGTH(GENERATE_DATE_ARRAY('2024-01-05', '2024-01-01', INTERVAL -2 DAY))",
        "ARRAY_LENGTH(GENERATE_DATE_ARRAY(d, '2030-01-01', INTERVAL 1 YEAR))",
    ],
)
def test_small_sizes_pass(call: str) -> None:
    assert isinstance(validate(f"SELECT {call} AS n FROM Extra", CATALOG), ValidatedQuery)


@pytest.mark.parametrize("clause", ["WHERE TRUE", "GROUP BY 1", "HAVING TRUE"])
def test_without_from_there_is_nothing_to_filter_or_group(clause: str) -> None:
    outcome = validate(f"SELECT 1 AS x {clause}", CATALOG)
    assert isinstance(outcome, Rejected)
    assert "missing-from" in [problem.code for problem in outcome.problems]


@pytest.mark.parametrize("clause", ["LIMIT 9223372036854775808", "LIMIT 1 OFFSET 99999999999999999999999"])
def test_a_limit_beyond_int64_is_refused(clause: str) -> None:
    outcome = validate(f"SELECT id FROM Extra {clause}", CATALOG)
    assert isinstance(outcome, Rejected)
    assert [problem.code for problem in outcome.problems] == ["limit"]
    assert isinstance(validate("SELECT id FROM Extra LIMIT 9223372036854775807", CATALOG), ValidatedQuery)


@pytest.mark.parametrize(
    "sql",
    ["SELECT", "SELECT;", "SELECT DISTINCT FROM Extra", "WITH a AS (SELECT) SELECT 1", "SELECT ALL", "SELECT (SELECT)"],
)
def test_an_empty_select_list_is_refused(sql: str) -> None:
    outcome = validate(sql, CATALOG)
    assert isinstance(outcome, Rejected)
    assert "The SELECT list is empty." in [problem.message for problem in outcome.problems]


_NESTED = {
    "STRUCT(": ")",
    "ARRAY[": "]",
    "[STRUCT(": ")]",
    "SAFE.ABS(": ")",
    "DATE(": ")",
    "STRING(": ")",
    "id[": "]",
    "[": "]",
    "(": ")",
    "CASE WHEN TRUE THEN ": " ELSE 1 END",
    "IF(TRUE, ": ", 1)",
    "COALESCE(": ", 1)",
    "ABS(": ")",
    "CAST(": " AS INT64)",
    "(SELECT ": ")",
    "ARRAY(SELECT ": ")",
}


@pytest.mark.parametrize("opening", _NESTED)
def test_nesting_costs_no_exponential_time(opening: str) -> None:
    begun = time.perf_counter()
    outcome = validate(f"SELECT {opening * 25}1{_NESTED[opening] * 25}", CATALOG)
    assert time.perf_counter() - begun < 2
    if opening in ("STRUCT(", "ARRAY[", "SAFE.ABS("):
        assert isinstance(outcome, Rejected)
        assert "nested too deeply" in outcome.problems[0].message


def test_nesting_as_people_write_it_passes() -> None:
    sql = f"SELECT {'STRUCT(' * 8}1{')' * 8} AS s, {', '.join(['DATE(TIMESTAMP(ts))'] * 300)} FROM Extra"
    assert isinstance(validate(sql, CATALOG), ValidatedQuery)
    many = validate(f"SELECT {', '.join(['STRUCT(' * 7 + '1' + ')' * 7] * 1000)}", CATALOG)
    assert isinstance(many, Rejected)
    assert "nested too often" in many.problems[0].message
