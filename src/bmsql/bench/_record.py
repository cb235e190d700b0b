"""From an answer, or the error in its place, to the record that is stored."""

from __future__ import annotations

import datetime as dt

from bmsql.bench._cells import ran
from bmsql.bench._prices import Prices, bytes_billed
from bmsql.bench._types import Failure, Question, Record
from bmsql.errors import BmsqlError
from bmsql.types import Answer, TraceEntry

# Outcomes of the nodes that a query must pass, by which the last one is told to have failed.
_PASSED, _NOT_PASSED = {"valid", "ran"}, {"rejected", "failed"}
_QUERY_NODES = {"validate", "execute"}


def record_of(question: Question, system: str, model: str, answer: Answer, prices: Prices) -> Record:
    """The record of an answer."""
    final = answer.refined or answer.general
    usage = answer.usage
    return Record(
        question_id=question.id,
        system=system,
        model=model,
        sql=answer.sql or (final.sql if final else "") or _last_draft(answer.trace),
        result=ran(final) if final and not answer.abstained else None,
        general=ran(answer.general) if answer.general and answer.refined and not answer.abstained else None,
        text=answer.text,
        abstained=answer.abstained,
        reason=answer.reason,
        sql_failed=final is None and _last_query_failed(answer.trace),
        attempts=sum(entry.outcome == "drafted" for entry in answer.trace),
        usage=usage,
        bytes_billed=bytes_billed(usage),
        cost=prices.cost(model, usage),
        trace=tuple((entry.node, entry.outcome) for entry in answer.trace),
        finished=dt.datetime.now(dt.UTC),
    )


def failure_of(question: Question, system: str, model: str, error: Exception, seconds: float) -> Record:
    """The record of a question that ended in an error."""
    message = error.message if isinstance(error, BmsqlError) else str(error)
    return Record(
        question_id=question.id,
        system=system,
        model=model,
        error=Failure(type=type(error).__name__, message=message),
        usage=Answer(question=question.question, text="").usage.model_copy(update={"seconds": seconds}),
        finished=dt.datetime.now(dt.UTC),
    )


def _last_query_failed(trace: tuple[TraceEntry, ...]) -> bool:
    outcomes = [entry.outcome for entry in trace if entry.node in _QUERY_NODES]
    last = next((outcome for outcome in reversed(outcomes) if outcome in _PASSED | _NOT_PASSED), "")
    return last in _NOT_PASSED


def _last_draft(trace: tuple[TraceEntry, ...]) -> str:
    """The SQL that was tried last; empty where none was written."""
    texts = (entry.detail.get("sql") for entry in reversed(trace))
    return next((text for text in texts if isinstance(text, str) and text), "")
