"""Every error that bmsql raises, as one tree.

::

    BmsqlError
    ├── ConfigurationError            an option, environment variable or file is wrong
    │   ├── MissingDependencyError    an optional package is not installed
    │   ├── CredentialsError          no usable credentials for a backend or a model
    │   ├── SemanticModelError        a semantic model or rule file is wrong (file, line, field)
    │   └── BenchmarkFileError        a file of questions, records or scores is wrong (file, line)
    ├── QuestionError                 the question is empty or too long
    ├── PlanError                     a query plan cannot be compiled
    ├── SqlError                      SQL that cannot be used
    │   ├── SqlSyntaxError            it does not parse in the BigQuery dialect
    │   ├── ForbiddenSqlError         it is not one read-only SELECT over the catalogue
    │   ├── InvalidSqlError           names, types or grouping are wrong
    │   └── UnsupportedSqlError       right for BigQuery, but the backend cannot do the same
    ├── BackendError                  a backend did not answer
    │   ├── BackendUnavailableError   it cannot be opened or reached
    │   ├── ExecutionError            the database refused or failed the query
    │   ├── QueryTimeoutError         the time limit was reached; the query was cancelled
    │   ├── QueryCancelledError       the caller cancelled
    │   └── BudgetExceededError       the query would cost more than allowed
    ├── KnowledgeBaseError            a knowledge base file is missing, damaged or of another version
    └── ReasonerError                 a reasoner did not return what a step needs
        └── ModelError                a language model gave no usable reply
            ├── ModelUnavailableError it did not answer in time, at its rate limit, or not in its protocol
            ├── ModelRequestError     its server refused the request, such as one that is too long
            ├── ModelRefusedError     it declined to answer, or its provider withheld the answer
            └── ModelOutputError      its answer was cut off, or not of the asked form

Each carries one sentence that says what is wrong and, as `remedy`, what to do about it. Errors of
other libraries are mapped where they enter, with the original as `__cause__`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bmsql.types import StepUsage

__all__ = [
    "BackendError",
    "BackendUnavailableError",
    "BenchmarkFileError",
    "BmsqlError",
    "BudgetExceededError",
    "ConfigurationError",
    "CredentialsError",
    "ExecutionError",
    "ForbiddenSqlError",
    "InvalidSqlError",
    "KnowledgeBaseError",
    "MissingDependencyError",
    "ModelError",
    "ModelOutputError",
    "ModelRefusedError",
    "ModelRequestError",
    "ModelUnavailableError",
    "PlanError",
    "QueryCancelledError",
    "QueryTimeoutError",
    "QuestionError",
    "ReasonerError",
    "SemanticModelError",
    "SqlError",
    "SqlSyntaxError",
    "UnsupportedSqlError",
]


class BmsqlError(Exception):
    """Base of all bmsql errors.

    `str(error)` is the message followed by the remedy; `message` and `remedy` give them apart.
    """

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()

    def __reduce__(self) -> tuple[object, ...]:
        # The default reduction would call the class with positional arguments only, and lose
        # keyword-only ones; errors of a batch must survive a process pool.
        return (_rebuild, (type(self), self.args, dict(self.__dict__)))


def _rebuild(cls: type[BmsqlError], args: tuple[object, ...], state: dict[str, object]) -> BmsqlError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class ConfigurationError(BmsqlError):
    """An option, environment variable or file is wrong."""


class MissingDependencyError(ConfigurationError):
    """An optional package is not installed; the remedy names the extra to install."""


class CredentialsError(ConfigurationError):
    """No usable credentials for a backend or a model."""


class SemanticModelError(ConfigurationError):
    """A semantic model or rule file is wrong; `file`, `line` (1-based) and `field` say where."""

    def __init__(
        self, message: str, *, file: str = "", line: int | None = None, field: str = "", remedy: str = ""
    ) -> None:
        place = ":".join(str(part) for part in (file, line) if part)
        where = " ".join(part for part in (place, f"({field})" if field else "") if part)
        super().__init__(f"{where}: {message}" if where else message, remedy=remedy)
        self.file = file
        self.line = line
        self.field = field


class BenchmarkFileError(ConfigurationError):
    """A file of the benchmark (questions, records, scores) is wrong; `file` and `line` (1-based) say where."""

    def __init__(self, message: str, *, file: str = "", line: int | None = None, remedy: str = "") -> None:
        place = ":".join(str(part) for part in (file, line) if part)
        super().__init__(f"{place}: {message}" if place else message, remedy=remedy)
        self.file = file
        self.line = line


class QuestionError(BmsqlError):
    """The question is empty or too long."""


class PlanError(BmsqlError):
    """A query plan cannot be compiled into SQL."""


class SqlError(BmsqlError):
    """SQL that cannot be used; `line` and `column` (1-based) say where, when known."""

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.line = line
        self.column = column


class SqlSyntaxError(SqlError):
    """The text does not parse in the BigQuery dialect."""


class ForbiddenSqlError(SqlError):
    """The text is not one read-only SELECT over the catalogue."""


class InvalidSqlError(SqlError):
    """Names, types or grouping are wrong."""


class UnsupportedSqlError(SqlError):
    """Right for BigQuery, but the backend cannot compute the same result, so it is not run."""


class BackendError(BmsqlError):
    """A backend did not answer."""


class BackendUnavailableError(BackendError):
    """The backend cannot be opened or reached.

    `file` is the file that is missing or wrong; empty where another cause keeps it from opening.
    """

    def __init__(self, message: str, *, file: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.file = file


class ExecutionError(BackendError):
    """The database refused or failed the query; the message is the database's own."""


class QueryTimeoutError(BackendError):
    """The time limit was reached and the query was cancelled."""


class QueryCancelledError(BackendError):
    """The caller cancelled the query."""


class BudgetExceededError(BackendError):
    """The query would cost more than the budget allows."""


class KnowledgeBaseError(BmsqlError):
    """A knowledge base file is missing, damaged or of another version."""


class ReasonerError(BmsqlError):
    """A reasoner did not return what a step needs."""


class ModelError(ReasonerError):
    """A language model gave no usable reply.

    `model` names it; `status` is the HTTP status of the reply, where there was one; `usage` is what
    the step had cost by then, where calls were made.
    """

    usage: StepUsage | None = None

    def __init__(self, message: str, *, model: str = "", status: int | None = None, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.model = model
        self.status = status


class ModelUnavailableError(ModelError):
    """The model did not answer in time, at its rate limit, or not in its protocol.

    `retry_after` is the number of seconds that the server asked to wait for, where it did.
    """

    def __init__(
        self,
        message: str,
        *,
        model: str = "",
        status: int | None = None,
        retry_after: float | None = None,
        remedy: str = "",
    ) -> None:
        super().__init__(message, model=model, status=status, remedy=remedy)
        self.retry_after = retry_after


class ModelRequestError(ModelError):
    """The model's server refused the request, such as one that is too long for the model."""


class ModelRefusedError(ModelError):
    """The model declined to answer, or its provider withheld the answer."""


class ModelOutputError(ModelError):
    """The model's answer was cut off, or is not of the asked form; `output` is its text."""

    def __init__(
        self, message: str, *, model: str = "", status: int | None = None, output: str = "", remedy: str = ""
    ) -> None:
        super().__init__(message, model=model, status=status, remedy=remedy)
        self.output = output
