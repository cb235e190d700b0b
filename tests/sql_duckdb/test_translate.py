"""Names, tables, refusals, and what `to_duckdb` promises its callers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import bmsql.sql.duckdb as package
from bmsql import errors
from bmsql.sql.duckdb import DUCKDB_SETTINGS, to_duckdb
from bmsql.types import Catalog
from tests.yaml_files import read_yaml

HITS = "`my-project.gwas.Hits`"
GENES = "`my-project.gwas.Genes`"


def run(connection: duckdb.DuckDBPyConnection, catalog: Catalog, sql: str) -> tuple[list[str], list[Any]]:
    result = connection.execute(to_duckdb(sql, catalog))
    return [column[0] for column in result.description or ()], result.fetchall()


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT 1, 'a' AS Foo, 2", ["f0_", "Foo", "f1_"]),
        (f"SELECT snp, P, COUNT(*) OVER () FROM {HITS}", ["snp", "P", "f0_"]),
        (f"SELECT * FROM {HITS}", ["UUID", "SNP", "nearestGene", "p", "chr_38"]),
        (f"SELECT h.* EXCEPT (uuid), 1 FROM {HITS} AS h", ["SNP", "nearestGene", "p", "chr_38", "f0_"]),
        (f"SELECT * FROM (SELECT SNP AS Id, UPPER(SNP) FROM {HITS})", ["Id", "f0_"]),
        (f"WITH T AS (SELECT SNP AS Variant FROM {HITS}) SELECT * FROM t", ["Variant"]),
        (f"SELECT SNP FROM {HITS} UNION ALL SELECT Gene FROM {GENES}", ["SNP"]),
        ("SELECT * FROM UNNEST([1])", ["f0_"]),
        ("SELECT * FROM UNNEST([STRUCT(1 AS A, 2 AS B)]) AS s WITH OFFSET AS O", ["A", "B", "O"]),
        ("SELECT s.A FROM (SELECT STRUCT(1 AS a) AS s)", ["A"]),
        ("SELECT 1 AS `a b`, 2 AS `select`", ["a b", "select"]),
        ("SELECT * FROM (SELECT 'k' AS k, 1 AS v) PIVOT(SUM(v) AS S FOR k IN ('k' AS One, 'Two'))", ["S_One", "S_Two"]),
    ],
)
def test_columns_are_named_as_bigquery_names_them(
    sql: str, names: list[str], connection: duckdb.DuckDBPyConnection, catalog: Catalog
) -> None:
    assert run(connection, catalog, sql)[0] == names


@pytest.mark.parametrize(
    "table",
    [
        "`my-project.gwas.Hits`",
        "`my-project`.gwas.Hits",
        "`my-project`.`gwas`.`Hits`",
        "gwas.Hits",
        "Hits",
        "my-project.gwas.Hits",
    ],
)
def test_every_way_to_name_a_table(table: str, connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    assert run(connection, catalog, f"SELECT COUNT(*) FROM {table}")[1] == [(4,)]


def test_a_cte_may_have_the_name_of_its_table(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    sql = f"WITH Hits AS (SELECT * FROM {HITS} WHERE p < 5e-8) SELECT SNP FROM Hits"
    assert run(connection, catalog, sql)[1] == [("rs1",)]


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        (f"SELECT SNP FROM {HITS} WHERE p < 5e-8", [("rs1",)]),
        (f"SELECT SNP FROM {HITS} WHERE p <= 5e-8 ORDER BY p", [("rs1",), ("rs2",)]),
        (f"SELECT SNP FROM {HITS} WHERE p > 1e-300 ORDER BY SNP", [("rs1",), ("rs2",)]),
        (f"SELECT SNP FROM {HITS} ORDER BY p", [("rs4",), ("rs3",), ("rs1",), ("rs2",)]),
        (f"SELECT SNP FROM {HITS} ORDER BY p DESC LIMIT 2", [("rs2",), ("rs1",)]),
        (f"SELECT SNP FROM {HITS} WHERE 'BIN1' IN UNNEST(SPLIT(nearestGene, ';')) ORDER BY SNP", [("rs1",), ("rs4",)]),
        (f"SELECT g, COUNT(*) n FROM {HITS}, UNNEST(SPLIT(nearestGene, ';')) g GROUP BY g ORDER BY n DESC, g LIMIT 1",
         [("BIN1", 2)]),
        (f"SELECT SNP, Gene FROM {HITS} JOIN {GENES} ON Gene IN UNNEST(SPLIT(nearestGene, ';')) ORDER BY 1 LIMIT 1",
         [("rs1", "BIN1")]),
        (f"SELECT Gene, tag, o FROM {GENES} AS g, UNNEST(g.Tags) AS tag WITH OFFSET AS o ORDER BY o",
         [("BIN1", "a", 0), ("BIN1", "b", 1)]),
        (f"SELECT Gene, ARRAY_LENGTH(Tags) FROM {GENES} ORDER BY Gene", [("APOE", 0), ("BIN1", 2), ("SNCA", None)]),
        (f"SELECT Tags FROM {GENES} ORDER BY Gene", [([],), (["a", "b"],), ([],)]),
        ("SELECT Hits.SNP FROM gwas.Hits WHERE gwas.Hits.chr_38 = 19", [("rs2",)]),
        (f"SELECT EXISTS(SELECT 1 FROM {HITS} WHERE SNP = 'rs9') AS found", [(False,)]),
        (f"SELECT g FROM {GENES} AS g WHERE Gene = 'APOE'", [({"Gene": "APOE", "Tags": [], "score": 0.25},)]),
        (f"SELECT chr_38, ARRAY_AGG(SNP ORDER BY p LIMIT 1)[OFFSET(0)] FROM {HITS} GROUP BY chr_38 ORDER BY 1",
         [(2, "rs4"), (4, "rs3"), (19, "rs2")]),
    ],
)  # fmt: skip
def test_over_tables(sql: str, rows: list[Any], connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    assert run(connection, catalog, sql)[1] == rows


@pytest.mark.parametrize("case", read_yaml(Path(__file__).parent / "refused.yaml"), ids=str)
def test_refused(case: dict[str, str], catalog: Catalog) -> None:
    expected = getattr(errors, case.get("error", "UnsupportedSqlError"))
    with pytest.raises(expected) as raised:
        to_duckdb(case["sql"], catalog)
    assert type(raised.value) is expected
    assert case["says"] in raised.value.message


def test_every_refusal_says_what_to_do(catalog: Catalog) -> None:
    with pytest.raises(errors.UnsupportedSqlError) as raised:
        to_duckdb("SELECT SOUNDEX(SNP) FROM Hits", catalog)
    assert raised.value.remedy
    assert "SOUNDEX" in str(raised.value)


def test_a_tree_is_taken_and_left_alone(catalog: Catalog) -> None:
    text = f"SELECT *, p * 2 FROM {HITS}, UNNEST(SPLIT(nearestGene)) AS g WITH OFFSET AS o WHERE p > 0x1 ORDER BY p"
    tree = sqlglot.parse_one(text, read="bigquery")
    assert isinstance(tree, exp.Query)
    before = repr(tree)
    assert to_duckdb(tree, catalog) == to_duckdb(text, catalog)
    assert repr(tree) == before


def test_the_same_text_every_time(catalog: Catalog) -> None:
    sql = f"SELECT ROUND(AVG(p) * 2 / SUM(chr_38), 3) FROM {HITS} GROUP BY chr_38"
    assert len({to_duckdb(sql, catalog) for _ in range(3)}) == 1


def test_literals_are_neither_decimal_nor_formatted(catalog: Catalog) -> None:
    assert "5e-8" in to_duckdb(f"SELECT SNP FROM {HITS} WHERE p < 5e-8", catalog)
    assert "0.05e0" in to_duckdb(f"SELECT SNP FROM {HITS} WHERE p < 0.05", catalog)
    assert "'{x} {fail:y}'" in to_duckdb("SELECT UPPER('{x} {fail:y}')", catalog)


def test_deep_nesting_does_not_explode(catalog: Catalog) -> None:
    nested = "SNP"
    for _ in range(12):
        nested = f"SUBSTR({nested}, -3, 2)"
    assert len(to_duckdb(f"SELECT {nested} FROM {HITS}", catalog)) < 20_000


def test_settings_are_statements_of_their_own() -> None:
    assert all(setting.startswith("SET ") and ";" not in setting for setting in DUCKDB_SETTINGS)


def test_public_names() -> None:
    assert package.__all__ == ["DUCKDB_SETTINGS", "Translator", "to_duckdb"]
