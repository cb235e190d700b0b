"""Every type of BigQuery arrives as the value that DuckDB gives for it. The server's answers are scripted."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from bmsql.backends import BigQueryBackend, DuckDBBackend
from bmsql.types import Limits, ValidatedQuery
from bmsql.types._arrow import arrow_table
from tests.servers.bigquery import FakeBigQuery

Query = Callable[[str], ValidatedQuery]
UTC = dt.UTC
SQL = "SELECT v FROM types"


def field(kind: str, mode: str = "NULLABLE", *fields: dict[str, Any], name: str = "v", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "mode": mode, **({"fields": list(fields)} if fields else {}), **more}


def struct(*values: Any) -> dict[str, Any]:
    return {"f": [{"v": value} for value in values]}


def array(*values: Any) -> list[dict[str, Any]]:
    return [{"v": value} for value in values]


# The schema and the value as the REST API sends them, then the type and the value as they arrive.
CASES: list[tuple[dict[str, Any], Any, str, Any]] = [
    (field("INTEGER"), "-9223372036854775808", "INT64", -(2**63)),
    (field("FLOAT"), "1e-320", "FLOAT64", 1e-320),
    (field("FLOAT"), "-Infinity", "FLOAT64", -math.inf),
    (field("BOOLEAN"), "true", "BOOL", True),
    (field("STRING"), "β-amyloid\n'", "STRING", "β-amyloid\n'"),
    (field("BYTES"), "AP8=", "BYTES", b"\x00\xff"),
    (field("DATE"), "0001-01-01", "DATE", dt.date(1, 1, 1)),
    (field("TIME"), "23:59:59.999999", "TIME", dt.time(23, 59, 59, 999999)),
    (field("DATETIME"), "2024-02-29T12:00:00.000001", "DATETIME", dt.datetime(2024, 2, 29, 12, 0, 0, 1)),  # noqa: DTZ001
    (field("TIMESTAMP"), "1700000000123456", "TIMESTAMP", dt.datetime(2023, 11, 14, 22, 13, 20, 123456, tzinfo=UTC)),
    (field("TIMESTAMP"), "-62135596800000000", "TIMESTAMP", dt.datetime(1, 1, 1, tzinfo=UTC)),
    (field("NUMERIC"), "-1234.5", "NUMERIC", Decimal("-1234.5")),
    (field("NUMERIC"), "100", "NUMERIC", Decimal(100)),
    (field("BIGNUMERIC"), "0." + "0" * 37 + "1", "BIGNUMERIC", Decimal("1e-38")),
    (field("BIGNUMERIC"), "9" * 38 + "." + "9" * 38, "BIGNUMERIC", Decimal("9" * 38 + "." + "9" * 38)),
    (field("JSON"), '{"gene":"APOE","n":[1,2.50]}', "JSON", '{"gene":"APOE","n":[1,2.50]}'),
    (field("GEOGRAPHY"), "POINT(13.4 52.5)", "GEOGRAPHY", "POINT(13.4 52.5)"),
    (field("INTERVAL"), "1-2 3 4:5:6.789", "INTERVAL", dt.timedelta(423, hours=4, minutes=5, seconds=6.789)),
    (field("INTERVAL"), "0-0 0 -0:0:1", "INTERVAL", dt.timedelta(seconds=-1)),
    (
        field("RANGE", rangeElementType={"type": "DATE"}), "[2024-01-01, UNBOUNDED)", "RANGE<DATE>",
        {"start": dt.date(2024, 1, 1), "end": None},
    ),
    (field("STRING", "REPEATED"), array("a", "b"), "ARRAY<STRING>", ["a", "b"]),
    (field("NUMERIC", "REPEATED"), array("1.50"), "ARRAY<NUMERIC>", [Decimal("1.5")]),
    (field("INTEGER", "REPEATED"), array(), "ARRAY<INT64>", []),
    (
        field("RECORD", "NULLABLE", field("STRING", name="gene"), field("FLOAT", name="p")), struct("BIN1", "5e-8"),
        "STRUCT<gene STRING, p FLOAT64>", {"gene": "BIN1", "p": 5e-8},
    ),
    (
        field("RECORD", "REPEATED", field("NUMERIC", name="n"), field("STRING", "REPEATED", name="tags")),
        array(struct("2.0", array("x")), struct(None, array())), "ARRAY<STRUCT<n NUMERIC, tags ARRAY<STRING>>>",
        [{"n": Decimal(2), "tags": ["x"]}, {"n": None, "tags": []}],
    ),
    (
        field("RECORD", "NULLABLE", field("INTERVAL", name="i"), field("JSON", name="j")), struct("0-1 0 0:0:0", "[1]"),
        "STRUCT<i INTERVAL, j JSON>", {"i": dt.timedelta(days=30), "j": "[1]"},
    ),
]  # fmt: skip


def test_values(fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query) -> None:
    for number, (schema, sent, kind, expected) in enumerate(CASES):
        sql = f"{SQL} -- {number}"
        empty = [] if schema["mode"] == "REPEATED" else None
        fake.answers[sql] = ([schema], [[sent], [empty]])
        result = bigquery.execute(query(sql), Limits())
        assert result.columns[0].type == kind
        assert result.rows == ((expected,), (empty,)), schema
        assert type(result.rows[0][0]) is type(expected)
        assert bigquery.dry_run(query(sql)).columns == result.columns
        assert arrow_table(result).num_rows == 2


def test_nan_is_nan(fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query) -> None:
    fake.answers[SQL] = ([field("FLOAT")], [["NaN"]])
    assert math.isnan(bigquery.execute(query(SQL), Limits()).rows[0][0])


def test_no_rows_keep_their_columns(fake: FakeBigQuery, bigquery: BigQueryBackend, query: Query) -> None:
    for kind in ("INTERVAL", "STRING"):
        fake.answers[f"{SQL} -- {kind}"] = ([field(kind)], [])
        result = bigquery.execute(query(f"{SQL} -- {kind}"), Limits())
        assert (result.rows, result.columns[0].type) == ((), kind)


BOTH = [
    "SELECT 1.5 AS a, 2 AS b, TRUE AS c, 'x' AS d, b'\\x01' AS e",
    "SELECT NUMERIC '1.50' AS a, NUMERIC '3' AS b",
    "SELECT DATE '2024-02-29' AS a, TIMESTAMP '2024-02-29 12:00:00+00' AS b, DATETIME '2024-02-29 12:00:00' AS c",
    "SELECT [1, 2] AS a, STRUCT('g' AS gene, 5e-8 AS p) AS b, [STRUCT(1 AS n)] AS c",
    "SELECT SPLIT(name, 'p') AS parts, n, x FROM Items WHERE n < 20 ORDER BY n",
    "SELECT CAST('inf' AS FLOAT64) AS a, CAST(NULL AS STRING) AS b",
]


@pytest.mark.parametrize("sql", BOTH)
def test_values_are_those_of_duckdb(bigquery: BigQueryBackend, sample: DuckDBBackend, query: Query, sql: str) -> None:
    here, there = (backend.execute(query(sql), Limits()) for backend in (sample, bigquery))
    assert here.columns == there.columns
    assert here.rows == there.rows
    assert [[type(value) for value in row] for row in here.rows] == [
        [type(value) for value in row] for row in there.rows
    ]
