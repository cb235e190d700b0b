"""The faithful tree: calls as they are written, and the place of everything that problems point at."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import exp

from bmsql.errors import SqlSyntaxError
from bmsql.sql import format_sql, parse, validate
from bmsql.sql._parse import parse_source
from bmsql.sql._source import Source
from bmsql.sql._tree import span
from bmsql.types import Rejected
from tests.sql_validate.catalogue import CATALOG
from tests.yaml_files import read_yaml

CASES = read_yaml(Path(__file__).parent / "faithful.yaml")


@pytest.mark.parametrize("case", CASES, ids=lambda case: ascii(case["sql"][:60]))
def test_calls_stay_as_written(case: dict[str, list[str]]) -> None:
    tree = parse_source(Source(str(case["sql"])))
    found = [node.sql("bigquery", comments=False) for node in tree.dfs() if isinstance(node, exp.Anonymous)]
    assert found == case["calls"]
    assert not any(node.comments for node in tree.walk())


@pytest.mark.parametrize(
    ("sql", "kind", "written"),
    [
        ("SELECT 1 + (2 + a)", exp.Paren, "(2 + a"),
        ("SELECT ((a)) AS b", exp.Paren, "((a"),
        ("SELECT (a)[OFFSET(0)]", exp.Paren, "(a"),
        ("SELECT MAX((a)), (b)", exp.Paren, "(a"),
        ("SELECT a IN ((1), 2), (a, 1) = (b, 2)", exp.Tuple, "(a, 1"),
        ("SELECT 1 = (SELECT a)", exp.Subquery, "(SELECT a"),
        ("SELECT a < .05, .05", exp.Literal, ".05"),
        ("SELECT 'a' 'b'", exp.Concat, "'a'"),
        ("SELECT COUNT(*), a", exp.Star, "*"),
    ],
)
def test_nodes_know_where_they_stand(sql: str, kind: type[exp.Expr], written: str) -> None:
    source = Source(sql)
    node = next(node for node in parse_source(source).dfs() if isinstance(node, kind))
    start, end = span(node, source)
    assert sql[start:end] == written


def test_a_comment_for_the_parser_is_a_comment_like_any_other() -> None:
    sql = "SELECT nope /* sqlglot.meta start=5,end=6 */ FROM Extra"
    rejected = validate(sql, CATALOG)
    assert isinstance(rejected, Rejected)
    assert (rejected.problems[0].code, rejected.problems[0].column) == ("unknown-column", 8)
    assert "sqlglot" in format_sql("SELECT a /* by sqlglot.meta */ FROM t")


@pytest.mark.parametrize("sql", ["SELECT DATE_ADD(, INTERVAL 1 DAY)", "SELECT REGEXP_EXTRACT(, 'a')", "SELECT SUM("])
def test_a_missing_argument_is_a_syntax_error(sql: str) -> None:
    with pytest.raises(SqlSyntaxError) as caught:
        parse(sql)
    assert caught.value.remedy
    assert isinstance(validate(sql, CATALOG), Rejected)


def test_messages_show_nothing_of_the_parser() -> None:
    with pytest.raises(SqlSyntaxError) as caught:
        parse_source(Source("SELECT COUNT(*) FROM . (SELECT 1)"))
    assert "Token" not in str(caught.value)
    assert str(caught.value).isascii()
