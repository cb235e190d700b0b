"""What went wrong with a call, read from the exceptions of any provider.

Providers raise LangChain's `ModelError` classes, their SDK's own with an HTTP status, or what
their HTTP library raises; a body that is not of the protocol ends in a `ValueError` and its kind.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from langchain_core import exceptions as lc

from bmsql.errors import BmsqlError

# Longest piece of a provider's message that is shown.
_SHOWN = 300


class Kind(Enum):
    """The kinds of fault, by what can be done about them."""

    RATE = "rate limit"
    TIMEOUT = "timeout"
    SERVER = "server error"
    CONNECTION = "no connection"
    MALFORMED = "unreadable reply"
    QUOTA = "quota used up"
    AUTH = "no access"
    NOT_FOUND = "not found"
    REQUEST = "bad request"
    TOO_LONG = "too long"
    REFUSED = "refused"
    TRUNCATED = "cut off"
    OTHER = "other"

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed later."""
        return self in {Kind.RATE, Kind.TIMEOUT, Kind.SERVER, Kind.CONNECTION, Kind.MALFORMED}


@dataclass(frozen=True)
class Fault:
    """One failed call.

    retry_after: seconds that the server asks to wait. parameter: the one that it refuses. usage: of a
    reply that was refused on our side, such as one that was cut off, in LangChain's form.
    """

    kind: Kind
    message: str
    status: int | None = None
    retry_after: float | None = None
    parameter: str = ""
    usage: dict[str, Any] | None = None


class FaultError(Exception):
    """A fault on its way from the call to the policy; never leaves this package."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


_BY_CLASS: tuple[tuple[type[Exception], Kind], ...] = (
    (lc.ContextOverflowError, Kind.TOO_LONG),
    (lc.ModelRefusalError, Kind.REFUSED),
    (lc.ModelAuthenticationError, Kind.AUTH),
    (lc.ModelPermissionDeniedError, Kind.AUTH),
    (lc.ModelNotFoundError, Kind.NOT_FOUND),
    (lc.ModelRateLimitError, Kind.RATE),
    (lc.ModelInvalidRequestError, Kind.REQUEST),
    (lc.ModelTimeoutError, Kind.TIMEOUT),
    (lc.ModelConnectionError, Kind.CONNECTION),
    (lc.ModelAPIError, Kind.SERVER),
)
_BY_STATUS = {
    400: Kind.REQUEST,
    401: Kind.AUTH,
    402: Kind.QUOTA,
    403: Kind.AUTH,
    404: Kind.NOT_FOUND,
    408: Kind.TIMEOUT,
    409: Kind.SERVER,
    413: Kind.TOO_LONG,
    422: Kind.REQUEST,
    425: Kind.SERVER,
    429: Kind.RATE,
}
# Classes of HTTP libraries and SDKs, told by name: none of them need be installed.
_BY_NAME: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"LengthFinishReason"), Kind.TRUNCATED),
    (re.compile(r"ContentFilterFinishReason|Refus|Blocked"), Kind.REFUSED),
    (re.compile(r"Time(d)?out|StreamChunkTimeout"), Kind.TIMEOUT),
    (re.compile(r"Connect|ProtocolError|NetworkError|ReadError|WriteError|CloseError|TransportError"), Kind.CONNECTION),
    (re.compile(r"DecodingError|JSONDecode|ResponseValidation"), Kind.MALFORMED),
    (re.compile(r"Authentication|Credential|PermissionDenied|Unauthori"), Kind.AUTH),
    # OpenAI's own, without a status: an error in the middle of a stream.
    (re.compile(r"\bAPIError\b"), Kind.SERVER),
)
_BY_BUILTIN: tuple[tuple[tuple[type[Exception], ...], Kind], ...] = (
    ((TimeoutError,), Kind.TIMEOUT),
    ((OSError,), Kind.CONNECTION),
    # What reading a body that is not of the protocol ends in: HTML, null or no choices, cut-off JSON.
    ((ValueError, TypeError, LookupError, AttributeError), Kind.MALFORMED),
)
# Said under a status that means something milder.
_BAD_KEY = re.compile(
    r"api[ _-]?key (is )?(not valid|invalid|expired|missing)|API_KEY_INVALID|invalid api[ _-]?key", re.IGNORECASE
)
_THROTTLED = re.compile(r"throttl|too many requests|rate.?limit", re.IGNORECASE)
_NO_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|credit balance|billing", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context[ _](length|window|size)|too many (input )?tokens|prompt is too long|maximum number of tokens"
    r"|exceeds? the (available )?context|input is too long",
    re.IGNORECASE,
)


def read_fault(error: Exception) -> Fault:
    """The fault that an exception tells of. An error of bmsql's own is raised again as it is."""
    if isinstance(error, FaultError):
        return error.fault
    if isinstance(error, BmsqlError):
        raise error
    chain = list(_chain(error))
    status = next((found for link in chain if (found := _status(link)) is not None), None)
    text = _text(error)
    kind = _kind(chain, status, text)
    if kind is Kind.TIMEOUT and not str(error):
        text = "no reply in time"
    if kind is Kind.MALFORMED and not _said_error(error):
        text = f"{type(error).__name__}: {text}"
    return Fault(
        kind,
        text,
        status=status,
        retry_after=_retry_after(chain) if kind in {Kind.RATE, Kind.SERVER} else None,
        parameter=next((str(name) for link in chain if isinstance(name := getattr(link, "param", None), str)), ""),
        usage=_usage(error),
    )


