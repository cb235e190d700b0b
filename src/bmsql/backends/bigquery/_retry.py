"""The one layer that tries again: the client's own retries are off."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from bmsql.backends.bigquery._errors import is_passing, is_vendor_error, mapped

T = TypeVar("T")

TRIES = 6
"""How often a request is made at most."""
FIRST_WAIT = 0.5
"""Seconds within which the second try comes; each further wait may be twice as long."""
LONGEST_WAIT = 20.0


def tried(action: Callable[[], T], *, name: str, seconds: float, stop: threading.Event | None = None) -> T:
    """The result of `action`, called again while what it meets passes by itself.

    No wait ends beyond `seconds`, and setting `stop` ends waiting. Errors of Google's libraries leave
    mapped; others as they are.
    """
    from tenacity import (
        Retrying,
        retry_if_exception,
        stop_after_attempt,
        stop_before_delay,
        stop_when_event_set,
        wait_random_exponential,
    )
    from tenacity.nap import sleep_using_event

    stop = stop or threading.Event()
    policy = Retrying(
        retry=retry_if_exception(is_passing),
        wait=wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT),
        stop=stop_after_attempt(TRIES) | stop_before_delay(seconds) | stop_when_event_set(stop),
        sleep=sleep_using_event(stop),
        reraise=True,
    )
    try:
        return policy(action)
    except Exception as e:
        if not is_vendor_error(e):
            raise
        raise mapped(e, name=name, tries=policy.statistics.get("attempt_number", 1)) from e
