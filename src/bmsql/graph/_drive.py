"""Nodes are written once: they say what they wait for, and two drivers wait, with threads or without."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeAlias

from bmsql.graph._state import Data, Outcome
from bmsql.graph._threads import in_thread
from bmsql.graph._turns import Turn


class Step(NamedTuple):
    """What a node did: the update of the state, its outcome, and details for the trace."""

    update: Data
    outcome: Outcome
    detail: Data = {}  # noqa: RUF012 - a tuple's default, never changed


class Think(NamedTuple):
    """A step of the reasoner is due: the name of its method and the arguments."""

    method: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = {}  # noqa: RUF012 - a tuple's default, never changed


class Wait(NamedTuple):
    """Something is due that keeps a thread busy or waiting, such as a query.

    over: there is nothing to wait for after all, and handing it to a thread would take longer than doing it.
    """

    function: Callable[[], Any]
    over: bool = False


Work: TypeAlias = Generator[Think | Wait, Any, Step]


def drive(work: Work, reasoner: object) -> Step:
    """Do all that `work` asks for in this thread."""

    def do(due: Think | Wait) -> Any:
        if isinstance(due, Wait):
            return due.function()
        return getattr(reasoner, due.method)(*due.arguments, **due.keywords)

    try:
        due = next(work)
        while True:
            try:
                result = do(due)
            except Exception as error:  # noqa: BLE001 - the node decides what an error means
                due = work.throw(error)
            else:
                due = work.send(result)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


async def adrive(work: Work, reasoner: object, turn: Turn) -> Step:
    """As `drive`, without blocking the event loop.

    A reasoner that has a coroutine for a step, such as `aplan` for `plan`, is awaited; others
    are called in a thread. turn: of the question that the work is for.
    """

    async def do(due: Think | Wait) -> Any:
        if isinstance(due, Wait):
            return due.function() if due.over else await turn.run(due.function)
        turn.give()
        coroutine = getattr(reasoner, f"a{due.method}", None)
        if coroutine is not None:
            return await coroutine(*due.arguments, **due.keywords)
        step = getattr(reasoner, due.method)
        return await in_thread(lambda: step(*due.arguments, **due.keywords))

    try:
        due = next(work)
        while True:
            try:
                result = await do(due)
            except Exception as error:  # noqa: BLE001 - the node decides what an error means
                due = work.throw(error)
            else:
                due = work.send(result)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        work.close()
