"""An answer as JSON and as HTML, with the worst values a database has."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
from html.parser import HTMLParser
from typing import Any

import pytest

from bmsql.types import Answer, Clarification, ColumnInfo, ConventionRecord, QueryResult, RanQuery
from bmsql.types._html import ROWS_SHOWN
from bmsql.types._text import CELL_CHARACTERS, cell_text, number_text

HOSTILE = "</td></table><script>alert('x')</script><img src=x onerror=alert(1)>\"'&"
VALUES: dict[str, tuple[Any, Any]] = {
    "nan": (float("nan"), "NaN"),
    "inf": (float("inf"), "Infinity"),
    "minus_inf": (float("-inf"), "-Infinity"),
    "zero": (0.0, 0.0),
    "tiny": (5e-324, 5e-324),
    "big": (2**63 - 1, str(2**63 - 1)),
    "decimal": (decimal.Decimal("0.1"), "0.1"),
    "date": (dt.date(2024, 2, 29), "2024-02-29"),
    "moment": (dt.datetime(2024, 2, 29, tzinfo=dt.UTC), "2024-02-29T00:00:00+00:00"),
    "time": (dt.time(1, 2), "01:02:00"),
    "bytes": (b"\x00\xff", "AP8="),
    "array": ([1.5, float("nan")], [1.5, "NaN"]),
    "struct": ({"a": None}, {"a": None}),
    "null": (None, None),
    "text": (HOSTILE, HOSTILE),
}


def answer(rows: int = 1, **more: Any) -> Answer:
    columns = tuple(ColumnInfo(name=name, type="STRING") for name in VALUES)
    row = tuple(value for value, _ in VALUES.values())
    ran = RanQuery(sql=f"SELECT '{HOSTILE}'", result=QueryResult(columns=columns, rows=(row,) * rows))
    return Answer(question=HOSTILE, text=f"A {HOSTILE}\nB", sql=ran.sql, general=ran, **more)


class Tags(HTMLParser):
    """Collects the tags of a document, and checks that they nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.attributes: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_json_is_valid_for_every_value() -> None:
    data = json.loads(json.dumps(answer().to_dict(), allow_nan=False))
    assert data["rows"] == [{name: wanted for name, (_, wanted) in VALUES.items()}]
    assert data["general"]["result"]["rows"] == [[wanted for _, wanted in VALUES.values()]]
    assert set(data) == {*Answer.model_fields, "rows"}


def test_html_escapes_everything_and_loads_nothing() -> None:
    record = ConventionRecord(
        rule=HOSTILE, status="applied", predicate=HOSTILE, reason=HOSTILE, citation=HOSTILE, rows_with=1, rows_without=2
    )
    made = answer(conventions=(record,), warnings=(HOSTILE,), sources=(HOSTILE,), reasoner=HOSTILE, backend=HOSTILE)
    html = made._repr_html_()
    tags = Tags(html)
    assert not {"script", "img", "link", "iframe"} & set(tags.tags)
    assert set(tags.attributes) <= {"class", "title", "open"}
    assert "<script" not in html
    assert "url(" not in html
    assert "@import" not in html
    assert html.count("&lt;script&gt;") >= 8
    assert '<td class="null">NULL</td>' in html


def test_html_caps_rows_and_cells() -> None:
    html = answer(rows=ROWS_SHOWN + 5)._repr_html_()
    assert html.count("<tr>") == ROWS_SHOWN + 1
    assert f"showing {ROWS_SHOWN} of {ROWS_SHOWN + 5} rows" in html
    assert cell_text("x" * 500) == "x" * (CELL_CHARACTERS - 1) + "…"


def test_html_of_an_abstention_and_of_a_question_back() -> None:
    html = Answer(question="q", text="I cannot.", abstained=True, reason="no")._repr_html_()
    assert "I cannot." in html
    assert "<table" not in html
    clarification = Clarification(question="Which?", alternatives=("a <b>", "c"))
    html = Answer(question="q", text="Which?", abstained=True, clarification=clarification)._repr_html_()
    assert "<li>a &lt;b&gt;</li><li>c</li>" in html


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.2e-15, "1.2e-15"),
        (1e-300, "1e-300"),
        (0.0, "0"),
        (-0.0, "0"),
        (4.0, "4"),
        (0.041234567, "0.041235"),
        (123456.789, "123456.79"),
        (1e22, "1e22"),
        (math.nan, "NaN"),
        (-math.inf, "-Infinity"),
    ],
)
def test_numbers_are_readable(value: float, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "NULL"), (True, "TRUE"), (7, "7"), ("a\n b\t c", "a b c"), ([1, None], "[1, null]"), (b"\xff", "/w==")],
)
def test_cells_are_short_text(value: Any, text: str) -> None:
    assert cell_text(value) == text
