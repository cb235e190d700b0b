"""Rows as a table that fits the terminal."""

from __future__ import annotations

import decimal
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from bmsql.cli._console import Text, ascii_only
from bmsql.types import cell_text, visible

WIDEST, NARROWEST = 40, 8
# A column costs its padding and a separator beside its text.
_EXTRA = 3


def rows_table(to: Console, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[Table, list[str]]:
    """A table of `rows`, and the names of the columns that did not fit."""
    names = [visible(name) for name in names]
    widest = WIDEST if to.is_terminal else 80
    mark = "..." if ascii_only(to) else "…"
    natural = [
        max([len(name), *(len(cell_text(row[place], widest)) for row in rows)]) for place, name in enumerate(names)
    ]
    widths = fit(natural, to.width)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    columns = [_column([row[place] for row in rows], width, mark) for place, width in enumerate(widths)]
    for place, width in enumerate(widths):
        numeric = any(_is_number(row[place]) for row in rows)
        name = _cut(names[place], width, mark)
        table.add_column(
            Text(name), justify="right" if numeric else "left", no_wrap=True, min_width=width, max_width=width
        )
    for cells in zip(*columns, strict=True):
        table.add_row(*cells)
    return table, list(names[len(widths) :])


def fit(natural: Sequence[int], width: int) -> list[int]:
    """Column widths that together fit `width`: the widest are cut first, then columns are left out."""
    widths = list(natural)
    while widths and sum(widths) + _EXTRA * len(widths) > width:
        longest = max(range(len(widths)), key=widths.__getitem__)
        over = sum(widths) + _EXTRA * len(widths) - width
        others = max([size for place, size in enumerate(widths) if place != longest], default=NARROWEST)
        if widths[longest] > NARROWEST:
            target = max(NARROWEST, min(others, widths[longest] - 1), widths[longest] - over)
            widths[longest] = target if target < widths[longest] else widths[longest] - 1
        elif len(widths) > 1:
            widths = list(natural[: len(widths) - 1])
        else:
            widths = [max(1, width - _EXTRA)]
            break
    return widths


def _column(values: Sequence[Any], width: int, mark: str) -> list[Text]:
    """The cells of a column; values that only their ends tell apart, such as keys, lose their beginnings."""
    whole = [cell_text(value, 10_000) for value in values]
    cut = [_cut(text, width, mark) for text in whole]
    if len(set(cut)) < len(set(whole)):
        tails = [_cut(text, width, mark, front=True) for text in whole]
        cut = tails if len(set(tails)) > len(set(cut)) else cut
    return [Text(text, style="dim" if value is None else "") for text, value in zip(cut, values, strict=True)]


def _cut(text: str, width: int, mark: str, *, front: bool = False) -> str:
    if len(text) <= width:
        return text
    kept = max(1, width - len(mark))
    return mark + text[-kept:] if front else text[:kept] + mark


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | decimal.Decimal) and not isinstance(value, bool)
