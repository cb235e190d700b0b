"""The public functions one by one, and what holds for all of them."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlglot import exp

import bmsql.sql
from bmsql.errors import ForbiddenSqlError, SqlSyntaxError
from bmsql.sql import extract_sql, format_sql, parse, validate
from bmsql.sql._functions import functions
from bmsql.sql._regex import pattern_problem
from bmsql.sql._source import Edit, apply_edits
from bmsql.types import ValidatedQuery
from tests.sql_validate.catalogue import CATALOG

USUAL = (
    "WITH best AS (SELECT nearestGene AS gene, MIN(p) AS p FROM AlzheimerDisease_CombinedGeneData_UUID WHERE p < 5e-8 "
    "GROUP BY gene) SELECT b.gene, b.p, d.drugName FROM best AS b "
    "LEFT JOIN DrugTargets_IndicationsAndTherapeuticUses AS d ON d.approvedSymbol = b.gene "
    "AND d.max_phase_for_ind >= 3 WHERE b.gene != 'NONE' ORDER BY b.p LIMIT 100"
)


def test_the_public_names() -> None:
    reading = ["Policy", "Validator", "extract_sql", "guard", "parse", "same_sql", "shared_tree", "validate"]
    writing = ["children", "copied", "format_sql", "one_line"]
    assert sorted(bmsql.sql.__all__, key=str.lower) == sorted([*reading, *writing], key=str.lower)
    for name in bmsql.sql.__all__:
        assert getattr(bmsql.sql, name).__doc__


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("SELECT 1;", "SELECT 1"),
        ("Sure:\n```sql\nSELECT 1;\n```\nBye", "SELECT 1"),
        ("```\nSELECT 1", "SELECT 1"),
        ("```sql\nSELECT 1\n```\nor better\n```sql\nSELECT 2\n```", "SELECT 2"),
        ('{"sql": "SELECT 1"}', "SELECT 1"),
        ("SQL: SELECT 2", "SELECT 2"),
        ("`SELECT 3`", "SELECT 3"),
        ("With this query we count:\nSELECT COUNT(*) FROM t", "SELECT COUNT(*) FROM t"),
        ("SELECT 1; This is all you need.", "SELECT 1"),
        ("SELECT 1; This query doesn't need more.", "SELECT 1"),
        ("SELECT a\n\nFROM t\n\nThe table has it.", "SELECT a\n\nFROM t"),
        ("-- note\nSELECT 1 -- x", "-- note\nSELECT 1 -- x"),
        ("Answer:\n(SELECT 1) UNION ALL (SELECT 2)", "(SELECT 1) UNION ALL (SELECT 2)"),
        ("SELECT 1; DROP TABLE x", "SELECT 1; DROP TABLE x"),
        ("DROP TABLE x;\nSELECT 1", "DROP TABLE x;\nSELECT 1"),
        ("CREATE TABLE x AS\nSELECT 1", "CREATE TABLE x AS\nSELECT 1"),
        ("no query here", "no query here"),
        ("", ""),
    ],
)
def test_extract_sql(text: str, sql: str) -> None:
    assert extract_sql(text) == sql


def test_parse_gives_the_usual_tree() -> None:
    tree = parse("SELECT LENGTH(a) FROM `p.d.t`")
    assert isinstance(tree, exp.Select)
    assert tree.find(exp.Length)


@pytest.mark.parametrize(
    ("sql", "line", "column"),
    [
        ("SELECT a FROM t WHERE", 1, 17),
        ("SELECT COUNT(a)) FROM t", 1, 16),
        ("SELECT a\nFROM t\nWHERE a = 'x", 3, 11),
        ("SELECT a FROM t /* open", 1, 17),
        ("SELECT 1; SELECT 2", 1, 9),
    ],
)
def test_parse_says_where(sql: str, line: int, column: int) -> None:
    with pytest.raises(SqlSyntaxError) as caught:
        parse(sql)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.remedy


def test_parse_refuses_other_statements() -> None:
    with pytest.raises(ForbiddenSqlError):
        parse("DROP TABLE x")


def test_format_sql() -> None:
    assert format_sql("select a, count(*) n from t -- all\ngroup by a") == (
        "SELECT\n  a,\n  count(*) AS n\nFROM t /* all */\nGROUP BY\n  a"
    )
    assert format_sql(parse("SELECT 1"), pretty=False) == "SELECT 1"


def test_edits_may_not_overlap() -> None:
    assert apply_edits("abc", [Edit(2, 3, "z"), Edit(0, 1, "x")]) == "xbz"
    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abc", [Edit(0, 2, "x"), Edit(1, 3, "y")])


def test_every_function_is_listed_once_with_its_signatures() -> None:
    assert len(functions()) > 220
    for function in functions().values():
        assert len(set(function.signatures)) == len(function.signatures), function.name
        assert function.usage().startswith(function.name)


@pytest.mark.parametrize(
    "pattern", ["^a$", "(a|b)*?c", "[^\\]]+", "[]a]", "a{2,3}", "(?i)x", "(?:a)(b)", "[[:alpha:]]", "a{", "\\bA\\b"]
)
def test_right_patterns(pattern: str) -> None:
    assert pattern_problem(pattern) == ""


@pytest.mark.parametrize(
    "pattern", ["(?=a)", "(?<!a)", "(a)\\1", "a**", "*a", "(a", "a)", "[a", "a{3,2}", "a{1001}", "(?>a)", "\\Z", "a\\"]
)
def test_wrong_patterns(pattern: str) -> None:
    assert pattern_problem(pattern)


def test_it_is_pure_and_may_be_called_from_many_threads() -> None:
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: validate(USUAL, CATALOG), range(40)))
    assert all(isinstance(outcome, ValidatedQuery) for outcome in outcomes)
    assert len({outcome.sql for outcome in outcomes}) == 1


def test_it_is_fast_enough() -> None:
    seconds = []
    for _ in range(15):
        start = time.perf_counter()
        validate(USUAL, CATALOG)
        seconds.append(time.perf_counter() - start)
    # Far above what is measured on an idle machine, so that a busy one does not fail.
    assert statistics.median(seconds) < 0.05
