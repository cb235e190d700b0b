"""What queries of a question are billed, and how their jobs are labelled."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from bmsql.backends import Metered, job_labels
from bmsql.graph._dependencies import GraphContext
from bmsql.types import QueryResult

# Characters of the digest that stands for a question without an id.
_DIGEST = 16


def billed(usage: dict[str, Any], results: Sequence[QueryResult]) -> dict[str, Any]:
    """`bytes_billed` and `cost` of a question with those of further results; None where nothing is metered."""
    return {name: _sum(usage.get(name), (getattr(result, name) for result in results)) for name in NAMES}


NAMES = ("bytes_billed", "cost")


def running_total(backend: object) -> dict[str, Any]:
    """What all queries of a backend have been billed so far; empty where it meters nothing."""
    if not isinstance(backend, Metered):
        return {}
    spent = backend.spent
    return {"total_bytes_billed": spent.bytes_billed, "total_cost": spent.cost}


def node_labels(node: str, question: str, context: GraphContext | None) -> job_labels:
    """Labels for the jobs that a node starts: itself, and the question's id or a digest of it."""
    given = context.question_id if context is not None else ""
    return job_labels(node=node, question_id=given or _digest(question))


@lru_cache(maxsize=64)  # each node of a question asks for it
def _digest(question: str) -> str:
    return hashlib.sha256(question.encode()).hexdigest()[:_DIGEST]


def _sum(before: Any, values: Any) -> Any:
    known = [value for value in values if value is not None]
    return sum(known, before or 0) if known else before
