"""The ladder in one pass over the rows: where every rule is a plain condition of the outermost query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from bmsql.conventions._conditions import conjuncts
from bmsql.conventions._place import drop
from bmsql.conventions._rungs import Rung, counted_by, missing_in, named
from bmsql.conventions._scopes import aggregates
from bmsql.sql import copied


def in_one_pass(root: exp.Select, rungs: Sequence[Rung]) -> exp.Select | None:
    """The ladder as one aggregation over the rows of `root`; None where that cannot tell. `root` is changed."""
    if not _stand_side_by_side(root, rungs):
        return None
    if not root.args.get("distinct") and not root.args.get("group"):
        return _over_rows(root, rungs)
    keys = _merging_keys(root)
    return _over_merged_rows(root, keys, rungs) if keys else None


def _stand_side_by_side(root: exp.Select, rungs: Sequence[Rung]) -> bool:
    """Whether all conditions stand side by side in WHERE or an inner ON, and nothing is filtered after it."""
    if any(root.args.get(key) for key in ("having", "qualify", "kind")):
        return False
    plain: set[int] = set()
    clauses = [root.args.get("where")]
    clauses += [join for join in root.args.get("joins") or () if not join.side]
    for clause in clauses:
        held = clause.args.get("on" if isinstance(clause, exp.Join) else "this") if clause is not None else None
        if isinstance(held, exp.Expr):
            plain |= {id(part) for part in conjuncts(held)}
    return all(id(atom.node) in plain for rung in rungs for atom in rung.atoms)


def _taken_out(rungs: Sequence[Rung]) -> dict[int, list[exp.Expr]]:
    """The conditions of each rule, which the query then has no more."""
    conditions = {rung.number: [copied(atom.node) for atom in rung.atoms] for rung in rungs}
    for rung in rungs:
        for atom in rung.atoms:
            drop(atom.node)
    return conditions


def _rest(conditions: Mapping[int, Sequence[exp.Expr]], left_out: int) -> list[exp.Expr]:
    """The conditions of all rules but one."""
    return [part for number, parts in conditions.items() if number != left_out for part in parts]


def _over_rows(root: exp.Select, rungs: Sequence[Rung]) -> exp.Select:
    counted = counted_by(root)
    columns = {rung.number: copied(rung.atoms[0].reading.column) for rung in rungs}
    conditions = _taken_out(rungs)
    everything = [part for parts in conditions.values() for part in parts]
    items: list[exp.Expr] = [
        named(_count(counted, []), "rows_unfiltered"),
        named(_count(counted, everything), "rows_with"),
    ]
    for rung in rungs:
        rest = _rest(conditions, rung.number)
        items.append(named(_count(counted, rest), f"rows_without_{rung.number}"))
        items.append(named(exp.Literal.number(1), f"in_{rung.number}"))
        if rung.rule.best:
            items.append(named(_best(rung, columns[rung.number], rest), f"best_{rung.number}"))
        # In the unit of the other counts, or "6 of 2" may come of a join.
        missing = missing_in(rung.rule, columns[rung.number])
        items.append(named(_count(counted, [missing, *rest]), f"missing_{rung.number}"))
    root.set("expressions", items)
    return root


def _merging_keys(root: exp.Select) -> list[exp.Expr]:
    """What tells the rows of DISTINCT or GROUP BY apart; empty where that is not known for sure."""
    distinct, group = root.args.get("distinct"), root.args.get("group")
    shown = [item.unalias() for item in root.expressions]
    if group is None:
        keys = shown
        sure = distinct is not None and not distinct.args.get("on") and not aggregates(root)
    else:
        keys = [_group_key(key, root, shown) for key in group.expressions]
        # Neither DISTINCT beside it, nor ROLLUP and the like.
        sure = distinct is None and not any(value for name, value in group.args.items() if name != "expressions")
    if not sure or not all(map(_is_key, keys)):
        return []
    # A literal tells nothing apart, and BigQuery does not group by one.
    return [key for key in keys if not isinstance(key, exp.Literal | exp.Boolean | exp.Null)]


def _group_key(key: exp.Expr, root: exp.Select, shown: Sequence[exp.Expr]) -> exp.Expr:
    """What a key of GROUP BY stands for: a number is a place in the list, a name may be an alias of it."""
    if isinstance(key, exp.Literal) and not key.is_string and 0 < int(key.this) <= len(shown):
        return shown[int(key.this) - 1]
    if isinstance(key, exp.Column) and not key.table:
        aliased = (item for item in root.expressions if isinstance(item, exp.Alias))
        named_so = [item.this for item in aliased if item.alias.lower() == key.name.lower()]
        if named_so and not (isinstance(named_so[0], exp.Column) and named_so[0].name.lower() == key.name.lower()):
            return exp.Star()  # an alias, or a column of that name: not told here
    return key


def _is_key(key: exp.Expr) -> bool:
    return not key.is_star and key.find(exp.Query, exp.Window, exp.AggFunc) is None


def _over_merged_rows(root: exp.Select, keys: Sequence[exp.Expr], rungs: Sequence[Rung]) -> exp.Select:
    """Of each merged row, whether one of the rows behind it passes; then how many do."""
    columns = {rung.number: copied(rung.atoms[0].reading.column) for rung in rungs}
    conditions = _taken_out(rungs)
    grouped = root.args.get("group") is not None
    root.set("distinct", None)
    root.set("group", exp.Group(expressions=[copied(key) for key in keys]))
    inner: list[exp.Expr] = []
    outer: list[exp.Expr] = [named(exp.Count(this=exp.Star(), big_int=True), "rows_unfiltered")]

    def count(passing: Sequence[exp.Expr], name: str) -> None:
        inner.append(named(exp.LogicalOr(this=_all(passing)), f"any_{name}"))
        outer.append(named(exp.CountIf(this=exp.column(f"any_{name}")), name))

    count([part for parts in conditions.values() for part in parts], "rows_with")
    for rung in rungs:
        rest = _rest(conditions, rung.number)
        if rest:
            count(rest, f"rows_without_{rung.number}")
        outer.append(named(exp.Literal.number(1), f"in_{rung.number}"))
        if not grouped:
            # A group has rows of both kinds, so that no count of groups says how often it is not recorded.
            count([missing_in(rung.rule, columns[rung.number]), *rest], f"missing_{rung.number}")
        if rung.rule.best:
            inner.append(named(_best(rung, columns[rung.number], rest), f"any_best_{rung.number}"))
            best = _extreme(rung)(this=exp.column(f"any_best_{rung.number}"))
            outer.append(named(best, f"best_{rung.number}"))
    root.set("expressions", inner)
    merged = exp.Subquery(this=root, alias=exp.TableAlias(this=exp.to_identifier("result")))
    return exp.Select(expressions=outer, from_=exp.From(this=merged))


def _extreme(rung: Rung) -> type[exp.Min | exp.Max]:
    return exp.Min if rung.rule.best == "min" else exp.Max


def _best(rung: Rung, column: exp.Column, rest: Sequence[exp.Expr]) -> exp.Expr:
    """The best value of a rule's column among the rows that the other rules leave."""
    value: exp.Expr = copied(column)
    if rest:
        value = exp.If(this=_all(rest), true=value, false=exp.Null())
    return _extreme(rung)(this=value)


