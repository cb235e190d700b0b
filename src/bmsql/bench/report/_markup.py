"""HTML and SVG elements: what is put into one is escaped, unless it is an element itself."""

from __future__ import annotations

import html
from collections.abc import Iterable

_VOID = {"meta", "br", "hr", "link"}


class Markup(str):
    """A text that is markup already."""

    __slots__ = ()


def element(name: str, /, *children: str | Iterable[str], **attributes: str | float | bool | None) -> Markup:
    """An element with its children; attributes of None and False are left out.

    A trailing underscore keeps an attribute's name from being a word of Python (`class_`); others become dashes
    (`aria_label`).
    """
    given = "".join(_attribute(key, value) for key, value in attributes.items() if value not in (None, False))
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{joined(children)}</{name}>")


def joined(children: Iterable[str | Iterable[str]]) -> Markup:
    """Texts, elements and lists of them as one piece of markup."""
    parts = []
    for child in children:
        if isinstance(child, Markup):
            parts.append(str(child))
        elif isinstance(child, str):
            parts.append(html.escape(child))
        else:
            parts.append(str(joined(child)))
    return Markup("".join(parts))


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {name}="{html.escape(text)}"'
