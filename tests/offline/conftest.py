"""One agent over the embedded knowledge base for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bmsql import Agent
from tests.offline.embedded import embedded_scorer
from tests.offline.scoring import Scorer


@pytest.fixture(scope="session")
def scorer() -> Iterator[Scorer]:
    made = embedded_scorer()
    yield made
    made.agent.close()
    made.gold.close()


@pytest.fixture(scope="session")
def agent(scorer: Scorer) -> Agent:
    return scorer.agent
