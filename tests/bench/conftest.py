"""Systems of tests: scripted ones over the embedded knowledge base, which is opened once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bmsql.backends import cache_directory
from bmsql.bench import RunFolder
from bmsql.bench.systems import GraphSystem, OurSystem, SystemOptions, open_system
from bmsql.fewshot import ExampleStore
from bmsql.linking import Linker, ValueIndex
from bmsql.reasoners.chat import ChatClient, ChatReasoner
from bmsql.testing import ScriptedChatModel
from tests.bench.paper import Open
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


@pytest.fixture(scope="session")
def open_one(ours: OurSystem) -> Open:
    """Opens a system with a scripted model, over one backend and one index of stored values."""
    deps = ours.dependencies
    linker = Linker(deps.model, ValueIndex.load_or_build(deps.backend, deps.model, cache_directory()))
    shared = ExampleStore(deps.model, link=linker.link)

    def make(name: str, model: ScriptedChatModel, *, examples: Path | None = None, **options: Any) -> GraphSystem:
        store = ExampleStore(deps.model, examples, link=linker.link) if examples else shared
        catalog = deps.backend.catalog()
        reasoner = ChatReasoner(
            ChatClient(model, seconds=5), deps.model, deps.rules, catalog, linker.link, examples=store
        )
        system = open_system(name, SystemOptions(model=reasoner, backend=deps.backend, **options))
        assert isinstance(system, GraphSystem)
        return system

    return make


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
