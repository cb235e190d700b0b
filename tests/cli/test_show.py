"""How answers, plans and reports look, for cases that the embedded knowledge base does not give."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from bmsql.agent import CheckReport
from bmsql.cli._report import show_check, show_plan
from bmsql.cli._show import show_answer
from bmsql.types import (
    Aggregate,
    Answer,
    Clarification,
    ColumnInfo,
    ConventionRecord,
    Fix,
    Order,
    Plan,
    PlanJoin,
    Problem,
    QueryResult,
    RanQuery,
    Source,
)

BACK = Clarification(question="Which one?", alternatives=("this", "that"))


def shown(show: Any, *arguments: Any, width: int = 100, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="backslashreplace")
    show(Console(file=file, width=width, force_terminal=True, no_color=True, markup=False, emoji=False), *arguments)
    file.flush()
    return raw.getvalue().decode(encoding)


def answer(rows: tuple[tuple[Any, ...], ...], **more: Any) -> Answer:
    columns = (ColumnInfo(name="key", type="STRING"), ColumnInfo(name="p", type="FLOAT64"))
    ran = RanQuery(sql="SELECT 1", result=QueryResult(columns=columns, rows=rows))
    return Answer(question="q", text="Found.", sql="SELECT 1", general=ran, **more)


def test_question_back_lists_its_alternatives() -> None:
    made = Answer(question="q", text=BACK.question, abstained=True, clarification=BACK)
    assert "Which one?\x1b[0m\n  1. this\n  2. that\n" in shown(show_answer, made, 20)
    assert "  1. this\n  2. that\n" in shown(show_plan, Plan(clarification=BACK))


def test_cells() -> None:
    out = shown(show_answer, answer((("k1", 1.2e-15), ("k2", None), ("x" * 90, 0.0))), 20)
    assert "1.2e-15" in out
    assert "NULL" in out
    assert "x" * 39 + "…" in out
    assert "x" * 41 not in out
    assert "Rows: showing 3 of 3 rows" in out


def test_markup_in_a_cell_is_text() -> None:
    assert "[bold]x[/bold] :smile:" in shown(show_answer, answer((("[bold]x[/bold] :smile:", 1.0),)), 20)


def test_ascii_terminal_has_ascii_marks() -> None:
    out = shown(show_answer, answer((("x" * 90, 1.0), ("β", 2.0))), 20, encoding="ascii")
    assert "x" * 37 + "..." in out
    assert "\\u03b2" in out


def test_keys_keep_the_end_that_tells_them_apart() -> None:
    out = shown(
        show_answer,
        answer((("study_with_a_long_name_UUID_1", 1.0), ("study_with_a_long_name_UUID_2", 2.0))),
        20,
        width=30,
    )
    assert "UUID_1" in out
    assert "UUID_2" in out


def test_conventions_warnings_and_sources() -> None:
    record = ConventionRecord(rule="heidi", status="judged", reason="Why.", citation="Who", rows_without=7)
    out = shown(
        show_answer, answer((), conventions=(record,), warnings=("Truncated.",), sources=("Study",), total=0), 20
    )
    parts = ("(judged, not filtered by)", "Why. [Who]", "Rows: 7 without it.", "- Truncated.", "- Study", "0 of 0 rows")
    assert all(part in out for part in parts)


@pytest.mark.parametrize(
    ("plan", "parts"),
    [
        (Plan(answerable=False, problem="no ages"), ["Cannot be answered: no ages"]),
        (
            Plan(
                sources=(Source(alias="a", table="A"), Source(alias="b", table="B")),
                combine="join",
                joins=(PlanJoin(left="a", right="b", entity="gene"),),
                aggregate=Aggregate(function="count_distinct", column="gene"),
                order=(Order(column="n", descending=True),),
                notes=("Say so.",),
                limit=5,
            ),
            ["A, B", "a-b on gene (inner)", "count_distinct of gene", "n descending", "- Say so."],
        ),
    ],
)
def test_plan(plan: Plan, parts: list[str]) -> None:
    out = shown(show_plan, plan)
    assert all(part in out for part in parts)


def test_check_report() -> None:
    record = ConventionRecord(rule="default_limit", status="applied", predicate="LIMIT 100")
    report = CheckReport(
        valid=True,
        sql="SELECT 1",
        fixes=(Fix(code="x", message="Wrote it in full."),),
        refined="SELECT 1 LIMIT 100",
        conventions=(record,),
        warnings=("Careful.",),
    )
    out = shown(show_check, report)
    for part in (
        "This SQL would run.",
        "- fixed: Wrote it in full.",
        "With the conventions",
        "LIMIT 100",
        "- Careful.",
    ):
        assert part in out
    wrong = CheckReport(
        valid=False,
        sql="x",
        problems=(Problem(code="syntax", message="No SQL.", line=1, column=2, suggestion="Write some."),),
    )
    out = shown(show_check, wrong)
    assert "- line 1, column 2: No SQL. Write some." in out
    assert "SQL as it would be run" not in out


def test_control_characters_are_written_out() -> None:
    hostile = "\x1b[2J\x07\x9b31m\x7f"
    written = "\\x1b[2J\\x07\\x9b31m\\x7f"
    record = ConventionRecord(rule="r", status="applied", reason=hostile)
    made = answer(((hostile, 1.0),), warnings=(hostile,), sources=(hostile,), conventions=(record,))
    out = shown(show_answer, made, 20)
    assert hostile not in out
    assert "\x1b[2J" not in out
    assert out.count(written) == 4
    html = made._repr_html_()
    assert "\x1b" not in html
    assert html.count(written) == 4


def test_control_characters_in_names_sql_and_plans() -> None:
    result = QueryResult(columns=(ColumnInfo(name="a\x1b[1m", type="STRING"),), rows=(("x",),))
    made = Answer(question="q", text="t", sql="SELECT '\x1b'", general=RanQuery(sql="", result=result))
    for out in (shown(show_answer, made, 20), made._repr_html_()):
        assert "a\\x1b[1m" in out
        assert "SELECT '\\x1b'" in out.replace("&#x27;", "'")
    assert "Cannot be answered: \\x1b[2J" in shown(show_plan, Plan(answerable=False, problem="\x1b[2J"))
