"""Nothing but one read-only SELECT over the catalogue passes, however it is dressed."""

from __future__ import annotations

import codecs
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from bmsql.errors import ForbiddenSqlError
from bmsql.sql import Policy, guard, parse, validate
from bmsql.types import Rejected, ValidatedQuery
from tests.sql_validate.catalogue import CATALOG, DATA

LINES = (DATA / "hostile.txt").read_text(encoding="utf-8").splitlines()
HOSTILE = [
    codecs.decode(line.replace("\\\\", "\\\\\\\\"), "unicode_escape") if line.isascii() else line for line in LINES
]
TABLE = f"`{CATALOG.qualified('Extra')}`"


def test_the_list_is_long_enough() -> None:
    assert len(set(HOSTILE)) >= 250


@pytest.mark.parametrize("sql", HOSTILE, ids=lambda sql: ascii(sql[:60]))
def test_hostile_statements_are_rejected(sql: str) -> None:
    outcome = validate(sql, CATALOG)
    assert isinstance(outcome, Rejected), outcome
    assert outcome.problems[0].message


@pytest.mark.parametrize("sql", HOSTILE, ids=lambda sql: ascii(sql[:60]))
def test_the_guard_alone_rejects_them_too(sql: str) -> None:
    outcome = validate(sql, CATALOG, Policy(checks=False))
    whole = validate(sql, CATALOG)
    assert isinstance(whole, Rejected)
    # What is no column is left to the database, which reads nothing by it.
    assert isinstance(outcome, Rejected) or whole.problems[0].code == "unknown-column", outcome


def test_without_checks_names_are_left_to_the_database() -> None:
    text = f"SELECT nothing FROM {TABLE} WHERE LOWER(1) = 'x'"
    assert isinstance(validate(text, CATALOG), Rejected)
    outcome = validate(f"```sql\n{text};\n```", CATALOG, Policy(checks=False))
    assert isinstance(outcome, ValidatedQuery)
    assert outcome.sql == text


WRAPPERS = [
    "{}",
    " \n\t{}",
    "({})",
    "/* c */ {}",
    "-- c\n{}",
    "{};",
    "{} -- c",
    "SELECT * FROM ({}) AS x",
    "WITH q AS ({}) SELECT * FROM q",
    "SELECT ({})",
    "SELECT ARRAY({})",
    "SELECT EXISTS({})",
    "SELECT 1 IN ({})",
    "SELECT 1; {}",
    "{}; SELECT 1",
    "SELECT 1 UNION ALL {}",
    "```sql\n{}\n```",
    "SELECT s FROM Extra WHERE s IN ({})",
    "SELECT COUNT(*) OVER (PARTITION BY ({})) FROM Extra",
    "SELECT IF(TRUE, ({}), 1)",
]


def test_hostile_statements_are_rejected_in_every_wrapping() -> None:
    for sql in random.Random(7).sample(HOSTILE, 90):
        for wrapper in WRAPPERS:
            outcome = validate(wrapper.format(sql), CATALOG)
            assert isinstance(outcome, Rejected), (wrapper, sql, outcome)


_PIECES = st.sampled_from([
    "SELECT", "s", "f", "FROM", "Extra", TABLE, "WHERE", "=", "'x'", "\"y\"", "(", ")", ",", ";", "--", "/*", "*/",
    "*", "`", "'", "\\", "DROP TABLE", "DELETE FROM", "INSERT INTO", "UNION ALL", "read_text('/etc/hostname')", "\n",
    "getenv('X')", "other.t", "`p.d.t`", "WITH q AS", "INFORMATION_SCHEMA.TABLES", "@@x", "ATTACH", "COPY", "1", "AS",
    "LIMIT", "\u200b", "\u2028", "'''", "r'", "#", "||", "::INT", "[", "]",
])  # fmt: skip
_ALLOWED = {"extra"}


