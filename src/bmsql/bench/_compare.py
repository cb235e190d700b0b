"""Whether a result says what gold says: sets of evidence keys, of values, or of numbers.

Row order, column order, column names, duplicates and additional columns never matter. NULL is no value and never a
member of a set; 0 is a number like any other, and equal to nothing but 0. Numbers agree within a relative
tolerance of one in a million, which is far above rounding differences between engines and far below any
difference that a reader would call one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bmsql.bench._cells import is_number
from bmsql.bench._types import AnswerKind, Cell, Rows
from bmsql.types import Frozen

TOLERANCE = 1e-6


class Match(Frozen):
    """How a result compares with gold.

    ex: the sets are equal. jac: intersection over union, 1 for two empty sets. both_empty: neither has a
    member, which is right but proves little. missing_key: gold has members, and the result has neither a column of
    that name nor any of its members.
    """

    ex: bool
    jac: float
    both_empty: bool = False
    missing_key: bool = False


NOTHING, EQUAL = Match(ex=False, jac=0.0), Match(ex=True, jac=1.0)


def compare(kind: AnswerKind, key: str, gold: tuple[Sequence[str], Rows], found: tuple[Sequence[str], Rows]) -> Match:
    """Compare columns and rows with those of gold; `kind` and `key` as in `Question`.

    Raises ValueError when gold has no column `key`.
    """
    if kind == "numbers":
        return compare_numbers(gold[1], found[1])
    index, named = _index(key, gold[0]), _index(key, found[0])
    if index is None and gold[1]:
        raise ValueError(f"gold has no column {key!r}, but {', '.join(gold[0]) or 'none'}")
    wanted = Members(row[index] for row in gold[1]) if index is not None else Members(())
    # Mostly the column of that name is the one, and no other need be looked at.
    if wanted.size and named is not None and wanted.jaccard(Members(row[named] for row in found[1])) == 1.0:
        return EQUAL
    columns = [Members(column) for column in _columns(found[1])]
    if not wanted.size:
        # Rows of gold that hold NULL only are held against the column of that name, where there is one.
        held = [columns[named]] if gold[1] and found[1] and named is not None else columns
        empty = not any(column.size for column in held)
        return Match(ex=empty, jac=float(empty), both_empty=empty)
    best = max((wanted.jaccard(column) for column in columns), default=0.0)
    return Match(ex=best == 1.0, jac=best, missing_key=named is None and best == 0.0)


def compare_numbers(gold: Rows, found: Rows) -> Match:
    """Compare the numbers of a result with those of gold.

    A column of other numbers beside is no fault, but a list is no count: rows beyond those of gold (or its numbers,
    where they stand in fewer rows) are wrong members.
    """
    wanted = _numbers(value for row in gold for value in row)
    columns = [_numbers(column) for column in _columns(found)]
    columns = [column for column in columns if column]
    if not wanted:
        empty = not columns
        return Match(ex=empty, jac=float(empty), both_empty=empty)
    surplus = max(0, len(set(found)) - max(len(set(gold)), len(wanted)))
    # Columns that hold gold's numbers and no others, taken together, are the most that can be right.
    within = [column for column in columns if _common(wanted, column) == len(column)]
    together = _numbers(value for column in within for value in column)
    candidates = [*columns, together] if together else columns
    best = max((_jaccard(wanted, column, surplus) for column in candidates), default=0.0)
    return Match(ex=best == 1.0, jac=best)


class Members:
    """The set of a column's values: texts and truth values exactly, numbers within the tolerance."""

    def __init__(self, values: Iterable[Cell]) -> None:
        numbers: list[float] = []
        self.others: set[tuple[bool, Cell]] = set()
        for value in values:
            if is_number(value):
                numbers.append(value)  # type: ignore[arg-type]
            elif value is not None:
                # TRUE is not the number 1, though Python holds them for equal.
                self.others.add((isinstance(value, bool), value))
        self.numbers = _numbers(numbers)

    @property
    def size(self) -> int:
        """The number of members."""
        return len(self.others) + len(self.numbers)

    def jaccard(self, other: Members) -> float:
        """Intersection over union with another set; at least one of them has members."""
        common = len(self.others & other.others) + _common(self.numbers, other.numbers)
        return common / (self.size + other.size - common)


def _index(name: str, columns: Sequence[str]) -> int | None:
    """The place of a column; names ignore case, as in BigQuery."""
    return next((index for index, column in enumerate(columns) if column.lower() == name.lower()), None)


def _columns(rows: Rows) -> list[tuple[Cell, ...]]:
    return list(zip(*rows, strict=True)) if rows else []


def _numbers(values: Iterable[Cell]) -> list[float]:
    """The distinct finite numbers, ascending."""
    distinct: list[float] = []
    for value in sorted(value for value in values if is_number(value)):  # type: ignore[type-var]
        if not distinct or not _agree(distinct[-1], value):  # type: ignore[arg-type]
            distinct.append(value)  # type: ignore[arg-type]
    return distinct


def _agree(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= TOLERANCE * max(abs(a), abs(b))


def _common(a: list[float], b: list[float]) -> int:
    """How many members two ascending lists share."""
    i = j = common = 0
    while i < len(a) and j < len(b):
        if _agree(a[i], b[j]):
            common, i, j = common + 1, i + 1, j + 1
        elif a[i] < b[j]:
            i += 1
        else:
            j += 1
    return common


def _jaccard(a: list[float], b: list[float], surplus: int = 0) -> float:
    common = _common(a, b)
    return common / (len(a) + len(b) - common + surplus)
