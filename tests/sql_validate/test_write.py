"""Copies of trees, and their SQL: what sqlglot itself gives, by a shorter way."""

from __future__ import annotations

import inspect
from itertools import pairwise
from types import FunctionType

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.dialects.bigquery import BigQuery

from bmsql.errors import SqlSyntaxError
from bmsql.sql import copied, format_sql, one_line, parse, shared_tree
from tests.sql_validate.test_sql_api import USUAL

BIGQUERY = (
    USUAL,
    "SELECT 1",
    "SELECT a FROM `p-1.d.t` WHERE 'x' IN UNNEST(SPLIT(b, ';')) AND (c = 1 OR NOT c IS NULL)",
    "SELECT a /* one */, b -- two\nFROM t -- three\nWHERE a = 1",
    "SELECT DISTINCT g FROM t CROSS JOIN UNNEST(SPLIT(t.a, ';')) AS g WHERE g <> 'NONE'",
    "SELECT u.x FROM t, UNNEST(t.items) AS u WITH OFFSET AS o",
    "SELECT CAST(a AS NUMERIC(38, 0)), SAFE_CAST(b AS STRING(3)), a + INTERVAL 1 DAY FROM t",
    "SELECT UPPER(a) AS b, COUNT(*) AS n FROM t GROUP BY UPPER(a) ORDER BY n DESC",
    "SELECT a AS b, COUNT(*) AS n FROM t GROUP BY 1 ORDER BY n",
    "SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) FROM t QUALIFY ROW_NUMBER() OVER (ORDER BY c) <= 3",
    "WITH w AS (SELECT a FROM t) SELECT a FROM w UNION ALL (SELECT b FROM u ORDER BY b LIMIT 3)",
    "SELECT `select`, `a b`, `order`.x, _a1, MOD(a + 1, 7) FROM `group`",
    "SELECT EXPLODE(a) AS x, b FROM t",
    "SELECT (SELECT EXPLODE(a)) FROM t WHERE EXISTS (SELECT 1 FROM UNNEST(b) AS c WHERE c = a)",
    "SELECT ARRAY_CONTAINS(a, 'x'), SPLIT(a), STRUCT(1 AS x), ARRAY(SELECT a FROM t), -(-a) FROM t",
)
# Forms that BigQuery lacks, which sqlglot rewrites.
OTHERS = (
    ("postgres", "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b"),
    ("postgres", "SELECT GENERATE_SERIES(1, 3) AS n, b FROM t"),
    ("postgres", "SELECT n FROM GENERATE_SERIES(1, 3) AS n"),
    ("spark", "SELECT a FROM t LEFT SEMI JOIN u ON t.a = u.a"),
    ("spark", "SELECT a FROM t LEFT ANTI JOIN u ON t.a = u.a"),
    ("spark", "SELECT POSEXPLODE(a) FROM t"),
    ("duckdb", "SELECT LIST_FILTER(a, x -> x > 1), LIST_DISTINCT(a) FROM t"),
    ("duckdb", "SELECT a FROM (SELECT UNNEST([1, 2]) AS a)"),
    ("postgres", "SELECT u.x, t.a FROM t CROSS JOIN UNNEST(t.items) AS u(x)"),
)
# Names that the lexer refuses.
ESCAPED = ("bigquery", "SELECT `tick\\`ed`, `back\\\\slash`, `tab\\tbed` FROM t")
ALL = (ESCAPED, *(("bigquery", sql) for sql in BIGQUERY), *OTHERS)


@pytest.mark.parametrize(("dialect", "sql"), ALL)
def test_one_line_is_what_sqlglot_writes(dialect: str, sql: str) -> None:
    tree = sqlglot.parse_one(sql, read=dialect)
    before = repr(tree)
    assert one_line(tree) == tree.sql("bigquery")
    assert one_line(tree, comments=False) == tree.sql("bigquery", comments=False)
    assert repr(tree) == before
    assert one_line(tree.copy(), copy=False) == tree.sql("bigquery")


@pytest.mark.parametrize("sql", BIGQUERY)
def test_a_tree_is_formatted_as_its_text_and_left_as_it_is(sql: str) -> None:
    tree = parse(sql)
    before = repr(tree)
    text = format_sql(tree)
    assert repr(tree) == before
    assert text == format_sql(sql) == format_sql(tree, copy=False)


