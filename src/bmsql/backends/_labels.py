"""Labels for the jobs that a backend starts, given from outside without passing through every call."""

from __future__ import annotations

from contextvars import ContextVar

_LABELS: ContextVar[dict[str, str] | None] = ContextVar("bmsql_job_labels", default=None)


class job_labels:  # noqa: N801 - read as a function in a `with`; each node enters one, and a generator costs more
    """Label the jobs that a backend starts in this context, beside the labels already in force.

    BigQuery shows them in its billing export and in `INFORMATION_SCHEMA.JOBS`; other backends ignore
    them. An empty value takes a label away.
    """

    __slots__ = ("_given", "_token")

    def __init__(self, **labels: str) -> None:
        self._given = labels

    def __enter__(self) -> None:
        self._token = _LABELS.set({**(_LABELS.get() or {}), **self._given})

    def __exit__(self, *raised: object) -> None:
        _LABELS.reset(self._token)


def current_labels() -> dict[str, str]:
    """The labels in force, as they were given."""
    return {key: value for key, value in (_LABELS.get() or {}).items() if value}
