"""What all requests of a client share, and what one call is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bmsql.reasoners.chat._adapt import Adapted
from bmsql.reasoners.chat._memory import ModelMemory
from bmsql.reasoners.chat._messages import Message, Way
from bmsql.reasoners.chat._policy import Call
from bmsql.reasoners.chat._structured import WayUnsupported, call_arguments

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

    from bmsql.reasoners.chat._cache import DraftCache
    from bmsql.reasoners.chat._identity import Identity

# Schemas and ways whose arguments are kept; more are only met where schemas are made per question.
_KEPT = 256


@dataclass(frozen=True)
class Core:
    """What all requests of a client share: the model, what is known of it, and the limits."""

    name: str
    identity: Identity
    adapted: Adapted
    memory: ModelMemory
    seconds: float
    timeout: float
    attempts: int
    cache: DraftCache | None = None
    # What each way binds for each schema; making it takes about a millisecond.
    arguments: dict[tuple[Any, Way], dict[str, Any] | WayUnsupported] = field(default_factory=dict)

    def prepare(
        self, call: Call, seconds: float, *, asynchronous: bool
    ) -> tuple[BaseChatModel, list[BaseMessage], dict[str, Any]]:
        """The model, the messages and the arguments of one call. Raises WayUnsupported."""
        model = self.adapted.configured(
            temperature=call.temperature, max_tokens=call.max_tokens, dropped=call.dropped, asynchronous=asynchronous
        )
        arguments: Mapping[str, Any] = {}
        if call.schema is not None:
            key = (call.schema, call.way)
            if (found := self.arguments.get(key)) is None:
                try:
                    found = call_arguments(self.adapted.model, call.schema, call.way)
                except WayUnsupported as e:
                    found = e
                if len(self.arguments) >= _KEPT:
                    self.arguments.clear()
                self.arguments[key] = found
            if isinstance(found, WayUnsupported):
                raise found
            arguments = found
        return model, _convert(call.messages), {**arguments, **self.adapted.call_options(seconds)}


def _convert(messages: tuple[Message, ...]) -> list[BaseMessage]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    classes = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    return [classes[message.role](content=message.content) for message in messages]
