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
    if isinstance(expected, dict) and expected.keys() == {"value", "count"}:
        return same(list(expected.values()), got)
    if type(expected) is float and type(got) is float:
        return math.isclose(expected, got, rel_tol=1e-12)
    return type(expected) is type(got) and expected == got


def test_there_are_many_cases() -> None:
    assert len(CASES) > 800
    assert sum("refused" in case.values[0] for case in CASES) < 40  # type: ignore[operator]


@pytest.mark.parametrize("case", CASES)
def test_case(case: dict[str, Any], connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    try:
        sql = to_duckdb(case["sql"], catalog)
    except SqlError as error:
        assert "error" in case or type(error).__name__ == case.get("refused"), f"refused: {error}"
        return
    assert "refused" not in case, f"translated, though recorded as refused: {sql}"
    try:
        rows = encode(connection.execute(sql).fetchall())
    except duckdb.Error as error:
        assert "error" in case or case.get("fails", "?") in str(error), f"failed: {error}\n{sql}"
        return
    assert "error" not in case, f"BigQuery fails with: {case['error']}\n{sql}\n{rows}"
    assert "fails" not in case, f"ran, though recorded as failing: {sql}"
    assert same(encode(case["rows"]), rows), f"{rows}\n{sql}"
