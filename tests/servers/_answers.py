"""What a server may be told to do with a request, whatever its wire format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Say:
    """The model answers: with a text, or with an object, in the way that the request asks for it.

    usage: prompt, cached, completion and reasoning tokens, or None for a server that does not count.
    cut: it was ended by the limit of tokens. delay: seconds until it answers.
    """

    what: str | dict[str, Any]
    usage: tuple[int, int, int, int] | None = (100, 40, 20, 5)
    cut: bool = False
    delay: float = 0.0


@dataclass(frozen=True)
class Refuse:
    """The model declines."""

    text: str = "I can't help with that."


@dataclass(frozen=True)
class Status:
    """The server answers with an HTTP error."""

    code: int
    message: str = "something is wrong"
    headers: Mapping[str, str] = field(default_factory=dict)
    parameter: str | None = None
    kind: str = ""


@dataclass(frozen=True)
class Hang:
    """The server takes the request and says nothing for so many seconds, then closes."""

    seconds: float = 5.0


@dataclass(frozen=True)
class Reset:
    """The connection is reset, in the middle of the body or of the stream."""


@dataclass(frozen=True)
class Cut:
    """The body is JSON that ends too early, although HTTP says that it is whole."""


@dataclass(frozen=True)
class Html:
    """A page of a proxy, with status 200."""

    text: str = "<html><body>Please log in</body></html>"


@dataclass(frozen=True)
class NoChoice:
    """A reply without a choice (candidate)."""


@dataclass(frozen=True)
class NullChoices:
    """A reply whose choices (candidates) are null."""


@dataclass(frozen=True)
class Malformed:
    """A body of JSON that is no reply at all."""

    body: Any = None


Answer = Say | Refuse | Status | Hang | Reset | Cut | Html | NoChoice | NullChoices | Malformed
