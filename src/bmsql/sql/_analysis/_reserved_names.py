"""Reserved words in the place of names, which the parser lets pass."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql._analysis._context import Context
from bmsql.sql._reserved import RESERVED


def reserved_names(tree: exp.Expr, context: Context) -> None:
    """``SELECT x AS by`` -> ``SELECT x AS `by` ``; after a dot such a word is a name."""
    source = context.source
    for node in tree.find_all(exp.Identifier):
        word = node.name.upper()
        start = node.meta.get("start")
        if node.quoted or word not in RESERVED or start is None:
            continue
        index = source.by_start.get(start)
        if index is None or source.tokens[index].upper != word:
            continue
        if index and source.tokens[index - 1].text == "." and source.tokens[index - 1].end == start:
            continue
        context.problem(
            "reserved-word",
            f"{node.name} is a reserved word and cannot be a name.",
            start,
            start + len(word),
            f"Write `{node.name}`.",
        )
