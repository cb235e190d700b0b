"""Dates and times: adding, differences, truncation, parts, texts."""

from __future__ import annotations

import re

from sqlglot import exp

from bmsql.sql.duckdb._kinds import is_string, kind, source, unsupported
from bmsql.sql.duckdb._strings import number
from bmsql.sql.duckdb._template import Template, template

_WEEKDAYS = ("SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY")
_MICROS = {"MICROSECOND": 1, "MILLISECOND": 10**3, "SECOND": 10**6, "MINUTE": 60 * 10**6, "HOUR": 3600 * 10**6}
_ADD = {
    "DAY": "to_days(CAST({n!r} AS INTEGER))", "WEEK": "to_days(CAST(7 * {n!r} AS INTEGER))",
    "MONTH": "to_months(CAST({n!r} AS INTEGER))", "QUARTER": "to_months(CAST(3 * {n!r} AS INTEGER))",
    "YEAR": "to_months(CAST(12 * {n!r} AS INTEGER))",
    **{unit: f"to_microseconds(CAST({{n!r}} AS BIGINT) * {size})" for unit, size in _MICROS.items()},
}  # fmt: skip
_TYPE = {"D": "DATE", "X": "TIMESTAMP", "T": "TIMESTAMPTZ", "M": "TIME"}
_DEFAULT: dict[type[exp.Expr], str] = {
    exp.TimestampAdd: "T", exp.TimestampSub: "T", exp.TimestampDiff: "T", exp.TimestampTrunc: "T",
    exp.DatetimeAdd: "X", exp.DatetimeSub: "X", exp.DatetimeDiff: "X", exp.DatetimeTrunc: "X",
}  # fmt: skip


def part(node: exp.Expr | None) -> tuple[str, int]:
    """A date part and, for a week, the day it starts on (0 Sunday)."""
    if isinstance(node, exp.WeekStart):
        return "WEEK", _WEEKDAYS.index(node.this.name.upper())
    name = "DAY" if node is None else node.name.upper()
    if name == "ISOWEEK":
        return "WEEK", 1
    if match := re.fullmatch(r"WEEK\((\w+)\)", name):
        return "WEEK", _WEEKDAYS.index(match.group(1))
    return name, 0


def temporal(node: exp.Expr, default: str) -> tuple[exp.Expr, str]:
    """A date or time operand; a string literal is one of the function's own type."""
    letter = kind(node)
    if is_string(node):
        return template(f"CAST({{x}} AS {_TYPE[default]})", default, x=node), default
    if letter not in "DXTM":
        raise unsupported(f"A date or time is needed, of a type that is known: {source(node)}")
    return node, letter


def interval(node: exp.Expr) -> exp.Expr:
    """INTERVAL n PART."""
    unit = node.args.get("unit")
    name = part(unit)[0] if unit is not None else ""
    if name not in _ADD or node.this is None:
        raise unsupported(f"The interval {source(node)} is not translated")
    amount = exp.Literal.number(node.this.this) if is_string(node.this) else node.this
    if not is_string(node.this) and kind(node.this) not in "I?":
        raise unsupported(f"The interval {source(node)} is not translated")
    made = template(_ADD[name], n=amount)
    made.type = exp.DataType(this=exp.DType.INTERVAL)
    return made


def add(node: exp.Expr) -> exp.Expr:
    """DATE_ADD, DATETIME_ADD, TIMESTAMP_ADD and _SUB: the result keeps the type."""
    this, letter = temporal(node.this, _DEFAULT.get(type(node), "D"))
    unit, _ = part(node.args.get("unit"))
    amount = node.expression
    if isinstance(amount, exp.Interval):
        unit, amount = part(amount.args.get("unit"))[0], amount.this
    if is_string(amount):
        amount = exp.Literal.number(amount.this)
    if unit not in _ADD or (letter == "D" and unit in _MICROS) or (letter == "T" and unit not in ("DAY", *_MICROS)):
        raise unsupported(f"{source(node)} is not translated for the part {unit}")
    sign = "-" if isinstance(node, (exp.DateSub, exp.DatetimeSub, exp.TimestampSub)) else "+"
    if letter == "D" and unit in ("DAY", "WEEK"):
        days = "7 * {n!r}" if unit == "WEEK" else "{n!r}"
        return template(f"({{d}} {sign} CAST({days} AS INTEGER))", "D", d=this, n=amount)
    return template(f"CAST({{d}} {sign} {_ADD[unit]} AS {_TYPE[letter]})", letter, d=this, n=amount)


