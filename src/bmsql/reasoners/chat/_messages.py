"""What is asked of a chat model, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from bmsql.types import Frozen, StepUsage

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T")


class Way(StrEnum):
    """How a reply of a schema is asked for, best first."""

    NATIVE = "native schema"
    TOOL = "tool call"
    JSON = "JSON mode"
    TEXT = "plain text"


class Message(Frozen):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Request:
    """One thing asked of the model.

    step: such as `draft`; it names the run in traces and in the usage. schema: what the reply must
    be an instance of, or None for free text. max_tokens (of the reply), temperature: None leaves
    the model's own. sample: tells apart several samples of one prompt, for the exact cache.
    """

    step: str
    messages: tuple[Message, ...]
    schema: type[BaseModel] | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    sample: int = 0


@dataclass(frozen=True)
class Reply(Generic[T]):
    """What the model answered.

    value: an instance of the request's schema, or the text. usage: of all calls that it took, also
    those that had to be corrected. way: how it was asked for. finish: the provider's own word for
    why it ended, such as `stop`. text: as the model wrote it. cached: it came from the exact cache.
    """

    value: T
    usage: StepUsage
    way: Way = Way.TEXT
    finish: str = ""
    text: str = ""
    cached: bool = False
