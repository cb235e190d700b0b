"""What the graph closes over, and what LangGraph's runtime context may put in its place."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from bmsql.backends import Metered
from bmsql.conventions import fit_to_plan
from bmsql.errors import (
    BackendError,
    BackendUnavailableError,
    ExecutionError,
    InvalidSqlError,
    QueryCancelledError,
    UnsupportedSqlError,
)
from bmsql.graph._budgets import Budgets
from bmsql.graph._data import Data
from bmsql.graph._plans import Plans
from bmsql.graph._prepared import Prepared
from bmsql.sql import Policy, Validator, format_sql, shared_tree
from bmsql.sql._recent import Recent
from bmsql.types import Answer, ExecutionFailed, Limits, Plan, QueryResult, Rejected, ValidatedQuery

if TYPE_CHECKING:
    from bmsql.backends import Backend
    from bmsql.conventions import RuleBook
    from bmsql.reasoners import Reasoner
    from bmsql.semantic import SemanticModel

T = TypeVar("T")


@dataclass(frozen=True)
class Dependencies:
    """Everything a question needs, shared by all questions of an agent and safe in threads.

    send_rows: whether a reasoner that sends data elsewhere may see rows.
    """

    reasoner: Reasoner
    backend: Backend
    model: SemanticModel
    rules: RuleBook
    limits: Limits = field(default_factory=Limits)
    budgets: Budgets = field(default_factory=Budgets)
    policy: Policy | None = None
    send_rows: bool = True
    prepared: Prepared = field(default_factory=Prepared, init=False, repr=False, compare=False)
    _validator: Validator = field(init=False, repr=False, compare=False)
    _memory: Recent[Hashable, Any] = field(default_factory=lambda: Recent(256), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Of these dependencies alone: a copy may have another catalogue or policy.
        object.__setattr__(self, "_validator", Validator(self.backend.catalog, self.policy))

    @property
    def hides_rows(self) -> bool:
        """Whether no value of a row may reach the reasoner."""
        return not self.send_rows and not self.reasoner.local

    def remembered(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gave for this key last, which is to be read and never changed: it depends on nothing else."""
        found: T | None = self._memory.get(key)
        if found is None:
            found = make()
            self._memory.put(key, found)
        return found

    def validate(self, sql: str) -> ValidatedQuery | Rejected:
        """The verdict on a text; the same text is not checked twice."""
        return self._validator(sql)

    def has_verdict(self, sql: str) -> bool:
        """Whether `validate` knows the verdict on a text already."""
        return self._validator.knows(sql)

    def fit(self, query: ValidatedQuery, plan: Plan, question: str = "") -> ValidatedQuery | Rejected:
        """Hold a validated draft against the plan: tables, counting, order and limit.

        Repairs are validated again and join the fixes of the query; what cannot be repaired rejects it.
        """
        fitted = fit_to_plan(shared_tree(query.sql), plan, self.model, self.rules, question)
        if fitted.problems:
            return Rejected(sql=query.sql, problems=fitted.problems, fixes=query.fixes)
        if not fitted.fixes:
            return query
        match self.validate(format_sql(fitted.tree, copy=False)):
            case ValidatedQuery() as repaired:
                return repaired.model_copy(update={"fixes": (*query.fixes, *fitted.fixes, *repaired.fixes)})
            case Rejected() as rejected:
                return rejected.model_copy(update={"fixes": (*query.fixes, *fitted.fixes)})

    def checked(self, sql: str, plan: Plan | None, *, question: str = "") -> ValidatedQuery | Rejected:
        """The verdict on a text, held against a plan too where one is given and the policy has queries checked."""
        verdict = self.validate(sql)
        unchecked = self.policy is not None and not self.policy.checks
        if plan is None or unchecked or isinstance(verdict, Rejected):
            return verdict
        return self.fit(verdict, plan, question)

    def run(self, sql: str, cancel: threading.Event | None = None) -> QueryResult | Rejected | ExecutionFailed:
        """Validate and run a text within the limits.

        What another query might cure comes back as `ExecutionFailed`. Raises QueryCancelledError
        when `cancel` was set, BackendUnavailableError when no query can help.
        """
        query = self.validate(sql)
        if isinstance(query, Rejected):
            return query
        if (found := self.prepared.take(query.sql)) is not None:
            return found
        try:
            return self.backend.execute(query, self.limits, cancel=cancel)
        except (BackendUnavailableError, QueryCancelledError):
            raise
        except (BackendError, UnsupportedSqlError) as error:
            return failed_by(query.sql, error)

    def beyond_ladder(self, sql: str) -> int:
        """The bytes that a text would read where they are more than `limits.ladder_bytes` allows, else 0.

        0 too for a result that is there already, and where the backend meters nothing.
        """
        query = self.validate(sql) if isinstance(self.backend, Metered) else None
        if not isinstance(query, ValidatedQuery) or self.prepared.has(query.sql):
            return 0
        try:
            size = self.backend.dry_run(query).bytes_processed or 0
        except ExecutionError:
            # What is wrong with it is told when it runs.
            return 0
        return size if size > self.limits.ladder_bytes else 0

    def run_or_raise(self, sql: str) -> QueryResult:
        """As `run`, where there is nobody to repair the text.

        Raises InvalidSqlError for SQL that is rejected, and whatever the backend raises.
        """
        query = self.validate(sql)
        if isinstance(query, Rejected):
            first = query.problems[0]
            raise InvalidSqlError(first.message, line=first.line, column=first.column, remedy=first.suggestion)
        return self.backend.execute(query, self.limits)


