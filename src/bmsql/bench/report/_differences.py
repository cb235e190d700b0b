"""How a query and its rows differ from gold's, for people to read."""

from __future__ import annotations

from typing import Literal

import sqlglot
from sqlglot import exp
from sqlglot.diff import Insert, Remove, Update, diff

from bmsql.bench._types import Cell, Question, Record
from bmsql.types import Frozen

# Comparing trees takes time with the square of their size.
_LARGEST_TREE = 600
_SHOWN = 12

EditKind = Literal["missing", "surplus", "changed"]


class Edit(Frozen):
    """One difference between syntax trees: what gold has and the query has not, the reverse, or other words."""

    kind: EditKind
    gold: str = ""
    found: str = ""


class Members(Frozen):
    """Members of gold's set that the result lacks, and those that it has beyond; a few of them, and how many."""

    name: str
    missing: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    missing_count: int = 0
    surplus_count: int = 0
    gold_rows: int = 0
    found_rows: int | None = None


def tree_edits(gold_sql: str, sql: str) -> tuple[Edit, ...] | None:
    """The differences between two queries; None where one does not parse or they are too large to be compared."""
    try:
        gold, found = (sqlglot.parse_one(text, read="bigquery") for text in (gold_sql, sql))
    except sqlglot.errors.SqlglotError:
        return None
    for tree in (gold, found):
        _drop_qualifiers(tree)
    if sum(1 for tree in (gold, found) for _ in tree.walk()) > _LARGEST_TREE:
        return None
    edits = diff(gold, found, delta_only=True)
    removed = _wholes([edit.expression for edit in edits if isinstance(edit, Remove)])
    inserted = _wholes([edit.expression for edit in edits if isinstance(edit, Insert)])
    changed = [edit for edit in edits if isinstance(edit, Update)]
    return (
        *(Edit(kind="missing", gold=_text(node)) for node in removed),
        *(Edit(kind="surplus", found=_text(node)) for node in inserted),
        *(Edit(kind="changed", gold=_text(edit.source), found=_text(edit.target)) for edit in changed),
    )


def member_difference(question: Question, record: Record) -> Members | None:
    """The difference of the compared sets; None without gold rows to compare."""
    gold, result = question.expected, record.result
    if gold is None:
        return None
    rows = result.rows if result else ()
    if question.answer_kind == "numbers":
        name = "numbers"
        wanted, found = _numbers(gold.rows), _numbers(rows)
    else:
        name = question.key
        wanted = _column(gold.columns, gold.rows, name)
        found = _column(result.columns, rows, name) if result else []
    missing, surplus = _without(wanted, found), _without(found, wanted)
    return Members(
        name=name,
        missing=tuple(missing[:_SHOWN]),
        surplus=tuple(surplus[:_SHOWN]),
        missing_count=len(missing),
        surplus_count=len(surplus),
        gold_rows=len(gold.rows),
        found_rows=len(rows) if result else None,
    )


def _drop_qualifiers(tree: exp.Expr) -> None:
    """Tables by their own names: in which project and data set they stand is no difference."""
    for table in tree.find_all(exp.Table):
        table.set("db", None)
        table.set("catalog", None)


def _wholes(nodes: list[exp.Expr]) -> list[exp.Expr]:
    """Of the nodes that one tree alone has, the largest parts that are foreign throughout.

    A WHERE or an AND around conditions that both trees have is no difference that a reader looks for.
    """
    known = {id(node) for node in nodes}
    foreign = {id(node): all(id(inner) in known or _is_part(inner) for inner in node.walk()) for node in nodes}
    return [node for node in nodes if foreign[id(node)] and not _within(node, foreign)]


def _within(node: exp.Expr, foreign: dict[int, bool]) -> bool:
    parent = node.parent
    while parent is not None:
        if foreign.get(id(parent)):
            return True
        parent = parent.parent
    return False


def _is_part(node: exp.Expr) -> bool:
    """Whether a node belongs to its parent: names are compared with what they name."""
    return isinstance(node, exp.Identifier)


def _text(node: exp.Expr) -> str:
    return node.sql("bigquery", comments=False, unsupported_level=sqlglot.ErrorLevel.IGNORE)


def _column(columns: tuple[str, ...], rows: tuple[tuple[Cell, ...], ...], name: str) -> list[str]:
    place = next((index for index, column in enumerate(columns) if column.lower() == name.lower()), None)
    if place is None:
        return []
    return list(dict.fromkeys(str(row[place]) for row in rows if row[place] is not None))


def _numbers(rows: tuple[tuple[Cell, ...], ...]) -> list[str]:
    values = [v for row in rows for v in row if isinstance(v, int | float) and not isinstance(v, bool)]
    return list(dict.fromkeys(f"{value:.9g}" for value in values))


def _without(values: list[str], others: list[str]) -> list[str]:
    left_out = set(others)
    return [value for value in values if value not in left_out]
