"""Answers that people, or another program, gave: a compared system like any other, read from a file."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from pydantic import Field, ValidationError

from bmsql.agent import Agent
from bmsql.bench._entries import read_entries
from bmsql.bench._files import invalid
from bmsql.bench._manifest import file_hash
from bmsql.bench._systems import QUESTION_ID
from bmsql.bench.systems._agent_system import AgentSystem
from bmsql.bench.systems._open import SystemOptions, refuse_own
from bmsql.errors import BenchmarkFileError, ConfigurationError
from bmsql.types import Answer, ExecutionFailed, Frozen, QueryResult, RanQuery, Rejected, TraceEntry, Usage

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig


FILE, LABEL = "file", "label"


class GivenAnswer(Frozen):
    """One answer of the file: words, a query, or both; neither is an abstention. seconds: that it took."""

    id: str = Field(min_length=1)
    answer: str = ""
    sql: str = ""
    seconds: float = Field(default=0.0, ge=0)


class AnswersSystem(AgentSystem):
    """Replays answers of a file by the question's id; queries are validated and run as those of all systems are.

    Options: `file`, a CSV, YAML list or JSON lines with `id` (or `uuid`), `answer`, `sql` and `seconds`; `label`, what
    reports call it. A question that the file does not have is abstained from.
    """

    def __init__(self, options: SystemOptions) -> None:
        refuse_own("answers", options, (FILE, LABEL))
        if options.without:
            raise ConfigurationError("answers of a file have no parts.", remedy="Leave --without out.")
        if not options.own.get(FILE):
            raise ConfigurationError(
                "the system 'answers' needs a file of answers.", remedy="Give one: --option file=PATH."
            )
        path = Path(options.own[FILE])
        self._answers = read_answers(path)
        agent = Agent(
            backend=options.backend,
            semantic_model=options.semantic_model,
            profile=options.profile,
            limits=options.limits,
            rules=options.rules or None,
        )
        settings = {FILE: path.name, "hash": file_hash(path)}
        super().__init__(options.own.get(LABEL) or path.stem, agent, model="", settings=settings)

    def ask(
        self, question: str, *, config: RunnableConfig | None = None, cancel: threading.Event | None = None
    ) -> Answer:
        """The answer of the file for the id in `config["metadata"]`."""
        identifier = (config or {}).get("metadata", {}).get(QUESTION_ID, "")
        given = self._answers.get(identifier)
        if given is None or not (given.answer or given.sql):
            return self._abstention(question, "the file has no answer", ())
        if not given.sql:
            return self._answer(question, given, None, ())
        return self._ran(question, given, cancel)

    async def aask(self, question: str, *, config: RunnableConfig | None = None) -> Answer:
        """As `ask`, in a thread."""
        return await asyncio.to_thread(self.ask, question, config=config)

    def _ran(self, question: str, given: GivenAnswer, cancel: threading.Event | None) -> Answer:
        started = time.perf_counter()
        result = self.dependencies.run(given.sql, cancel)
        drafted = TraceEntry(node="generate", started=0.0, seconds=0.0, outcome="drafted", detail={"sql": given.sql})
        ran = TraceEntry(node="execute", started=0.0, seconds=time.perf_counter() - started, outcome="ran")
        match result:
            case QueryResult():
                return self._answer(question, given, RanQuery(sql=given.sql, result=result), (drafted, ran))
            case Rejected():
                why, outcome = result.problems[0].message, "rejected"
            case ExecutionFailed():
                why, outcome = result.message, "failed"
            case never:
                assert_never(never)
        trace = (drafted, ran.model_copy(update={"outcome": outcome}))
        if given.answer:
            return self._answer(question, given, None, trace)
        return self._abstention(question, f"the query failed: {why}", trace)

    def _answer(self, question: str, given: GivenAnswer, ran: RanQuery | None, trace: tuple[TraceEntry, ...]) -> Answer:
        result = ran.result if ran else None
        return Answer(
            question=question,
            text=given.answer,
            sql=given.sql,
            general=ran,
            usage=Usage(
                queries=1 if ran else 0,
                query_seconds=result.seconds if result else 0.0,
                bytes_processed=result.bytes_processed if result else None,
                seconds=given.seconds,
            ),
            **self._common(trace),
        )

    def _abstention(self, question: str, reason: str, trace: tuple[TraceEntry, ...]) -> Answer:
        return Answer(question=question, text=reason, abstained=True, reason=reason, **self._common(trace))

    def _common(self, trace: tuple[TraceEntry, ...]) -> dict[str, Any]:
        deps = self.dependencies
        return {
            "reasoner": self.name,
            "backend": deps.backend.name,
            "profile": deps.rules.profile,
            "trace": trace,
        }


def read_answers(path: Path) -> dict[str, GivenAnswer]:
    """The answers of a file by id. Raises BenchmarkFileError with file and line."""
    answers: dict[str, GivenAnswer] = {}
    for line, entry in read_entries(path):
        values = {("id" if name in {"uuid", "question_id"} else name): value for name, value in entry.items()}
        wanted = {name: values[name] for name in GivenAnswer.model_fields if values.get(name) not in (None, "")}
        try:
            answer = GivenAnswer.model_validate({**wanted, "id": str(wanted.get("id", ""))})
        except ValidationError as error:
            raise invalid(error, path, line) from error
        if answer.id in answers:
            raise BenchmarkFileError(
                f"there are two answers to {answer.id!r}.", file=str(path), line=line, remedy="Keep one."
            )
        answers[answer.id] = answer
    if not answers:
        raise BenchmarkFileError("the file holds no answers.", file=str(path), remedy="Add some.")
    return answers
