"""Written dates and times: what a text that stands for one must look like."""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING

from sqlglot import exp

from bmsql.sql._types import Type

if TYPE_CHECKING:
    from bmsql.sql._analysis._typer import Typer

_DATE = r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{1,2}):(?P<second>\d{1,2})(\.\d{0,9})?"
_ZONE = r"( ?[Zz]| ?[+-]\d{1,2}(:\d{2})?| ?[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*)?"
_FORMS = {
    "DATE": re.compile(_DATE),
    "TIME": re.compile(_TIME),
    "DATETIME": re.compile(rf"{_DATE}([ Tt]{_TIME})?"),
    "TIMESTAMP": re.compile(rf"{_DATE}([ Tt]{_TIME})?{_ZONE}"),
}
_EXAMPLES = {
    "DATE": "'2020-12-31'",
    "TIME": "'23:59:59'",
    "DATETIME": "'2020-12-31 23:59:59'",
    "TIMESTAMP": "'2020-12-31 23:59:59+00'",
}


def check_literal(typer: Typer, node: exp.Expr, kind: Type) -> None:
    """Record a problem when a written text becomes a `kind` here and is none."""
    node = node.unnest()
    if kind.kind not in _FORMS or not isinstance(node, exp.Literal) or not node.is_string:
        return
    if not _is_one(str(node.this).strip(), kind.kind):
        message = f"'{node.this}' is no {kind}."
        typer.context.problem_at(node, "literal-value", message, f"Write {_EXAMPLES[kind.kind]}.")


def _is_one(text: str, kind: str) -> bool:
    found = _FORMS[kind].fullmatch(text)
    if found is None:
        return False
    parts = {name: int(value) for name, value in found.groupdict().items() if value is not None}
    try:
        datetime.date(parts.get("year", 1) or 1, parts.get("month", 1), parts.get("day", 1))
        datetime.time(parts.get("hour", 0), parts.get("minute", 0), min(parts.get("second", 0), 59))
    except ValueError:
        return False
    return parts.get("second", 0) <= 60
