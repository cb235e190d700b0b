"""Random texts that differ in their strings: after one of them, the other is treated as if it came alone."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from bmsql.sql import Validator, _parse, parse, validate
from bmsql.sql._shape import shape_of, text_columns
from bmsql.sql.duckdb import Translator, to_duckdb
from bmsql.types import Catalog, ColumnInfo, TableInfo, ValidatedQuery
from tests.sql_validate.test_shape import outcome


def _columns(**types: str) -> tuple[ColumnInfo, ...]:
    return tuple(ColumnInfo(name=name, type=kind) for name, kind in types.items())


# Some names are a text in one table and something else in another, in a field, or hidden.
CATALOG = Catalog(
    project="p-1",
    dataset="ds",
    tables=(
        TableInfo(
            name="T",
            columns=_columns(
                s="STRING", t="STRING", name="STRING", d="DATE", ts="TIMESTAMP", i="INT64", f="FLOAT64", ok="BOOL",
                by="BYTES", js="JSON", ar="ARRAY<STRING>", st="STRUCT<s DATE, b STRING, name INT64>",
            ),
            hidden=_columns(h="STRING", y="DATE"),
        ),
        TableInfo(name="U", columns=_columns(s="STRING", x="DATE", i="INT64", name="STRING", day="STRING")),
        TableInfo(name="W", columns=_columns(t="STRING", x="STRING", y="STRING", d="DATE")),
        TableInfo(name="name", columns=_columns(s="STRING", y="INT64", i="INT64")),
    ),
)  # fmt: skip
VALUES = (
    "A", "a", "TNF", "2020-01-01", "2020-1-1", "12", "1.5", "true", "NULL", "x: SELECT 1", "a); DROP TABLE T;", "s",
    "name", "OR 1", "1e-8", " ", ".", "A ", "/+:;(),",
)  # fmt: skip
HOSTILE = (
    r"it\'s", "a''b", "a'; DROP TABLE T; --", "--", "/* x */", "%", "a_b", r"\x41", r"\n", "bmsql:value 0;",
    r"\x62msql:value 0;", r"b\u006dsql:value 1;", "\u00e9", "\u200b", "\\", "x\ny", "`", "{}", "@x", "?",
    "' OR '1'='1", "\x00",
)  # fmt: skip
SOURCES = (
    "`p-1.ds.T`", "`p-1.ds.T` AS T", "p-1.ds.T", "`p-1`.`ds`.`T`", "T", "(SELECT * FROM `p-1.ds.T`) AS T",
    "(SELECT d AS s, t, name FROM `p-1.ds.T`) AS T", "(SELECT d s, t, name FROM `p-1.ds.T`)",
    "(SELECT st.s, name, t FROM `p-1.ds.T`) T", "`p-1.ds.name` AS T", "`p-1.ds.T`, UNNEST(ar) AS name",
    "(SELECT s, name, t FROM `p-1.ds.T` UNION ALL SELECT x, name, day FROM `p-1.ds.U`)",
    "`p-1.ds.T` JOIN `p-1.ds.U` USING (s, name)", "(SELECT d FROM `p-1.ds.T`) AS T(s)",
)  # fmt: skip
OTHERS = (
    "d = '2020-01-01'", "i = 5", "NOT ok", "by = b'a'", "st.s = '{0}'", "st.b = '{0}'", "d IN ('{0}', '2020-1-1')",
    "JSON_VALUE(js, '$.a') = '{1}'", "s IN (SELECT s FROM `p-1.ds.U` WHERE name = '{0}')", "i = s = '{0}'",
    "REGEXP_CONTAINS(s, r'{0}')", "s > '{1}'", 's = "{0}"', "s = '{0}' '{1}'", "d + INTERVAL 1 DAY = '{0}'",
    "d BETWEEN '2020-01-01' AND s = '{0}'", "s LIKE ANY ('{0}', '{1}')", "(s, t) = ('{0}', '{1}')", "h = '{0}'",
    "y = '{0}'", "CASE WHEN ok THEN d END = '{1}'", "s COLLATE 'und:ci' = '{0}'", "s || t = '{0}'",
)  # fmt: skip


class Writer:
    """Texts with `{0}` to `{2}` in the place of strings."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one_of(self, *choices: str) -> str:
        return self.random.choice(choices)

    def condition(self, depth: int = 0) -> str:
        if depth == 0 and self.random.random() < 0.4:
            return f"{self.condition(1)} {self.one_of('AND', 'OR')} {self.condition(1)}"
        left = self.one_of("s", "s", "name", "t", "T.s", "LOWER(s)", "UPPER(T.name)", "TRIM(t)", "(s)")
        string = f"{{{self.random.randrange(3)}}}"
        equal = f"{left} {self.one_of('=', '!=', '<>')} '{string}'"
        return self.one_of(
            *(equal,) * 6,
            f"{left} {self.one_of('IN', 'NOT IN')} ('{string}', '{{1}}')",
            f"{left} {self.one_of('LIKE', 'NOT LIKE')} '%{string}{self.one_of('%', '')}'",
            f"IF({equal}, ok, NOT ok)",
            self.one_of(*OTHERS),
        )

    def query(self) -> str:
        key, where, source = self.condition(1), self.condition(), self.one_of(*SOURCES[:6] * 3, *SOURCES)
        order = self.one_of("", f" ORDER BY {key}", f" ORDER BY {self.condition(1)}", " LIMIT 5")
        alias, group = self.one_of("", " AS z"), self.one_of("1", key)
        return self.one_of(
            *(f"SELECT s, t FROM {source} WHERE {where}{order}",) * 3,
            f"SELECT {key}{alias}, COUNT(*) FROM {source} WHERE {where} GROUP BY {group}{order}",
            f"SELECT DISTINCT {key}{alias} FROM {source} WHERE {where}{order}",
            f"SELECT '{{0}}' AS l, COUNTIF({key}) FROM {source} WHERE {where}",
            f"WITH q AS (SELECT {self.one_of('s', 'd AS s', 'st.s')} FROM {source}) SELECT s FROM q WHERE s = '{{0}}'",
            f"SELECT s FROM {source} WHERE {where} UNION ALL SELECT {self.one_of('s', 'x')} FROM U WHERE {key}",
        )

    def filled(self, query: str) -> str:
        values = self.random.sample(VALUES, 3)
        if self.random.random() < 0.15:
            values[self.random.randrange(3)] = self.one_of(*HOSTILE)
        for place, value in enumerate(values):
            query = query.replace(f"{{{place}}}", value)
        return query


