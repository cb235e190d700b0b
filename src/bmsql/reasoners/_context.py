"""What a reasoner may use of the question under way, beside a step's own arguments."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bmsql.types import StepUsage

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig


@dataclass
class StepContext:
    """The node of a graph that a step runs in; `current_step()` gives it.

    seconds: what the step may still take for model calls, None for no bound. cancel: set when the
    caller has given up. on_text: takes the answer's text piece by piece as it is written, where
    somebody listens. config: LangChain callbacks, tags and the like. passes_left: plans that may
    follow this pass.

    The step reports here: `usage`, one entry for each model call or group of them; `notes`,
    sentences that the answer must carry as warnings; `detail`, what the trace shows of it.
    """

    seconds: float | None = None
    cancel: threading.Event | None = None
    on_text: Callable[[str], None] | None = None
    config: RunnableConfig | None = None
    passes_left: int = 0
    usage: list[StepUsage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    detail: dict[str, Any] = field(default_factory=dict)


_current: ContextVar[StepContext] = ContextVar("bmsql_step")


def current_step() -> StepContext:
    """The context of the step under way; an empty one outside a graph."""
    return _current.get(None) or StepContext()


class entered_step:  # noqa: N801 - read as a function in a `with`; each node enters one, and a generator costs more
    """Make `context` the current one."""

    __slots__ = ("_context", "_token")

    def __init__(self, context: StepContext) -> None:
        self._context = context

    def __enter__(self) -> StepContext:
        self._token = _current.set(self._context)
        return self._context

    def __exit__(self, *raised: object) -> None:
        _current.reset(self._token)
