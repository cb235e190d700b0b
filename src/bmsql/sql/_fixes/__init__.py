"""Repairs of a text before it is parsed: one repair, one function, in an ordered tuple.

Each finds constructs of other systems whose meaning here is certain. They work on tokens, so that
the rest of the text, its layout and its comments stay as written.
"""

from __future__ import annotations

from bmsql.sql._fixes._base import Rule, find_word, text, upper
from bmsql.sql._fixes._characters import readable
from bmsql.sql._fixes._clauses import bare_set_operation, fetch_first, implicit_unnest, limit_comma, top
from bmsql.sql._fixes._literals import double_equals, doubled_quotes, equals_null, interval_text
from bmsql.sql._fixes._names import (
    quoted_alias,
    quoted_identifier,
    rearranged_functions,
    renamed_functions,
    reserved_alias,
    type_names,
)
from bmsql.sql._fixes._operators import double_colon, ilike
from bmsql.sql._lexer import LexError
from bmsql.sql._parse import lex_problem
from bmsql.sql._source import Source
from bmsql.types import Catalog, Fix

RULES: tuple[Rule, ...] = (
    doubled_quotes,
    double_equals,
    equals_null,
    interval_text,
    quoted_alias,
    quoted_identifier,
    double_colon,
    type_names,
    renamed_functions,
    rearranged_functions,
    ilike,
    top,
    limit_comma,
    fetch_first,
    implicit_unnest,
    bare_set_operation,
    reserved_alias,
)
# Rules that make one repair a round are asked again, up to this often.
_MOST = 200


def repair(text: str, catalog: Catalog) -> tuple[Source, list[Fix]]:
    """`text` with every certain repair made, and what was done.

    Raises:
        SqlSyntaxError: the text has no tokens.
    """
    text, fixes = readable(text)
    try:
        source = Source(text)
    except LexError as error:
        raise lex_problem(error, text) from error
    for rule in RULES:
        for _ in range(_MOST):
            repairs = rule(source, catalog)
            if not repairs:
                break
            source = source.edited([edit for found in repairs for edit in found.edits])
            fixes += [found.fix for found in repairs]
    return source, fixes


__all__ = ["RULES", "find_word", "repair", "text", "upper"]
