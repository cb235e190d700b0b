"""A user's model as this package calls it: one layer of retries, per-call parameters, any event loop.

The user's own instance is never changed: copies share its HTTP clients.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# The fields under which integrations keep the greatest number of tokens of a reply.
_MAX_TOKENS = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens", "max_completion_tokens")


def is_openai(model: BaseChatModel) -> bool:
    """Whether it speaks through the OpenAI SDK (OpenAI, Azure and the many that derive from them)."""
    module = sys.modules.get("langchain_openai.chat_models.base")
    return module is not None and isinstance(model, module.BaseChatOpenAI)


def is_gemini(model: BaseChatModel) -> bool:
    """Whether it speaks through Google's GenAI SDK."""
    module = sys.modules.get("langchain_google_genai.chat_models")
    return module is not None and isinstance(model, module.ChatGoogleGenerativeAI)


class Adapted:
    """A model without retries of its own, to be called from any thread and any event loop."""

    def __init__(self, model: BaseChatModel) -> None:
        self.model = _without_retries(model)
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, BaseChatModel] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()

    def configured(
        self, *, temperature: float | None, max_tokens: int | None, dropped: frozenset[str] = frozenset()
    ) -> BaseChatModel:
        """The model with a request's parameters; those in `dropped` are not sent at all."""
        model = self._for_loop() if is_openai(self.model) else self.model
        fields = type(model).model_fields
        update: dict[str, Any] = {}
        if "temperature" in fields and (temperature is not None or "temperature" in dropped):
            update["temperature"] = None if "temperature" in dropped else temperature
        limit = next((name for name in _MAX_TOKENS if name in fields), None)
        if limit and (max_tokens is not None or "max_tokens" in dropped):
            update[limit] = None if "max_tokens" in dropped else max_tokens
        if "stream_usage" in fields:
            update["stream_usage"] = "stream_options" not in dropped
        return model.model_copy(update=update) if update else model

    def call_options(self, seconds: float) -> dict[str, Any]:
        """Arguments of a single call that bound its time, where the integration knows such."""
        return {"timeout": max(seconds, 0.001)} if is_openai(self.model) or is_gemini(self.model) else {}

    def _for_loop(self) -> BaseChatModel:
        """The copy for the running event loop: OpenAI's pooled connections belong to the loop that opened them."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return self.model
        with self._lock:
            if (found := self._by_loop.get(loop)) is None:
                found = self._by_loop[loop] = _with_own_pool(self.model)
            return found


def _without_retries(model: BaseChatModel) -> BaseChatModel:
    fields = type(model).model_fields
    if is_openai(model):
        update: dict[str, Any] = {"max_retries": 0}
        for root, part in (("root_client", "client"), ("root_async_client", "async_client")):
            if (client := getattr(model, root, None)) is not None:
                quiet = client.with_options(max_retries=0)
                update |= {root: quiet, part: quiet.chat.completions}
        return model.model_copy(update=update)
    if is_gemini(model):
        # It counts attempts, not retries.
        return model.model_copy(update={"max_retries": 1})
    if "max_retries" in fields:
        return model.model_copy(update={"max_retries": 0})
    return model


def _with_own_pool(model: BaseChatModel) -> BaseChatModel:
    """A copy whose asynchronous connections are its own; a client that the user made is kept."""
    root = getattr(model, "root_async_client", None)
    if root is None or getattr(model, "http_async_client", None) is not None:
        return model
    import openai

    fresh = root.with_options(http_client=openai.DefaultAsyncHttpxClient(base_url=root.base_url, timeout=root.timeout))
    return model.model_copy(update={"root_async_client": fresh, "async_client": fresh.chat.completions})
