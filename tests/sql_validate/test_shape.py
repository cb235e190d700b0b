"""Texts of one shape are checked, parsed and translated once: what comes out is what each would give alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bmsql.errors import SqlError
from bmsql.sql import Validator, parse, validate
from bmsql.sql._shape import ByShape, Shape, shape_of, text_columns
from bmsql.sql.duckdb import Translator, to_duckdb
from bmsql.types import Catalog, Rejected, ValidatedQuery
from tests.sql_validate.catalogue import build
from tests.yaml_files import read_yaml

TESTS = Path(__file__).parents[1]
CATALOG = build()
COLUMNS = text_columns(CATALOG)
SMR = "`card-ai-389220.bio_sql_benchmark.NeurodegenerativeDiseases_SMR_Genes_Full`"
EXTRA = "`card-ai-389220.bio_sql_benchmark.Extra`"
# What a string could be taken for: a date, a number, a truth value, a call, a clause.
OTHERS = ("TNF", "2020-01-01", "12", "1e-8", "a (b); c", "true", "A", "OR")


def corpus() -> list[str]:
    """The SQL of all tables of test cases, valid or not, one text for each shape."""
    files = [path for kind in ("json", "yaml") for path in sorted(TESTS.rglob(f"*.{kind}"))]
    texts = {text for path in files for text in _texts(read_yaml(path)) if "select" in text.lower()}
    filled = (text.replace("{SMR}", SMR).replace("{", "`").replace("}", "`") for text in sorted(texts))
    found: dict[Any, str] = {}
    for text in filled:
        if (shape := shape_of(text, COLUMNS)) is not None:
            found.setdefault(shape.key, text)
    return list(found.values())


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, (dict, list)):
        for each in data.values() if isinstance(data, dict) else data:
            yield from _texts(each)


def sibling(shape: Shape, first: int) -> str:
    """The text with other strings."""
    others = [
        f"{OTHERS[(place + first) % len(OTHERS)]}{place // len(OTHERS) or ''}" for place in range(len(shape.values))
    ]
    return shape.pieces.filled(others)


def outcome(translate: Any, sql: str) -> str:
    try:
        return str(translate(sql))
    except SqlError as error:
        return f"{type(error).__name__}: {error}"


def test_a_text_is_judged_parsed_and_translated_as_alone() -> None:
    validator, translator = Validator(lambda: CATALOG), Translator(CATALOG)
    valid = 0
    for place, text in enumerate(corpus()):
        shape = shape_of(text, COLUMNS)
        assert shape is not None
        other = sibling(shape, place)
        assert shape_of(other, COLUMNS) is not None
        validator(text)
        alone = validate(other, CATALOG)
        assert validator(other) == alone
        if isinstance(alone, Rejected):
            continue
        valid += 1
        outcome(translator, text)
        assert outcome(translator, other) == outcome(lambda sql: to_duckdb(sql, CATALOG), other)
        parse(text)
        # The comment keeps its shape from being taken.
        assert parse(other) == parse(f"{other} -- alone")
    assert valid > 200


@pytest.mark.parametrize(
    "condition",
    [
        "Gene = 'A'",
        "'x' IS NOT NULL AND s.Gene = 'A'",
        "LOWER(s.Gene) = 'a' AND Gene != 'b'",
        "Gene IN ('A', 'B')",
        "Gene NOT IN ('A')",
        "Gene LIKE '%A%' OR Gene NOT LIKE 'B%'",
    ],
)
def test_strings_that_columns_of_text_are_compared_with_are_taken_out(condition: str) -> None:
    shape = shape_of(f"SELECT Gene FROM {SMR} AS s WHERE {condition}", COLUMNS)
    assert shape is not None
    assert [value.lower() for value in shape.values] == ["a", "b"][: len(shape.values)]
    assert len(shape.values) == condition.lower().count("'a") + condition.lower().count("%a") + condition.lower().count(
        "'b"
    )


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT Gene FROM {SMR} WHERE Gene = 'it''s'",
        f"SELECT Gene FROM {SMR} WHERE Gene = 'a\\nb'",
        f'SELECT Gene FROM {SMR} WHERE Gene = "a"',
        f"SELECT Gene FROM {SMR} WHERE Gene = r'a'",
        f"SELECT Gene FROM {SMR} WHERE Gene = ''",
        f"SELECT Gene FROM {SMR} WHERE Gene = 'a_b%c'",
        f"SELECT Gene FROM {SMR} WHERE Gene LIKE 'a_b'",
        f"SELECT Gene FROM {SMR} WHERE Gene = 'a' || 'b'",
        f"SELECT Gene FROM {SMR} WHERE REGEXP_CONTAINS(Gene, 'a')",
        f"SELECT Gene FROM {SMR} WHERE Gene IN (LOWER('a'))",
        f"SELECT Gene FROM {SMR} WHERE Gene = 'a' -- note",
        f"SELECT Gene FROM {SMR} WHERE Gene = 'bmsql:value 0;'",
        f"SELECT id FROM {EXTRA} WHERE d = '2020-01-01'",
        f"SELECT id FROM {EXTRA} WHERE ts IN ('2020-01-01')",
        # Names that the text gives may stand for anything.
        f"SELECT s FROM (SELECT d AS s FROM {EXTRA}) WHERE s = '2020-01-01'",
        f"SELECT s FROM (SELECT d s FROM {EXTRA}) WHERE s = '2020-01-01'",
        f"WITH s AS (SELECT d FROM {EXTRA}) SELECT d FROM s WHERE s = '2020-01-01'",
        f"SELECT id FROM {EXTRA}, UNNEST([d]) AS s WHERE s = '2020-01-01'",
        "SELECT 1",
        "SELECT 'a",
    ],
)
def test_what_depends_on_its_strings_has_no_shape(text: str) -> None:
    assert shape_of(text, COLUMNS) is None


def test_equal_strings_stay_equal() -> None:
    same, other = (
        shape_of(f"SELECT Gene = 'A', COUNT(*) FROM {SMR} GROUP BY Gene = '{value}'", COLUMNS) for value in "AB"
    )
    assert same is not None
    assert other is not None
    assert same.key != other.key
    validator = Validator(lambda: CATALOG)
    for value, kind in (("A", ValidatedQuery), ("B", Rejected)):
        text = f"SELECT Gene = 'A', COUNT(*) FROM {SMR} GROUP BY Gene = '{value}'"
        assert isinstance(validator(text), kind)
        assert isinstance(validate(text, CATALOG), kind)


def test_what_is_wrong_is_told_of_the_text_itself() -> None:
    text = f"SELECT Gene FROM {SMR} WHERE Gene = 'LONGER' AND p = 1"
    validator = Validator(lambda: CATALOG)
    for sql in (text, text.replace("LONGER", "A")):
        found, alone = validator(sql), validate(sql, CATALOG)
        assert isinstance(found, Rejected)
        assert found == alone
    with pytest.raises(SqlError) as broken:
        parse(f"SELECT Gene FROM {SMR} WHERE Gene = 'LONGER' AND AND")
    with pytest.raises(SqlError) as short:
        parse(f"SELECT Gene FROM {SMR} WHERE Gene = 'A' AND AND")
    assert broken.value.column == short.value.column + len("LONGER") - len("A")


def test_a_fix_is_made_in_each_text_and_its_layout_kept() -> None:
    table = SMR.replace(".", "`.`")
    texts = [
        f"SELECT Gene FROM {table} WHERE Gene = 'A' AND Disease = 'AD'",
        f"SELECT Gene FROM {table} WHERE Gene = 'B' AND Disease = 'PD'",
        f"SELECT Gene\nFROM {table}\nWHERE Gene = 'C' AND Disease = 'PD'",
        f"SELECT Gene FROM {SMR}\nWHERE Gene = 'D'",
        f"SELECT Gene\nFROM {SMR} WHERE Gene = 'E'",
    ]
    validator = Validator(lambda: CATALOG)
    for text in texts:
        verdict = validator(text)
        assert isinstance(verdict, ValidatedQuery)
        assert verdict == validate(text, CATALOG)
        assert [fix.code for fix in verdict.fixes] == ["table-name"] * (table in text)
        assert verdict.sql == text.replace(table, SMR)


def test_another_catalogue_is_another_verdict() -> None:
    text = f"SELECT Gene FROM {SMR} WHERE Gene = 'A'"
    catalogs = [CATALOG, Catalog(project="card-ai-389220", dataset="bio_sql_benchmark", tables=())]
    validator = Validator(lambda: catalogs[0])
    assert isinstance(validator(text), ValidatedQuery)
    catalogs.pop(0)
    assert isinstance(validator(text.replace("'A'", "'B'")), Rejected)


def test_a_verdict_is_known_of_a_text_and_of_its_shape() -> None:
    validator = Validator(lambda: CATALOG)
    text = f"SELECT Gene FROM {SMR} WHERE Gene = 'A'"
    wrong = f"SELECT gone FROM {SMR} WHERE Gene = 'A'"
    assert not validator.knows(text)
    assert not validator.knows(wrong)
    validator(text)
    validator(wrong)
    assert validator.knows(text)
    assert validator.knows(text.replace("'A'", "'B'"))
    assert validator.knows(wrong)
    assert not validator.knows(wrong.replace("'A'", "'B'"))


def test_the_shapes_seen_last_are_kept() -> None:
    known: ByShape[int] = ByShape(kept=2)
    shapes = [known.shape(f"SELECT {column} FROM t WHERE x = 'A'") for column in "abc"]
    for place, shape in enumerate(shapes):
        assert shape is not None
        known.put(shape, place + 1)
        assert known.get(shapes[0]) == 1  # type: ignore[arg-type]
    assert [known.get(shape) for shape in shapes if shape is not None] == [1, None, 3]
