"""Run something that can be interrupted, for so long and no longer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, Literal, TypeVar

from bmsql.backends._workers import Work, start_thread
from bmsql.errors import BackendError, QueryCancelledError, QueryTimeoutError

T = TypeVar("T")
Reason = Literal["timeout", "cancelled"]

# How soon a set cancel event is seen, and how often an interrupt is repeated.
TICK = 0.02
# How long an interrupted action may take to end before its caller stops waiting for it.
GRACE = 2.0


class Stopped(Exception):  # noqa: N818 - a signal inside this package, mapped before it leaves
    """The action was stopped; `ended` is False when it did not heed the interrupt and still runs."""

    def __init__(self, reason: Reason, *, ended: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.ended = ended


def stopped_error(stopped: Stopped, seconds: float) -> BackendError:
    """What the caller of a query is told that was to take so many seconds at most."""
    rest = "" if stopped.ended else " It has not heeded that yet, and still uses memory and a processor."
    if stopped.reason == "timeout":
        return QueryTimeoutError(
            f"The query did not end within {seconds:g} s and was stopped.{rest}",
            remedy="Ask for less, or raise the time limit.",
        )
    return QueryCancelledError(f"The query was cancelled.{rest}")


class _Job(Generic[T]):
    """The action with what becomes of it in its thread."""

    def __init__(self, action: Callable[[], T]) -> None:
        self.action = action
        self.done = threading.Event()
        self.result: T | None = None
        self.error: BaseException | None = None

    def work(self) -> None:
        try:
            self.result = self.action()
        except BaseException as e:  # noqa: BLE001 - raised again in the caller's thread
            self.error = e


def run_watched(
    action: Callable[[], T],
    interrupt: Callable[[], None],
    *,
    seconds: float,
    cancel: threading.Event | None = None,
    interrupted: type[BaseException],
    start: Callable[[Work, Work], None] = start_thread,
) -> T:
    """The result of `action`; `interrupt` is called once `seconds` have passed or `cancel` is set.

    `interrupted` is the error by which the action ends when it heeds the interrupt: it becomes
    `Stopped`. Any other error of the action is raised as it is, and a result that came in spite of
    the interrupt is returned. start: runs the action in a thread that has nothing else to do, so that
    no action can hold its caller beyond the limit; see `Workers.start`.

    `interrupt` may be called before the action has begun and just after it has ended.
    """
    job = _Job(action)
    reason: Reason | None = None
    start(job.work, job.done.set)
    try:
        reason = _wait(job.done, time.monotonic() + seconds, cancel)
        if reason is not None:
            _stop(job.done, interrupt)
    except BaseException:
        # Such as KeyboardInterrupt while waiting: the action must not run on for nobody.
        _stop(job.done, interrupt)
        raise
    if not job.done.is_set():
        raise Stopped(reason or "cancelled", ended=False)
    if isinstance(job.error, interrupted):
        raise Stopped(reason or "cancelled", ended=True) from job.error
    if job.error is not None:
        raise job.error
    return job.result  # type: ignore[return-value]  # set when there was no error


def _wait(done: threading.Event, deadline: float, cancel: threading.Event | None) -> Reason | None:
    while (left := deadline - time.monotonic()) > 0:
        if cancel is not None and cancel.is_set():
            return "cancelled"
        if done.wait(left if cancel is None else min(left, TICK)):
            return None
    return None if done.is_set() else "timeout"


def _stop(done: threading.Event, interrupt: Callable[[], None]) -> None:
    """Interrupt until the action ends: an interrupt before the database has begun a query is lost."""
    deadline = time.monotonic() + GRACE
    while not done.is_set() and time.monotonic() < deadline:
        interrupt()
        done.wait(TICK)
