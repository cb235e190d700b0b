"""Calls under their written names, by sqlglot's own parser.

The parser turns `LEN`, `CHAR_LENGTH` and `LENGTH` into one node and reorders arguments, which is right for
translation and useless for checking; and where sqlglot is compiled, its parser cannot be subclassed. So the
tokens are disguised before the parse, and the tree is unmasked after it: a function's name with a mark before it
is a function that the parser does not know, and a mark in a token's comments says which token a node came from.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from sqlglot import exp
from sqlglot.dialects.bigquery import BigQuery
from sqlglot.tokenizer_core import Token, TokenType

_PARSER: Any = BigQuery.parser_class
# Calls whose arguments are no plain list of expressions need the parser's own methods.
_SPECIAL_CALLS = frozenset(("ARRAY", "CAST", "EXTRACT", "SAFE_CAST"))
_KNOWN = frozenset((*_PARSER.FUNCTIONS, *_PARSER.FUNCTION_PARSERS)) - _SPECIAL_CALLS
# `IF(...)` has a rule of its own too, save in places like `SAFE.IF(...)`.
_OWN_RULE = frozenset(_PARSER.NO_PAREN_FUNCTION_PARSERS)
_NO_RULE_BEHIND = (TokenType.DOT, TokenType.FROM, TokenType.JOIN)
# `SELECT * REPLACE (...)`, `SELECT * EXCEPT (...) REPLACE (...)`.
_AFTER_STAR = frozenset(("COLUMNS", "REPLACE"))
_BEFORE_STAR = frozenset(
    (TokenType.SELECT, TokenType.DISTINCT, TokenType.ALL, TokenType.COMMA, TokenType.L_PAREN, TokenType.DOT)
)
# What the parser makes of an opening parenthesis, without telling where it stood.
_PARENTHESES = (exp.Paren, exp.Tuple, exp.Subquery)


class Disguise:
    """The marks of one text: `tokens` with them, and `unmask` for the tree that is made of these."""

    def __init__(self, tokens: Sequence[Any], text: str) -> None:
        # A character of the private use area; as many of them as the text does not have.
        self._mark = "\ue000"
        while self._mark in text:
            self._mark += "\ue000"
        self.tokens = list(tokens)
        calls: list[bool] = []
        for index, token in enumerate(tokens):
            kind = token.token_type
            if kind == TokenType.L_PAREN:
                self.tokens[index] = _changed(token, comments=[*token.comments, f"{self._mark}{index}"])
                renamed = index > 0 and self._rename(index - 1, bool(calls) and calls[-1])
                calls.append(renamed)
            elif kind == TokenType.R_PAREN and calls:
                calls.pop()

    def clean(self, message: str) -> str:
        """A message of the parser without the marks."""
        return message.replace(self._mark, "")

    def unmask(self, tree: exp.Expr) -> None:
        """Give the names back, and a place to each node that the parser left without one."""
        pairs = itertools.pairwise(self.tokens)
        fractions = [p for p in pairs if (p[0].token_type, p[1].token_type) == (TokenType.DOT, TokenType.NUMBER)]
        for node in tree.dfs():
            name = node.args.get("this")
            if isinstance(node, exp.Literal):
                if fractions and "start" not in node.meta:
                    _place_fraction(node, fractions)
            elif isinstance(node, exp.Concat):  # 'a' 'b'
                node.update_positions(node.expressions[0])
            elif isinstance(name, str) and name.startswith(self._mark):
                node.set("this", name.removeprefix(self._mark))
            if node.comments:
                self._place(node, node.pop_comments())

    def _rename(self, index: int, in_call: bool) -> bool:
        """Mark the token before a parenthesis if it is the name of a call; whether it is."""
        tokens = self.tokens
        token = tokens[index]
        name = token.text.upper()
        before = tokens[index - 1].token_type if index else None
        if name not in _KNOWN or (name in _OWN_RULE and before not in _NO_RULE_BEHIND):
            return False
        if name == "STRUCT" and before == TokenType.ALIAS:
            return False  # SELECT AS STRUCT (...)
        if name in _AFTER_STAR and (before == TokenType.R_PAREN or self._is_star(index - 1)):
            return False
        if name in ("MAX", "MIN") and before == TokenType.HAVING and in_call:
            return False  # ANY_VALUE(x HAVING MAX (y))
        tokens[index] = _changed(token, text=f"{self._mark}{token.text}")
        following = tokens[index + 2].token_type if index + 2 < len(tokens) else None
        return following not in (TokenType.SELECT, TokenType.WITH)

    def _is_star(self, index: int) -> bool:
        """Whether an asterisk stands for columns, and does not multiply."""
        if index < 1 or self.tokens[index].token_type != TokenType.STAR:
            return False
        before = self.tokens[index - 1]
        return before.token_type in _BEFORE_STAR or before.text.upper() in ("STRUCT", "VALUE")

    def _place(self, node: exp.Expr, comments: list[str]) -> None:
        """Place what was made of the parenthesis whose comment has come to `node`."""
        for comment in comments:
            if not comment.startswith(self._mark):
                continue
            # A node that is wrapped, as by an alias, hands its comments on.
            made = node
            while not isinstance(made, _PARENTHESES) and isinstance(made.this, exp.Expr):
                made = made.this
            if isinstance(made, _PARENTHESES) and "start" not in made.meta:
                made.update_positions(self.tokens[int(comment.removeprefix(self._mark))])


def _changed(token: Any, *, text: str = "", comments: list[str] | None = None) -> Any:
    """A token like this one, which others still read."""
    return Token(
        token.token_type,
        text or token.text,
        token.line,
        token.col,
        token.start,
        token.end,
        token.comments if comments is None else comments,
    )


def _place_fraction(literal: exp.Literal, fractions: list[tuple[Any, Any]]) -> None:
    """`.05` is two tokens for the parser."""
    for index, (dot, digits) in enumerate(fractions):
        if literal.this == f"0.{digits.text}":
            literal.update_positions(line=dot.line, col=dot.col, start=dot.start, end=digits.end)
            del fractions[index]
            return
