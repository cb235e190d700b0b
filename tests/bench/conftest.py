"""Systems of tests: scripted ones over the embedded knowledge base, which is opened once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bmsql.bench import RunFolder
from bmsql.bench.systems import OurSystem, SystemOptions
from tests.bench.scripted import ScriptedSystem

QUESTIONS = """\
- {id: snp, q: "Where is rs75932628?", sql: "SELECT UUID FROM {AD} WHERE SNP = 'rs75932628'", template: A}
- {id: many, q: "How many are significant?", key: numbers, template: B,
   sql: "SELECT COUNT(*) AS n FROM {AD} WHERE p < 5e-8"}
- {id: none, q: "Which are near NOGENE?", sql: "SELECT UUID FROM {PD} WHERE nearestGene = 'NOGENE'", template: A}
- {id: cup, q: "Who won?", expect: abstain}
- {id: gene, q: "Which genes?", key: Gene, template: C,
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
