"""The second opinion: GoogleSQL's own analyser, where its extra is installed."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import pytest

from bmsql.agent import CheckReport
from bmsql.agent._check import with_second_opinion
from bmsql.backends import cache_directory
from bmsql.errors import MissingDependencyError
from bmsql.sql.googlesql import Analyser
from bmsql.types import Problem
from tests.sql_validate.catalogue import CATALOG, DATA
from tests.sql_validate.test_more_cases import CASES, full

installed = pytest.mark.skipif(find_spec("zetasql") is None, reason="needs the extra bmsql[googlesql]")


class Scripted:
    """An analyser that refuses the texts it is told to."""

    def __init__(self, *refused: str) -> None:
        self.refused = refused

    def problem(self, sql: str) -> Problem | None:
        return Problem(code="googlesql", message="No.") if sql in self.refused else None


def _opinion(report: CheckReport, *refused: str) -> CheckReport:
    return with_second_opinion(report, cast(Analyser, Scripted(*refused)))


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "wasmtime", None)
    with pytest.raises(MissingDependencyError) as caught:
        Analyser(CATALOG, tmp_path)
    assert "bmsql[googlesql]" in caught.value.remedy


def test_what_the_analyser_refuses_makes_the_report_invalid() -> None:
    good = CheckReport(valid=True, sql="SELECT 1", refined="SELECT 2")
    agreed = _opinion(good)
    assert (agreed.valid, agreed.runs, agreed.analysed, agreed.problems) == (True, True, True, ())
    for refused in ("SELECT 1", "SELECT 2"):
        report = _opinion(good, refused)
        assert (report.valid, report.runs) == (False, False)
        assert [problem.code for problem in report.problems] == ["googlesql"]


def test_what_only_bmsql_refuses_stays_refused() -> None:
    refused = CheckReport(valid=False, runs=False, sql="SELECT x")
    report = _opinion(refused)
    assert not report.valid
    assert "refused all the same" in report.warnings[0]
    assert not _opinion(refused, "SELECT x").warnings


@pytest.mark.all
@installed
def test_the_recorded_verdicts_are_the_analysers() -> None:
    analyser = Analyser(CATALOG, cache_directory())
    recorded = [(full(case["sql"]), case) for case in CASES]
    recorded += [(case["sql"], case) for case in json.loads((DATA / "cases.json").read_text(encoding="utf-8"))]
    wrong = [sql for sql, case in recorded if (analyser.problem(sql) is None) != (case["oracle"] is None)]
    assert not wrong
    repaired = [full(case["result"]) for _, case in recorded if "result" in case and "gap" not in case]
    assert len(repaired) > 50
    assert not [sql for sql in repaired if analyser.problem(sql) is not None]


@pytest.mark.all
@installed
def test_a_problem_says_where(tmp_path: Path) -> None:
    analyser = Analyser(CATALOG, cache_directory())
    problem = analyser.problem("SELECT s,\n  nope FROM Extra")
    assert problem is not None
    assert (problem.code, problem.line, problem.column, problem.snippet) == ("googlesql", 2, 3, "nope FROM Extra")
    assert "Unrecognized name: nope" in problem.message
    assert analyser.problem("SELECT s FROM Extra") is None
