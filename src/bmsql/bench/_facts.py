"""Whether an answer in words states the facts of gold: a deterministic check that needs no model.

It is reported as `facts`, never as RQR: it looks for numbers and names, and cannot tell whether a sentence is a
good one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from bmsql.bench._cells import is_number
from bmsql.bench._types import Cell, Gold, Question, Record

# stated: the facts are there and no name is foreign; foreign: a name of the system's rows that gold does not have;
# absent: no fact of gold is stated.
FactVerdict = Literal["", "stated", "foreign", "absent"]

# A number as people write it: digits, thousands, decimals, an exponent; not part of a name such as rs6733839 or BIN1.
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+−]?\d+)?(?![\w])")
_NOTHING = re.compile(r"\b(?:no|none|not|nothing|never|zero|without|cannot)\b|\b\w+n't\b", re.IGNORECASE)
# Shorter texts, such as alleles, occur in any sentence.
_SHORTEST_NAME = 3
_NAMES_WANTED = 3
_FIGURES_WANTED = 5


def check_facts(question: Question, record: Record) -> FactVerdict:
    """Look for the facts of gold in the answer; empty where the system gave no answer.

    For numbers: all of gold's (the first five). For one row: a value of the row besides its key. For an empty
    result: a word that says so. For a list: how many there are, or the first names or figures (up to three) of a
    column.
    """
    if record.abstained or record.error is not None or question.expected is None or question.unanswerable:
        return ""
    gold = question.expected
    if not _states(question, gold, record.text):
        return "absent"
    return "foreign" if _foreign(question, gold, record) else "stated"


def _foreign(question: Question, gold: Gold, record: Record) -> list[str]:
    """The names in the answer that come from rows of the system's which gold does not have."""
    if question.answer_kind == "numbers" or record.result is None:
        return []
    places = [place for place, name in enumerate(gold.columns) if _is_key(name, question)]
    keys = {row[place] for row in gold.rows for place in places} - {None}
    mine: list[tuple[Cell, ...]] = []
    others: list[tuple[Cell, ...]] = []
    for row in record.result.rows:
        (mine if keys & set(row) else others).append(row)
    known = [_folded(name) for name in {*_names(gold.rows), *_names(mine)}]
    known.append(_folded(question.question))
    return [
        name for name in _mentioned(_names(others), record.text) if not any(_folded(name) in text for text in known)
    ]


def _states(question: Question, gold: Gold, text: str) -> bool:
    written = _written_numbers(text)
    if question.answer_kind == "numbers":
        figures = [value for row in gold.rows for value in row if is_number(value)][:_FIGURES_WANTED]
        return all(any(_same(value, number, places) for number, places in written) for value in figures)
    if not any(value is not None for row in gold.rows for value in row):
        return bool(_NOTHING.search(text)) or any(number == 0 for number, _ in written)
    if len(gold.rows) == 1:
        return _states_row(question, gold, text, written)
    columns = list(zip(*gold.rows, strict=True))
    counts = {len(gold.rows), *(len(set(column) - {None}) for column in columns), gold.total}
    if any(number in counts for number, _ in written):
        return True
    return any(_all_mentioned(column, text) or _all_written(column, written) for column in columns)


def _states_row(question: Question, gold: Gold, text: str, written: list[tuple[float, int]]) -> bool:
    values = [
        value
        for name, value in zip(gold.columns, gold.rows[0], strict=True)
        if question.answer_kind == "values" or not _is_key(name, question)
    ]
    figures = [value for value in values if is_number(value)]
    if any(_same(value, number, places) for value in figures for number, places in written):
        return True
    asked = _folded(question.question)
    names = [name for name in _names([values]) if _folded(name) not in asked]
    # A row of what was asked about and nothing else is stated by naming it.
    return bool(_mentioned(names if names or figures else _names([values]), text))


def _is_key(name: str, question: Question) -> bool:
    return name.lower() == question.key.lower()


def _all_written(column: Iterable[Cell], written: list[tuple[float, int]]) -> bool:
    figures = list(dict.fromkeys(value for value in column if is_number(value)))[:_NAMES_WANTED]
    return bool(figures) and all(any(_same(value, number, n) for number, n in written) for value in figures)


def _all_mentioned(column: Iterable[Cell], text: str) -> bool:
    names = list(dict.fromkeys(_names([tuple(column)])))[:_NAMES_WANTED]
    return bool(names) and len(_mentioned(names, text)) == len(names)


def _names(rows: Iterable[Iterable[Cell]]) -> Iterator[str]:
    for row in rows:
        for value in row:
            if isinstance(value, str) and len(value.strip()) >= _SHORTEST_NAME:
                yield value.strip()


def _mentioned(names: Iterable[str], text: str) -> list[str]:
    """The names that stand in the text as words of their own."""
    folded = _folded(text)
    return [name for name in dict.fromkeys(names) if _stands_in(_folded(name), folded)]


def _stands_in(name: str, text: str) -> bool:
    start = text.find(name)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(name) : start + len(name) + 1]
        if not (before.isalnum() or after.isalnum()):
            return True
        start = text.find(name, start + 1)
    return False


def _folded(text: str) -> str:
    return text.casefold().replace("’", "'")


def _written_numbers(text: str) -> list[tuple[float, int]]:
    """The numbers of a text, each with the significant digits it is written with."""
    found = []
    for match in _NUMBER.finditer(text):
        written = match[0].replace("−", "-").replace(",", "")
        mantissa = written.lower().partition("e")[0].lstrip("-").replace(".", "").lstrip("0")
        found.append((float(written), max(1, len(mantissa))))
    return found


def _same(value: Cell, number: float, digits: int) -> bool:
    """Whether a number as written is the value, rounded to the digits it is written with."""
    exact = float(value)  # type: ignore[arg-type]
    if exact == number:
        return True
    if exact == 0 or number == 0 or float(exact).is_integer():
        return False
    # One unit of the last digit written: 0.0123 stands for 0.01225 to 0.01235.
    unit = 10.0 ** (math.floor(math.log10(abs(number))) - digits + 1)
    return digits >= 2 and abs(exact - number) <= unit / 2 * (1 + 1e-9)
