"""When a call is tried again: the one layer of retries, within the deadline of the question."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any

from tenacity import RetryCallState, retry_if_exception, wait_random, wait_random_exponential
from tenacity.stop import stop_base
from tenacity.wait import wait_base

from bmsql.errors import BmsqlError, CredentialsError, ModelError, ModelRefusedError, ModelUnavailableError
from bmsql.reasoners.chat._faults import Fault, FaultError, Kind
from bmsql.reasoners.chat._policy import refuse

log = logging.getLogger(__name__)
# Seconds; the wait before try n is drawn from 0 to FIRST * 2^(n-1), at most LONGEST.
FIRST, LONGEST = 0.5, 20.0
# The least time that a further try is worth starting with.
_LEAST = 0.05


@dataclass(frozen=True)
class Limits:
    """deadline: of the whole request, on the clock of `time.monotonic`; attempts: of one call."""

    deadline: float
    attempts: int
    timeout: float

    def left(self) -> float:
        """Seconds until the deadline; at least 0."""
        return max(0.0, self.deadline - time.monotonic())

    def attempt(self) -> float:
        """Seconds that one try may take."""
        return min(self.timeout, self.left())

    def retrying(self, sleep: Any) -> dict[str, Any]:
        """The arguments of tenacity's `Retrying` and `AsyncRetrying`."""
        return {
            "sleep": sleep,
            "retry": retry_if_exception(_passing),
            "wait": _Wait(),
            "stop": _Stop(self),
            "before_sleep": _log,
            "reraise": True,
        }


def _passing(error: BaseException) -> bool:
    return isinstance(error, FaultError) and error.fault.kind.passing


class _Wait(wait_base):
    """What the server asks for, and otherwise a random time that grows."""

    def __init__(self) -> None:
        self._random = wait_random_exponential(multiplier=FIRST, max=LONGEST)

    def __call__(self, retry_state: RetryCallState) -> float:
        asked = _fault(retry_state).retry_after
        # Not to the moment: others were told to wait as long.
        return self._random(retry_state) if asked is None else asked + wait_random(0, asked / 10)(retry_state)


class _Stop(stop_base):
    """After the last try, or when the wait would end past the deadline: then there is no use in waiting."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def __call__(self, retry_state: RetryCallState) -> bool:
        if retry_state.attempt_number >= self._limits.attempts:
            return True
        return retry_state.upcoming_sleep + _LEAST > self._limits.left()


def _fault(state: RetryCallState) -> Fault:
    error = state.outcome.exception() if state.outcome else None
    return error.fault if isinstance(error, FaultError) else Fault(Kind.OTHER, str(error))


def _log(state: RetryCallState) -> None:
    fault = _fault(state)
    log.info(
        "model call %d failed (%s): %s; trying again in %.1f s",
        state.attempt_number,
        fault.kind.value,
        fault.message,
        state.upcoming_sleep,
    )


def to_error(fault: Fault, name: str, limits: Limits) -> BmsqlError:
    """The error of our tree for a fault that ends a request."""
    match fault.kind:
        case Kind.AUTH:
            return CredentialsError(
                f"{name} gives no access: {fault.message}", remedy="Check the key, and what it is allowed to use."
            )
        case Kind.REFUSED:
            return ModelRefusedError(
                f"{name} declined to answer: {fault.message}",
                model=name,
                status=fault.status,
                remedy="Word the question otherwise, or use another model.",
            )
        case Kind.REQUEST | Kind.TOO_LONG | Kind.NOT_FOUND:
            return refuse(fault, name)
        case _:
            return _unavailable(fault, name, limits)


def _unavailable(fault: Fault, name: str, limits: Limits) -> ModelError:
    left = limits.left()
    if fault.retry_after is not None and fault.retry_after + _LEAST > left:
        said = f"asks to wait {fault.retry_after:.0f} s, and {left:.0f} s are left for the question"
        remedy = "Ask again later, or allow more time."
    elif left <= _LEAST:
        said = f"did not answer within the time for the question ({fault.kind.value}: {fault.message})"
        remedy = "Ask again later, or allow more time."
    elif fault.kind is Kind.MALFORMED:
        said = f"returned what is no reply of its protocol: {fault.message}"
        remedy = "Check the address of the server (base URL), and that it speaks this protocol."
    elif fault.kind is Kind.QUOTA:
        said = f"has no quota left: {fault.message}"
        remedy = "Check the plan and the billing of the account."
    elif fault.kind is Kind.OTHER:
        said, remedy = f"failed: {fault.message}", "The cause is attached; look into it."
    else:
        said = f"did not answer ({fault.kind.value}): {fault.message}"
        remedy = "Check the address of the server and the connection, or ask again later."
    return ModelUnavailableError(
        f"{name} {said}.", model=name, status=fault.status, retry_after=fault.retry_after, remedy=remedy
    )
