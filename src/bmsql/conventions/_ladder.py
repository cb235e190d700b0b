"""The sensitivity ladder: what the count would be without each rule, without all, and with all.

One query. Where every rule is a plain condition of the outermost WHERE, one pass over the rows counts
all of them; otherwise each count is a scalar subquery over the query with rules left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from bmsql.conventions._conditions import Atom, conjuncts
from bmsql.conventions._place import drop, literal, number_text
from bmsql.conventions._schema import NotRecorded, Rule
from bmsql.conventions._scopes import aggregates
from bmsql.conventions._threshold import Demand, Work, said_atoms
from bmsql.conventions._values import failing
from bmsql.semantic import SemanticModel
from bmsql.types import ConventionRecord

_COUNTED = {"applied", "complement", "corrected", "already"}
_TAG = "bmsql_rule"


@dataclass(frozen=True, slots=True)
class Step:
    """One rule left out: the rows then, the best value of its column among them, the not recorded ones."""

    record: ConventionRecord
    rows_without: int
    best: Any = None
    missing: int | None = None


@dataclass(frozen=True, slots=True)
class Ladder:
    """Counts of a query's result, not capped by its limit: with all rules, with none, without each.

    records: those given, with `rows_without` and `rows_with` filled; notes: what is worth saying.
    """

    records: tuple[ConventionRecord, ...]
    rows_with: int
    rows_unfiltered: int
    steps: tuple[Step, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Rung:
    """An applied rule found in the query: its number among the records, and its conditions."""

    number: int
    rule: Rule
    atoms: list[Atom]


def build_ladder(
    rules: Mapping[str, Rule], tree: exp.Query, model: SemanticModel, records: Sequence[ConventionRecord]
) -> exp.Query | None:
    """The ladder query of `tree`, or None where none of the records is of a rule that it holds."""
    work = Work(_unlimited(tree), model)
    rungs = [
        _Rung(number, rules[record.rule], found)
        for number, record in enumerate(records)
        if record.rule in rules and record.status in _COUNTED and rules[record.rule].op
        if (found := _conditions(work, rules, record))
    ]
    if not rungs:
        return None
    root = work.tree
    if isinstance(root, exp.Select) and _is_plain(root, rungs):
        return _one_pass(root, rungs)
    return _by_variants(work.tree, rungs)


def read_ladder(rules: Mapping[str, Rule], row: Mapping[str, Any], records: Sequence[ConventionRecord]) -> Ladder:
    """What the one row of a ladder query says about `records`."""
    rows_with, unfiltered = _int(row.get("rows_with")), _int(row.get("rows_unfiltered"))
    filled: list[ConventionRecord] = []
    steps: list[Step] = []
    for number, record in enumerate(records):
        if f"in_{number}" not in row:
            filled.append(record)
            continue
        without = _int(row.get(f"rows_without_{number}", unfiltered))
        counted = record.model_copy(update={"rows_without": without, "rows_with": rows_with})
        missing = row.get(f"missing_{number}")
        filled.append(counted)
        steps.append(Step(counted, without, row.get(f"best_{number}"), None if missing is None else _int(missing)))
    notes = [note for step in steps for note in _notes(rules, step, rows_with)]
    return Ladder(tuple(filled), rows_with, unfiltered, tuple(steps), tuple(dict.fromkeys(notes)))


def _notes(rules: Mapping[str, Rule], step: Step, rows_with: int) -> Iterable[str]:
    rule, record = rules.get(step.record.rule), step.record
    if rule is None:
        return
    where = f" ({record.source or record.table})" if record.source or record.table else ""
    if rows_with == 0 and step.rows_without > 0:
        best = ""
        if step.best is not None and rule.best and record.status != "complement":
            text = number_text(step.best) if isinstance(step.best, int | float) else str(step.best)
            best = f"; the {'smallest' if rule.best == 'min' else 'largest'} value is {text}"
        yield f"0 of {step.rows_without} pass {record.predicate}{where}{best}."
    elif step.rows_without != rows_with:
        yield f"Without {record.predicate}{where} there would be {step.rows_without} instead of {rows_with}."
    if step.missing:
        label = rule.not_recorded.label
        said = f"{rule.title}: {label}" if label == NotRecorded().label else _upper_first(label)
        yield f"{said}{where}: {step.missing} of {step.rows_without}, counted apart."


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _int(value: Any) -> int:
    return int(value or 0)


def _unlimited(tree: exp.Query) -> exp.Query:
    """A copy without the outermost ORDER BY and LIMIT, and without parentheses around the whole."""
    copied: exp.Query = tree.copy()
    while isinstance(copied, exp.Subquery) and isinstance(copied.this, exp.Query) and not copied.args.get("with_"):
        copied = copied.this
        copied.pop()
    for key in ("order", "limit", "offset"):
        copied.set(key, None)
    return copied


def _conditions(work: Work, rules: Mapping[str, Rule], record: ConventionRecord) -> list[Atom]:
    rule = rules[record.rule]
    found: list[Atom] = []
    for base in work.scopes.bases():
        # A table without an alias may have been given its own name as one since.
        if base.table != record.table or (record.source or base.table) != (base.alias or base.table):
            continue
        for op, value, complement in ((rule.op, rule.value, False), (*failing(rule, rules), True)):
            if complement == (record.status == "complement") or record.status in {"corrected", "already"}:
                said = said_atoms(work, Demand(rule, op, value, base.node, complement))
                found += [atom for atom in said if all(atom.node is not other.node for other in found)]
                if said:
                    break
    return found


def _is_plain(root: exp.Select, rungs: Sequence[_Rung]) -> bool:
    """Whether all conditions stand side by side in WHERE or an inner ON, and rows are not merged."""
    if any(root.args.get(key) for key in ("distinct", "group", "having", "qualify", "kind")):
        return False
    plain: set[int] = set()
    clauses = [root.args.get("where")]
    clauses += [join for join in root.args.get("joins") or () if not join.side]
    for clause in clauses:
        held = clause.args.get("on" if isinstance(clause, exp.Join) else "this") if clause is not None else None
        if isinstance(held, exp.Expr):
            plain |= {id(part) for part in conjuncts(held)}
    return all(id(atom.node) in plain for rung in rungs for atom in rung.atoms)


def _one_pass(root: exp.Select, rungs: Sequence[_Rung]) -> exp.Select:
    counted = _counted(root)
    conditions = {rung.number: [atom.node.copy() for atom in rung.atoms] for rung in rungs}
    columns = {rung.number: rung.atoms[0].reading.column.copy() for rung in rungs}
    for rung in rungs:
        for atom in rung.atoms:
            drop(atom.node)
    everything = [part for parts in conditions.values() for part in parts]
    items: list[exp.Expr] = [
        _named(_count(counted, []), "rows_unfiltered"),
        _named(_count(counted, everything), "rows_with"),
    ]
    for rung in rungs:
        rest = [part for number, parts in conditions.items() if number != rung.number for part in parts]
        items.append(_named(_count(counted, rest), f"rows_without_{rung.number}"))
        items += _extras(rung, columns[rung.number], rest, counted)
    root.set("expressions", items)
    return root


def _extras(rung: _Rung, column: exp.Column, rest: Sequence[exp.Expr], counted: exp.Expr | None) -> list[exp.Expr]:
    """The best value and the not recorded ones among the rows that the other rules leave."""
    items: list[exp.Expr] = [_named(exp.Literal.number(1), f"in_{rung.number}")]
    if rung.rule.best:
        extreme = exp.Min if rung.rule.best == "min" else exp.Max
        value: exp.Expr = column.copy()
        if rest:
            value = exp.If(this=_all(rest), true=value, false=exp.Null())
        items.append(_named(extreme(this=value), f"best_{rung.number}"))
    missing = _missing(rung.rule, column)
    # In the unit of the other counts, or "6 of 2" may come of a join.
    items.append(_named(_count(counted, [missing, *rest]), f"missing_{rung.number}"))
    return items


def _missing(rule: Rule, column: exp.Column) -> exp.Expr:
    absent: exp.Expr = exp.Is(this=column.copy(), expression=exp.Null())
    if rule.not_recorded.below is None:
        return absent
    below = exp.LT(this=column.copy(), expression=literal(rule.not_recorded.below))
    return exp.Or(this=absent, expression=below)


def _counted(root: exp.Select) -> exp.Expr | None:
    """What a row of the result is in a query of one aggregate: what its count counts; else its rows."""
    return next((found for found in aggregates(root) if isinstance(found, exp.Count | exp.CountIf)), None)


def _count(counted: exp.Expr | None, conditions: Sequence[exp.Expr]) -> exp.Expr:
    """The count of `counted` among the rows that meet the conditions."""
    if isinstance(counted, exp.CountIf):
        return exp.CountIf(this=_all([counted.this, *conditions]))
    inner = counted.this if isinstance(counted, exp.Count) else None
    if inner is None or isinstance(inner, exp.Star | exp.Literal):
        return exp.CountIf(this=_all(conditions)) if conditions else exp.Count(this=exp.Star(), big_int=True)
    if not conditions:
        return exp.Count(this=inner.copy(), big_int=True)
    if isinstance(inner, exp.Distinct):
        kept = exp.If(this=_all(conditions), true=inner.expressions[0].copy(), false=exp.Null())
        return exp.Count(this=exp.Distinct(expressions=[kept]), big_int=True)
    return exp.Count(this=exp.If(this=_all(conditions), true=inner.copy(), false=exp.Null()), big_int=True)


def _all(conditions: Sequence[exp.Expr]) -> exp.Expr:
    result: exp.Expr | None = None
    for condition in conditions:
        part: exp.Expr = condition.copy()
        if isinstance(part, exp.Or) and len(conditions) > 1:
            part = exp.Paren(this=part)
        result = part if result is None else exp.And(this=result, expression=part)
    return result if result is not None else exp.Boolean(this=True)


def _named(node: exp.Expr, name: str) -> exp.Alias:
    return exp.Alias(this=node, alias=exp.to_identifier(name))


def _by_variants(tree: exp.Query, rungs: Sequence[_Rung]) -> exp.Select:
    for rung in rungs:
        for atom in rung.atoms:
            atom.node.meta.setdefault(_TAG, set()).add(rung.number)
    numbers = {rung.number for rung in rungs}
    items: list[exp.Expr] = [
        _named(_scalar(_row_count(_variant(tree, numbers))), "rows_unfiltered"),
        _named(_scalar(_row_count(_variant(tree, set()))), "rows_with"),
    ]
    for rung in rungs:
        if len(rungs) > 1:
            without = _row_count(_variant(tree, {rung.number}))
            items.append(_named(_scalar(without), f"rows_without_{rung.number}"))
        items += _extra_scalars(tree, rung)
    return exp.Select(expressions=items)


def _variant(tree: exp.Query, left_out: set[int]) -> exp.Query:
    """A copy of the query without the conditions of the rules `left_out`."""
    copied = tree.copy()
    for node in [node for node in copied.walk() if _TAG in node.meta]:
        if node.meta[_TAG] & left_out:
            drop(node)
    return copied


def _scalar(query: exp.Query) -> exp.Subquery:
    return exp.Subquery(this=query)


def _row_count(query: exp.Query) -> exp.Select:
    """A query that counts the rows of `query`, or gives its count where it is one."""
    count = exp.Count(this=exp.Star(), big_int=True)
    if isinstance(query, exp.Select) and not query.args.get("group") and aggregates(query):
        counted = _counted(query)
        query.set("expressions", [counted.copy() if counted is not None else count])
        return query
    source = exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier("result")))
    return exp.Select(expressions=[count], from_=exp.From(this=source))


def _extra_scalars(tree: exp.Query, rung: _Rung) -> list[exp.Expr]:
    """As `_extras`, where they can be told: from the scope that holds the condition, if it stands on its own."""
    items: list[exp.Expr] = [_named(exp.Literal.number(1), f"in_{rung.number}")]
    atom = rung.atoms[0]
    scope = atom.clause.scope
    if atom.clause.kind != "where" or scope.parent is not None:
        return items
    scope.select.meta[_TAG + "_scope"] = True
    copied = _variant(tree, {rung.number})
    del scope.select.meta[_TAG + "_scope"]
    select = next(node for node in copied.walk() if _TAG + "_scope" in node.meta)
    with_ = copied.args.get("with_")
    column = atom.reading.column
    missing = _missing_rows(copied, select, _missing(rung.rule, column))
    for key in ("distinct", "group", "having", "qualify", "order", "limit", "offset", "with_", "windows"):
        select.set(key, None)
    measured: list[tuple[str, exp.Expr]] = [] if missing is None else [(f"missing_{rung.number}", missing)]
    if rung.rule.best:
        extreme = exp.Min if rung.rule.best == "min" else exp.Max
        best = select.copy()
        best.set("expressions", [extreme(this=column.copy())])
        if with_ is not None:
            best.set("with_", with_.copy())
        measured.append((f"best_{rung.number}", best))
    return items + [_named(exp.Subquery(this=query), name) for name, query in measured]


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
