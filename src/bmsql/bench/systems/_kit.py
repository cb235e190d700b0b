"""What the systems of the paper are made of: one chat model, one backend, and prompts in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bmsql.agent import Agent
from bmsql.bench.systems._open import SystemOptions, refuse_own, refuse_parts
from bmsql.errors import ConfigurationError
from bmsql.prompts import load_prompt
from bmsql.reasoners.chat import Ask, ChatReasoner, Message, Request, athink, think
from bmsql.sql import Policy

if TYPE_CHECKING:
    from pydantic import BaseModel

    from bmsql.fewshot import ExampleStore
    from bmsql.graph import Dependencies
    from bmsql.reasoners.chat import ChatClient, ChatOptions, Thought

PACKAGE = "bmsql.bench.systems"
VALIDATOR = "validator"


class Thinker:
    """Asks the client of the reasoner that `ours` has too: the same model, retries, deadlines and cache."""

    def __init__(self, client: ChatClient) -> None:
        self._client = client

    def reply(self, ask: Ask) -> Any:
        """The value of one reply; what it took is reported to the step under way."""
        return think(_once(ask), self._client)

    async def areply(self, ask: Ask) -> Any:
        """As `reply`."""
        return await athink(_once(ask), self._client)


def _once(ask: Ask) -> Thought[Any]:
    return (yield ask).value


@dataclass(frozen=True)
class Kit:
    """The parts of one system. deps: as the agent has them, without the validator where it is left out."""

    agent: Agent
    deps: Dependencies
    reasoner: ChatReasoner
    without: tuple[str, ...]
    thinker: Thinker

    @property
    def options(self) -> ChatOptions:
        """How the model is called, and what rows may take of a prompt."""
        return self.reasoner.options

    @property
    def examples(self) -> ExampleStore:
        """The example queries."""
        if self.reasoner.examples is None:
            raise ConfigurationError("the reasoner has no examples.", remedy="Let the system open the model itself.")
        return self.reasoner.examples

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables of the semantic model that the backend holds."""
        held = self.deps.backend.catalog().by_name
        return tuple(name for name in self.deps.model.tables if name in held)

    def ask(self, step: str, prompt: str, values: Mapping[str, str], schema: type[BaseModel] | None = None) -> Ask:
        """A request: the prompt of a name, filled in with exactly what it names of `values`."""
        loaded = load_prompt(prompt, PACKAGE)
        common = {"key": self.deps.model.evidence_key or "the table's key", "limit": str(self.deps.model.default_limit)}
        given = {name: value for name, value in {**common, **values}.items() if name in loaded.variables}
        system, user = loaded.render(given)
        messages = (Message(role="system", content=system), Message(role="user", content=user))
        options = self.options
        request = Request(step, messages, schema, max_tokens=options.max_tokens, temperature=options.temperature)
        return Ask(request, loaded.label)


def open_kit(name: str, options: SystemOptions, own: tuple[str, ...] = (), **agent: Any) -> Kit:
    """The parts of the system `name`; `agent` are further options of the agent that they come from.

    Raises ConfigurationError where the model is no chat model, or for options and parts that the system does not have.
    """
    refuse_own(name, options, own)
    refuse_parts(options, (VALIDATOR,))
    made = open_agent(options, **agent)
    deps = made.dependencies
    reasoner = deps.reasoner
    if not isinstance(reasoner, ChatReasoner):
        made.close()
        raise ConfigurationError(
            f"the system {name!r} asks a chat model, which {reasoner.name!r} is not.",
            remedy="Give one: --model provider:name, or a LangChain chat model.",
        )
    if VALIDATOR in options.without:
        deps = without_checks(deps)
    return Kit(made, deps, reasoner, tuple(options.without), Thinker(reasoner.client))


@contextmanager
def building(kit: Kit) -> Iterator[None]:
    """Closes what a kit opened, when no system can be made from it."""
    try:
        yield
    except BaseException:
        kit.agent.close()
        raise


def open_agent(options: SystemOptions, **further: Any) -> Agent:
    """The agent that a system is, or takes its parts from."""
    given = {"examples": options.examples, "embeddings": options.embeddings, "chat": options.chat, **further}
    if isinstance(options.model, ChatReasoner) and (given["examples"] or given["chat"]):
        raise ConfigurationError(
            "a ready ChatReasoner has its own examples and options.",
            remedy="Give the chat model itself, or make the reasoner with them.",
        )
    return Agent(
        model=options.model,
        backend=options.backend,
        semantic_model=options.semantic_model,
        profile=options.profile,
        max_passes=options.max_passes,
        limits=options.limits,
        send_rows=options.send_rows,
        rules=options.rules or None,
        **given,
    )


def without_checks(deps: Dependencies) -> Dependencies:
    """The same without checks and repairs of names and types; the guard stays, whatever is measured."""
    return replace(deps, policy=replace(deps.policy or Policy(), checks=False))


def prompt_labels(*names: str) -> list[str]:
    """Names, versions and hashes of prompts, for the settings of a run."""
    return [load_prompt(name, PACKAGE).label for name in names]