def _week_start(day: str, first: int) -> str:
    return f"({day} - CAST((dayofweek({day}) - {first} + 7) % 7 AS INTEGER))"


def diff(node: exp.Expr) -> exp.Expr:
    """DATE_DIFF and DATETIME_DIFF count boundaries, TIMESTAMP_DIFF whole units."""
    default = _DEFAULT.get(type(node), "D")
    (a, left), (b, right) = temporal(node.this, default), temporal(node.expression, default)
    unit, first = part(node.args.get("unit"))
    if left != right and "T" in (left, right):
        raise unsupported(f"BigQuery does not mix TIMESTAMP with other types in {source(node)}")
    if left == "T":
        size = _MICROS.get(unit) or (24 * _MICROS["HOUR"] if unit == "DAY" else 0)
        if not size:
            raise unsupported(f"{source(node)} is not translated for the part {unit}")
        return template(f"((epoch_us({{a}}) - epoch_us({{b}})) // {size})", "I", a=a, b=b)
    day_a, day_b = "CAST({a} AS DATE)", "CAST({b} AS DATE)"
    if unit == "WEEK":
        text = f"(({_week_start(day_a, first)} - {_week_start(day_b, first)}) // 7)"
    elif unit == "ISOYEAR":
        text = "(isoyear({a}) - isoyear({b}))"
    elif unit in ("DAY", "MONTH", "QUARTER", "YEAR"):
        text = f"date_diff('{unit.lower()}', {day_b}, {day_a})"
    elif unit in _MICROS and left == right == "X":
        text = f"date_diff('{unit.lower()}', {{b}}, {{a}})"
    else:
        raise unsupported(f"{source(node)} is not translated for the part {unit}")
    return template(text, "I", a=a, b=b)


def trunc(node: exp.Expr) -> exp.Expr:
    """DATE_TRUNC, DATETIME_TRUNC, TIMESTAMP_TRUNC: weeks begin on Sunday unless said otherwise."""
    this, letter = temporal(node.this, _DEFAULT.get(type(node), "D"))
    unit, first = part(node.args.get("unit"))
    zone = node.args.get("zone")
    if zone is not None and not (is_string(zone) and zone.this.upper() == "UTC"):
        raise unsupported("Truncation in a time zone other than UTC is not translated")
    if letter == "M" or (letter == "D" and unit in _MICROS):
        raise unsupported(f"{source(node)} is not translated for the part {unit}")
    if unit == "WEEK":
        text = _week_start("CAST({x} AS DATE)", first)
    elif unit in ("DAY", "MONTH", "QUARTER", "YEAR", "ISOYEAR", *_MICROS):
        text = f"date_trunc('{unit.lower()}', {{x}})"
    else:
        raise unsupported(f"{source(node)} is not translated for the part {unit}")
    return template(f"CAST({text} AS {_TYPE[letter]})", letter, x=this)


def last_day(node: exp.Expr) -> exp.Expr:
    """LAST_DAY of a month, quarter, year or week."""
    this, _ = temporal(node.this, "D")
    unit, first = part(node.args.get("unit") or exp.var("MONTH"))
    if unit == "WEEK":
        return template(f"({_week_start('CAST({x} AS DATE)', first)} + 6)", "D", x=this)
    if unit not in ("MONTH", "QUARTER", "YEAR"):
        raise unsupported(f"{source(node)} is not translated for the part {unit}")
    months = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}[unit]
    return template(f"(CAST(date_trunc('{unit.lower()}', {{x}}) + to_months({months}) AS DATE) - 1)", "D", x=this)


