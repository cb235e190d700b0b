"""A system whose every answer is scripted: no model, and a query of its own for each question."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from bmsql.bench import QUESTION_ID
from bmsql.graph import Dependencies
from bmsql.types import Answer, QueryResult, RanQuery, StepUsage, TraceEntry, Usage

# A query to run, None to abstain, or an error to raise.
Script = Callable[[str], str | Exception | None]


class ScriptedSystem:
    """Answers by the question's id, and remembers what it was asked.

    usage: of each answer, such as tokens. options: its settings, which a resumed run must share.
    """

    def __init__(
        self,
        dependencies: Dependencies,
        script: Script = lambda name: None,
        *,
        model: str = "scripted:model",
        usage: Usage = Usage(),  # noqa: B008 - frozen
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.name, self.model, self.settings = "scripted", model, dict(options or {})
        self.dependencies, self.script, self.usage = dependencies, script, usage
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def ask(self, question: str, *, config: Any = None, cancel: threading.Event | None = None) -> Answer:
        """The scripted answer."""
        name = config["metadata"][QUESTION_ID]
        with self._lock:
            self.asked.append(name)
        sql = self.script(name)
        if isinstance(sql, Exception):
            raise sql
        if sql is None:
            return Answer(question=question, text="I cannot.", abstained=True, reason="script", usage=self.usage)
        drafted = TraceEntry(node="generate", started=0, seconds=0, outcome="drafted", detail={"sql": sql})
        result = self.dependencies.run(sql, cancel)
        if not isinstance(result, QueryResult):
            failed = TraceEntry(node="execute", started=0, seconds=0, outcome="rejected")
            return Answer(
                question=question, text="It failed.", abstained=True, usage=self.usage, trace=(drafted, failed)
            )
        ran = TraceEntry(node="execute", started=0, seconds=0, outcome="ran")
        return Answer(
            question=question,
            text=f"{len(result.rows)} rows.",
            sql=sql,
            general=RanQuery(sql=sql, result=result),
            usage=self.usage,
            trace=(drafted, ran),
        )

    async def aask(self, question: str, *, config: Any = None) -> Answer:
        """As `ask`."""
        return self.ask(question, config=config)

    def close(self) -> None:
        """Nothing is open."""


def tokens(prompt: int, completion: int = 0, cached: int = 0) -> Usage:
    """The usage of one model call."""
    step = StepUsage(step="draft", calls=1, prompt_tokens=prompt, completion_tokens=completion, cached_tokens=cached)
    return Usage(steps=(step,))
