"""The questions with gold SQL, and which of them are held out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

# As the question files write the tables.
TABLES = {
    "AD": "AlzheimerDisease_CombinedGeneData_UUID",
    "PD": "ParkinsonDisease_CompleteGeneData_No23andMe",
    "SMR": "NeurodegenerativeDiseases_SMR_Genes_Full",
    "DRG": "DrugGeneTargets_ComprehensiveAnnotations_updated",
    "IND": "DrugTargets_IndicationsAndTherapeuticUses",
    "LIC": "DrugTargets_LiscensingAndUses",
    "ADP": "AlzheimerDisease_GeneAssoc_Pathways_UUID",
    "PDP": "ParkinsonDisease_GeneAssoc_Pathways_UUID",
    "AF": "NeurodegenerativeDisease_AlleleFrequencies_UUID",
}
_DATA = Path(__file__).resolve().parents[2] / "tests" / "data"
_HELD_OUT = 30  # per cent


@dataclass(frozen=True)
class Gold:
    """A question with its gold query; `key` is the column whose values count, or `numbers`."""

    id: str
    question: str
    sql: str
    key: str
    held_out: bool


def load_gold(data: Path = _DATA) -> list[Gold]:
    """Every development question that has gold SQL."""
    return [
        Gold(entry["id"], entry["q"], _qualified(entry["sql"]), entry.get("key", "UUID"), _is_held_out(entry["id"]))
        for file in [*sorted((data / "questions").glob("development_*.yaml")), data / "questions_dev.yaml"]
        for entry in _entries(file)
    ]


def _entries(file: Path) -> Iterator[dict[str, str]]:
    for entry in yaml.safe_load(file.read_text(encoding="utf-8")):
        if entry.get("sql"):
            yield entry


def _qualified(sql: str) -> str:
    for short, name in TABLES.items():
        sql = sql.replace("{" + short + "}", f"`bmsql.biomedsql.{name}`")
    return sql


def _is_held_out(name: str) -> bool:
    # A digest, not a random draw: a question stays on its side when others are added.
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 100 < _HELD_OUT
