"""Labels for the jobs that a backend starts, given from outside without passing through every call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LABELS: ContextVar[dict[str, str] | None] = ContextVar("bmsql_job_labels", default=None)


@contextmanager
def job_labels(**labels: str) -> Iterator[None]:
    """Label the jobs that a backend starts in this context, beside the labels already in force.

    BigQuery shows them in its billing export and in `INFORMATION_SCHEMA.JOBS`; other backends ignore
    them. An empty value takes a label away.
    """
    token = _LABELS.set({**(_LABELS.get() or {}), **labels})
    try:
        yield
    finally:
        _LABELS.reset(token)


def current_labels() -> dict[str, str]:
    """The labels in force, as they were given."""
    return {key: value for key, value in (_LABELS.get() or {}).items() if value}
