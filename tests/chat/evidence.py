"""Evidence for the checks of answers: that of the offline reasoner's cases, by question, with fields changed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from bmsql.reasoners import Evidence
from bmsql.types import ColumnInfo, ConventionRecord, Plan, QueryResult
from tests.yaml_files import read_yaml

HERE = Path(__file__).parent


@cache
def _cases() -> dict[str, dict[str, Any]]:
    cases = read_yaml(HERE.parent / "offline_text" / "answers.yaml")
    cases += read_yaml(HERE / "evidence.yaml")
    return {case["question"]: case for case in cases}


def questions() -> list[str]:
    return list(_cases())


def offline_answer(question: str) -> str:
    return str(_cases()[question].get("text", ""))


def evidence(question: str, **changes: Any) -> Evidence:
    """The evidence of a question; `truncated`, `rows` and fields of `Evidence` may be changed."""
    case = _cases()[question]
    truncated = changes.pop("truncated", case.get("truncated", False))
    rows = changes.pop("rows", None)
    made = Evidence(
        question=question,
        plan=Plan.model_validate(case["plan"]),
        sql=case.get("sql", "SELECT"),
        result=_result(case["result"], rows, truncated=truncated),
        general=_result(case["general"]) if "general" in case else None,
        conventions=tuple(ConventionRecord.model_validate(one) for one in case.get("conventions", [])),
        total=case.get("total"),
        warnings=tuple(case.get("warnings", [])),
    )
    return made.model_copy(update=changes)


def _result(data: dict[str, Any], first: int | None = None, *, truncated: bool = False) -> QueryResult:
    types = data.get("types") or ["STRING"] * len(data["columns"])
    columns = tuple(ColumnInfo(name=name, type=kind) for name, kind in zip(data["columns"], types, strict=True))
    return QueryResult(columns=columns, rows=tuple(tuple(row) for row in data["rows"][:first]), truncated=truncated)
