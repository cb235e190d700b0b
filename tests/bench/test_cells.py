"""Values as they are stored, records of answers, and prices."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from bmsql.bench import Cell, ModelPrice, Prices, Question, Record, cells, read_prices, record_of
from bmsql.errors import BenchmarkFileError
from bmsql.types import Answer, ColumnInfo, QueryResult, RanQuery, TraceEntry, Usage
from tests.bench.scripted import tokens

QUESTION = Question(id="q", question="?", key="K", gold_sql="SELECT K FROM t")


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (None, None),
        (True, True),
        (5e-324, 5e-324),
        (0.0, 0.0),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (2**80, 2**80),
        (Decimal(3), 3),
        (Decimal("0.25"), 0.25),
        (Decimal("NaN"), "NaN"),
        (dt.date(2020, 1, 2), "2020-01-02"),
        (["b", "a"], '["b", "a"]'),
        ({"b": 1, "a": None}, '{"a": null, "b": 1}'),
        (b"\x00", "AA=="),
    ],
)
def test_cells_are_stored_as_json_has_them(value: object, stored: Cell) -> None:
    [[found]] = cells([[value]])
    assert (found, type(found)) == (stored, type(stored))
    result = RanQuery(sql="s", result=QueryResult(columns=(ColumnInfo(name="x", type="T"),), rows=((value,),)))
    record = record_of(QUESTION, "s", "m", Answer(question="?", text="", general=result), Prices())
    assert Record.model_validate_json(record.model_dump_json()) == record


def entry(node: str, outcome: str, **detail: Any) -> TraceEntry:
    return TraceEntry(node=node, started=0, seconds=0, outcome=outcome, detail=detail)


@pytest.mark.parametrize(
    ("trace", "failed", "sql"),
    [
        ((), False, ""),
        ((entry("plan", "declined"),), False, ""),
        ((entry("generate", "drafted", sql="A"), entry("validate", "rejected", sql="A")), True, "A"),
        ((entry("generate", "drafted", sql="A"), entry("validate", "valid"), entry("execute", "failed")), True, "A"),
        (
            (
                entry("generate", "drafted", sql="A"),
                entry("validate", "rejected"),
                entry("generate", "drafted", sql="B"),
                entry("validate", "valid"),
            ),
            False,
            "B",
        ),
    ],
)
def test_failed_sql_is_told_from_none(trace: tuple[TraceEntry, ...], failed: bool, sql: str) -> None:
    answer = Answer(question="?", text="I cannot.", abstained=True, trace=trace)
    record = record_of(QUESTION, "s", "m", answer, Prices())
    assert (record.sql_failed, record.sql, record.result) == (failed, sql, None)
    assert record.attempts == sum(step.outcome == "drafted" for step in trace)


def test_both_results_are_kept() -> None:
    general, refined = (RanQuery(sql=sql, result=QueryResult(columns=(), rows=())) for sql in ("general", "refined"))
    both = record_of(QUESTION, "s", "m", Answer(question="?", text="", general=general, refined=refined), Prices())
    assert (both.result and both.result.sql, both.general and both.general.sql) == ("refined", "general")
    one = record_of(QUESTION, "s", "m", Answer(question="?", text="", general=general), Prices())
    assert (one.result and one.result.sql, one.general) == ("general", None)


def test_costs_by_hand() -> None:
    prices = Prices(models={"m": ModelPrice(prompt=2, completion=8, cached=0.5)}, tebibyte=6.25)
    # 600 at 2, 400 at 0.5 and 100 at 8 dollars a million.
    assert prices.cost("m", tokens(1000, 100, 400)) == pytest.approx(0.0022)
    assert prices.cost("m", Usage(bytes_processed=2**40)) == pytest.approx(6.25)
    assert prices.cost("other", tokens(1)) is None
    assert prices.cost("other", Usage()) == 0.0
    assert Prices().cost("m", Usage(bytes_processed=1)) is None
    assert Prices(models={"m": ModelPrice(prompt=2, completion=8)}).cost("m", tokens(10, 0, 10)) == pytest.approx(2e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models: {a: {prompt: 1}}", "models.a.completion: field required"),
        ("models: {a: {prompt: -1, completion: 1}}", "models.a.prompt: input should be greater than or equal to 0"),
        ("a: [", "prices.yaml:1: this is no YAML"),
        ("tib: 3", "tib: extra inputs are not permitted"),
    ],
)
def test_prices_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BenchmarkFileError) as caught:
        read_prices(path)
    assert message in str(caught.value)
