"""The agent: questions in, answers out."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bmsql.agent._check import CheckReport, check_sql, with_second_opinion
from bmsql.agent._events import StreamEvent, events_of
from bmsql.agent._open import open_parts
from bmsql.agent._question import checked_question, checked_sql
from bmsql.agent._settings import read_settings
from bmsql.errors import ConfigurationError, InvalidSqlError, QuestionError
from bmsql.graph import Dependencies, GraphContext
from bmsql.types import Answer, Closing, Limits, Plan, Rejected

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import StructuredTool

    from bmsql.backends import Backend
    from bmsql.conventions import RuleBook
    from bmsql.graph import Graph
    from bmsql.reasoners import Reasoner
    from bmsql.reasoners.chat import ChatOptions
    from bmsql.semantic import SemanticModel
    from bmsql.sql.googlesql import Analyser

log = logging.getLogger("bmsql")
OnError = Literal["return", "raise"]

# What LangGraph streams: an update for each node, and pieces of text.
_STREAMED: list[Any] = ["updates", "custom"]
_announced: set[str] = set()
_announcing = threading.Lock()


class Agent(Closing):
    """Answers questions over a knowledge base; made once, used from any number of threads and tasks.

    model: `"offline"` (the default), `"provider:name"` as LangChain's `init_chat_model` understands it, a
    LangChain chat model, or a `Reasoner`. backend: `"embedded"` (the default), `"duckdb:///path"`,
    `"bigquery://project/dataset"` or a `Backend`. semantic_model: a YAML file or a `SemanticModel`; BiomedSQL's by
    default. profile: `"strict"` or `"biomedsql"`. max_passes: plans per question, at most 10. limits:
    `Limits` or a mapping of some of them. send_rows: whether a reasoner that sends data elsewhere
    may see rows. rules: a rule file, several, or a `RuleBook`. names: a file of further names for genes,
    diseases, drugs.

    For chat models: candidates: drafts of SQL per question, of which the one whose result most agree
    with is taken. examples: a file of your own example queries, see `remember`. embeddings: a
    LangChain `Embeddings` to find the nearest examples with. cache: a file to keep replies in, so that
    the same prompt needs no second call. chat: `ChatOptions`, what the model is shown.

    What is not given is read from `BMSQL_MODEL`, `BMSQL_BACKEND`, `BMSQL_SEMANTIC_MODEL`,
    `BMSQL_PROFILE`, `BMSQL_MAX_PASSES`, `BMSQL_LIMIT_ROWS` (`_SECONDS`, `_MEMORY_MB`,
    `_BYTES_BILLED`, ...), `BMSQL_SEND_ROWS`, `BMSQL_RULES`, `BMSQL_NAMES`, `BMSQL_CANDIDATES`,
    `BMSQL_EXAMPLES` and `BMSQL_CACHE`, when the agent is made. A key in the environment chooses nothing.

    Raises ConfigurationError for a wrong option, SemanticModelError for a wrong file,
    KnowledgeBaseError or BackendUnavailableError when the database cannot be opened.
    """

    def __init__(
        self,
        model: str | BaseChatModel | Reasoner | None = None,
        backend: str | Backend | None = None,
        semantic_model: str | Path | SemanticModel | None = None,
        profile: str | None = None,
        max_passes: int | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
        send_rows: bool | None = None,
        rules: str | Path | Sequence[str | Path] | RuleBook | None = None,
        *,
        candidates: int | None = None,
        examples: str | Path | None = None,
        embeddings: Embeddings | None = None,
        cache: str | Path | None = None,
        chat: ChatOptions | None = None,
        names: str | Path | None = None,
    ) -> None:
        settings = read_settings(
            model=model,
            backend=backend,
            semantic_model=semantic_model,
            profile=profile,
            max_passes=max_passes,
            limits=limits,
            send_rows=send_rows,
            rules=rules,
            candidates=candidates,
            examples=examples,
            embeddings=embeddings,
            cache=cache,
            chat=chat,
            names=names,
        )
        self._deps = open_parts(settings)
        self._owns_backend = self._deps.backend is not settings.backend
        self._lock = threading.Lock()
        self.origin: dict[str, str] = settings.origin
        self._announce()

    # -- what it works with -----------------------------------------------------------------------

    @property
    def dependencies(self) -> Dependencies:
        """The reasoner, backend, semantic model, rules, limits and budgets in use."""
        return self._deps

    def describe(self) -> str:
        """Which reasoner, knowledge base and profile answer, in one line."""
        deps = self._deps
        return f"reasoner {deps.reasoner.name}, knowledge base {deps.backend.name}, profile {deps.rules.profile}"

    def _announce(self) -> None:
        """Say which reasoner answers; aloud, once for each model, where data leave the machine."""
        deps = self._deps
        if deps.reasoner.local:
            log.info("%s", self.describe())
            return
        rows = "questions, table names and rows" if deps.send_rows else "questions and table names, but no rows"
        hint = "; send_rows=False keeps the rows here" if deps.send_rows else ""
        said = f"{self.describe()}. The model is sent {rows}{hint}."
        with _announcing:
            first = said not in _announced
            _announced.add(said)
        log.log(logging.WARNING if first else logging.INFO, "%s", said)

    @property
    def graph(self) -> Graph:
        """The compiled LangGraph graph; it can be a node of another graph."""
        with self._lock:
            return self._graph

    @cached_property
    def _graph(self) -> Graph:
        from bmsql.graph import compile_graph

        return compile_graph(self._deps)

    # -- asking -----------------------------------------------------------------------------------

    def ask(
        self, question: str, *, config: RunnableConfig | None = None, cancel: threading.Event | None = None
    ) -> Answer:
        """The answer to a question; an abstention is an answer too.

        config: LangChain callbacks, tags and the like. cancel: an event that stops the question when it is set.
        Raises QuestionError for an empty or too long question, BackendError when the database
        cannot be reached, QueryCancelledError, ReasonerError.
        """
        from bmsql.graph import invoke_graph

        return invoke_graph(self.graph, checked_question(question), config, cancel)

    async def aask(self, question: str, *, config: RunnableConfig | None = None) -> Answer:
        """As `ask`, without blocking the event loop; cancelling the task stops the running query."""
        from bmsql.graph import ainvoke_graph

        return await ainvoke_graph(self.graph, checked_question(question), config)

    def stream(
        self, question: str, *, config: RunnableConfig | None = None, cancel: threading.Event | None = None
    ) -> Iterator[StreamEvent]:
        """An event for each node as it finishes and for the text as it grows, and the answer as the last one."""
        given, context = _input(question), GraphContext(cancel=cancel, stream_text=True)
        for mode, chunk in self.graph.stream(given, config, context=context, stream_mode=_STREAMED):
            yield from events_of(mode, chunk)

    async def astream(self, question: str, *, config: RunnableConfig | None = None) -> AsyncIterator[StreamEvent]:
        """As `stream`, without blocking the event loop; leaving the loop early stops the running query."""
        given, cancel = _input(question), threading.Event()
        try:
            context = GraphContext(cancel=cancel, stream_text=True)
            async for mode, chunk in self.graph.astream(given, config, context=context, stream_mode=_STREAMED):
                for event in events_of(mode, chunk):
                    yield event
        finally:
            cancel.set()

    def batch(
        self,
        questions: Iterable[str],
        *,
        concurrency: int = 4,
        on_error: OnError = "return",
        config: RunnableConfig | None = None,
    ) -> list[Answer | Exception]:
        """The answers in the order of the questions, `concurrency` of them at a time.

        A failed question leaves its exception in its place; with `on_error="raise"` the first one
        is raised, after all the others have been answered. Raises QuestionError when `questions` is
        one text, ConfigurationError for a wrong option.
        """
        _check_batch(questions, concurrency, on_error)
        with ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="bmsql") as pool:
            # Each question gets a copy of the caller's context, so that tracing sees its parent.
            ask = partial(self.ask, config=config)
            futures = [pool.submit(contextvars.copy_context().run, ask, question) for question in questions]
            errors = [future.exception() for future in futures]
        results: list[Answer | BaseException] = [
            error if error is not None else future.result() for future, error in zip(futures, errors, strict=True)
        ]
        return _results(results, on_error)

    async def abatch(
        self,
        questions: Iterable[str],
        *,
        concurrency: int = 8,
        on_error: OnError = "return",
        config: RunnableConfig | None = None,
    ) -> list[Answer | Exception]:
        """As `batch`, without blocking the event loop."""
        _check_batch(questions, concurrency, on_error)
        free = asyncio.Semaphore(concurrency)

        async def one(question: str) -> Answer:
            async with free:
                return await self.aask(question, config=config)

        return _results(await asyncio.gather(*map(one, questions), return_exceptions=True), on_error)

    def remember(self, question: str, sql: str) -> None:
        """Keep a question with the SQL that answers it, as an example for similar questions.

        It is stored in the file of `examples=`, which is yours to edit. What you approve of is what
        should be remembered: `agent.remember(answer.question, answer.general.sql)`; the general query,
        since thresholds are put in by rule. Raises ConfigurationError where there is no such file or
        no chat model, QuestionError, InvalidSqlError for SQL that would not run here.
        """
        store = getattr(self._deps.reasoner, "examples", None)
        if store is None or store.path is None:
            raise ConfigurationError(
                "there is no file to remember examples in.",
                remedy='Make the agent with a chat model and examples="my_examples.jsonl".',
            )
        asked = checked_question(question)
        verdict = self._deps.validate(checked_sql(sql))
        if isinstance(verdict, Rejected):
            why = verdict.problems[0].message
            raise InvalidSqlError(f"the example would not run: {why}", remedy="Correct the SQL; `check` says how.")
        store.add(asked, verdict.sql)

    # -- without running --------------------------------------------------------------------------

    def plan(self, question: str) -> Plan:
        """The query plan of a question; no query is run."""
        return self._deps.reasoner.plan(checked_question(question))

    def check(
        self, sql: str, question: str = "", *, conventions: bool = False, second_opinion: bool = False
    ) -> CheckReport:
        """What validation makes of SQL; with the question it answers, also which conventions apply.

        conventions: without a question, what holds for every query (evidence key, limit). second_opinion:
        ask GoogleSQL's own analyser too, which the extra `bmsql[googlesql]` brings. Nothing is run.
        Raises InvalidSqlError or QuestionError for what is no text, MissingDependencyError without the extra.
        """
        checked = checked_sql(sql)
        if not isinstance(question, str):
            raise QuestionError(
                f"A question is a text, not {type(question).__name__}.", remedy="Give a string, or leave it out."
            )
        plan = self.plan(question) if question.strip() else Plan() if conventions else None
        report = check_sql(checked, plan, self._deps, question)
        if not second_opinion:
            return report
        with self._lock:
            analyser = self._analyser
        return with_second_opinion(report, analyser)

    @cached_property
    def _analyser(self) -> Analyser:
        from bmsql.backends import cache_directory
        from bmsql.sql.googlesql import Analyser

        return Analyser(self._deps.backend.catalog(), cache_directory())

    def as_tool(self, name: str = "ask_bmsql", description: str | None = None) -> StructuredTool:
        """The agent as a LangChain tool: text for the model, `Answer.to_dict()` as the artifact."""
        from bmsql.agent._tool import agent_tool

        return agent_tool(self, name, description)

    # -- the end ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the backend, unless it was given ready-made."""
        if self._owns_backend:
            self._deps.backend.close()

    def __repr__(self) -> str:
        return f"<Agent: {self.describe()}>"


def _input(question: str) -> dict[str, Any]:
    return {"question": checked_question(question)}


def _check_batch(questions: object, concurrency: object, on_error: object) -> None:
    if isinstance(questions, str | bytes) or not isinstance(questions, Iterable):
        raise QuestionError(
            f"Questions are a list of texts, not one {type(questions).__name__}.",
            remedy="Give a list, such as [question], or use ask for one question.",
        )
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
        raise ConfigurationError(f"concurrency= is {concurrency!r}.", remedy="Use a whole number from 1.")
    if on_error not in ("return", "raise"):
        raise ConfigurationError(f"on_error= is {on_error!r}.", remedy='Use "return" or "raise".')


def _results(results: Sequence[Answer | BaseException], on_error: OnError) -> list[Answer | Exception]:
    kept: list[Answer | Exception] = []
    for result in results:
        if isinstance(result, Exception) and on_error == "raise":
            raise result
        if isinstance(result, Answer | Exception):
            kept.append(result)
        else:  # KeyboardInterrupt and the like are nobody's result
            raise result
    return kept
