"""Small helpers on syntax trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from bmsql.sql._source import Source


def span(node: exp.Expr, source: Source | None = None) -> tuple[int, int]:
    """Offsets of the first character of `node` and behind the last, as far as positions are known."""
    start, end = None, None
    for child in node.walk():
        first, last = child.meta.get("start"), child.meta.get("end")
        if first is not None and last is not None:
            start = first if start is None else min(start, first)
            end = last + 1 if end is None else max(end, last + 1)
    if start is None or end is None:
        return _parent_span(node, source)
    return start, end


def _parent_span(node: exp.Expr, source: Source | None) -> tuple[int, int]:
    parent = node.parent
    if parent is not None:
        return span(parent, source)
    return 0, len(source.text) if source else 0


def arg(node: exp.Expr, name: str) -> exp.Expr | None:
    """An argument whose key is a Python keyword: sqlglot has written it as `from` and as `from_`."""
    found = node.args.get(f"{name}_")
    return found if found is not None else node.args.get(name)
