"""Tables of further datasets and families of date-sharded tables, as a catalogue of BigQuery has them."""

from __future__ import annotations

import pytest

from bmsql.errors import ForbiddenSqlError
from bmsql.sql import guard, parse, validate
from bmsql.types import Catalog, ColumnInfo, Rejected, TableInfo, ValidatedQuery

A = (ColumnInfo(name="a", type="INT64"),)
CATALOG = Catalog(
    project="my-proj",
    dataset="kb",
    tables=(
        TableInfo(
            name="events_*",
            columns=A,
            hidden=(ColumnInfo(name="_TABLE_SUFFIX", type="STRING"),),
            shards=("20240101", "20240102"),
        ),
        TableInfo(name="T", columns=A),
        TableInfo(name="other.U", columns=A),
        TableInfo(name="far-proj.ds.V", columns=A),
    ),
)

VALID = [
    ("SELECT a FROM `events_*`", "`my-proj.kb.events_*`", "events_*"),
    ("SELECT a FROM events_* WHERE _TABLE_SUFFIX > '2024'", "`my-proj.kb.events_*`", "events_*"),
    ("SELECT e._table_suffix, e.a FROM `kb.events_*` AS e", "`my-proj.kb.events_*` AS e", "events_*"),
    ("SELECT a FROM events_20240101", "`my-proj.kb.events_20240101`", "events_*"),
    ("SELECT events_20240101.a FROM events_20240101", "`my-proj.kb.events_20240101` AS events_20240101", "events_*"),
    ("SELECT U.a FROM other.U", "`my-proj.other.U` AS U", "other.U"),
    ("SELECT a FROM Other.u", "`my-proj.other.U`", "other.U"),
    ("SELECT a FROM `far-proj`.ds.V", "`far-proj.ds.V`", "far-proj.ds.V"),
    ("SELECT t.a FROM T AS t JOIN other.U AS u USING (a)", "`my-proj.other.U` AS u", "T, other.U"),
]


@pytest.mark.parametrize(("sql", "written", "tables"), VALID)
def test_names_are_written_in_full(sql: str, written: str, tables: str) -> None:
    query = validate(sql, CATALOG)
    assert isinstance(query, ValidatedQuery), query
    assert written in query.sql
    assert ", ".join(query.tables) == tables
    again = validate(query.sql, CATALOG)
    assert isinstance(again, ValidatedQuery)
    assert (again.sql, again.fixes) == (query.sql, ())
    guard(parse(query.sql), CATALOG)


@pytest.mark.parametrize(
    ("sql", "code", "hint"),
    [
        ("SELECT a FROM events_20240105", "unknown-table", "`my-proj.kb.events_*`"),
        ("SELECT a FROM `foo_*`", "wildcard-table", "`my-proj.kb.events_*`"),
        ("SELECT a FROM `*`", "wildcard-table", "`my-proj.kb.events_*`"),
        ("SELECT a FROM `other.*`", "wildcard-table", "`my-proj.kb.events_*`"),
        ("SELECT s._TABLE_SUFFIX FROM (SELECT * FROM `events_*`) AS s", "unknown-column", ""),
        ("SELECT _TABLE_SUFFIX AS s FROM T", "unknown-column", ""),
        ("SELECT b FROM other.U", "unknown-column", ""),
        ("SELECT a FROM other.X", "unknown-table", ""),
        ("SELECT a FROM secret.U", "forbidden-table", "`my-proj.other.U`"),
        ("SELECT a FROM `bad-proj.other.U`", "forbidden-table", "`my-proj.other.U`"),
        ("SELECT a FROM `far-proj.kb.T`", "forbidden-table", ""),
        ("SELECT a FROM other.INFORMATION_SCHEMA.TABLES", "forbidden-table", ""),
    ],
)
def test_what_the_catalogue_does_not_have_is_rejected(sql: str, code: str, hint: str) -> None:
    rejected = validate(sql, CATALOG)
    assert isinstance(rejected, Rejected), rejected
    assert rejected.problems[0].code == code
    assert hint in rejected.problems[0].suggestion


@pytest.mark.parametrize("table", ["`my-proj.OTHER.U`", "`my-proj.other.X`", "`bad-proj.other.U`", "`my-proj.kb.e*`"])
def test_the_guard_lets_only_exact_names_pass(table: str) -> None:
    with pytest.raises(ForbiddenSqlError):
        guard(parse(f"SELECT 1 AS one FROM {table}"), CATALOG)


def test_a_catalogue_without_families_says_what_to_write() -> None:
    rejected = validate(
        "SELECT a FROM `x_*`", Catalog(project="p", dataset="d", tables=(TableInfo(name="T", columns=A),))
    )
    assert isinstance(rejected, Rejected)
    assert "UNION ALL" in rejected.problems[0].suggestion
