"""Reading a text changes nothing: neither what sqlglot makes of it, nor its tokens, which are read twice."""

from __future__ import annotations

import pytest
from sqlglot import exp
from sqlglot.dialects.bigquery import BigQuery

from bmsql.errors import SqlError
from bmsql.sql import _parse, parse
from bmsql.sql._parse import parse_source
from bmsql.sql._source import Source
from tests.sql_validate.test_more_cases import CASES, full
from tests.sql_validate.test_write import BIGQUERY

JOINED = (
    "SELECT x FROM t, t.items AS x",
    "SELECT x FROM t CROSS JOIN t.items AS x, UNNEST(x.more) AS y",
    "SELECT y FROM (SELECT a, b AS items FROM t) AS s, s.items AS y",
    "SELECT a FROM t, u, `u.items` AS v WHERE EXISTS (SELECT 1 FROM t.items WHERE b = a)",
    "SELECT a FROM t JOIN u ON t.a = u.a JOIN t.items AS v ON v = 1",
)


def texts() -> list[str]:
    found = []
    for sql in (*BIGQUERY, *JOINED, *(full(case["sql"]) for case in CASES)):
        try:
            parse(sql)
        except SqlError:
            continue
        found.append(sql)
    return found


def shown(tree: exp.Expr) -> list[tuple[str, object, list[tuple[str, object]]]]:
    """A tree with all that its nodes know, but for their places."""
    places = ("line", "col", "start", "end")
    return [
        (type(node).__name__, node.args.get("this"), [item for item in node.meta.items() if item[0] not in places])
        for node in tree.walk()
    ]


def anew(sql: str) -> exp.Expr:
    return _parse._parse_anew(sql)


def plain(sql: str) -> exp.Expr:
    tree = BigQuery().parse(sql)[0]
    assert tree is not None
    return tree


def test_trees_are_those_of_the_parser_as_it_is() -> None:
    checked = texts()
    assert len(checked) > 500
    # A comment behind a table's name is kept here, and dropped by the parser alone.
    wrong = [sql for sql in checked if "--" not in sql and "/*" not in sql and shown(anew(sql)) != shown(plain(sql))]
    assert not wrong


@pytest.mark.parametrize("faithful_first", [True, False])
def test_reading_a_text_leaves_its_tokens_as_they_were(faithful_first: bool) -> None:
    for sql in texts():
        for faithful in (faithful_first, not faithful_first):
            parse_source(Source(sql)) if faithful else anew(sql)
        shared = _parse._shared_tokens(sql)
        assert shared is None or list(map(repr, shared)) == list(map(repr, BigQuery().tokenize(sql)))
