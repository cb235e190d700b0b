"""The right answer in words, made from the gold rows."""

from __future__ import annotations

from bmsql.bench._types import AnswerKind, Cell, Gold

_SHOWN = 10
_DETAILS = 5
_LONGEST = 80


def gold_answer(gold: Gold, kind: AnswerKind, key: str) -> str:
    """One or two sentences that state the gold rows: the first ten of them, with their columns.

    key: the evidence key, which is not said unless it is all there is.
    """
    if not gold.rows:
        return "No rows of the knowledge base meet this."
    places = [place for place, name in enumerate(gold.columns) if kind != "keys" or name != key] or [0]
    if kind == "numbers" and len(gold.rows) == 1:
        if len(places) == 1:
            return f"The answer is {_said(gold.rows[0][places[0]])}."
        return f"{_row(gold, gold.rows[0], places)}."
    said = "; ".join(dict.fromkeys(_row(gold, row, places) for row in gold.rows[:_SHOWN]))
    rest = len(gold.rows) - _SHOWN
    count = f"{len(gold.rows)} result{'s' if len(gold.rows) > 1 else ''}"
    if gold.total is not None and gold.total > len(gold.rows):
        count = f"The first {len(gold.rows)} of {gold.total} results"
    return f"{count}: {said}{f'; and {rest} more' if rest > 0 else ''}."


def _row(gold: Gold, row: tuple[Cell, ...], places: list[int]) -> str:
    first, *others = places
    if not others:
        return _said(row[first])
    details = ", ".join(f"{gold.columns[place]} {_said(row[place])}" for place in others[:_DETAILS])
    return f"{_said(row[first])} ({details})"


def _said(value: Cell) -> str:
    match value:
        case None:
            return "not recorded"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.6g}"
        case _:
            text = str(value)
            return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit(" ", 1)[0] + " ..."
