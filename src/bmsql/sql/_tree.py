"""Small helpers on syntax trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from sqlglot import exp

if TYPE_CHECKING:
    from bmsql.sql._source import Source

Node = TypeVar("Node", bound=exp.Expr)


def copied(tree: Node) -> Node:
    """A copy of `tree` that shares no node with it; it has no parent.

    As `tree.copy()`, but faster: that one deep-copies the offsets in the `meta` of each name.
    The types and the values in a `meta` are shared here, so they are to be replaced rather than changed.
    """
    root: Node = tree.__class__()
    todo: list[tuple[exp.Expr, exp.Expr]] = [(tree, root)]
    while todo:
        node, made = todo.pop()
        if node.comments is not None:
            made.comments = list(node.comments)
        # By way of `meta` and `type`, each node would get a dictionary, and casts the type that they are to give.
        if node._meta is not None:  # noqa: SLF001
            made._meta = dict(node._meta)  # noqa: SLF001
        if node._type is not None:  # noqa: SLF001
            made._type = node._type  # noqa: SLF001
        # Without functions of its own: this runs for each node of each tree that is to be changed.
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                made.args[key] = child = value.__class__()
                child.parent, child.arg_key = made, key
                todo.append((value, child))
            elif isinstance(value, list):
                made.args[key] = items = list(value)
                for index, item in enumerate(value):
                    if isinstance(item, exp.Expr):
                        items[index] = child = item.__class__()
                        child.parent, child.arg_key, child.index = made, key, index
                        todo.append((item, child))
            else:
                made.args[key] = value
    return root


def release(tree: exp.Expr) -> None:
    """Let go of a tree that nobody will read again.

    Its nodes know their parents, so that without this it would stay until Python looks for cycles; and the
    more such cycles there are, the oftener Python goes through everything to find them.
    """
    for node in list(tree.walk()):
        node.parent = None


def children(node: exp.Expr) -> list[exp.Expr]:
    """The nodes right under `node`, as `node.iter_expressions()` gives them, but in a list."""
    found: list[exp.Expr] = []
    for value in node.args.values():
        if isinstance(value, exp.Expr):
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, exp.Expr)]
    return found


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
