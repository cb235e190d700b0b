"""Texts of one shape are checked, parsed and translated once: what comes out is what each would give alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bmsql.errors import SqlError
from bmsql.sql import Policy, Validator, _parse, parse, validate
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
            found.setdefault(shape.pieces, text)
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
        # Another string may spell what stands for a value, or be equal to one.
        f"SELECT Gene FROM {SMR} WHERE Gene = 'a' AND Disease = \"\\x62msql:value 0;\"",
        f"SELECT Gene FROM {SMR} WHERE Gene = 'a' AND Disease = '''bmsql\\:value 7;'''",
        f"SELECT Gene = 'a' AS x, COUNT(*) FROM {SMR} GROUP BY 1 ORDER BY Gene = 'a'",
        f"SELECT Gene = \"a\", COUNT(*) FROM {SMR} GROUP BY Gene = 'a'",
        f"SELECT Gene = r'''a''', COUNT(*) FROM {SMR} GROUP BY Gene = 'a'",
        "SELECT 1",
        "SELECT 'a",
    ],
)
def test_what_depends_on_its_strings_has_no_shape(text: str) -> None:
    assert shape_of(text, COLUMNS) is None


@pytest.mark.parametrize(
    "other",
    [
        r"Disease = 'it\'s'",
        r'Disease = "b\\"',
        r"REGEXP_CONTAINS(Disease, r'\x62')",
        "Disease = ''",
        'Disease = "A\'s"',
    ],
)
def test_other_strings_stay_in_the_shape(other: str) -> None:
    shape = shape_of(f"SELECT Gene FROM {SMR} WHERE Gene = 'a' AND {other}", COLUMNS)
    assert shape is not None
    assert shape.values == ("a",)
    assert other in shape.pieces.parts[-1]


def agree(first: str, second: str, policy: Policy | None = None) -> None:
    """After the one text, the other is judged, parsed and translated as alone."""
    for texts in ((first, second), (second, first)):
        validator, translator = Validator(lambda: CATALOG, policy), Translator(CATALOG)
        _parse._parsed.cache_clear()
        for text in texts:
            assert validator(text) == validate(text, CATALOG, policy)
            assert outcome(translator, text) == outcome(lambda sql: to_duckdb(_parse._parse_anew(sql), CATALOG), text)
            assert outcome(parse, text) == outcome(_parse._parse_anew, text)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"SELECT s FROM {EXTRA} WHERE s = 'A'", f" SELECT s FROM {EXTRA} WHERE s = 'B'\n"),
        # A name with dashes, an operator, and strings one after the other are none with spaces between.
        (
            f"SELECT s FROM {EXTRA.strip('`')} WHERE s = 'A'",
            f"SELECT s FROM {EXTRA.strip('`').replace('-', ' - ')} WHERE s = 'B'",
        ),
        (
            f"SELECT s FROM {EXTRA} WHERE id >> 1 = 2 AND s = 'A'",
            f"SELECT s FROM {EXTRA} WHERE id > > 1 = 2 AND s = 'B'",
        ),
        (
            f'SELECT s FROM {EXTRA} WHERE s = "a" "b" AND s = \'A\'',
            f'SELECT s FROM {EXTRA} WHERE s = "a""b" AND s = \'B\'',
        ),
        # Behind a blank line there may be prose.
        (f"SELECT s FROM {EXTRA} this WHERE s = 'A'", f"SELECT s FROM {EXTRA}\n\nthis WHERE s = 'B'"),
        (
            f"Filter s = 'A', so: SELECT s FROM {EXTRA} WHERE s = 'A'",
            f"Filter s = 'q: SELECT 1', so: SELECT s FROM {EXTRA} WHERE s = 'q: SELECT 1'",
        ),
        (f"SELECT s FROM {EXTRA} WHERE s = 'A';", f"SELECT s FROM {EXTRA} WHERE s = 'B'; DROP TABLE x"),
        (f"SELECT s FROM {EXTRA} WHERE s = 'A'", f"SELECT s FROM {EXTRA} WHERE s = 'B' -- note"),
        (
            f"SELECT s = 'B' AS x, COUNT(*) FROM {EXTRA} GROUP BY 1 ORDER BY s = 'A'",
            f"SELECT s = 'A' AS x, COUNT(*) FROM {EXTRA} GROUP BY 1 ORDER BY s = 'A'",
        ),
        (
            f"SELECT id FROM {EXTRA} WHERE s = 'A' AND tags[OFFSET(0)] = \"\\x62msql:value 7;\"",
            f"SELECT id FROM {EXTRA} WHERE s = 'B' AND bb = b'\\x62msql:value 7;'",
        ),
    ],
)
def test_texts_that_look_alike_are_told_apart(first: str, second: str) -> None:
    agree(first, second)


def test_a_text_in_a_fence_has_the_shape_of_its_query() -> None:
    validator = Validator(lambda: CATALOG)
    validator(f"SELECT s FROM {EXTRA} WHERE s = 'A'")
    fenced = f"Here:\n```sql\nSELECT s FROM {EXTRA} WHERE s = 'B';\n```"
    assert validator.knows(fenced)
    assert validator(fenced) == validate(fenced, CATALOG)
    assert [fix.code for fix in validator(fenced).fixes] == ["extracted"]


def test_a_text_that_a_fix_makes_too_long_is_refused() -> None:
    text = f"SELECT Gene FROM {SMR.rpartition('.')[2].strip('`')} WHERE Gene = 'A'"
    long = text.replace("'A'", f"'{'A' * 200}'")
    for longest in (len(long), len(long) + 10, len(long) + 60):
        agree(text, long, Policy(max_length=longest))


_FORK = """
import os, signal, threading, time
from bmsql.sql import _recent
known = _recent.Recent(2)
known.put("a", 1)
held = threading.Event()
def hold():
    with _recent._lock:
        held.set()
        time.sleep(0.2)
thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(known.get("a") != 1)
thread.join()
assert os.waitpid(child, 0)[1] == 0
assert known.get("a") == 1
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_waits_for_what_is_being_remembered() -> None:
    # In a process of its own, as other tests may have threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", _FORK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_equal_strings_stay_equal() -> None:
    same, other = (
        shape_of(f"SELECT Gene = 'A', COUNT(*) FROM {SMR} GROUP BY Gene = '{value}'", COLUMNS) for value in "AB"
    )
    assert same is not None
    assert other is not None
    assert same.pieces != other.pieces
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
    catalogs = [CATALOG, build(), Catalog(project="card-ai-389220", dataset="bio_sql_benchmark", tables=())]
    validator = Validator(lambda: catalogs[0])
    assert isinstance(validator(text), ValidatedQuery)
    # Read anew, and the same.
    catalogs.pop(0)
    assert validator.knows(text)
    assert validator.knows(text.replace("'A'", "'B'"))
    catalogs.pop(0)
    for sql in (text, text.replace("'A'", "'B'")):
        assert not validator.knows(sql)
        assert isinstance(validator(sql), Rejected)


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
