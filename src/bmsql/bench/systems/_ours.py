"""This project's own agent, with each of its parts switchable."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bmsql.agent import Agent
from bmsql.bench._manifest import fingerprint
from bmsql.bench.systems._open import SystemOptions, refuse_own
from bmsql.conventions import RuleBook
from bmsql.errors import ConfigurationError
from bmsql.reasoners import Reasoner, open_reasoner
from bmsql.types import Answer

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from bmsql.graph import Dependencies

# The parts that can be left out. Rules about the evidence key and the limit stay without conventions:
# what they do is part of every query, not of what a question implies.
PARTS = ("conventions", "linking")
_OFFLINE = "offline"
_ALWAYS = ("key", "limit")


class OurSystem:
    """The `Agent`, as a compared system.

    Without `conventions` no implied threshold, direction or approval is applied, though the question is read as before;
    without `linking` no word of the question is linked to stored values.
    """

    def __init__(self, options: SystemOptions) -> None:
        refuse_own("ours", options)
        if unknown := [part for part in options.without if part not in PARTS]:
            raise ConfigurationError(
                f"there is no part {unknown[0]!r} to leave out.", remedy=f"The parts are: {', '.join(PARTS)}."
            )
        whole = Agent(
            model=options.model,
            backend=options.backend,
            semantic_model=options.semantic_model,
            profile=options.profile,
            max_passes=options.max_passes,
            limits=options.limits,
            send_rows=options.send_rows,
            rules=options.rules or None,
        )
        self._whole = whole
        self._without = tuple(part for part in PARTS if part in options.without)
        self._agent = _reduced(whole, self._without) if self._without else whole

    @property
    def name(self) -> str:
        """`ours`, with what is left out."""
        return ", ".join(("ours", *(f"no {part}" for part in self._without)))

    @property
    def model(self) -> str:
        """The reasoner's name."""
        return self._agent.dependencies.reasoner.name

    @property
    def settings(self) -> Mapping[str, Any]:
        """What is left out, and the rules that are left."""
        return {"without": list(self._without), "rules": fingerprint(self._agent.dependencies.rules)}

    @property
    def dependencies(self) -> Dependencies:
        """Those of the whole agent: what is left out is an option of the system, not of what systems share."""
        return self._whole.dependencies

    def ask(
        self, question: str, *, config: RunnableConfig | None = None, cancel: threading.Event | None = None
    ) -> Answer:
        """As `Agent.ask`."""
        return self._agent.ask(question, config=config, cancel=cancel)

    async def aask(self, question: str, *, config: RunnableConfig | None = None) -> Answer:
        """As `Agent.aask`."""
        return await self._agent.aask(question, config=config)

    def close(self) -> None:
        """Close the agent's backend, unless it was given ready-made."""
        self._whole.close()


def _reduced(agent: Agent, without: tuple[str, ...]) -> Agent:
    """The same agent without some parts, on the same backend."""
    deps = agent.dependencies
    rules = deps.rules
    if "conventions" in without:
        rules = RuleBook({rule.name: rule for rule in rules if rule.kind in _ALWAYS}, profile=rules.profile)
    reasoner = _unlinked(deps) if "linking" in without else deps.reasoner
    return Agent(
        model=reasoner,
        backend=deps.backend,
        semantic_model=deps.model,
        profile=rules.profile,
        max_passes=deps.budgets.passes,
        limits=deps.limits,
        send_rows=deps.send_rows,
        rules=rules,
    )


def _unlinked(deps: Dependencies) -> Reasoner:
    if deps.reasoner.name != _OFFLINE:
        raise ConfigurationError(
            f"the reasoner {deps.reasoner.name!r} links values in a way of its own.", remedy="Leave `linking` in."
        )
    catalog = deps.backend.catalog()
    return open_reasoner(
        _OFFLINE, semantic_model=deps.model, catalog=catalog, rules=deps.rules, link=lambda question: ()
    )
