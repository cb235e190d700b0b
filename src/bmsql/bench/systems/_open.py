"""Systems by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmsql.errors import ConfigurationError

if TYPE_CHECKING:
    from bmsql.bench._systems import System
    from bmsql.reasoners.chat import ChatOptions
    from bmsql.types import Limits


@dataclass(frozen=True)
class SystemOptions:
    """What a system is made from. All but the last two mean what they mean for `Agent`; examples: beside the model's.

    without: parts that are left out, for an ablation. own: options of this system alone, as text.
    """

    model: Any = None
    backend: Any = None
    semantic_model: Any = None
    profile: str | None = None
    rules: list[Path] | None = None
    limits: Limits | Mapping[str, Any] | None = None
    max_passes: int | None = None
    send_rows: bool | None = None
    examples: Path | None = None
    embeddings: Any = None
    chat: ChatOptions | None = None
    without: tuple[str, ...] = ()
    own: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SystemKind:
    """A system that can be opened by its name. summary: what it is, in a line."""

    summary: str
    make: Callable[[str, SystemOptions], System]


def open_system(name: str, options: SystemOptions) -> System:
    """The system of a name.

    Raises ConfigurationError for an unknown name or an option that the system does not have, and whatever
    `Agent` raises for its own.
    """
    kind = SYSTEMS.get(name)
    if kind is None:
        near = get_close_matches(name, SYSTEMS, n=1)
        raise ConfigurationError(
            f"there is no system {name!r}.",
            remedy=f"Did you mean {near[0]!r}?" if near else f"Use one of: {', '.join(SYSTEMS)}.",
        )
    return kind.make(name, options)


def system_names() -> tuple[str, ...]:
    """The names that `open_system` knows."""
    return tuple(SYSTEMS)


def system_summaries() -> dict[str, str]:
    """By name, what each system is, in a sentence."""
    return {name: kind.summary for name, kind in SYSTEMS.items()}


def refuse_own(name: str, options: SystemOptions, known: tuple[str, ...] = ()) -> None:
    """Raise ConfigurationError for an option of its own that the system `name` does not have."""
    unknown = [option for option in options.own if option not in known]
    if unknown:
        raise ConfigurationError(
            f"the system {name!r} has no option {unknown[0]!r}.",
            remedy=f"Its options are: {', '.join(known) or 'none'}.",
        )


def refuse_parts(options: SystemOptions, parts: tuple[str, ...]) -> None:
    """Raise ConfigurationError for a part to leave out that is not one of `parts`."""
    if unknown := [part for part in options.without if part not in parts]:
        raise ConfigurationError(
            f"there is no part {unknown[0]!r} to leave out.", remedy=f"The parts are: {', '.join(parts)}."
        )


def own_switch(options: SystemOptions, name: str, *, default: bool) -> bool:
    """An option of the system alone that is on or off. Raises ConfigurationError for another word."""
    text = options.own.get(name)
    if text is None:
        return default
    found = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}.get(text.strip().lower())
    if found is None:
        raise ConfigurationError(f"the option {name!r} is {text!r}.", remedy="Use yes or no.")
    return found


def _ours(name: str, options: SystemOptions) -> System:
    from bmsql.bench.systems._ours import OurSystem

    part = name.partition(":no-")[2]
    return OurSystem(replace(options, without=(part, *options.without)) if part else options)


def _answers(name: str, options: SystemOptions) -> System:
    from bmsql.bench.systems._answers import AnswersSystem

    return AnswersSystem(options)


def _single(name: str, options: SystemOptions) -> System:
    from bmsql.bench.systems._single import open_single

    return open_single(name, options)


def _index(name: str, options: SystemOptions) -> System:
    from bmsql.bench.systems._single import open_index

    return open_index(name, options)


def _dail(name: str, options: SystemOptions) -> System:
    from bmsql.bench.systems._single import open_dail

    return open_dail(name, options)


def _react(name: str, options: SystemOptions) -> System:
    from bmsql.bench.systems._react import open_react

    return open_react(name, options)


def _published(name: str, options: SystemOptions) -> System:
    from bmsql.bench.systems._published import open_published

    return open_published(name, options)


SYSTEMS: dict[str, SystemKind] = {
    "ours": SystemKind("this project's agent", _ours),
    "ours:no-conventions": SystemKind("without implied thresholds, directions and approvals", _ours),
    "ours:no-validator": SystemKind("without checks and repairs of queries; the guard stays", _ours),
    "ours:no-linking": SystemKind("without stored values for the names of a question", _ours),
    "ours:no-examples": SystemKind("chat models: without example queries", _ours),
    "ours:no-plans": SystemKind("chat models: SQL as text at once, without a query plan", _ours),
    "ours:no-reading": SystemKind("chat models: without the deterministic reading of the question", _ours),
    "ours:no-answer-check": SystemKind("chat models: without holding the answer against its rows", _ours),
    "single": SystemKind("one call with question, schema and writing rules; one for the answer", _single),
    "single:3-rows": SystemKind("the same with 3 sample rows of each table", _single),
    "single:5-rows": SystemKind("the same with 5 sample rows of each table", _single),
    "single:1-shot": SystemKind("the same with 1 example query", _single),
    "single:3-shot": SystemKind("the same with 3 example queries", _single),
    "single:5-shot": SystemKind("the same with 5 example queries", _single),
    "single:stat-instruct": SystemKind("the same with the thresholds in words", _single),
    "single:combo": SystemKind("3 sample rows, 3 example queries and the thresholds in words", _single),
    "react": SystemKind("thought, action (verify, execute, answer), observation; at most 5 steps", _react),
    "index": SystemKind("a single call with the 2 tables whose descriptions are nearest", _index),
    "dail-sql": SystemKind("a single call with the 3 examples nearest by masked question and skeleton", _dail),
    "bmsql-paper": SystemKind("the paper's agent: thresholds by prompt, two queries, 1 to 3 passes", _published),
    "answers": SystemKind("answers of people or another program, from a file", _answers),
}
