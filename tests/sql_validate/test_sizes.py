"""What makes a text or an array must say how large, and stay small."""

from __future__ import annotations

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
    ],
)
def test_small_sizes_pass(call: str) -> None:
    assert isinstance(validate(f"SELECT {call} AS n FROM Extra", CATALOG), ValidatedQuery)


@pytest.mark.parametrize("clause", ["WHERE TRUE", "GROUP BY 1", "HAVING TRUE"])
def test_without_from_there_is_nothing_to_filter_or_group(clause: str) -> None:
    outcome = validate(f"SELECT 1 AS x {clause}", CATALOG)
    assert isinstance(outcome, Rejected)
    assert "missing-from" in [problem.code for problem in outcome.problems]
