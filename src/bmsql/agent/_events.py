"""What `stream` yields while a question is under way."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from bmsql.types import Answer, Frozen


class StreamEvent(Frozen):
    """A node that has finished, or the answer, which is always the last event.

    node, outcome, seconds, detail: as in the trace. sql: the text that the node left, if any.
    answer: of the last event only; `text` is then its text.
    """

    kind: Literal["node", "answer"]
    node: str = ""
    outcome: str = ""
    seconds: float = 0.0
    detail: dict[str, Any] = Field(default_factory=dict)
    sql: str = ""
    text: str = ""
    answer: Answer | None = None


def events_of(chunk: dict[str, Any]) -> list[StreamEvent]:
    """The events that a chunk of LangGraph's `updates` stream makes."""
    events = []
    for node, update in chunk.items():
        if not isinstance(update, dict) or not update.get("trace"):
            continue
        entry = update["trace"][-1]
        answer = Answer.model_validate(update["answer"]) if update.get("answer") else None
        events.append(
            StreamEvent(
                kind="node",
                node=node,
                outcome=entry["outcome"],
                seconds=entry["seconds"],
                detail=entry["detail"],
                sql=update.get("sql") or "",
            )
        )
        if answer is not None:
            events.append(StreamEvent(kind="answer", text=answer.text, sql=answer.sql, answer=answer))
    return events
