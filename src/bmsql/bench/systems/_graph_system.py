"""A compiled graph as a compared system, with the interface of `Agent`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bmsql.agent import Agent, checked_question
from bmsql.bench.systems._agent_system import AgentSystem
from bmsql.graph import ainvoke_graph, invoke_graph
from bmsql.types import Answer

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from bmsql.graph import Graph


class GraphSystem(AgentSystem):
    """A graph that questions go through, and the agent whose parts it uses.

    without: parts left out, which the name tells; settings: what else decides its answers.
    """

    def __init__(
        self, name: str, agent: Agent, graph: Graph, *, without: tuple[str, ...] = (), settings: Mapping[str, Any]
    ) -> None:
        super().__init__(
            ", ".join((name, *(f"no {part}" for part in without))),
            agent,
            model=agent.dependencies.reasoner.name,
            settings={"without": list(without), **settings},
        )
        self.graph = graph

    def ask(
        self, question: str, *, config: RunnableConfig | None = None, cancel: threading.Event | None = None
    ) -> Answer:
        """As `Agent.ask`."""
        return invoke_graph(self.graph, checked_question(question), config, cancel)

    async def aask(self, question: str, *, config: RunnableConfig | None = None) -> Answer:
        """As `Agent.aask`."""
        return await ainvoke_graph(self.graph, checked_question(question), config)
