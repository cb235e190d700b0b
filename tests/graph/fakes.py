"""A small database with a semantic model, for graphs that no knowledge base is needed for."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache

import duckdb
import sqlglot

from bmsql.backends import DryRun
from bmsql.conventions import RuleBook, load_rules
from bmsql.errors import BmsqlError, ExecutionError, QueryCancelledError
from bmsql.graph import Budgets, Dependencies
from bmsql.reasoners import Reasoner
from bmsql.semantic import SemanticModel, parse_semantic_model
from bmsql.types import Catalog, ColumnInfo, ConventionUse, Limits, Plan, QueryResult, Source, TableInfo, ValidatedQuery

MODEL = """
format: 1
name: little
title: A little study
evidence_key: UUID
default_limit: 3
families:
  gwas:
    label: a study
    subject: variant
    order: gwas.p_value
    roles:
      gwas.key: {meaning: evidence key}
      gwas.variant: {meaning: SNP}
      gwas.p_value: {meaning: p-value, unit: probability}
      gwas.gene: {meaning: gene}
tables:
  study:
    family: gwas
    columns:
      UUID: {type: STRING, role: gwas.key}
      SNP: {type: STRING, role: gwas.variant}
      p: {type: FLOAT64, role: gwas.p_value}
      gene: {type: STRING, role: gwas.gene}
entities:
  variant: {label: SNP, plural: SNPs, kind: identifier, match: {gwas: {how: equals, roles: [gwas.variant]}}}
"""
ROWS = [
    ("s_1", "rs1", 1e-300, "AAA"),
    ("s_2", "rs2", 0.0, "AAA"),
    ("s_3", "rs3", 4e-8, "BBB"),
    ("s_4", "rs4", 6e-8, "BBB"),
    ("s_5", "rs5", None, "CCC"),
    ("s_6", "rs6", 1e-9, "CCC"),
]
ALL = "SELECT SNP, p FROM study ORDER BY p"
SIGNIFICANT = ConventionUse(rule="genome_wide_significance", mode="implied", words="significant")
PLAN = Plan(sources=(Source(alias="s", table="study"),), conventions=(SIGNIFICANT,))
UNFILTERED = Plan(sources=(Source(alias="s", table="study"),))


class LittleBackend:
    """Six rows in memory. `failures` are raised by the next calls of `execute`, in order."""

    name = "little"
    dialect = "bigquery"

    def __init__(self, failures: Sequence[BmsqlError | None] = ()) -> None:
        self.failures = list(failures)
        self.executed: list[str] = []
        self._connection = duckdb.connect()
        self._connection.execute('CREATE TABLE study ("UUID" VARCHAR, "SNP" VARCHAR, p DOUBLE, gene VARCHAR)')
        self._connection.executemany("INSERT INTO study VALUES (?, ?, ?, ?)", ROWS)
        columns = tuple(
            ColumnInfo(name=name, type=kind)
            for name, kind in (("UUID", "STRING"), ("SNP", "STRING"), ("p", "FLOAT64"), ("gene", "STRING"))
        )
        self._catalog = Catalog(
            project="lab", dataset="main", tables=(TableInfo(name="study", columns=columns, rows=6),)
        )

    def catalog(self) -> Catalog:
        return self._catalog

    def dry_run(self, query: ValidatedQuery) -> DryRun:
        return DryRun(columns=())

    def execute(self, query: ValidatedQuery, limits: Limits, *, cancel: threading.Event | None = None) -> QueryResult:
        if cancel is not None and cancel.is_set():
            raise QueryCancelledError("cancelled")
        self.executed.append(query.sql)
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            raise failure
        bare = query.sql.replace("lab.main.", "").replace("`lab`.`main`.", "")
        text = sqlglot.transpile(bare, "bigquery", "duckdb")[0]
        cursor = self._connection.cursor()
        try:
            cursor.execute(text)
        except duckdb.Error as error:
            raise ExecutionError(str(error)) from error
        kinds = {"VARCHAR": "STRING", "DOUBLE": "FLOAT64", "BIGINT": "INT64"}
        columns = tuple(ColumnInfo(name=d[0], type=kinds.get(str(d[1]), str(d[1]))) for d in cursor.description)
        rows = cursor.fetchmany(limits.rows + 1)
        return QueryResult(
            columns=columns, rows=tuple(rows[: limits.rows]), truncated=len(rows) > limits.rows, seconds=0.001
        )

    def distinct_values(self, table: str, column: str, *, limit: int) -> list[str]:
        found = self._connection.cursor().execute(f'SELECT DISTINCT "{column}" FROM {table} ORDER BY 1 LIMIT {limit}')
        return [str(row[0]) for row in found.fetchall() if row[0] is not None]

    def distinct_pairs(self, table: str, columns: Sequence[str], *, limit: int) -> list[tuple[str | None, ...]]:
        names = ", ".join(f'"{column}"' for column in columns)
        found = self._connection.cursor().execute(f"SELECT DISTINCT {names} FROM {table} ORDER BY ALL LIMIT {limit}")
        return [tuple(None if value is None else str(value) for value in row) for row in found.fetchall()]

    def sources_of(self, table: str, keys: Sequence[str]) -> dict[str, str]:
        return {key: "study one" if key in {"s_1", "s_2"} else "study two" for key in keys}

    def fingerprint(self) -> str:
        return "little-1"

    def close(self) -> None:
        self._connection.close()


@cache
def model() -> SemanticModel:
    return parse_semantic_model(MODEL)


@cache
def rules() -> RuleBook:
    return load_rules()


def dependencies(reasoner: Reasoner, backend: LittleBackend | None = None, **options: object) -> Dependencies:
    budgets = options.pop("budgets", Budgets())
    assert isinstance(budgets, Budgets)
    return Dependencies(
        reasoner=reasoner,
        backend=backend or LittleBackend(),
        model=model(),
        rules=rules(),
        budgets=budgets,
        **options,  # type: ignore[arg-type]
    )
