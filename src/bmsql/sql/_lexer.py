"""A lexer for GoogleSQL text: the exact spans of words, literals and comments.

It serves two ends. Fixes and checks of spelling need spans of the text as written, which a syntax
tree no longer has. And a text is only safe when everybody who reads it sees the same tokens: the
guard compares these tokens with those of the parser and refuses a text on which they differ.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["word", "quoted", "string", "bytes", "number", "op", "param", "comment"]

_SPACE = frozenset(" \t\n\r\f\v")
_WORD_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_DIGITS = frozenset("0123456789")
_WORD = _WORD_START | _DIGITS
_HEX = _DIGITS | frozenset("abcdefABCDEF")
_STRING_PREFIXES = frozenset(("r", "b", "rb", "br"))
# Longest first. `>>` and `<<` are left as single characters, because of ARRAY<STRUCT<...>>.
_OPERATORS = (
    "<=>", "!~~*", "!~~", "!~*", "~~*", "->>", "::", "<=", ">=", "<>", "!=", "==", "||", "=>", "->", "&&", "|>",
    ":=", "@@", "+=", "-=", "~*", "!~", "~~",
)  # fmt: skip
_BY_FIRST = {first: tuple(o for o in _OPERATORS if o[0] == first) for first in {o[0] for o in _OPERATORS}}
_SINGLE = frozenset("()[]{},.;:+-*/%<>=!&|^~?@$\\")
# Characters that change how text is shown without changing what it is: they may hide code.
_DECEPTIVE = frozenset(
    "\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\x00"
)


class Token(NamedTuple):
    """A piece of the text: `text[start:end]`; `upper` is set for words, else empty."""

    kind: Kind
    text: str
    start: int
    end: int
    upper: str = ""


class LexError(Exception):
    """The text has no tokens from `offset` on; `hint` says what would be right."""

    def __init__(self, message: str, offset: int, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.hint = hint


@lru_cache(maxsize=64)  # the steps from a text to a query each read it, one after the other
def tokenize(text: str) -> tuple[Token, ...]:
    """All tokens of `text`, comments included.

    Raises:
        LexError: for an unclosed literal or comment, and for characters that SQL does not have.
    """
    tokens: list[Token] = []
    append = tokens.append
    i, n = 0, len(text)
    while i < n:
        char = text[i]
        if char in _SPACE:
            i += 1
            continue
        start = i
        if char in _WORD_START:
            i += 1
            while i < n and text[i] in _WORD:
                i += 1
            word = text[start:i]
            if i < n and text[i] in "'\"" and word.lower() in _STRING_PREFIXES:
                i = _string_end(text, i, start)
                append(Token("bytes" if "b" in word.lower() else "string", text[start:i], start, i))
            else:
                append(Token("word", word, start, i, word.upper()))
        elif char in "'\"":
            i = _string_end(text, i, start)
            append(Token("string", text[start:i], start, i))
        elif char == "`":
            i = _quoted_end(text, i)
            append(Token("quoted", text[start:i], start, i))
        elif char in _DIGITS or (
            char == "." and i + 1 < n and text[i + 1] in _DIGITS and not _after_name(tokens, start)
        ):
            i = _number_end(text, i)
            append(Token("number", text[start:i], start, i))
        elif char == "#" or (char == "-" and text.startswith("--", i)):
            i = _line_end(text, i)
            append(Token("comment", text[start:i], start, i))
        elif char == "/" and text.startswith("/*", i):
            close = text.find("*/", i + 2)
            if close < 0:
                raise LexError("A comment that begins with /* is not closed.", start, "Close it with */.")
            i = close + 2
            append(Token("comment", text[start:i], start, i))
        elif char == "@" and i + 1 < n and (text[i + 1] in _WORD_START or text[i + 1] == "`"):
            i += 1
            while i < n and text[i] in _WORD:
                i += 1
            append(Token("param", text[start:i], start, i))
        else:
            i = _operator_end(text, i)
            append(Token("op", text[start:i], start, i))
    _refuse_deceptive(text)
    return tuple(tokens)


def _after_name(tokens: list[Token], start: int) -> bool:
    # In `a.1b` or `x-1.d` the dot continues a path; it does not begin a number.
    return bool(tokens) and tokens[-1].end == start and tokens[-1].kind in ("word", "quoted")


def _string_end(text: str, quote_at: int, start: int) -> int:
    quote = text[quote_at]
    triple = text.startswith(quote * 3, quote_at)
    close = quote * 3 if triple else quote
    i = quote_at + len(close)
    n = len(text)
    while i < n:
        char = text[i]
        if char == "\\":
            i += 2
        elif text.startswith(close, i):
            return i + len(close)
        elif not triple and char in "\n\r":
            break
        else:
            i += 1
    raise LexError(
        "A string literal is not closed.",
        start,
        f"Close it with {close} on the same line, or escape a quote inside it as \\{quote}.",
    )


def _quoted_end(text: str, start: int) -> int:
    i, n = start + 1, len(text)
    while i < n and text[i] not in "`\n\r":
        if text[i] == "\\":
            # An escape could spell a name that only looks like another.
            raise LexError("A backslash in a backticked name is not supported.", i, "Write the name without escapes.")
        i += 1
    if i >= n or text[i] != "`":
        raise LexError("A backticked name is not closed.", start, "Close it with ` on the same line.")
    if i == start + 1:
        raise LexError("A backticked name is empty.", start)
    return i + 1


def _number_end(text: str, i: int) -> int:
    n = len(text)
    if text[i] == "0" and text[i + 1 : i + 2] in ("x", "X") and i + 2 < n and text[i + 2] in _HEX:
        i += 2
        while i < n and text[i] in _HEX:
            i += 1
        return i
    while i < n and text[i] in _DIGITS:
        i += 1
    if i < n and text[i] == ".":
        i += 1
        while i < n and text[i] in _DIGITS:
            i += 1
    if i < n and text[i] in "eE":
        j = i + 1
        if j < n and text[j] in "+-":
            j += 1
        if j < n and text[j] in _DIGITS:
            while j < n and text[j] in _DIGITS:
                j += 1
            i = j
    return i


def _line_end(text: str, i: int) -> int:
    n = len(text)
    while i < n and text[i] not in "\n\r":
        i += 1
    return i


def _operator_end(text: str, i: int) -> int:
    for operator in _BY_FIRST.get(text[i], ()):
        if text.startswith(operator, i):
            return i + len(operator)
    if text[i] in _SINGLE:
        return i + 1
    raise LexError(
        f"The character {text[i]!r} (U+{ord(text[i]):04X}) has no meaning in SQL.", i, "Remove it, or put it in quotes."
    )


def _refuse_deceptive(text: str) -> None:
    if text.isascii() and "\x00" not in text:
        return
    for offset, char in enumerate(text):
        if char in _DECEPTIVE:
            raise LexError(f"The invisible character U+{ord(char):04X} is not allowed.", offset, "Remove it.")
