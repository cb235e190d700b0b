"""What `stream` yields while a question is under way."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from bmsql.types import Answer, Frozen


class StreamEvent(Frozen):
    """A node that has finished, a piece of the answer's text, or the answer, which is always the last event.

    node, outcome, seconds, detail: as in the trace. sql: the text that the node left, if any. messages:
    what validation, the database or a rule said. text: of kind `text`, how the answer reads so far,
    which is provisional: a model writes it, and it has yet to be held against the rows. answer: of
    the last event only; `text` is then its text.
    """

    kind: Literal["node", "text", "answer"]
    node: str = ""
    outcome: str = ""
    seconds: float = 0.0
    detail: dict[str, Any] = Field(default_factory=dict)
    sql: str = ""
    messages: tuple[str, ...] = ()
    text: str = ""
    answer: Answer | None = None


def events_of(mode: str, chunk: Any) -> list[StreamEvent]:
    """The events that a chunk of LangGraph's `updates` or `custom` stream makes."""
    if mode == "custom":
        piece = chunk.get("text") if isinstance(chunk, dict) else None
        return [StreamEvent(kind="text", node="answer", text=piece)] if piece else []
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
                messages=_messages(entry["detail"]),
            )
        )
        if answer is not None:
            events.append(StreamEvent(kind="answer", text=answer.text, sql=answer.sql, answer=answer))
    return events


def _messages(detail: dict[str, Any]) -> tuple[str, ...]:
    """What a node's details say in words."""
    said: list[Any] = []
    for name in ("problem", "problems", "error", "fixes", "rules", "reason", "change"):
        value = detail.get(name)
        said += value if isinstance(value, list) else [value] if value else []
    return tuple(str(one) for one in said)
