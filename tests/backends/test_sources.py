"""The sources of rows: kept in memory where they are few, asked for where they are many."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from bmsql.backends import _sources
from bmsql.backends._sources import Sources

BOTH = frozenset({"_row_sources", "_key_sources"})
SETUP = """
    CREATE TABLE _row_sources (table_name VARCHAR, key VARCHAR, source VARCHAR);
    INSERT INTO _row_sources VALUES ('T', 'a_1', 'row'), ('T', 'b_1', 'other row'), ('U', 'a_1', 'elsewhere');
    CREATE TABLE _key_sources (table_name VARCHAR, prefix VARCHAR, source VARCHAR);
    INSERT INTO _key_sources VALUES ('T', 'a_', 'prefix'), ('T', 'a_2', 'longer prefix'), ('U', '', 'all');
"""


class Asked:
    """A file's sources, with the queries that were asked of it."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.connection.execute(SETUP)
        self.queries: list[str] = []

    def __call__(self, sql: str, parameters: list[Any]) -> list[Any]:
        self.queries.append(sql)
        return self.connection.execute(sql, parameters).fetchall()


@pytest.fixture(params=["kept", "asked"])
def kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    if request.param == "asked":
        monkeypatch.setattr(_sources, "_KEPT_ROWS", 0)
        monkeypatch.setattr(_sources, "_KEPT_PREFIXES", 0)
    return bool(request.param == "kept")


def test_the_source_of_a_row_comes_before_that_of_a_prefix(kept: bool) -> None:
    asked = Asked()
    sources = Sources(BOTH, asked)
    for _ in range(2):
        found = sources.of("T", ["b_1", "a_22", "a_1", "a_3", "none", "a_1"])
        assert found == {"a_1": "row", "a_22": "longer prefix", "a_3": "prefix", "b_1": "other row"}
        assert sources.of("U", ["a_1", "x"]) == {"a_1": "elsewhere", "x": "all"}
    assert (len(asked.queries) == 4) == kept


@pytest.mark.parametrize(("recorded", "found"), [("_row_sources", "row"), ("_key_sources", "prefix")])
def test_a_file_may_record_one_of_the_two(kept: bool, recorded: str, found: str) -> None:
    assert Sources(frozenset({recorded}), Asked()).of("T", ["a_1"]) == {"a_1": found}


def test_rows_with_gaps_in_another_order(kept: bool) -> None:
    asked = Asked()
    asked.connection.execute("""
        INSERT INTO _row_sources VALUES
            ('V', 'two', 'b'), ('V', 'two', 'a'), ('V', NULL, 'x'), ('V', 'none', NULL), ('V', 'some', 'c'),
            ('V', 'some', NULL), ('V', '\u00e9', 'accent'), ('V', '\U0001f9ec', 'helix');
        INSERT INTO _key_sources VALUES
            ('V', NULL, 'nothing'), ('V', '', 'all'), ('V', '\u00e9\u00e9', 'accents'), ('V', 't', 'z'),
            ('V', 't', 'y');
    """)
    keys = ["two", "\U0001f9ec", "none", "\u00e9\u00e9x", "\u00e9", "some", "tw", ""]
    found = Sources(BOTH, asked).of("V", keys)
    assert found == {
        "": "all",
        "none": None,
        "some": "c",
        "tw": "z",
        "two": "b",
        "\u00e9": "accent",
        "\u00e9\u00e9x": "accents",
        "\U0001f9ec": "helix",
    }
    assert list(found) == sorted(keys)


def test_as_many_rows_as_are_kept_and_one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sources, "_KEPT_ROWS", 2)
    monkeypatch.setattr(_sources, "_KEPT_PREFIXES", 2)
    asked = Asked()
    for queries in (2, 8):
        sources = Sources(BOTH, asked)
        for _ in range(3):
            assert sources.of("T", ["a_1", "b_1", "a_9"]) == {"a_1": "row", "a_9": "prefix", "b_1": "other row"}
        assert len(asked.queries) == queries
        asked.queries.clear()
        asked.connection.execute("INSERT INTO _row_sources VALUES ('T', 'c', 'third')")
        asked.connection.execute("INSERT INTO _key_sources VALUES ('T', 'c', 'third')")


def test_a_file_without_sources_is_not_asked(kept: bool) -> None:
    asked = Asked()
    assert Sources(frozenset(), asked).of("T", ["a_1"]) == {}
    assert asked.queries == []
