"""An agent with a scripted model: no model is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from bmsql import Agent
from bmsql.testing import ScriptedChatModel

Ask = Callable[..., tuple[Agent, ScriptedChatModel]]
# Words that hold whatever the rows are.
SAYS_NOTHING = "The rows are given below."


@pytest.fixture
def scripted() -> Iterator[Ask]:
    """Agents over the embedded knowledge base, each with a model whose steps are scripted."""
    made: list[Agent] = []

    def make(steps: dict[str, Any], *, model: dict[str, Any] | None = None, **options: Any) -> tuple[Agent, Any]:
        chat = ScriptedChatModel(steps={"answer": SAYS_NOTHING, **steps}, **(model or {}))
        agent = Agent(model=chat, **options)
        made.append(agent)
        return agent, chat

    yield make
    for agent in made:
        agent.close()
