"""A DuckDB connection with the settings of the translation, and a small catalogue with data."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from bmsql.sql.duckdb import DUCKDB_SETTINGS
from bmsql.types import Catalog, ColumnInfo, TableInfo


@pytest.fixture(scope="session")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    made = duckdb.connect(config={"enable_external_access": "false"})
    made.execute(
        'CREATE TABLE "Hits" ("UUID" VARCHAR, "SNP" VARCHAR, "nearestGene" VARCHAR, "p" DOUBLE, "chr_38" BIGINT);'
        "INSERT INTO \"Hits\" VALUES ('u1', 'rs1', 'BIN1;CLU', 1e-9, 2), ('u2', 'rs2', 'APOE', 5e-8, 19), "
        "('u3', 'rs3', NULL, 'nan', 4), ('u4', 'rs4', 'BIN1', NULL, 2);"
        'CREATE TABLE "Genes" ("Gene" VARCHAR, "Tags" VARCHAR[], "score" DOUBLE);'
        "INSERT INTO \"Genes\" VALUES ('BIN1', ['a', 'b'], 0.5), ('APOE', [], 0.25), ('SNCA', NULL, NULL)"
    )
    for setting in DUCKDB_SETTINGS:
        made.execute(setting)
    made.execute("SET lock_configuration = true")
    yield made
    made.close()


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    def table(name: str, **columns: str) -> TableInfo:
        return TableInfo(name=name, columns=tuple(ColumnInfo(name=n, type=t) for n, t in columns.items()))

    hits = table("Hits", UUID="STRING", SNP="STRING", nearestGene="STRING", p="FLOAT64", chr_38="INT64")
    genes = table("Genes", Gene="STRING", Tags="ARRAY<STRING>", score="FLOAT64")
    return Catalog(project="my-project", dataset="gwas", tables=(hits, genes))
