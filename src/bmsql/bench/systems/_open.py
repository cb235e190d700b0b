"""Systems by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmsql.errors import ConfigurationError

if TYPE_CHECKING:
    from bmsql.bench._systems import System
    from bmsql.types import Limits


@dataclass(frozen=True)
class SystemOptions:
    """What a system is made from. All but the last two mean what they mean for `Agent`.

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
    without: tuple[str, ...] = ()
    own: Mapping[str, str] = field(default_factory=dict)


def open_system(name: str, options: SystemOptions) -> System:
    """The system of a name.

    Raises ConfigurationError for an unknown name or an option that the system does not have, and whatever
    `Agent` raises for its own.
    """
    make = SYSTEMS.get(name)
    if make is None:
        near = get_close_matches(name, SYSTEMS, n=1)
        raise ConfigurationError(
            f"there is no system {name!r}.",
            remedy=f"Did you mean {near[0]!r}?" if near else f"Use one of: {', '.join(SYSTEMS)}.",
        )
    return make(options)


def refuse_own(name: str, options: SystemOptions, known: tuple[str, ...] = ()) -> None:
    """Raise ConfigurationError for an option of its own that the system `name` does not have."""
    unknown = [option for option in options.own if option not in known]
    if unknown:
        raise ConfigurationError(
            f"the system {name!r} has no option {unknown[0]!r}.",
            remedy=f"Its options are: {', '.join(known) or 'none'}.",
        )


def _ours(options: SystemOptions) -> System:
    from bmsql.bench.systems._ours import OurSystem

    return OurSystem(options)


def _answers(options: SystemOptions) -> System:
    from bmsql.bench.systems._answers import AnswersSystem

    return AnswersSystem(options)


SYSTEMS: dict[str, Callable[[SystemOptions], System]] = {"ours": _ours, "answers": _answers}
