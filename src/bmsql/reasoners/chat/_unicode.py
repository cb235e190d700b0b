"""Texts that can be encoded: servers and streams cut characters beyond the basic plane in two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage


def whole_characters(text: str) -> str:
    r"""`text` with the halves of a character joined, and lone ones replaced by U+FFFD.

    >>> whole_characters("a\ud83d\ude00 b\ud83d") == "a\U0001f600 b\ufffd"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def encodable(message: AIMessage) -> AIMessage:
    """The message, its contents and tool calls without halves of characters."""
    return message.model_copy(
        update={
            "content": _cleaned(message.content),
            "tool_calls": _cleaned(message.tool_calls),
            "invalid_tool_calls": _cleaned(message.invalid_tool_calls),
        }
    )


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return whole_characters(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    return value
