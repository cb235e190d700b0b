"""Systems of tests: scripted ones over the embedded knowledge base, which is opened once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bmsql.bench import RunFolder
from bmsql.bench.systems import OurSystem, SystemOptions
from tests.bench.scripted import ScriptedSystem

QUESTIONS = """\
- {id: snp, template: A, q: "What is the p-value of rs75932628 in the Alzheimer's GWAS?",
   sql: "SELECT UUID FROM {AD} WHERE SNP = 'rs75932628'"}
- {id: many, template: B, q: "How many SNPs are genome-wide significant for Alzheimer's disease?", key: numbers,
   sql: "SELECT COUNT(DISTINCT SNP) AS n FROM {AD} WHERE p < 5e-8"}
- {id: none, template: A, q: "Which SNPs near NOGENE are significant for Parkinson's disease?",
   sql: "SELECT UUID FROM {PD} WHERE nearestGene = 'NOGENE'"}
- {id: cup, q: "Who won the World Cup?", expect: abstain}
- {id: gene, template: C, q: "Which genes does SMR implicate in progressive supranuclear palsy?", key: Gene,
   sql: "SELECT DISTINCT Gene FROM {SMR} WHERE Disease = 'PSP' AND p_SMR_multi < 2.95e-6 AND p_HEIDI > 0.01"}
"""


@pytest.fixture(scope="session")
def ours() -> Iterator[OurSystem]:
    system = OurSystem(SystemOptions())
    yield system
    system.close()


@pytest.fixture
def scripted(ours: OurSystem) -> ScriptedSystem:
    return ScriptedSystem(ours.dependencies)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "questions.yaml"
    path.write_text(QUESTIONS, encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "run")
