"""A compiled graph as a compared system, with the interface of `Agent`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bmsql.agent import Agent, checked_question
from bmsql.graph import ainvoke_graph, invoke_graph
from bmsql.types import Answer

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from bmsql.graph import Dependencies, Graph


class GraphSystem:
    """A graph that questions go through, and the agent whose parts it uses.

    without: parts left out, which the name tells; settings: what else decides its answers.
    """

    def __init__(
        self, name: str, agent: Agent, graph: Graph, *, without: tuple[str, ...] = (), settings: Mapping[str, Any]
    ) -> None:
        self._name = ", ".join((name, *(f"no {part}" for part in without)))
        self._agent = agent
        self.graph = graph
        self._settings = {"without": list(without), **settings}

    @property
    def name(self) -> str:
        """The system, with what is left out."""
        return self._name

    @property
    def model(self) -> str:
        """The reasoner's name: `provider:name` of the chat model, or `offline`."""
        return self._agent.dependencies.reasoner.name

    @property
    def settings(self) -> Mapping[str, Any]:
        """What is left out, and what else decides its answers."""
        return self._settings

    @property
    def dependencies(self) -> Dependencies:
        """Those of the whole agent: what is left out is an option of the system, not of what systems share."""
        return self._agent.dependencies

    def ask(
        self, question: str, *, config: RunnableConfig | None = None, cancel: threading.Event | None = None
    ) -> Answer:
        """As `Agent.ask`."""
        return invoke_graph(self.graph, checked_question(question), config, cancel)

    async def aask(self, question: str, *, config: RunnableConfig | None = None) -> Answer:
        """As `Agent.aask`."""
        return await ainvoke_graph(self.graph, checked_question(question), config)

    def close(self) -> None:
        """Close the agent's backend, unless it was given ready-made."""
        self._agent.close()
