"""Evidence for the sentences, built from rows by role."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from bmsql.conventions import RuleBook, load_rules
from bmsql.reasoners._base import Evidence
from bmsql.reasoners.offline._text import answer_text
from bmsql.semantic import SemanticModel, load_semantic_model
from bmsql.types import ColumnInfo, ConventionRecord, Plan, QueryResult
from tests.yaml_files import read_yaml

HERE = Path(__file__).parent
AD = "AlzheimerDisease_CombinedGeneData_UUID"
PD = "ParkinsonDisease_CompleteGeneData_No23andMe"
SMR = "NeurodegenerativeDiseases_SMR_Genes_Full"
DRUG = "DrugGeneTargets_ComprehensiveAnnotations_updated"
USE = "DrugTargets_IndicationsAndTherapeuticUses"


@cache
def model() -> SemanticModel:
    return load_semantic_model()


@cache
def shop() -> SemanticModel:
    """A knowledge base of another field, with labels only."""
    return load_semantic_model(HERE / "shop.yaml")


@cache
def rules() -> RuleBook:
    return load_rules()


def result(table: str, roles: list[str], rows: list[list[Any]], known: SemanticModel, **fields: Any) -> QueryResult:
    """Rows of a table with its evidence key first."""
    spec = known.tables[table]
    names = [spec.column_by_role.get(role, role.rpartition(".")[2]) for role in roles]
    key = known.evidence_key
    columns = [ColumnInfo(name=name, type="STRING") for name in [*([key] if key else []), *names]]
    values = [(*([f"key_{number}"] if key else []), *row) for number, row in enumerate(rows)]
    return QueryResult(columns=tuple(columns), rows=tuple(values), **fields)


def said(
    table: str,
    roles: list[str],
    rows: list[list[Any]],
    *,
    question: str = "",
    records: list[dict[str, Any]] | None = None,
    known: SemanticModel | None = None,
    total: int | None = None,
    truncated: bool = False,
    warnings: tuple[str, ...] = (),
    general: list[list[Any]] | None = None,
    hidden: bool = False,
    **plan: Any,
) -> str:
    """The sentences for rows of one table, given as lists in the order of `roles`."""
    known = known or model()
    fields = {"sources": [{"alias": "t", "table": table}], "select": [{"column": role} for role in roles], **plan}
    evidence = Evidence(
        question=question,
        plan=Plan.model_validate(fields),
        sql="SELECT",
        result=result(table, roles, rows, known, truncated=truncated),
        general=None if general is None else result(table, roles, general, known),
        conventions=tuple(ConventionRecord.model_validate({"table": table, **record}) for record in records or []),
        total=total,
        hidden=hidden,
        warnings=warnings,
    )
    return answer_text(evidence, known, rules())


def stored(name: str) -> list[dict[str, Any]]:
    """The cases of a data file."""
    cases: list[dict[str, Any]] = read_yaml(HERE / name)
    return cases
