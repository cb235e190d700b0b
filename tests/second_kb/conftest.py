"""The seed bank, built once for the tests of a worker, and an agent over it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from bmsql import Agent
from tests.offline.scoring import Scorer
from tests.second_kb.data import TABLES, build

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def seed_bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("seedbank") / "seedbank.duckdb")


@pytest.fixture(scope="session")
def seed_agent(seed_bank: Path) -> Iterator[Agent]:
    with Agent(
        backend=f"duckdb:///{seed_bank}",
        semantic_model=HERE / "model.yaml",
        rules=HERE / "rules.yaml",
    ) as agent:
        yield agent


@pytest.fixture(scope="session")
def seed_scorer(seed_agent: Agent, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scorer]:
    # Gold reads a second file: one process cannot open the same one twice in different ways.
    other = build(tmp_path_factory.mktemp("gold") / "gold.duckdb")
    with duckdb.connect(str(other), read_only=True) as gold:
        yield Scorer(seed_agent, gold, TABLES, "row_id")
