"""SQL text with its tokens: positions, snippets and edits that leave the rest of the text alone."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from bmsql.sql._lexer import Token, tokenize
from bmsql.types import Problem

_SNIPPET = 60


class Edit(NamedTuple):
    """Replace `text[start:end]`."""

    start: int
    end: int
    replacement: str


class Source:
    """A text and its tokens; immutable, and made anew by `edited`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.all_tokens = tokenize(text)
        self.tokens: list[Token] = [token for token in self.all_tokens if token.kind != "comment"]

    @cached_property
    def partners(self) -> dict[int, int]:
        """Index of each bracket token to the index of its partner; unbalanced ones are left out."""
        pairs: dict[int, int] = {}
        stack: list[int] = []
        closers = {")": "(", "]": "[", "}": "{"}
        for index, token in enumerate(self.tokens):
            if token.kind != "op":
                continue
            if token.text in "([{":
                stack.append(index)
            elif token.text in closers and stack and self.tokens[stack[-1]].text == closers[token.text]:
                opened = stack.pop()
                pairs[opened] = index
                pairs[index] = opened
        return pairs

    @cached_property
    def by_start(self) -> dict[int, int]:
        """Offset to token index."""
        return {token.start: index for index, token in enumerate(self.tokens)}

    def edited(self, edits: list[Edit]) -> Source:
        """The text with `edits` applied; they must not overlap."""
        return Source(apply_edits(self.text, edits))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        return position(self.text, offset)

    def snippet(self, start: int, end: int) -> str:
        """The text between two offsets on one line, shortened."""
        return snippet(self.text, start, end)

    def problem_on(
        self, token: Token, code: str, message: str, suggestion: str = "", *, last: Token | None = None
    ) -> Problem:
        """A problem that a token shows, or the stretch from it to the end of `last`."""
        return problem_at(self.text, code, message, token.start, (last or token).end, suggestion)


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both from 1."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


def snippet(text: str, start: int, end: int) -> str:
    """The text between two offsets on one line, shortened; some context when it is very short."""
    piece = " ".join(text[start:end].split())
    return piece if len(piece) <= _SNIPPET else piece[: _SNIPPET - 3] + "..."


def problem_at(text: str, code: str, message: str, start: int, end: int | None = None, suggestion: str = "") -> Problem:
    """A problem at an offset of `text`."""
    line, column = position(text, min(start, len(text)))
    shown = snippet(text, start, end if end is not None else start + _SNIPPET)
    return Problem(code=code, message=message, line=line, column=column, snippet=shown, suggestion=suggestion)


def apply_edits(text: str, edits: list[Edit]) -> str:
    """`text` with each edit applied; edits that overlap an earlier one are an error."""
    pieces: list[str] = []
    done = 0
    for start, end, replacement in sorted(edits):
        if start < done:
            raise ValueError("edits overlap")
        pieces += [text[done:start], replacement]
        done = end
    pieces.append(text[done:])
    return "".join(pieces)
