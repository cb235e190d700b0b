"""Calls that make something of a given size: the size must be written out, and small.

A text or an array is built in one piece, before any limit on memory is asked.
"""

from __future__ import annotations

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
_FINE_UNITS = ("SECOND", "MILLISECOND", "MICROSECOND")


def check_size(typer: Typer, node: exp.Expr) -> None:
    """Record a problem when a call makes a text or an array that is large, or of a size not known beforehand."""
    name = node.name.upper()
    if name in _TEXTS and len(node.expressions) >= 2:
        _check_text(typer, node, name)
    elif name == "FORMAT" and node.expressions:
        _check_format(typer, node.expressions[0])
    elif name == "GENERATE_ARRAY" and len(node.expressions) >= 2:
        _check_array(typer, node)
    elif name == "GENERATE_TIMESTAMP_ARRAY" and len(node.expressions) == 3:
        _check_times(typer, node)


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


def _check_times(typer: Typer, node: exp.Expr) -> None:
    step = node.expressions[2]
    unit = step.args.get("unit") if isinstance(step, exp.Interval) else None
    if unit is None or unit.name.upper() in _FINE_UNITS:
        message = "GENERATE_TIMESTAMP_ARRAY may not step by less than a minute."
        typer.context.problem_at(step, "size", message, "Write INTERVAL n MINUTE, HOUR or DAY.")


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
