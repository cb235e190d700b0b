"""Asking a system all questions of a run: concurrently, resumably, within a budget."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Literal

from bmsql.bench._folder import RunFolder
from bmsql.bench._prepare import reading_for
from bmsql.bench._prices import Prices
from bmsql.bench._record import failure_of, record_of
from bmsql.bench._score import Score, score_record
from bmsql.bench._stats import Share
from bmsql.bench._store import Journal, Store
from bmsql.bench._systems import QUESTION_ID, TEMPLATE, System
from bmsql.bench._types import Question, Record
from bmsql.errors import BackendUnavailableError, ConfigurationError, QueryCancelledError

# Errors after which every further question would fail too: nothing is recorded, and the run can be resumed.
_ENDS_RUN = (BackendUnavailableError, ConfigurationError, QueryCancelledError)
_POLL = 0.2

Stop = Literal["done", "cost", "errors", "interrupted"]


@dataclass(frozen=True)
class RunOptions:
    """How a run is driven; none of it changes an answer.

    concurrency: questions asked at once. max_cost: US dollars after which no question is begun, over all resumptions.
    max_errors: errors one after the other after which the run stops, as when a model is down. retry_errors: ask again
    what ended in an error before.
    """

    concurrency: int = 4
    max_cost: float | None = None
    max_errors: int = 20
    retry_errors: bool = False
    prices: Prices = field(default_factory=Prices)


@dataclass
class Progress:
    """Where a run stands: over all of its questions, those of earlier processes among them."""

    total: int = 0
    done: int = 0
    asked: int = 0
    errors: int = 0
    unpriced: int = 0
    cost: float = 0.0
    ex: Share = field(default_factory=Share)
    stopped: Stop = "done"

    def add(self, score: Score) -> None:
        """Take in one more score."""
        self.done += 1
        self.errors += score.outcome == "error"
        self.cost += score.cost or 0.0
        self.unpriced += score.cost is None
        if not score.unanswerable:
            self.ex.add(score.ex)


def run_questions(
    system: System,
    folder: RunFolder,
    options: RunOptions | None = None,
    *,
    on_progress: Callable[[Progress, Score | None], None] | None = None,
) -> Progress:
    """Ask the questions of `folder` that have no record yet, and append a record for each as it is finished.

    Stops early, to be resumed, when the cost would exceed its cap or errors follow one another. Raises
    ConfigurationError for a cap on cost that cannot be held because something has no price, and whatever would fail
    every question (BackendUnavailableError, CredentialsError, ...); KeyboardInterrupt, once what is under way was
    stopped.
    """
    options = options or RunOptions()
    _check(options)
    with folder.locked(), folder.questions() as questions, Journal(folder.records_file) as journal:
        run = _Run(system, questions, journal, options, on_progress or (lambda progress, score: None))
        run.resume(folder)
        return run.drive()


class _Run:
    """One process's part in a run."""

    def __init__(
        self,
        system: System,
        questions: Store[Question],
        journal: Journal,
        options: RunOptions,
        on_progress: Callable[[Progress, Score | None], None],
    ) -> None:
        self.system, self.questions, self.journal, self.options = system, questions, journal, options
        self.on_progress = on_progress
        self.logical = reading_for(system.dependencies).logical
        self.progress = Progress(total=len(questions))
        self.cancel = threading.Event()
        self.todo: list[str] = []
        self._failing = 0
        self._dearest = 0.0

    def resume(self, folder: RunFolder) -> None:
        """Take in the records of earlier processes; what is left is to do."""
        with folder.records() as records:
            for identifier in self.questions.ids():
                record = records.get(identifier)
                if record is None or (self.options.retry_errors and record.error is not None):
                    self.todo.append(identifier)
                    # A cost is paid, whatever came of it.
                    self.progress.cost += (record.cost or 0.0) if record else 0.0
                else:
                    self._take(record)
        self.on_progress(self.progress, None)

    def drive(self) -> Progress:
        """Ask what is to do."""
        left = iter(self.todo)
        running: dict[Future[Record], str] = {}
        with ThreadPoolExecutor(self.options.concurrency, thread_name_prefix="bmsql-bench") as pool:
            try:
                self._fill(pool, left, running)
                while running:
                    finished, _ = wait(running, timeout=_POLL, return_when=FIRST_COMPLETED)
                    for future in finished:
                        del running[future]
                        self._finish(future.result())
                    self._fill(pool, left, running)
            except BaseException:
                # What is under way is stopped, and is asked again by the next process.
                self.cancel.set()
                for future in running:
                    future.cancel()
                raise
        return self.progress

    def _fill(self, pool: ThreadPoolExecutor, left: Iterator[str], running: dict[Future[Record], str]) -> None:
        while len(running) < self.options.concurrency and self._may_go_on(len(running)):
            identifier = next(left, None)
            if identifier is None:
                return
            running[pool.submit(self._ask, self.questions[identifier])] = identifier

    def _may_go_on(self, running: int) -> bool:
        """Whether another question may be begun; those under way are taken to cost what the dearest did."""
        options, progress = self.options, self.progress
        if progress.done >= progress.total or progress.stopped != "done":
            return False
        if options.max_cost is not None and progress.cost + (running + 1) * self._dearest > options.max_cost:
            # What is still under way may turn out cheaper.
            progress.stopped = "cost" if not running else "done"
            return False
        if self._failing >= options.max_errors:
            progress.stopped = "errors"
            return False
        return True

    def _ask(self, question: Question) -> Record:
        system, started = self.system, time.perf_counter()
        metadata = {QUESTION_ID: question.id, TEMPLATE: question.template}
        try:
            answer = system.ask(question.question, config={"metadata": metadata}, cancel=self.cancel)
        except _ENDS_RUN:
            raise
        except Exception as error:  # noqa: BLE001 - it is this question's outcome, and is counted
            seconds = time.perf_counter() - started
            return failure_of(question, system.name, system.model, error, seconds)
        return record_of(question, system.name, system.model, answer, self.options.prices)

    def _finish(self, record: Record) -> None:
        self.journal.append(record)
        self.progress.asked += 1
        self._failing = self._failing + 1 if record.error is not None else 0
        score = self._take(record)
        if self.options.max_cost is not None and record.cost is None and record.error is None:
            raise ConfigurationError(
                f"a question with {record.model or 'this model'} has no known cost, so that none can be capped.",
                remedy="Give its price in the file of --prices, or leave --max-cost out.",
            )
        self.on_progress(self.progress, score)

    def _take(self, record: Record) -> Score:
        score = score_record(self.questions[record.question_id], record, self.logical)
        self.progress.add(score)
        self._dearest = max(self._dearest, record.cost or 0.0)
        return score


def _check(options: RunOptions) -> None:
    """Raise ConfigurationError for options out of bounds."""
    if options.concurrency < 1:
        raise ConfigurationError(f"the concurrency is {options.concurrency}.", remedy="Use a whole number from 1.")
    if options.max_cost is not None and not options.max_cost > 0:
        raise ConfigurationError(f"the cap on cost is {options.max_cost}.", remedy="Give dollars, more than 0.")
