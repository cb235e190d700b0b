"""Types by their BigQuery names, values as plain Python values."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import duckdb
import pytest

from bmsql.backends._values import bigquery_type, convert_rows

UTC = dt.timezone.utc  # noqa: UP017 - the value that DuckDB gives is compared by offset
CASES: list[tuple[str, str, Any]] = [
    ("1::TINYINT", "INT64", 1),
    ("1::UBIGINT", "INT64", 1),
    ("170141183460469231731687303715884105727::HUGEINT", "INT64", 2**127 - 1),
    ("1.5::FLOAT", "FLOAT64", 1.5),
    ("5e-324::DOUBLE", "FLOAT64", 5e-324),
    ("1.50::DECIMAL(10,2)", "NUMERIC", Decimal("1.50")),
    ("1::DECIMAL(38,9)", "NUMERIC", Decimal(1)),
    ("1::DECIMAL(38,0)", "BIGNUMERIC", Decimal(1)),
    ("1::DECIMAL(20,10)", "BIGNUMERIC", Decimal(1)),
    ("true", "BOOL", True),
    ("'x'", "STRING", "x"),
    ("'a'::ENUM ('a', 'b')", "STRING", "a"),
    ("'6ba7b810-9dad-11d1-80b4-00c04fd430c8'::UUID", "STRING", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
    ("'ab'::BLOB", "BYTES", b"ab"),
    ("DATE '2020-01-02'", "DATE", dt.date(2020, 1, 2)),
    ("TIME '10:11:12'", "TIME", dt.time(10, 11, 12)),
    ("TIMESTAMP '2020-01-02 03:04:05'", "DATETIME", dt.datetime(2020, 1, 2, 3, 4, 5)),  # noqa: DTZ001
    ("TIMESTAMPTZ '2020-01-02 03:04:05+00'", "TIMESTAMP", dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)),
    ("INTERVAL 1 DAY", "INTERVAL", dt.timedelta(days=1)),
    ("""'{"a": 1}'::JSON""", "JSON", '{"a": 1}'),
    ("NULL", "INT64", None),
    ("[1, NULL]", "ARRAY<INT64>", [1, None]),
    ("[1, 2]::INTEGER[2]", "ARRAY<INT64>", [1, 2]),
    ("[[1], NULL]", "ARRAY<ARRAY<INT64>>", [[1], None]),
    ("{'a': 1, 'b': ['x']}", "STRUCT<a INT64, b ARRAY<STRING>>", {"a": 1, "b": ["x"]}),
    ("{'a': [1, 2]::INTEGER[2], 'b': NULL}", "STRUCT<a ARRAY<INT64>, b INT64>", {"a": [1, 2], "b": None}),
    ("[{'a': 1}]", "ARRAY<STRUCT<a INT64>>", [{"a": 1}]),
    ("MAP {'k': [1]}", "ARRAY<STRUCT<key STRING, value ARRAY<INT64>>>", [{"key": "k", "value": [1]}]),
    ("NULL::INTEGER[]", "ARRAY<INT64>", None),
]


@pytest.mark.parametrize(("expression", "name", "value"), CASES, ids=[case[0] for case in CASES])
def test_type_and_value(expression: str, name: str, value: Any) -> None:
    with duckdb.connect() as connection:
        connection.execute(f"SELECT {expression} AS v, 'other' AS other")
        kinds = [column[1] for column in connection.description or []]
        rows = convert_rows(connection.fetchall(), kinds)
    assert bigquery_type(kinds[0]) == name
    assert rows == ((value, "other"),)
    assert type(rows[0][0]) is type(value)


def test_a_type_that_bigquery_lacks_keeps_its_name() -> None:
    with duckdb.connect() as connection:
        connection.execute("SELECT union_value(a := 1) AS v")
        assert connection.description is not None
        assert bigquery_type(connection.description[0][1]).startswith("UNION")