Answers = tuple[Any, str, Any]


def _answers(validator: Validator, translator: Translator, text: str) -> Answers:
    return validator(text), outcome(translator, text), _tree(parse, text)


def _alone(text: str) -> Answers:
    translated = outcome(lambda sql: to_duckdb(_parse._parse_anew(sql), CATALOG), text)
    return validate(text, CATALOG), translated, _tree(_parse._parse_anew, text)


def _tree(read: Any, text: str) -> str:
    return outcome(lambda sql: repr(read(sql)), text)


def _texts(seed: int, queries: int) -> list[str]:
    writer = Writer(seed)
    return [writer.filled(query) for query in (writer.query() for _ in range(queries)) for _ in range(2)]


def test_a_random_text_is_treated_as_alone() -> None:
    validator, translator, columns = Validator(lambda: CATALOG), Translator(CATALOG), text_columns(CATALOG)
    seen, again = set(), 0
    for text in _texts(7, 70):
        alone = _alone(text)
        assert _answers(validator, translator, text) == alone, text
        shape = shape_of(text, columns)
        if shape is not None and isinstance(alone[0], ValidatedQuery):
            again += shape.pieces in seen
            seen.add(shape.pieces)
    assert again > 10


def test_texts_in_threads_are_treated_as_alone() -> None:
    texts = _texts(8, 12)
    alone = {text: _alone(text) for text in texts}
    validator, translator = Validator(lambda: CATALOG), Translator(CATALOG)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: (text, _answers(validator, translator, text)), texts * 5))
    assert all(alone[text] == answers for text, answers in found)
