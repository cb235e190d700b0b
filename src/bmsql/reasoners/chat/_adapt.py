"""A user's model as this package calls it: one layer of retries, per-call parameters, any event loop.

The user's own instance is never changed: copies share its HTTP clients.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from bmsql.reasoners.chat._loops import Held, LoopPools
from bmsql.reasoners.chat._memory import RESPONSES
from bmsql.reasoners.chat._providers import is_gemini, is_openai

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# The fields under which integrations keep the greatest number of tokens of a reply.
_MAX_TOKENS = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens", "max_completion_tokens")


# Copies that are kept; requests hardly differ in their parameters.
_KEPT = 64


class Adapted:
    """A model without retries of its own, to be called from any thread and any event loop."""

    def __init__(self, model: BaseChatModel) -> None:
        self.model = _without_retries(model)
        self._held = Held(self.model)
        self._pools = LoopPools(self._held)

    def configured(
        self,
        *,
        temperature: float | None,
        max_tokens: int | None,
        dropped: frozenset[str] = frozenset(),
        asynchronous: bool = False,
    ) -> BaseChatModel:
        """The model with a request's parameters; those in `dropped` are not sent at all.

        asynchronous: it is to be called from the running event loop.
        """
        held = self._pools.for_running_loop() if asynchronous else self._held
        key = (temperature, max_tokens, dropped)
        # LangChain describes each instance anew for its traces, which takes longer than the rest of a call.
        if (known := held.copies.get(key)) is None:
            if len(held.copies) >= _KEPT:
                held.copies.clear()
            known = held.copies[key] = self._copied(held.model, temperature, max_tokens, dropped)
        return known

    def _copied(
        self, model: BaseChatModel, temperature: float | None, max_tokens: int | None, dropped: frozenset[str]
    ) -> BaseChatModel:
        fields = type(model).model_fields
        update: dict[str, Any] = {}
        if "temperature" in fields and (temperature is not None or "temperature" in dropped):
            update["temperature"] = None if "temperature" in dropped else temperature
        limit = next((name for name in _MAX_TOKENS if name in fields), None)
        if limit and (max_tokens is not None or "max_tokens" in dropped):
            update[limit] = None if "max_tokens" in dropped else max_tokens
        # Off by default for a server of one's own; where the user said no, it stays off.
        if "stream_usage" in fields and getattr(model, "stream_usage", None) is not False:
            update["stream_usage"] = "stream_options" not in dropped
        if RESPONSES in dropped and self.may_use_responses():
            update["use_responses_api"] = False
        return model.model_copy(update=update) if update else model

    def may_use_responses(self) -> bool:
        """Whether it may speak OpenAI's Responses API, as its integration decides for some names of models."""
        decides: Any = getattr(self.model, "_use_responses_api", None) if is_openai(self.model) else None
        return decides is not None and any(decides(sent) for sent in ({}, {"tools": [{"type": "function"}]}))

    def call_options(self, seconds: float) -> dict[str, Any]:
        """Arguments of a single call that bound its time, where the integration knows such."""
        return {"timeout": max(seconds, 0.001)} if is_openai(self.model) or is_gemini(self.model) else {}


def _without_retries(model: BaseChatModel) -> BaseChatModel:
    """A copy that tries once, with the same HTTP clients."""
    if is_gemini(model):
        # It counts attempts, not retries.
        return model.model_copy(update={"max_retries": 1})
    update: dict[str, Any] = {"max_retries": 0} if "max_retries" in type(model).model_fields else {}
    update |= {name: quiet for name, value in vars(model).items() if (quiet := _quiet(value)) is not None}
    copy = model.model_copy(update=update)
    for name in [name for name in vars(copy) if "client" in name]:
        # Made from the settings when it was first used, which was before.
        if isinstance(getattr(type(model), name, None), functools.cached_property):
            del vars(copy)[name]
    return copy


def _quiet(value: Any) -> Any:
    """An SDK's client without its retries, or None for anything else.

    OpenAI's, Anthropic's, Groq's and other SDKs are made by one generator: a client has
    `with_options`, and a part of one, such as its completions, is made of a client.
    """
    if callable(getattr(value, "with_options", None)) and hasattr(value, "max_retries"):
        return value.with_options(max_retries=0)
    root: Any = getattr(value, "_client", None)
    if callable(getattr(root, "with_options", None)) and hasattr(root, "max_retries"):
        return type(value)(root.with_options(max_retries=0))
    return None
