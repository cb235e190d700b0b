"""Rows as Arrow tables: one type per BigQuery type, whatever the rows hold."""

from __future__ import annotations

import datetime as dt
import decimal
import sys
from typing import Any

import pyarrow as pa
import pytest

from bmsql.errors import MissingDependencyError
from bmsql.types import Answer, ColumnInfo, QueryResult, RanQuery
from bmsql.types._arrow import arrow_table, arrow_type

DAY, MOMENT = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=dt.UTC)
CASES: list[tuple[str, Any, Any]] = [
    ("STRING", "a", pa.string()),
    ("INT64", 2**62, pa.int64()),
    ("FLOAT64", 5e-324, pa.float64()),
    ("BOOL", True, pa.bool_()),
    ("BYTES", b"\x00\xff", pa.binary()),
    ("DATE", DAY, pa.date32()),
    ("TIME", dt.time(1, 2, 3), pa.time64("us")),
    ("DATETIME", MOMENT.replace(tzinfo=None), pa.timestamp("us")),
    ("TIMESTAMP", MOMENT, pa.timestamp("us", tz="UTC")),
    ("NUMERIC", decimal.Decimal("1.500000000"), pa.decimal128(38, 9)),
    ("NUMERIC(10, 2)", decimal.Decimal("1.500000000"), pa.decimal128(38, 9)),
    ("BIGNUMERIC", decimal.Decimal(1).scaleb(-38), pa.decimal256(76, 38)),
    ("ARRAY<STRING>", ["a", None, "b"], pa.list_(pa.string())),
    ("ARRAY<INT64>", [], pa.list_(pa.int64())),
    (
        "STRUCT<a INT64, b ARRAY<STRING>>",
        {"a": 1, "b": ["x"]},
        pa.struct([("a", pa.int64()), ("b", pa.list_(pa.string()))]),
    ),
    (
        "ARRAY<STRUCT<k STRING, v NUMERIC(4, 2)>>",
        [],
        pa.list_(pa.struct([("k", pa.string()), ("v", pa.decimal128(38, 9))])),
    ),
]


def result(kind: str, *values: Any) -> QueryResult:
    return QueryResult(columns=(ColumnInfo(name="c", type=kind),), rows=tuple((value,) for value in values))


@pytest.mark.parametrize(("kind", "value", "wanted"), CASES)
def test_each_type_keeps_its_values(kind: str, value: Any, wanted: Any) -> None:
    for rows in ((), (None,), (value, None)):
        table = arrow_table(result(kind, *rows))
        assert table.schema.field("c").type == wanted
        assert table.column("c").to_pylist() == list(rows)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("JSON", {"a": [1]}, '{"a": [1]}'),
        ("GEOGRAPHY", "POINT(1 2)", "POINT(1 2)"),
        ("INTERVAL", dt.timedelta(seconds=90), "90.0"),
        ("INT64", 2**70, str(2**70)),
        ("INT64", "seven", "seven"),
        ("RANGE<DATE>", "[2024-01-01, 2024-02-01)", "[2024-01-01, 2024-02-01)"),
    ],
)
def test_what_arrow_cannot_hold_becomes_text(kind: str, value: Any, text: str) -> None:
    assert arrow_table(result(kind, value, None)).column("c").to_pylist() == [text, None]


def test_repeated_column_names_are_told_apart() -> None:
    columns = tuple(ColumnInfo(name=name, type="INT64") for name in ("n", "n", "n_2"))
    twice = QueryResult(columns=columns, rows=((1, 2, 3),))
    assert twice.dicts() == [{"n": 1, "n_2": 2, "n_2_2": 3}]
    assert arrow_table(twice).to_pylist() == twice.dicts()


def test_no_result_is_an_empty_table() -> None:
    assert arrow_table(None).num_columns == 0
    assert Answer(question="q", text="t", abstained=True).table.num_rows == 0


def test_unknown_type_is_text() -> None:
    assert arrow_type("SOMETHING ELSE") == pa.string()


def test_pandas_is_named_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Answer(question="q", text="t", general=RanQuery(sql="SELECT 1", result=result("INT64", 1, 2)))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError) as raised:
        answer.to_pandas()
    assert "bmsql[pandas]" in raised.value.remedy


def test_pandas_frame() -> None:
    pytest.importorskip("pandas")
    answer = Answer(question="q", text="t", general=RanQuery(sql="SELECT 1", result=result("INT64", 1, 2)))
    assert answer.to_pandas()["c"].tolist() == [1, 2]