@pytest.mark.parametrize("sql", ["SELECT ARRAY_CONTAINS(a, b) FROM t", "SELECT a FROM t"])
def test_a_part_of_a_tree_is_written_as_if_it_stood_alone(sql: str) -> None:
    part = sqlglot.parse_one(sql, read="bigquery").selects[0]
    assert one_line(part) == part.sql("bigquery")
    assert part.parent is not None


@pytest.mark.parametrize(("dialect", "sql"), ALL)
def test_a_copy_is_the_same_tree_of_other_nodes(dialect: str, sql: str) -> None:
    tree = sqlglot.parse_one(sql, read=dialect)
    made = copied(tree)
    assert made.parent is None
    for ours, theirs, original in zip(made.walk(), tree.copy().walk(), tree.walk(), strict=True):
        assert type(ours) is type(theirs)
        assert (ours.meta, ours.comments, ours.arg_key, ours.index) == (
            theirs.meta,
            theirs.comments,
            theirs.arg_key,
            theirs.index,
        )
        assert list(ours.args) == list(theirs.args)
        assert ours is not original
        assert ours.meta is not original.meta
        assert all(child.parent is ours for child in ours.iter_expressions())
    assert made == tree


@pytest.mark.parametrize("name", ["a", "Order", "_1", "1a", "a b", "a-b", "a.b", "ä", "tick`ed", "back\\slash", "a\nb"])
@pytest.mark.parametrize("quoted", [False, True])
def test_a_name_is_quoted_as_sqlglot_quotes_it(name: str, quoted: bool) -> None:
    column = exp.column(name, table="t", quoted=quoted)
    assert one_line(column) == column.sql("bigquery")


def test_a_copy_of_a_part_has_no_parent_and_keeps_the_types() -> None:
    column = exp.column("a")
    column.type = "INT64"
    exp.select(column, copy=False)
    assert column.parent is not None
    made = copied(column)
    assert made.parent is None
    assert made.is_type("INT64")
    assert made.type is column.type


def test_a_long_chain_of_conditions_is_copied() -> None:
    """The copy does not call itself, which would end at some thousand terms."""
    tree = parse("SELECT a FROM t WHERE " + " OR ".join(f"a = {number}" for number in range(3000)))
    assert sum(1 for _ in copied(tree).walk()) == sum(1 for _ in tree.walk())


def test_a_changed_copy_leaves_the_remembered_tree() -> None:
    text = "SELECT a FROM t WHERE b = 1"
    shared = shared_tree(text)
    made = copied(shared)
    made.args["where"].pop()
    for table in made.find_all(exp.Table):
        table.meta["mark"] = True
        table.set("this", exp.to_identifier("u"))
    assert one_line(shared) == text == one_line(parse(text))
    assert not any("mark" in table.meta for table in shared.find_all(exp.Table))


def test_the_shared_tree_is_one_and_that_of_parse_another() -> None:
    text = "SELECT a FROM t"
    assert shared_tree(text) is shared_tree(text)
    one, other = parse(text), parse(text)
    assert len({id(tree) for tree in (one, other, shared_tree(text))}) == 3
    assert all(left == right for left, right in pairwise((one, other, shared_tree(text))))
    with pytest.raises(SqlSyntaxError):
        shared_tree("SELECT FROM")


def test_sqlglot_rewrites_a_select_for_nothing_else() -> None:
    """What sqlglot does to each SELECT is left out where none of these would do anything: a new one has to be told."""
    written = BigQuery.generator_class.TRANSFORMS[exp.Select]
    if not isinstance(written, FunctionType):
        pytest.skip("sqlglot is compiled, and does not show what it does")
    rewriting = inspect.getclosurevars(written).nonlocals
    assert [each.__name__ for each in rewriting["transforms"]] == [
        "_unnest_explode_generate_series",
        "_explode_projection_to_unnest",
        "unqualify_unnest",
        "eliminate_distinct_on",
        "_alias_ordered_group",
        "eliminate_semi_and_anti_joins",
    ]
    assert rewriting["generator"] is None
