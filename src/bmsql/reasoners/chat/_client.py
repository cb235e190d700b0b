"""The client: one request in, one checked reply out, synchronously or not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bmsql.errors import ConfigurationError
from bmsql.reasoners.chat._adapt import Adapted
from bmsql.reasoners.chat._core import Core
from bmsql.reasoners.chat._identity import Identity, display_name
from bmsql.reasoners.chat._memory import memory_of
from bmsql.reasoners.chat._messages import Reply, Request
from bmsql.reasoners.chat._run import Run

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import RunnableConfig

    from bmsql.reasoners.chat._cache import DraftCache


class ChatClient:
    """Asks one chat model, with one layer of retries and within a deadline.

    model: any LangChain chat model; it is not changed. seconds: for a request with all its tries,
    where it is given no deadline. timeout: for one try. attempts: tries of a call while the fault may
    pass. cache: of replies to requests that were made before.

    Safe in threads and event loops, any number of them, one after the other or at once.
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        seconds: float = 120.0,
        timeout: float = 60.0,
        attempts: int = 4,
        cache: DraftCache | None = None,
    ) -> None:
        if attempts < 1 or seconds <= 0 or timeout <= 0:
            raise ConfigurationError(
                "a chat client needs at least one attempt and more than 0 seconds.", remedy="Raise them."
            )
        self._model = model
        self.name = display_name(model)
        self.identity = Identity.of(model)
        memory = memory_of(self.identity)
        self._core = Core(self.name, self.identity, Adapted(model), memory, seconds, timeout, attempts, cache)

    @property
    def has_callbacks(self) -> bool:
        """Whether the model itself has callbacks, which are told in which node it is called."""
        bound = getattr(self._model, "config", None) or {}
        return bool(getattr(self._model, "callbacks", None) or bound.get("callbacks"))

    def complete(
        self,
        request: Request,
        *,
        config: RunnableConfig | None = None,
        on_text: Callable[[str], None] | None = None,
        cancel: threading.Event | None = None,
        deadline: float | None = None,
    ) -> Reply[Any]:
        """The reply to a request.

        config: LangChain callbacks, tags and metadata, passed on to each call. on_text: is given the
        text so far, as it grows; after a broken connection it begins anew. cancel: stops the request
        when it is set. deadline: on the clock of `time.monotonic`.

        Raises ModelUnavailableError, ModelRequestError, ModelRefusedError, ModelOutputError,
        CredentialsError, QueryCancelledError.
        """
        run = Run(self._core, request, config, on_text, cancel, deadline)
        steps, outcome = run.steps(), None
        try:
            while True:
                outcome = run.make(steps.send(outcome))
        except StopIteration as done:
            reply: Reply[Any] = done.value
            return reply

    async def acomplete(
        self,
        request: Request,
        *,
        config: RunnableConfig | None = None,
        on_text: Callable[[str], None] | None = None,
        cancel: threading.Event | None = None,
        deadline: float | None = None,
    ) -> Reply[Any]:
        """As `complete`, without blocking the event loop; cancelling the task cancels the HTTP request."""
        run = Run(self._core, request, config, on_text, cancel, deadline)
        steps, outcome = run.steps(), None
        try:
            while True:
                outcome = await run.amake(steps.send(outcome))
        except StopIteration as done:
            reply: Reply[Any] = done.value
            return reply
