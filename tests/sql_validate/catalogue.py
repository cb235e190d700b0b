"""The catalogue of the test cases: the ten-table schema, and a table that has every type."""

from __future__ import annotations

import csv
from pathlib import Path

from bmsql.types import Catalog, ColumnInfo, TableInfo

DATA = Path(__file__).parent / "data"
_SCHEMA = Path(__file__).parents[1] / "data" / "schema.csv"
_EXTRA = {
    "id": "INT64",
    "tags": "ARRAY<STRING>",
    "info": "STRUCT<a INT64, b STRING>",
    "items": "ARRAY<STRUCT<k STRING, v FLOAT64>>",
    "d": "DATE",
    "ts": "TIMESTAMP",
    "dt": "DATETIME",
    "tm": "TIME",
    "n": "NUMERIC",
    "bb": "BYTES",
    "js": "JSON",
    "f": "FLOAT64",
    "s": "STRING",
    "ok": "BOOL",
}


def build() -> Catalog:
    """The catalogue `card-ai-389220.bio_sql_benchmark`, with the table `Extra`."""
    columns: dict[str, list[ColumnInfo]] = {}
    with _SCHEMA.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            columns.setdefault(row["table"], []).append(ColumnInfo(name=row["column"], type=row["type"]))
    columns["Extra"] = [ColumnInfo(name=name, type=kind) for name, kind in _EXTRA.items()]
    tables = tuple(TableInfo(name=name, columns=tuple(found)) for name, found in columns.items())
    return Catalog(project="card-ai-389220", dataset="bio_sql_benchmark", tables=tables)


CATALOG = build()