@settings(max_examples=400, deadline=None)
@given(st.lists(_PIECES, min_size=1, max_size=14))
def test_random_texts_never_raise_and_never_read_elsewhere(pieces: list[str]) -> None:
    outcome = validate(" ".join(pieces), CATALOG)
    if isinstance(outcome, ValidatedQuery):
        tree = parse_one(outcome.sql, dialect="bigquery")
        assert isinstance(tree, exp.Query)
        names = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        assert {table.name.lower() for table in tree.find_all(exp.Table)} - names <= _ALLOWED
        assert not tree.find(exp.Anonymous)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60))
def test_any_text_gives_an_outcome(text: str) -> None:
    assert isinstance(validate(text, CATALOG), (ValidatedQuery, Rejected))


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT s FROM {TABLE}",
        f"SELECT s FROM {TABLE} UNION ALL SELECT s FROM {TABLE}",
        f"WITH q AS (SELECT s FROM {TABLE}) SELECT * FROM q",
        f"SELECT e.id, t FROM {TABLE} AS e, UNNEST(e.tags) AS t",
        f"SELECT (SELECT COUNT(*) FROM e.tags) FROM {TABLE} AS e",
    ],
)
def test_the_guard_lets_queries_pass(sql: str) -> None:
    guard(parse(sql), CATALOG)


@pytest.mark.parametrize(
    "tree",
    [
        exp.Drop(this=exp.to_table("x"), kind="TABLE"),
        exp.delete("Extra"),
        exp.insert("SELECT 1", "Extra"),
        exp.select("*").from_(exp.table_("t", db="d", catalog="other")),
        exp.select("getenv('X')"),
        exp.select(exp.func("READ_TEXT", exp.Literal.string("/etc/hostname"))),
        exp.select("*").from_(exp.Table(this=exp.Anonymous(this="read_csv", expressions=[exp.Literal.string("x")]))),
        exp.select("*").from_(exp.Subquery(this=exp.delete("Extra"))),
        exp.select("1").where(exp.Parameter(this=exp.var("p"))),
        exp.Command(this="ATTACH", expression="'x'"),
    ],
    ids=lambda tree: type(tree).__name__,
)
def test_the_guard_refuses_built_trees(tree: exp.Expr) -> None:
    with pytest.raises(ForbiddenSqlError):
        guard(tree, CATALOG)


def test_the_policy_opens_what_it_names() -> None:
    sql = "SELECT anything FROM `p.other.t`"
    assert isinstance(validate(sql, CATALOG), Rejected)
    assert isinstance(validate(sql, CATALOG, Policy(datasets=("p.other",))), ValidatedQuery)
    sql = f"SELECT s FROM {TABLE} WHERE s = @name"
    assert isinstance(validate(sql, CATALOG), Rejected)
    assert isinstance(validate(sql, CATALOG, Policy(parameters=True)), ValidatedQuery)
    sql = "SELECT table_name FROM `card-ai-389220.bio_sql_benchmark.INFORMATION_SCHEMA.TABLES`"
    assert isinstance(validate(sql, CATALOG), Rejected)
    assert isinstance(validate(sql, CATALOG, Policy(information_schema=True)), ValidatedQuery)


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT " + "(" * 100 + "1" + ")" * 100, "too-deep"),
        ("SELECT " + "[" * 100 + "1" + "]" * 100, "too-deep"),
        ("SELECT " + "NOT " * 100 + "TRUE", "too-deep"),
        ("SELECT " + "- " * 20_000 + "1", "too-deep"),
        ("SELECT " + "-~" * 100 + "1", "too-deep"),
        ("SELECT " + "NOT (" * 40 + "TRUE" + ")" * 40, "too-deep"),
        ("SELECT " + "CASE WHEN TRUE THEN " * 70 + "1" + " END" * 70, "too-deep"),
        ("SELECT " + "CASE 1 WHEN 1 THEN 2 ELSE " * 3000 + "1" + " END" * 3000, "too-deep"),
        ("SELECT CAST(1 AS " + "ARRAY<" * 12_000 + "INT64" + ">" * 12_000 + ")", "too-deep"),
        ("SELECT " + "1 + " * 5000 + "1", "too-complex"),
        ("SELECT '" + "x" * 100_001 + "'", "too-long"),
    ],
)
def test_huge_texts_are_refused_politely(sql: str, code: str) -> None:
    outcome = validate(sql, CATALOG)
    assert isinstance(outcome, Rejected)
    assert outcome.problems[0].code == code


