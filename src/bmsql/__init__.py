"""Ask biomedical databases in plain English, and get answers that can be checked.

::

    from bmsql import Agent

    answer = Agent().ask("Is rs429358 genome-wide significant?")
    print(answer.text, answer.sql, answer.evidence, answer.conventions)

Everything public is reached from here, and loaded only when first used: importing `bmsql` alone
loads no database, no graph library and no model library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from bmsql._version import __version__

if TYPE_CHECKING:
    from bmsql.agent import Agent
    from bmsql.errors import (
        BackendError,
        BackendUnavailableError,
        BenchmarkFileError,
        BmsqlError,
        BudgetExceededError,
        ConfigurationError,
        CredentialsError,
        ExecutionError,
        ForbiddenSqlError,
        InvalidSqlError,
        KnowledgeBaseError,
        MissingDependencyError,
        ModelError,
        ModelOutputError,
        ModelRefusedError,
        ModelRequestError,
        ModelUnavailableError,
        PermissionDeniedError,
        PlanError,
        QueryCancelledError,
        QueryTimeoutError,
        QuestionError,
        QuotaExceededError,
        ReasonerError,
        SemanticModelError,
        SqlError,
        SqlSyntaxError,
        UnsupportedSqlError,
    )
    from bmsql.types import (
        Answer,
        Clarification,
        ConventionRecord,
        Limits,
        Plan,
        QueryResult,
        Rejected,
        TraceEntry,
        Usage,
        ValidatedQuery,
    )

__all__ = [
    "Agent",
    "Answer",
    "BackendError",
    "BackendUnavailableError",
    "BenchmarkFileError",
    "BmsqlError",
    "BudgetExceededError",
    "Clarification",
    "ConfigurationError",
    "ConventionRecord",
    "CredentialsError",
    "ExecutionError",
    "ForbiddenSqlError",
    "InvalidSqlError",
    "KnowledgeBaseError",
    "Limits",
    "MissingDependencyError",
    "ModelError",
    "ModelOutputError",
    "ModelRefusedError",
    "ModelRequestError",
    "ModelUnavailableError",
    "PermissionDeniedError",
    "Plan",
    "PlanError",
    "QueryCancelledError",
    "QueryResult",
    "QueryTimeoutError",
    "QuestionError",
    "QuotaExceededError",
    "ReasonerError",
    "Rejected",
    "SemanticModelError",
    "SqlError",
    "SqlSyntaxError",
    "TraceEntry",
    "UnsupportedSqlError",
    "Usage",
    "ValidatedQuery",
    "__version__",
]

_AGENT = ("Agent",)
_TYPES = (
    "Answer",
    "Clarification",
    "ConventionRecord",
    "Limits",
    "Plan",
    "QueryResult",
    "Rejected",
    "TraceEntry",
    "Usage",
    "ValidatedQuery",
)


def _home(name: str) -> str:
    """Return the module that defines the public `name`."""
    if name in _AGENT:
        return "bmsql.agent"
    return "bmsql.types" if name in _TYPES else "bmsql.errors"


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_home(name)), name)
    globals()[name] = value  # the next access skips this function
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