def extract(node: exp.Expr) -> exp.Expr:
    """EXTRACT: days of the week count from 1, weeks from their first day, milliseconds within the second."""
    this, letter = node.expression, kind(node.expression)
    if letter not in "DXTM":
        raise unsupported(f"EXTRACT takes a date or time, of a type that is known: {source(node)}")
    unit, first = part(node.this)
    iso = not isinstance(node.this, exp.WeekStart) and node.this.name.upper() == "ISOWEEK"
    if (letter == "D" and (unit in _MICROS or unit in ("DATE", "TIME"))) or (letter == "M" and unit not in _MICROS):
        raise unsupported(f"{source(node)} is not translated")
    if unit == "DATE":
        return template("CAST({x} AS DATE)", "D", x=this)
    if unit == "TIME":
        return template("CAST(CAST({x} AS TIMESTAMP) AS TIME)", "M", x=this)
    if iso:
        text = "weekofyear({x})"
    elif unit == "WEEK":
        text = f"((dayofyear({{x}}) + 6 - (dayofweek({{x}}) - {first} + 7) % 7) // 7)"
    elif unit == "DAYOFWEEK":
        text = "(dayofweek({x}) + 1)"
    elif unit in ("MILLISECOND", "MICROSECOND"):
        text = f"(extract('{unit.lower()}' FROM {{x}}) % {10**6 // _MICROS[unit]})"
    elif unit in ("YEAR", "ISOYEAR", "QUARTER", "MONTH", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND"):
        text = f"extract('{'doy' if unit == 'DAYOFYEAR' else unit.lower()}' FROM {{x}})"
    else:
        raise unsupported(f"{source(node)} is not translated for the part {unit}")
    return template(text, "I", x=this)


def at_time_zone(node: exp.Expr) -> exp.Expr:
    """`ts AT TIME ZONE 'Area/City'` inside EXTRACT: offsets have another sign in DuckDB."""
    zone = node.args.get("zone")
    named = isinstance(zone, exp.Literal) and re.fullmatch(r"UTC|[A-Z][A-Za-z_]+/[A-Za-z_/]+", zone.this)
    if zone is None or kind(node.this) != "T" or not named:
        raise unsupported("Time zones are translated as names of places only", "Write 'Area/City' or 'UTC'.")
    return template("({x} AT TIME ZONE {z})", "X", x=node.this, z=zone)  # a local time, as BigQuery extracts from


_STRFTIME = {
    "Y": "%Y", "m": "%m", "d": "%d", "H": "%H", "M": "%M", "S": "%S", "y": "%y", "b": "%b", "h": "%b", "B": "%B",
    "a": "%a", "A": "%A", "j": "%j", "F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y",
    "x": "%m/%d/%y", "p": "%p", "I": "%I", "U": "%U", "W": "%W", "V": "%V", "G": "%G", "u": "%u", "w": "%w",
    "%": "%%", "n": "\n", "t": "\t", "E4Y": "%Y",
}  # fmt: skip
_OWN = {
    "Q": "CAST(quarter({x}) AS VARCHAR)", "e": "lpad(CAST(day({x}) AS VARCHAR), 2, ' ')",
    "-d": "lpad(CAST(day({x}) AS VARCHAR), 2, ' ')",
    "k": "lpad(CAST(hour({x}) AS VARCHAR), 2, ' ')", "C": "lpad(CAST(year({x}) // 100 AS VARCHAR), 2, '0')",
    "Y": "CAST(year({x}) AS VARCHAR)",
}  # fmt: skip
_PARSED = frozenset(("Y", "m", "d", "H", "M", "S", "y", "b", "h", "B", "a", "A", "p", "I", "%", "-d"))


def _elements(text: str, known: frozenset[str] | set[str]) -> list[str]:
    """A format as its pieces: plain text, or an element with its leading %."""
    pieces = re.findall(r"%-d|%E4Y|%E\*S|%E\d?S|%E.|%.|[^%]+|%", text, re.DOTALL)
    for piece in pieces:
        if piece.startswith("%") and piece[1:] not in known:
            raise unsupported(f"The format element {piece} is not translated", "Use %Y %m %d %H %M %S and the like.")
    return pieces


def format_time(node: exp.Expr) -> exp.Expr:
    """FORMAT_DATE, FORMAT_DATETIME, FORMAT_TIMESTAMP with the elements that agree."""
    layout = node.args["format"]
    letter = kind(node.this)
    if not is_string(layout) or letter not in "DXT" or node.args.get("zone") is not None:
        raise unsupported("Dates are formatted with a literal format in UTC only")
    value = "{x} AT TIME ZONE 'UTC'" if letter == "T" else "{x}"
    parts: list[str] = []
    run = ""
    for piece in _elements(layout.this, {*_STRFTIME, *_OWN}):
        name = piece[1:] if piece.startswith("%") else ""
        if name in _OWN:
            parts += [f"strftime({value}, '{run}')"] if run else []
            parts.append(_OWN[name])
            run = ""
        else:
            literal = _STRFTIME[name] if name else piece.replace("'", "''").replace("{", "{{").replace("}", "}}")
            run += literal
    if run or not parts:
        parts.append(f"strftime({value}, '{run}')")
    return template(f"({' || '.join(parts)})", "S", x=node.this)


def parse_time(node: exp.Expr) -> exp.Expr:
    """PARSE_DATE, PARSE_DATETIME, PARSE_TIMESTAMP with the elements that agree; the year is 1970 if missing."""
    layout = node.args["format"]
    if not is_string(layout) or node.args.get("zone") is not None or kind(node.this) not in "S?0":
        raise unsupported("Dates are parsed with a literal format in UTC only")
    pieces = _elements(layout.this, _PARSED)
    letter = "D" if isinstance(node, exp.StrToDate) else "T" if isinstance(node, exp.StrToTime) else "X"
    text = (
        "".join(_STRFTIME.get(p[1:], "%d") if p.startswith("%") else p for p in pieces)
        .replace("'", "''")
        .replace("{", "{{")
        .replace("}", "}}")
    )
    if ("%p" in pieces) != ("%I" in pieces):
        raise unsupported("These format elements are not parsed alike", "Use %Y-%m-%d.")
    dated = any(p in ("%Y", "%y") for p in pieces)
    parsed = f"strptime({{x}}, '{text}')" if dated else f"strptime('1970 ' || {{x}}, '%Y {text}')"
    return template(f"CAST({parsed} AS {_TYPE[letter]})", letter, x=node.this)


def unix_to_time(node: exp.Expr) -> exp.Expr:
    """TIMESTAMP_SECONDS, _MILLIS and _MICROS."""
    scale = number(node.args.get("scale")) or 0
    if scale not in (0, 3, 6) or kind(node.this) not in "I?":
        raise unsupported(f"{source(node)} is not translated")
    return template(f"make_timestamptz({{x!r}} * {10 ** (6 - scale)})", "T", x=node.this)


def current(node: exp.Expr) -> exp.Expr:
    """CURRENT_DATE and the like, in UTC."""
    if node.this is not None or node.args.get("zone") is not None:
        raise unsupported("The current time is given in UTC only")
    if isinstance(node, exp.CurrentDate):
        return template("current_date", "D")
    if isinstance(node, exp.CurrentDatetime):
        return template("CAST(get_current_timestamp() AS TIMESTAMP)", "X")
    return template("get_current_timestamp()", "T")


def utc_only(node: exp.Expr) -> Template | None:
    """DATE(ts, 'UTC') is DATE(ts)."""
    zone = node.args.get("zone")
    if zone is not None and not (is_string(zone) and zone.this.upper() == "UTC"):
        raise unsupported("Conversions in a time zone other than UTC are not translated")
    node.set("zone", None)
    return None


RULES = (
    (exp.Interval, interval), (exp.DateAdd, add), (exp.DateSub, add), (exp.DatetimeAdd, add),
    (exp.DatetimeSub, add), (exp.TimestampAdd, add), (exp.TimestampSub, add), (exp.DateDiff, diff),
    (exp.DatetimeDiff, diff), (exp.TimestampDiff, diff), (exp.DateTrunc, trunc), (exp.DatetimeTrunc, trunc),
    (exp.TimestampTrunc, trunc), (exp.LastDay, last_day), (exp.Extract, extract), (exp.AtTimeZone, at_time_zone),
    (exp.TimeToStr, format_time), (exp.StrToDate, parse_time), (exp.StrToTime, parse_time),
    (exp.ParseDatetime, parse_time), (exp.UnixToTime, unix_to_time), (exp.CurrentDate, current),
    (exp.CurrentDatetime, current), (exp.CurrentTimestamp, current),
)  # fmt: skip