def failed_by(sql: str, error: BackendError | UnsupportedSqlError) -> ExecutionFailed:
    """What is left of a query that an error ended."""
    return ExecutionFailed(sql=sql, message=error.message, kind=type(error).__name__, remedy=error.remedy)


# Fields of a context that replace no dependency.
_OF_THE_RUN = frozenset({"cancel", "stream_text", "question_id", "plans", "in_one_step", "_resolved", "_finished"})


@dataclass(eq=False)
class GraphContext:
    """Dependencies of one run, in place of the compiled graph's own; None keeps those.

    Give it as `graph.invoke({"question": ...}, context=GraphContext(limits=Limits(rows=10)))`.
    Setting `cancel` stops the query under way and ends the run with QueryCancelledError.
    `stream_text` sends the pieces of the answer's text to LangGraph's custom stream, as `{"text": ...}`.
    `question_id` labels the jobs that a backend starts for it; by default a digest of the question.
    """

    reasoner: Reasoner | None = None
    backend: Backend | None = None
    model: SemanticModel | None = None
    rules: RuleBook | None = None
    limits: Limits | None = None
    send_rows: bool | None = None
    cancel: threading.Event | None = None
    stream_text: bool = False
    question_id: str = ""
    in_one_step: bool = field(default=False, init=False, repr=False)
    plans: Plans = field(default_factory=Plans, init=False, repr=False)
    _resolved: tuple[Dependencies, Dependencies] | None = field(default=None, init=False, repr=False)
    _finished: tuple[Data, Answer] | None = field(default=None, init=False, repr=False)

    def resolve(self, base: Dependencies) -> Dependencies:
        """`base` with what this context replaces."""
        known = self._resolved
        # A graph that is asked from within another one is given the same context.
        if known is None or known[0] is not base:
            given = {
                item.name: getattr(self, item.name)
                for item in fields(self)
                if item.name not in _OF_THE_RUN and getattr(self, item.name) is not None
            }
            self._resolved = known = base, replace(base, **given) if given else base
        return known[1]

    def takes_one_step(self) -> bool:
        """Whether the run may be one step; told once, for graphs inside are given the same context."""
        told, self.in_one_step = self.in_one_step, False
        return told

    def finish(self, data: Data, answer: Answer) -> None:
        """Keep `answer` for who started the run, beside the plain data of it that the state has."""
        self._finished = data, answer

    def answer_in(self, data: Data) -> Answer:
        """The answer that `data` hold: the one they were made from, or what another graph made of it."""
        if self._finished is not None and self._finished[0] is data:
            return self._finished[1]
        return Answer.model_validate(data)
