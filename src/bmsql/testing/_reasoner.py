"""A reasoner that says what it is told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar, Union

from bmsql.errors import ReasonerError
from bmsql.reasoners import Attempt, Evidence
from bmsql.types import Draft, Plan, Review

T = TypeVar("T")
# A value for every call, a list with one value per call, or a function of the call's arguments.
Script: TypeAlias = Union[T, BaseException, Sequence[Union[T, BaseException]], Callable[..., T]]  # noqa: UP007 - generic


class ScriptedReasoner:
    """A `Reasoner` whose every step is scripted.

    Each argument is the step's result: one value for all calls, a list of values for one call each
    (a further call raises ReasonerError), or a function with the step's own arguments. An exception
    as a value is raised. A text stands for a `Draft` where a draft is due.

    plan: of `Plan`; draft, repair: of `Draft` or text, where None says there is nothing new to try;
    review: of `Review`; answer: of text, by default the number of rows. name: as the user sees it.
    local: whether it may see rows although `send_rows=False`.

    `calls` records each call as (step, arguments), in order. Safe in threads.
    """

    def __init__(
        self,
        *,
        plan: Script[Plan] = Plan(),  # noqa: B008 - frozen
        draft: Script[Draft | str] = "",
        repair: Script[Draft | str | None] = None,
        review: Script[Review] = Review(sufficient=True),  # noqa: B008 - frozen
        answer: Script[str] | None = None,
        name: str = "scripted",
        local: bool = True,
    ) -> None:
        self.name = name
        self.local = local
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self._scripts: dict[str, Any] = {
            "plan": plan,
            "draft": draft,
            "repair": repair,
            "review": review,
            "answer": _count_rows if answer is None else answer,
        }
        self._used = dict.fromkeys(self._scripts, 0)
        self._lock = threading.Lock()

    def plan(self, question: str, *, feedback: str = "") -> Plan:
        """The scripted plan."""
        made: Plan = self._next("plan", question, feedback)
        return made

    def draft(self, question: str, plan: Plan) -> Draft:
        """The scripted draft."""
        return _draft(self._next("draft", question, plan))

    def repair(self, question: str, plan: Plan, attempts: tuple[Attempt, ...]) -> Draft | None:
        """The scripted repair."""
        repaired = self._next("repair", question, plan, attempts)
        return None if repaired is None else _draft(repaired)

    def review(self, evidence: Evidence) -> Review:
        """The scripted verdict."""
        verdict: Review = self._next("review", evidence)
        return verdict

    def answer(self, evidence: Evidence) -> str:
        """The scripted sentence."""
        text: str = self._next("answer", evidence)
        return text

    def steps(self) -> list[str]:
        """The names of the steps called so far, in order."""
        with self._lock:
            return [step for step, _ in self.calls]

    def _next(self, step: str, *arguments: Any) -> Any:
        script = self._scripts[step]
        with self._lock:
            self.calls.append((step, arguments))
            turn = self._used[step]
            self._used[step] += 1
        if isinstance(script, list | tuple):
            if turn >= len(script):
                raise ReasonerError(
                    f"The script has {len(script)} results for '{step}', and this is call {turn + 1}.",
                    remedy="Add results to the script, or give a function.",
                )
            script = script[turn]
        if isinstance(script, BaseException):
            raise script
        return script(*arguments) if callable(script) else script


def _draft(value: Draft | str) -> Draft:
    return Draft(sql=value, author="model") if isinstance(value, str) else value


def _count_rows(evidence: Evidence) -> str:
    count = (evidence.total or 0) if evidence.hidden else len(evidence.result.rows)
    return f"{count} row{'' if count == 1 else 's'}."
