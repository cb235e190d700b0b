"""Steps are written once, as generators of requests; two drivers ask the model, with coroutines or without."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, NamedTuple, TypeAlias, TypeVar

from bmsql.errors import BmsqlError
from bmsql.reasoners._context import StepContext, current_step
from bmsql.reasoners.chat._client import ChatClient
from bmsql.reasoners.chat._messages import Reply, Request

T = TypeVar("T")


class Ask(NamedTuple):
    """A request to the model; `prompt` names the prompt for the trace; `heard` lets listeners hear the text."""

    request: Request
    prompt: str
    heard: bool = False


Thought: TypeAlias = Generator[Ask, Reply[Any], T]


def think(thought: Thought[T], client: ChatClient) -> T:
    """Ask the model what `thought` asks for, in this thread."""
    context = current_step()
    outcome: Reply[Any] | BmsqlError | None = None
    try:
        while True:
            ask = _next(thought, outcome)
            try:
                reply = client.complete(ask.request, **_options(ask, context))
            except BmsqlError as error:
                outcome = error
            else:
                _report(context, ask, reply)
                outcome = reply
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


async def athink(thought: Thought[T], client: ChatClient) -> T:
    """As `think`, without blocking the event loop."""
    context = current_step()
    outcome: Reply[Any] | BmsqlError | None = None
    try:
        while True:
            ask = _next(thought, outcome)
            try:
                reply = await client.acomplete(ask.request, **_options(ask, context))
            except BmsqlError as error:
                outcome = error
            else:
                _report(context, ask, reply)
                outcome = reply
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


def _next(thought: Thought[Any], outcome: Reply[Any] | BmsqlError | None) -> Ask:
    if outcome is None:
        return next(thought)
    return thought.throw(outcome) if isinstance(outcome, BmsqlError) else thought.send(outcome)


def _options(ask: Ask, context: StepContext) -> dict[str, Any]:
    # What the step has used so far is no longer left for its next request.
    spent = sum(usage.seconds for usage in context.usage)
    return {
        "config": context.config,
        "on_text": context.on_text if ask.heard else None,
        "cancel": context.cancel,
        "deadline": None if context.seconds is None else time.monotonic() + max(0.0, context.seconds - spent),
    }


def _report(context: StepContext, ask: Ask, reply: Reply[Any]) -> None:
    context.usage.append(reply.usage)
    called = {"step": ask.request.step, "prompt": ask.prompt, "way": str(reply.way), "cached": reply.cached}
    context.detail.setdefault("model", []).append(called)
