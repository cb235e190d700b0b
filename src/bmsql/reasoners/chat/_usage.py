"""Tokens: from the provider's report, or estimated and marked so; nothing is downloaded to count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bmsql.types import StepUsage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from langchain_core.messages import AIMessage

# UTF-8 bytes per token, where no provider counts.
BYTES_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: its UTF-8 bytes / 4, rounded up.

    >>> estimate_tokens("SELECT 1")
    2
    """
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


class Tally:
    """Adds up the calls of one step."""

    def __init__(self, step: str) -> None:
        self._sums: dict[str, int] = dict.fromkeys(
            ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"), 0
        )
        self._step, self._estimated = step, False

    def add(self, message: AIMessage, prompt: Iterable[str]) -> None:
        """Count one reply; `prompt` are the texts that were sent, for the estimate."""
        reported: dict[str, Any] = dict(message.usage_metadata or {})
        if not reported.get("input_tokens") and not reported.get("output_tokens"):
            self._estimated = True
            calls = "".join(str(call.get("args", "")) for call in message.tool_calls)
            reported = {
                "input_tokens": sum(map(estimate_tokens, prompt)),
                "output_tokens": estimate_tokens(message.text + calls),
            }
        self._add(reported)

    def add_reported(self, usage: dict[str, Any] | None) -> None:
        """Count a reply that is known by LangChain's form of its usage only."""
        if usage:
            self._add(usage)

    def _add(self, reported: dict[str, Any]) -> None:
        self._sums["calls"] += 1
        self._sums["prompt_tokens"] += reported.get("input_tokens") or 0
        self._sums["completion_tokens"] += reported.get("output_tokens") or 0
        self._sums["cached_tokens"] += _detail(reported.get("input_token_details"), "cache_read")
        self._sums["reasoning_tokens"] += _detail(reported.get("output_token_details"), "reasoning")

    def usage(self, seconds: float = 0.0) -> StepUsage:
        """The sums so far."""
        return StepUsage(step=self._step, estimated=self._estimated, seconds=seconds, **self._sums)


def _detail(details: dict[str, Any] | None, name: str) -> int:
    """A detail, which some service tiers prefix: `priority_cache_read`."""
    found = [value for key, value in (details or {}).items() if key == name or key.endswith(f"_{name}")]
    return sum(value for value in found if isinstance(value, int))
