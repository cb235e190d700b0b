"""A tiny database with the awkward values that the rules are about, and how queries run on it."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from bmsql.semantic import SemanticModel, load_semantic_model
from tests.yaml_files import read_yaml

CASES = Path(__file__).parent / "cases"
TABLES = {
    "AD": "AlzheimerDisease_CombinedGeneData_UUID",
    "PD": "ParkinsonDisease_CompleteGeneData_No23andMe",
    "SMR": "NeurodegenerativeDiseases_SMR_Genes_Full",
    "DRUG": "DrugGeneTargets_ComprehensiveAnnotations_updated",
    "IND": "DrugTargets_IndicationsAndTherapeuticUses",
    "LIC": "DrugTargets_LiscensingAndUses",
}

# SNP, gene, b, p: at, just above and far below the thresholds, an underflow and a missing value.
_GWAS: dict[str, list[Any]] = {
    "AD": [
        ("rs1", "BIN1", 0.2, 0.0),
        ("rs2", "BIN1", -0.1, 5e-8),
        ("rs3", "BIN1;CR1", 0.1, 5.005e-8),
        ("rs4", "CR1", -0.3, 4.9e-8),
        ("rs5", "CR1", 0.0, 1e-9),
        ("rs6", "NONE;CR1", 0.4, 3e-6),
        ("rs7", "APOE", -0.4, 0.04),
        ("rs8", "APOE", 0.3, 0.5),
        ("rs9", "TREM2", 0.3, None),
    ],
    "PD": [
        ("rs1", "BIN1", 0.2, 0.3),
        ("rs2", "BIN1", 0.1, 1e-10),
        ("rs4", "CR1", -0.3, 2e-9),
        ("rs5", "SNCA", 0.5, 1e-20),
        ("rs7", "SNCA", None, 1e-9),
        ("rs8", "LRRK2", -0.2, 1e-6),
        ("rs10", "LRRK2", -0.2, None),
    ],
}
# Gene, disease, tissue, SNP, b_SMR, p_SMR, p_SMR_multi, p_HEIDI, p_GWAS
_SMR: list[Any] = [
    ("BIN1", "AD", "Cortex", "rs1", 0.2, 1e-9, 1e-9, 0.5, 1e-9),
    ("BIN1", "AD", "Liver", "rs1", -0.2, 1e-9, 2.95e-6, 0.5, 5e-8),
    ("CR1", "AD", "Cortex", "rs4", 0.1, 1e-3, 1e-8, 0.01, 4e-8),
    ("CR1", "PD", "Cortex", "rs5", 0.1, 1e-9, 1e-7, 0.0, 1e-20),
    ("SNCA", "PD", "Cortex", "rs5", -0.4, 1e-12, 1e-10, -10000.0, 1e-7),
    ("SNCA", "PD", "Liver", "rs5", -0.4, 1e-12, 1e-10, None, None),
    ("LRRK2", "PD", "Liver", "rs8", 0.3, 0.01, 2e-6, 0.02, 3e-6),
    ("MAPT", "PSP", "Cortex", "rs9", 0.3, 0.01, None, 0.3, 1e-10),
    ("MAPT", "PSP", "Liver", "rs9", 0.3, 1e-9, 0.2, 0.001, 0.2),
]
# name, approved, year, phase, targets
_DRUG: list[Any] = [
    ("DONEPEZIL", True, 1996, 4, "ACHE (ENSG1)"),
    ("AZARIBINE", True, 0, 4, "BIN1 (ENSG2)"),
    ("GANTENERUMAB", False, 0, 3, "APP (ENSG3)"),
    ("OLD", None, None, 4, "CR1 (ENSG4)"),
    ("RETIRED", False, 1950, 4, "SNCA (ENSG5)"),
]
# name, disease, phase, year
_IND: list[Any] = [
    ("DONEPEZIL", "alzheimer disease", 4.0, 1996),
    ("DONEPEZIL", "parkinson disease", 2.0, 1996),
    ("LEVODOPA", "parkinson disease", 4.0, 1970),
    ("AZARIBINE", "psoriasis", 4.0, 0),
    ("GANTENERUMAB", "alzheimer disease", 3.0, 0),
    ("UNKNOWN", "alzheimer disease", None, None),
    ("DRAFT", "alzheimer disease", 0.5, None),
]


@lru_cache(maxsize=1)
def model() -> SemanticModel:
    return load_semantic_model()


def parse(sql: str) -> exp.Query:
    for short, name in TABLES.items():
        sql = sql.replace("{" + short + "}", f"`p.d.{name}`")
    tree = sqlglot.parse_one(sql, read="bigquery")
    assert isinstance(tree, exp.Query)
    return tree


def bigquery(tree: exp.Expr) -> str:
    return tree.sql("bigquery")


def load_cases(name: str) -> Any:
    return read_yaml(CASES / f"{name}.yaml")


@lru_cache(maxsize=1)
def connection() -> duckdb.DuckDBPyConnection:
    # Tiny tables: threads only cost time.
    found = duckdb.connect(config={"threads": 1})
    for name, spec in model().tables.items():
        types = {"STRING": "VARCHAR", "FLOAT64": "DOUBLE", "INT64": "BIGINT", "BOOL": "BOOLEAN"}
        columns = ", ".join(f'"{column}" {types[field.type]}' for column, field in spec.columns.items())
        if columns:
            found.execute(f'CREATE TABLE "{name}" ({columns})')
    for short, rows in _GWAS.items():
        _fill(found, short, ("SNP", "nearestGene", "b", "p"), rows)
    smr = ("Gene", "Disease", "Omic_tissue", "topRSID", "b_SMR", "p_SMR", "p_SMR_multi", "p_HEIDI", "p_GWAS")
    _fill(found, "SMR", smr, _SMR)
    names = ("drugName", "drugIsApproved", "yearOfFirstApproval", "maxClinicalTrialPhase", "newLinkedTargets_string")
    _fill(found, "DRUG", names, _DRUG)
    _fill(found, "IND", ("drugName", "efo_term", "max_phase_for_ind", "yearOfFirstApproval"), _IND)
    return found


def _fill(found: duckdb.DuckDBPyConnection, short: str, names: tuple[str, ...], rows: list[Any]) -> None:
    places = ", ".join("?" for _ in range(len(names) + 1))
    for number, row in enumerate(rows):
        found.execute(
            f'INSERT INTO "{TABLES[short]}" ("UUID", {", ".join(names)}) VALUES ({places})', [f"{short}_{number}", *row]
        )


def run(tree: exp.Expr) -> list[dict[str, Any]]:
    copied = tree.copy()
    for table in copied.find_all(exp.Table):
        table.set("db", None)
        table.set("catalog", None)
    cursor = connection().execute(copied.sql("duckdb"))
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def bag(tree: exp.Expr) -> Counter[tuple[Any, ...]]:
    """The rows without their order."""
    return Counter(tuple(row.values()) for row in run(tree))


def prefiltered(tree: exp.Query, condition: str, family: str) -> exp.Query:
    """What a rule means, said another way: each use of a table of the family holds only rows that meet it."""
    copied = tree.copy()
    for table in list(copied.find_all(exp.Table)):
        if table.name in model().tables and model().tables[table.name].family == family:
            alias = table.alias_or_name
            pivots = table.args.get("pivots")
            inner = exp.to_table(f"`{table.name}`", dialect="bigquery")
            query = exp.select("*").from_(inner).where(sqlglot.parse_one(condition, read="bigquery"))
            wrapped = query.subquery(alias)
            if pivots:
                wrapped.set("alias", None)
                wrapped.set("pivots", pivots)
            table.replace(wrapped)
    return copied