def _count(counted: exp.Expr | None, conditions: Sequence[exp.Expr]) -> exp.Expr:
    """The count of `counted` among the rows that meet the conditions."""
    if isinstance(counted, exp.CountIf):
        return exp.CountIf(this=_all([counted.this, *conditions]))
    inner = counted.this if isinstance(counted, exp.Count) else None
    if inner is None or isinstance(inner, exp.Star | exp.Literal):
        return exp.CountIf(this=_all(conditions)) if conditions else exp.Count(this=exp.Star(), big_int=True)
    if not conditions:
        return exp.Count(this=copied(inner), big_int=True)
    if isinstance(inner, exp.Distinct):
        kept = exp.If(this=_all(conditions), true=copied(inner.expressions[0]), false=exp.Null())
        return exp.Count(this=exp.Distinct(expressions=[kept]), big_int=True)
    return exp.Count(this=exp.If(this=_all(conditions), true=copied(inner), false=exp.Null()), big_int=True)


def _all(conditions: Sequence[exp.Expr]) -> exp.Expr:
    result: exp.Expr | None = None
    for condition in conditions:
        part: exp.Expr = copied(condition)
        if isinstance(part, exp.Or) and len(conditions) > 1:
            part = exp.Paren(this=part)
        result = part if result is None else exp.And(this=result, expression=part)
    return result if result is not None else exp.Boolean(this=True)