def _kind(chain: list[BaseException], status: int | None, text: str) -> Kind:
    for wanted, kind in _BY_CLASS:
        if isinstance(chain[0], wanted):
            return _sharper(kind, text)
    if status is not None and status >= 400:
        return _sharper(_BY_STATUS.get(status, Kind.SERVER if status >= 500 else Kind.REQUEST), text)
    for link in chain:
        names = " ".join(cls.__name__ for cls in type(link).__mro__ if cls.__module__ != "builtins")
        for pattern, kind in _BY_NAME:
            if pattern.search(names):
                return kind
    # A pooled connection of an event loop that is gone; a new one can be made.
    if any(isinstance(link, RuntimeError) and "loop" in str(link) for link in chain):
        return Kind.CONNECTION
    for link in chain:
        for classes, kind in _BY_BUILTIN:
            if isinstance(link, classes):
                return kind
    return Kind.OTHER


def _sharper(kind: Kind, text: str) -> Kind:
    """What the message says beyond the status: a wrong key, no quota left, a prompt that is too long."""
    if kind is Kind.REQUEST and _BAD_KEY.search(text):
        return Kind.AUTH
    if kind is Kind.REQUEST and _TOO_LONG.search(text):
        return Kind.TOO_LONG
    if kind is Kind.REQUEST and _THROTTLED.search(text):
        return Kind.RATE
    if kind is Kind.RATE and _NO_QUOTA.search(text) and "per minute" not in text.lower():
        return Kind.QUOTA
    return kind


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    values = [getattr(error, "status_code", None), getattr(error, "code", None), getattr(response, "status_code", None)]
    values += [_said_error(error).get("code"), _said_error(error).get("status")]
    if isinstance(response, dict):
        # As Amazon's SDK has it.
        values.append(response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    return next((value for value in values if isinstance(value, int) and 400 <= value < 600), None)


def _usage(error: Exception) -> dict[str, Any] | None:
    """The tokens of the completion that OpenAI's SDK hands over with its LengthFinishReasonError."""
    usage = getattr(getattr(error, "completion", None), "usage", None)
    if usage is None:
        return None
    details = [getattr(usage, name, None) for name in ("prompt_tokens_details", "completion_tokens_details")]
    return {
        "input_tokens": usage.prompt_tokens,
        "output_tokens": usage.completion_tokens,
        "input_token_details": {"cache_read": getattr(details[0], "cached_tokens", None)},
        "output_token_details": {"reasoning": getattr(details[1], "reasoning_tokens", None)},
    }


def _said_error(error: BaseException) -> dict[str, Any]:
    """The `error` of a body that came with status 200, which OpenAI's integration raises as a ValueError."""
    said = error.args[0] if isinstance(error, ValueError) and error.args else None
    return said if isinstance(said, dict) else {}


def _text(error: Exception) -> str:
    text = " ".join(str(_said_error(error).get("message") or error).split()) or type(error).__name__
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _retry_after(chain: list[BaseException]) -> float | None:
    for link in chain:
        headers = getattr(getattr(link, "response", None), "headers", None)
        if headers is not None and (asked := headers_wait(headers)) is not None:
            return asked
    # Gemini says it in the body: {"@type": "...RetryInfo", "retryDelay": "7s"}.
    for link in chain:
        details = getattr(link, "details", None)
        if details and (found := re.search(r'"retryDelay":\s*"([\d.]+)s"', json.dumps(details, default=str))):
            return float(found[1])
    return None


def headers_wait(headers: Any) -> float | None:
    """The seconds that `retry-after-ms` or `Retry-After` (seconds or an HTTP date) ask for."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = str(headers.get(name) or "").strip()
        if re.fullmatch(r"\d+(\.\d*)?", value):
            return float(value) * scale
        if value and (date := _date(value)) is not None:
            return max(0.0, date - time.time())
    return None


def _date(value: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None
