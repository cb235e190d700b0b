"""Calls that make something of a given size: the size must be written out, and small.

A text or an array is built in one piece, before any limit on memory is asked.
"""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from bmsql.sql._analysis._typer import Typer

MAX_TEXT = 10_000  # characters or bytes of one value
MAX_ITEMS = 100_000  # of one array

_TEXTS = ("REPEAT", "LPAD", "RPAD")
# Width and precision of a format such as %-12.3f.
_WIDTH = re.compile(r"%[-+ #0']*(\d*)(?:\.(\d*))?")
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_DATE_PARTS = 3  # year, month and day
_DIGITS = 19  # of an INT64
_ALL_DAYS = 9999 * 366  # of the calendar
_UNITS = {
    "MICROSECOND": 1 / 86_400_000_000,
    "MILLISECOND": 1 / 86_400_000,
    "SECOND": 1 / 86_400,
    "MINUTE": 1 / 1440,
    "HOUR": 1 / 24,
    "DAY": 1.0,
    "WEEK": 7.0,
    "MONTH": 28.0,
    "QUARTER": 90.0,
    "YEAR": 365.0,
}


def check_size(typer: Typer, node: exp.Expr) -> None:
    """Record a problem when a call makes a text or an array that is large, or of a size not known beforehand."""
    name = node.name.upper()
    if name in _TEXTS and len(node.expressions) >= 2:
        _check_text(typer, node, name)
    elif name == "FORMAT" and node.expressions:
        _check_format(typer, node.expressions[0])
    elif name == "GENERATE_ARRAY" and len(node.expressions) >= 2:
        _check_array(typer, node)
    elif name in ("GENERATE_DATE_ARRAY", "GENERATE_TIMESTAMP_ARRAY") and len(node.expressions) >= 2:
        _check_times(typer, node, name)


def _check_text(typer: Typer, node: exp.Expr, name: str) -> None:
    size = _number(node.expressions[1])
    hint = f"Write a number of at most {MAX_TEXT}."
    if size is None:
        message = f"The size that {name} makes must be written out."
        typer.context.problem_at(node.expressions[1], "size", message, hint)
    elif size > MAX_TEXT:
        message = f"{name} would make a text of {size:.0f} or more characters; at most {MAX_TEXT} are made."
        typer.context.problem_at(node.expressions[1], "size", message, hint)
    elif name == "REPEAT" and (inner := _length(node.expressions[0])) * size > MAX_TEXT:
        message = f"REPEAT would make a text of {inner * size:.0f} characters; at most {MAX_TEXT} are made."
        typer.context.problem_at(node, "size", message, "Repeat less.")


def _check_format(typer: Typer, template: exp.Expr) -> None:
    if not isinstance(template, exp.Literal | exp.RawString):
        return
    widths = [int(width) for found in _WIDTH.findall(str(template.this)) for width in found if width]
    if max(widths, default=0) > MAX_TEXT:
        message = f"FORMAT would make a text of {max(widths)} or more characters; at most {MAX_TEXT} are made."
        typer.context.problem_at(template, "size", message, f"Write a width of at most {MAX_TEXT}.")


def _length(node: exp.Expr) -> float:
    """A bound on the length of a text as far as it is written out: of constants and of what is made of a size."""
    if isinstance(node, exp.Literal) and node.is_string:
        return len(str(node.this))
    made = [
        (_number(call.expressions[1]) or 1) * (_length(call.expressions[0]) if call.name.upper() == "REPEAT" else 1)
        for call in node.find_all(exp.Anonymous)
        if call.name.upper() in _TEXTS and len(call.expressions) >= 2
    ]
    return max(made, default=1)


def _check_array(typer: Typer, node: exp.Expr) -> None:
    numbers = [_number(argument) for argument in node.expressions]
    hint = f"Write out bounds and step of an array of at most {MAX_ITEMS} items."
    if any(number is None for number in numbers):
        message = "The bounds and the step of GENERATE_ARRAY must be written out."
        typer.context.problem_at(node, "size", message, hint)
        return
    start, end, *rest = (number or 0.0 for number in numbers)
    step = rest[0] if rest else 1.0
    if step and (end - start) / step >= MAX_ITEMS:
        message = f"GENERATE_ARRAY would make {(end - start) / step + 1:.0f} items; at most {MAX_ITEMS} are made."
        typer.context.problem_at(node, "size", message, hint)


def _check_times(typer: Typer, node: exp.Expr, name: str) -> None:
    start, end, *rest = node.expressions
    days = _days(rest[0]) if rest else 1.0
    hint = f"Write out bounds and step of an array of at most {MAX_ITEMS} items."
    if days is None:
        typer.context.problem_at(rest[0], "size", f"The step of {name} must be written out.", hint)
        return
    bounds = (_moment(start), _moment(end))
    if not days:  # an error when it is run
        return
    if bounds[0] is not None and bounds[1] is not None:
        items = (bounds[1] - bounds[0]).total_seconds() / 86_400 / days
        if items >= MAX_ITEMS:
            message = f"{name} would make {items + 1:.0f} items; at most {MAX_ITEMS} are made."
            typer.context.problem_at(node, "size", message, hint)
    elif _ALL_DAYS / abs(days) >= MAX_ITEMS:
        typer.context.problem_at(node, "size", f"The bounds of {name} must be written out.", hint)


def _days(step: exp.Expr) -> float | None:
    """The length of an interval in days, months at their shortest; None when it is not written out."""
    unit = step.args.get("unit") if isinstance(step, exp.Interval) else None
    length = _UNITS.get(unit.name.upper()) if isinstance(unit, exp.Var) else None
    if length is None or step.this is None:
        return None
    if isinstance(step.this, exp.Literal) and step.this.is_string:
        text = str(step.this.this).strip()
        count = float(text) if text.lstrip("-").isdecimal() and len(text) < _DIGITS else None
    else:
        count = _number(step.this)
    return None if count is None else count * length


def _moment(node: exp.Expr) -> datetime.datetime | None:
    """The date or time that an expression writes out; a time zone is passed over."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Cast):
        return _moment(node.this)
    now = isinstance(node, exp.Anonymous) and node.name.upper() in ("CURRENT_DATE", "CURRENT_TIMESTAMP")
    if now or isinstance(node, (exp.CurrentDate, exp.CurrentTimestamp)):
        return datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    if isinstance(node, exp.Anonymous) and node.name.upper() in ("DATE", "TIMESTAMP") and node.expressions:
        numbers = [_number(argument) for argument in node.expressions]
        if len(numbers) != _DATE_PARTS:
            return _moment(node.expressions[0])
        text = "-".join(f"{number or 0:02.0f}" for number in numbers).rjust(10, "0")
    elif isinstance(node, exp.Literal) and node.is_string:
        text = str(node.this).strip()
    else:
        return None
    found = _DATE.match(text)
    if found is None:
        return None
    year, month, day = map(int, found.groups())
    try:
        return datetime.datetime(year, month, day)  # noqa: DTZ001 - a zone would change it by hours only
    except ValueError:
        return None


def _number(node: exp.Expr) -> float | None:
    if isinstance(node, exp.Paren):
        return _number(node.this)
    if isinstance(node, exp.Neg):
        value = _number(node.this)
        return None if value is None else -value
    if isinstance(node, exp.Literal) and not node.is_string:
        try:
            return float(node.name)
        except ValueError:
            return None
    return None
