"""A tree as BigQuery's SQL: what sqlglot writes, without its searches that find nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sqlglot import exp
from sqlglot.dialects.bigquery import BigQuery
from sqlglot.generator import Generator

from bmsql.sql._generator import Writer, with_writers
from bmsql.sql._tree import children, copied

_DIALECT = BigQuery()
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
# What a SELECT may be rewritten for; of the joins and the like only those that `_is_rewritten` tells.
_TELLING = (exp.Select, exp.Unnest, exp.Join, exp.Distinct, exp.Explode, exp.ExplodingGenerateSeries)


def write(tree: exp.Expr, writers: Mapping[type[exp.Expr], Writer], *, copy: bool = True, **options: Any) -> str:
    """`tree` as BigQuery's SQL, with `options` of sqlglot's generator; names are quoted as they are in the tree.

    copy: without, the tree is not to be used again, since writing may change it.
    """
    if copy:
        tree = copied(tree)
    plain = _plain_selects(tree)

    def select(generator: Generator, node: exp.Select) -> str:
        # The generator rewrites each SELECT for forms that BigQuery lacks, which takes longer than to write it.
        return generator.select_sql(node) if id(node) in plain else generator.TRANSFORMS[exp.Select](generator, node)

    generator = with_writers(
        _DIALECT.generator(**options), {**writers, exp.Identifier: _identifier, exp.Select: select}
    )
    return generator.generate(tree, copy=False)


def one_line(tree: exp.Expr, *, comments: bool = True, copy: bool = True) -> str:
    """`tree` in one line: as `tree.sql("bigquery")`; `copy` is that of `format_sql`."""
    return write(tree, {}, comments=comments, copy=copy)


def _plain_selects(tree: exp.Expr) -> dict[int, exp.Select]:
    """The SELECTs of a tree by identity, if none of them is one that the generator rewrites; else none.

    A SELECT that the generator makes while it writes is not among them, nor can it take the identity of one.
    """
    selects: dict[int, exp.Select] = {}
    todo = [tree]
    # Its own walk, as `tree.walk()` spends its time on handing the nodes on.
    while todo:
        node = todo.pop()
        if isinstance(node, _TELLING):
            if _is_rewritten(node):
                return {}
            if isinstance(node, exp.Select):
                selects[id(node)] = node
        todo += children(node)
    return selects


def _identifier(generator: Generator, node: exp.Identifier) -> str:
    """A name; in one of these characters none of some thirty that sqlglot would escape can be."""
    name = node.this
    if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name):
        return generator.identifier_sql(node)
    return f"`{name}`" if node.args.get("quoted") or name.lower() in generator.RESERVED_KEYWORDS else name


def _is_rewritten(node: exp.Expr) -> bool:
    if isinstance(node, exp.Select):
        return _groups_by_alias(node)
    if isinstance(node, exp.Unnest):
        return isinstance(node.parent, exp.From | exp.Join)
    if isinstance(node, exp.Join):
        return node.kind in ("SEMI", "ANTI")
    if isinstance(node, exp.Distinct):
        return node.args.get("on") is not None
    return True


def _groups_by_alias(select: exp.Select) -> bool:
    """Whether a key of GROUP BY beside an ORDER BY is an expression that the list gives a name."""
    group = select.args.get("group")
    if group is None or not select.args.get("order"):
        return False
    aliased = [item.this for item in select.expressions if isinstance(item, exp.Alias)]
    return any(key == one for key in group.expressions for one in aliased)
