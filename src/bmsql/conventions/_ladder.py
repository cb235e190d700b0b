"""The sensitivity ladder: what the count would be without each rule, without all, and with all.

One query. Where every rule is a plain condition of the outermost WHERE, one pass over the rows (merged ones too)
counts all of them; otherwise each count is a scalar subquery over the query with rules left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from bmsql.conventions._conditions import Atom
from bmsql.conventions._ladder_pass import in_one_pass
from bmsql.conventions._ladder_variants import by_variants
from bmsql.conventions._place import number_text
from bmsql.conventions._rungs import Rung
from bmsql.conventions._schema import NotRecorded, Rule
from bmsql.conventions._threshold import Demand, Work, said_atoms
from bmsql.conventions._values import failing
from bmsql.semantic import SemanticModel
from bmsql.sql import copied
from bmsql.types import ConventionRecord

_COUNTED = {"applied", "complement", "corrected", "already"}


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


def build_ladder(
    rules: Mapping[str, Rule], tree: exp.Query, model: SemanticModel, records: Sequence[ConventionRecord]
) -> exp.Query | None:
    """The ladder query of `tree`, or None where none of the records is of a rule that it holds."""
    counted = [
        (number, record)
        for number, record in enumerate(records)
        if record.rule in rules and record.status in _COUNTED and rules[record.rule].op
    ]
    if not counted:
        return None
    work = Work(_unlimited(tree), model)
    rungs = [
        Rung(number, rules[record.rule], found)
        for number, record in counted
        if (found := _conditions(work, rules, record))
    ]
    if not rungs:
        return None
    root = work.tree
    once = in_one_pass(root, rungs) if isinstance(root, exp.Select) else None
    return by_variants(root, rungs) if once is None else once


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
    while isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Query) and not tree.args.get("with_"):
        tree = tree.this
    unlimited: exp.Query = copied(tree)
    for key in ("order", "limit", "offset"):
        unlimited.set(key, None)
    return unlimited


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
