"""Every case of `cases/*.json`: BigQuery's rows from DuckDB, or a refusal; never other rows.

A case has `rows`, or `error` where BigQuery fails. `refused` names the error that `to_duckdb` raises
instead of translating; `fails` is the message with which the translated query stops.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from pathlib import Path
from typing import Any

import duckdb
import pytest

from bmsql.errors import SqlError
from bmsql.sql.duckdb import to_duckdb
from bmsql.types import Catalog

CASES = [
    pytest.param(case, id=f"{path.stem}/{case['id']}")
    for path in sorted((Path(__file__).parent / "cases").glob("*.json"))
    for case in json.loads(path.read_text(encoding="utf-8"))
]


def encode(value: Any) -> Any:
    """A value as the case files write it: structs as lists, dates and special floats as objects."""
    match value:
        case dict():
            return [encode(item) for item in value.values()]
        case list() | tuple():
            return [encode(item) for item in value]
        case float() if not math.isfinite(value):
            return {"float": repr(value)}
        case dt.datetime():
            return {"timestamp": value.isoformat()}
        case dt.date():
            return {"date": value.isoformat()}
        case bytes() | bytearray():
            return {"bytes": bytes(value).hex()}
        case _:
            return value


def same(expected: Any, got: Any) -> bool:
    if isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(same(a, b) for a, b in zip(expected, got, strict=True))
    if type(expected) is float and type(got) is float:
        return math.isclose(expected, got, rel_tol=1e-12)
    return type(expected) is type(got) and expected == got


def test_there_are_many_cases() -> None:
    assert len(CASES) > 800
    assert sum("refused" in case.values[0] for case in CASES) < 40  # type: ignore[operator]


def outcome(sql: str, connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> tuple[str, Any]:
    """What became of a query: `refused` with the error's name, `failed` with the message, or `rows`."""
    try:
        translated = to_duckdb(sql, catalog)
    except SqlError as error:
        return "refused", type(error).__name__
    try:
        return "rows", encode(connection.execute(translated).fetchall())
    except duckdb.Error as error:
        return "failed", f"{error}\n{translated}"


@pytest.mark.parametrize("case", CASES)
def test_case(case: dict[str, Any], connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    what, value = outcome(case["sql"], connection, catalog)
    if "error" in case:
        assert what in ("refused", "failed"), f"BigQuery fails with: {case['error']}\n{value}"
    elif "refused" in case:
        assert (what, value) == ("refused", case["refused"])
    elif "fails" in case:
        assert what == "failed"
        assert case["fails"] in value
    else:
        assert what == "rows", value
        assert same(case["rows"], value), value
