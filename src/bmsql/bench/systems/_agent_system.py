"""What all systems of the benchmark are over: the parts of an agent, a name, and what decides the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bmsql.agent import Agent
    from bmsql.graph import Dependencies


class AgentSystem:
    """A system that works with the parts of an agent; how it answers is its subclass's.

    name: as reports call it. model: the chat model's name, that prices go by; "" where none is called. settings: what
    decides its answers.
    """

    def __init__(self, name: str, agent: Agent, *, model: str, settings: Mapping[str, Any]) -> None:
        self._name, self._agent, self._model, self._settings = name, agent, model, settings

    @property
    def name(self) -> str:
        """As reports call it."""
        return self._name

    @property
    def model(self) -> str:
        """`provider:name` of the chat model, `offline`, or "" where no reasoner is asked."""
        return self._model

    @property
    def settings(self) -> Mapping[str, Any]:
        """What decides its answers."""
        return self._settings

    @property
    def dependencies(self) -> Dependencies:
        """Those of the whole agent: what is left out is an option of the system, not of what systems share."""
        return self._agent.dependencies

    def close(self) -> None:
        """Close the agent's backend, unless it was given ready-made."""
        self._agent.close()
