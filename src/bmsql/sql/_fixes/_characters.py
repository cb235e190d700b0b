"""Characters of word processors that stand for plain ones: curly quotes and wide spaces."""

from __future__ import annotations

from bmsql.sql._lexer import LexError, tokenize
from bmsql.types import Fix

_PLAIN = {
    "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u2018": "'", "\u2019": "'", "\u00a0": " ", "\u2002": " ",
    "\u2003": " ", "\u2009": " ", "\u202f": " ", "\u3000": " ", "\u2212": "-", "\u2264": "<=", "\u2265": ">=",
    "\u2260": "!=", "\uff0c": ",", "\uff08": "(", "\uff09": ")",
}  # fmt: skip
_CLOSING = {"\u201c": "\u201d", "\u201e": "\u201d", "\u2018": "\u2019"}
_MOST = 200


def readable(text: str) -> tuple[str, list[Fix]]:
    """`text` with such characters made plain where SQL stands; inside a literal they stay."""
    fixes: list[Fix] = []
    if text.isascii():
        return text, fixes
    for _ in range(_MOST):
        try:
            tokenize(text)
        except LexError as error:
            offset = error.offset
            char = text[offset] if offset < len(text) else ""
            if char not in _PLAIN:
                break
            end = text.find(_CLOSING[char], offset + 1) if char in _CLOSING else -1
            if end > 0:
                inner = text[offset + 1 : end]
                quote = '"' if "'" in inner else _PLAIN[char]
                before, after = text[offset : end + 1], quote + inner + quote
            else:
                before, after = char, _PLAIN[char]
            text = text[:offset] + after + text[offset + len(before) :]
            fixes.append(
                Fix(code="character", message="A typographic character was made plain.", before=before, after=after)
            )
        else:
            break
    return text, fixes
