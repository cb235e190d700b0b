"""Stored texts taken apart into the whole items that a recipe matches."""

from __future__ import annotations

import ast
import re

from bmsql.semantic import Recipe

_TAG = re.compile(r"\s*\[[^\]]*\]")


def items_of(text: str, recipe: Recipe) -> list[str]:
    """The whole items of a stored text: of a separated list, a list with suffixes, or a list in text."""
    match recipe.how:
        case "item":
            parts = text.split(recipe.separator)
        case "listed":
            parts = text.split(recipe.separator)
            parts = [part.partition(recipe.suffix)[0] for part in parts] if recipe.suffix else parts
        case "word":
            parts = text.split(", ")
        case "contains" if text.startswith("[") and text.endswith("]"):
            try:
                parts = [str(part) for part in ast.literal_eval(text)]
            except (ValueError, SyntaxError):
                parts = text.strip("[]").split(", ")
        case _:
            parts = [text]
    if recipe.how == "contains":
        parts = [_TAG.sub("", part) for part in parts]
    return [part.strip() for part in parts if part.strip()]