@pytest.mark.parametrize(
    "written",
    [
        " + ".join(["(1)"] * 100),
        " - ".join(["CASE WHEN 1 < 2 THEN 1 END"] * 70),
        " + ".join(["-n"] * 200),
        "[" + ", ".join(["-1"] * 200) + "]",
        " AND ".join(["NOT n < 1 AND n > 0"] * 100),
        "ABS(" * 20 + "n" + ")" * 20,
    ],
    ids=["brackets", "cases", "signs", "signs in a list", "comparisons", "calls"],
)
def test_what_stands_side_by_side_is_not_nested(written: str) -> None:
    outcome = validate(f"SELECT {written} AS y FROM {TABLE}", CATALOG)
    assert isinstance(outcome, ValidatedQuery), outcome.problems[0]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id FROM Extra" + " JOIN Extra" * 40,
        "SELECT id FROM Extra" + " LEFT JOIN Extra" * 40,
        "SELECT id FROM Extra" + ", Extra JOIN Extra" * 40,
        "SELECT id FROM Extra" + " JOIN Extra CROSS JOIN Extra" * 40,
        "SELECT id FROM Extra" + " JOIN Extra a ON TRUE JOIN Extra" * 40,
        "SELECT id FROM Extra" + " JOIN (Extra JOIN Extra" * 20 + ")" * 20,
        "SELECT id FROM Extra" + " JOIN Extra" * 40 + " ON TRUE" * 40,
    ],
)
def test_joins_without_conditions_end_soon(text: str) -> None:
    """sqlglot's parser tries each of them in two ways, so that thirty would take hours."""
    outcome = validate(text, CATALOG)
    assert isinstance(outcome, Rejected)
    assert "joins have no condition" in outcome.problems[0].message
    assert "CROSS JOIN" in outcome.problems[0].suggestion


def test_joins_with_conditions_are_as_many_as_it_takes() -> None:
    chained = " ".join(f"JOIN {TABLE} AS t{n} ON t{n}.id = t.id" for n in range(30))
    crossed = " ".join(f"CROSS JOIN {TABLE} AS t{n}" for n in range(30))
    nested = f"JOIN {TABLE} AS t0 JOIN {TABLE} AS t1 ON t1.id = t0.id ON t0.id = t.id"
    arrays = " ".join(f"LEFT JOIN UNNEST(t.tags) AS g{n}" for n in range(12))
    apart = f"WHERE EXISTS (SELECT 1 FROM {TABLE} AS a JOIN {TABLE} AS c ON a.id = c.id)"
    for joins in (chained, crossed, nested, arrays, apart):
        outcome = validate(f"SELECT t.s FROM {TABLE} AS t {joins}", CATALOG)
        assert isinstance(outcome, ValidatedQuery), outcome.problems[0]


def test_each_of_many_problems_is_told_once() -> None:
    outcome = validate("SELECT " + " ".join([", STRUCT"] * 2000), CATALOG)
    assert isinstance(outcome, Rejected)
    assert len(outcome.problems) == len(set(outcome.problems)) >= 2000


def test_a_long_list_and_a_long_chain_are_no_attack() -> None:
    listed = ", ".join(f"'g{n}'" for n in range(3000))
    assert isinstance(validate(f"SELECT s FROM {TABLE} WHERE s IN ({listed})", CATALOG), ValidatedQuery)
    chain = " OR ".join(f"s = 'g{n}'" for n in range(150))
    assert isinstance(validate(f"SELECT s FROM {TABLE} WHERE {chain}", CATALOG), ValidatedQuery)
