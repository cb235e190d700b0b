"""The walking club: its semantic model, its catalogue, and its rows in DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from bmsql.semantic import SemanticModel, load_semantic_model
from bmsql.sql.duckdb import DUCKDB_SETTINGS
from bmsql.types import Catalog, ColumnInfo, TableInfo

HERE = Path(__file__).parent
TYPES = {"STRING": "VARCHAR", "INT64": "BIGINT", "FLOAT64": "DOUBLE", "BOOL": "BOOLEAN"}
# fmt: off
_FINDS = {
    "north": [
        # In the order of the columns of world.yaml.
        ("n1", "Red Hat", "cap", "wool;felt", "BRIM (1), BAND (2)", "Cloth", "left, wet",
         1, 100, 1, 90, 1e-9, 1990, True),
        ("n2", "Old Boot", None, "felt", "SOLE (1), BRIM2 (4)", "Leather", "wetter", 1, 500, 1, 480, 2.5, 0, False),
        ("n3", "50%_coin", "penny", "NONE", None, "METAL", "Left there", 2, 0, 2, 50, None, -1, None),
        ("n4", "Hatpin", None, None, "PIN (7)", "metal", "", 2, 900, 2, 700, -1.5, 2005, True),
    ],
    "south": [
        ("s1", "Old Boot", "shoe", "felt;wool2", "SOLE (1)", "leather", "dry", 1, 150, 9, 90, 7.0, 1990, True),
        ("s2", "Ring", None, "gold", None, "Metal", "wet", 3, 10, 3, 10, 0.5, None, False),
    ],
}
# fmt: on
_WALKERS = [
    ("w1", "Ann", "felt", "Hill", "Red Hat|Ring"),
    ("w2", "Bo", "gold", "Hill", "hatpin"),
    ("w3", "Cy", "NONE", "Dale", None),
    ("w4", "Di", None, "Dale", "Old Boot"),
]


@pytest.fixture(scope="session")
def model() -> SemanticModel:
    return load_semantic_model(HERE / "world.yaml")


@pytest.fixture(scope="session")
def catalog(model: SemanticModel) -> Catalog:
    tables = tuple(
        TableInfo(
            name=name,
            columns=tuple(ColumnInfo(name=column, type=spec.type) for column, spec in table.columns.items()),
        )
        for name, table in model.tables.items()
        if name != "absent"
    )
    return Catalog(project="club", dataset="walks", tables=tables)


@pytest.fixture(scope="session")
def connection(catalog: Catalog) -> Iterator[duckdb.DuckDBPyConnection]:
    made = duckdb.connect(config={"enable_external_access": "false"})
    for table in catalog.tables:
        made.execute(
            f'CREATE TABLE "{table.name}" ('
            + ", ".join(f'"{column.name}" {TYPES[column.type]}' for column in table.columns)
            + ")"
        )
        rows = _FINDS.get(table.name, _WALKERS)
        made.executemany(f'INSERT INTO "{table.name}" VALUES ({", ".join("?" * len(table.columns))})', rows)
    for setting in DUCKDB_SETTINGS:
        made.execute(setting)
    yield made
    made.close()
