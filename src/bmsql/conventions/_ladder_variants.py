"""The ladder by scalar subqueries over the query with rules left out: where one pass cannot tell."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from bmsql.conventions._place import drop
from bmsql.conventions._rungs import Rung, counted_by, missing_in, named
from bmsql.conventions._scopes import aggregates
from bmsql.sql import copied

_TAG = "bmsql_rule"


def by_variants(tree: exp.Query, rungs: Sequence[Rung]) -> exp.Select:
    for rung in rungs:
        for atom in rung.atoms:
            atom.node.meta.setdefault(_TAG, set()).add(rung.number)
    numbers = {rung.number for rung in rungs}
    items: list[exp.Expr] = [
        named(_scalar(_row_count(_variant(tree, numbers))), "rows_unfiltered"),
        named(_scalar(_row_count(_variant(tree, set()))), "rows_with"),
    ]
    for rung in rungs:
        if len(rungs) > 1:
            without = _row_count(_variant(tree, {rung.number}))
            items.append(named(_scalar(without), f"rows_without_{rung.number}"))
        items += _extra_scalars(tree, rung)
    return exp.Select(expressions=items)


def _variant(tree: exp.Query, left_out: set[int]) -> exp.Query:
    """A copy of the query without the conditions of the rules `left_out`."""
    variant = copied(tree)
    for node in [node for node in variant.walk() if _TAG in node.meta]:
        if node.meta[_TAG] & left_out:
            drop(node)
    return variant


def _scalar(query: exp.Query) -> exp.Subquery:
    return exp.Subquery(this=query)


def _row_count(query: exp.Query) -> exp.Select:
    """A query that counts the rows of `query`, or gives its count where it is one."""
    count = exp.Count(this=exp.Star(), big_int=True)
    if isinstance(query, exp.Select) and not query.args.get("group") and aggregates(query):
        counted = counted_by(query)
        query.set("expressions", [copied(counted) if counted is not None else count])
        return query
    source = exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier("result")))
    return exp.Select(expressions=[count], from_=exp.From(this=source))


def _extra_scalars(tree: exp.Query, rung: Rung) -> list[exp.Expr]:
    """As `_extras`, where they can be told: from the scope that holds the condition, if it stands on its own."""
    items: list[exp.Expr] = [named(exp.Literal.number(1), f"in_{rung.number}")]
    atom = rung.atoms[0]
    scope = atom.clause.scope
    if atom.clause.kind != "where" or scope.parent is not None:
        return items
    scope.select.meta[_TAG + "_scope"] = True
    variant = _variant(tree, {rung.number})
    del scope.select.meta[_TAG + "_scope"]
    select = next(node for node in variant.walk() if _TAG + "_scope" in node.meta)
    with_ = variant.args.get("with_")
    column = atom.reading.column
    missing = _missing_rows(variant, select, missing_in(rung.rule, column))
    for key in ("distinct", "group", "having", "qualify", "order", "limit", "offset", "with_", "windows"):
        select.set(key, None)
    measured: list[tuple[str, exp.Expr]] = [] if missing is None else [(f"missing_{rung.number}", missing)]
    if rung.rule.best:
        extreme = exp.Min if rung.rule.best == "min" else exp.Max
        best = copied(select)
        best.set("expressions", [extreme(this=copied(column))])
        if with_ is not None:
            best.set("with_", copied(with_))
        measured.append((f"best_{rung.number}", best))
    return items + [named(exp.Subquery(this=query), name) for name, query in measured]


def _missing_rows(root: exp.Query, select: exp.Expr, missing: exp.Expr) -> exp.Query | None:
    """How many rows of the result rest on values that are not recorded; None where groups hide it.

    `select` holds the rule's column within `root`. Only where its rows, merged or not, are the result's own
    can such a count stand beside the others.
    """
    if (
        root is not select
        or not isinstance(select, exp.Select)
        or any(select.args.get(key) for key in ("group", "having", "qualify"))
    ):
        return None
    return _row_count(select.where(missing, copy=True))
