"""Date and time parts: MONTH, ISOWEEK, ..."""

from __future__ import annotations

from bmsql.sql._types import Type

_DATE = ("DAY", "WEEK", "ISOWEEK", "MONTH", "QUARTER", "YEAR", "ISOYEAR")
_TIME = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR")
PARTS = (*_TIME, *_DATE)
EXTRACT_PARTS = (*PARTS, "DAYOFWEEK", "DAYOFYEAR", "DATE", "TIME", "DATETIME")
INTERVAL_PARTS = (*_TIME, "DAY", "WEEK", "MONTH", "QUARTER", "YEAR")
_NORMAL_FORMS = ("NFC", "NFKC", "NFD", "NFKD")


def extract_problem(part: str, kind: Type) -> str:
    """What is wrong with EXTRACT(part FROM kind), or ""."""
    if part not in EXTRACT_PARTS:
        return f"{part} is no date or time part."
    if kind.unknown or kind.kind == "NULL":
        return ""
    if kind.kind == "DATE":
        bad = part in _TIME or part in ("TIME", "DATETIME")
    elif kind.kind == "TIME":
        bad = part not in _TIME
    elif kind.kind in ("DATETIME", "TIMESTAMP"):
        bad = kind.kind == "DATETIME" and part == "DATETIME"
    elif kind.kind == "INTERVAL":
        bad = part not in (*_TIME, "DAY", "MONTH", "YEAR")
    else:
        return f"EXTRACT takes a date or time, not {kind}."
    return f"EXTRACT from {kind} has no part {part}." if bad else ""


def part_mismatch(function: str, part: str, kind: Type) -> str:
    """What is wrong with a known part for a function's first argument, or ""."""
    step = function.endswith(("_ADD", "_SUB", "_DIFF"))
    if kind.kind == "DATE" and function.startswith("DATE_"):
        bad = part in _TIME
    elif kind.kind == "TIMESTAMP" and step:
        bad = part not in (*_TIME, "DAY")
    elif kind.kind == "TIME":
        bad = part not in _TIME
    else:
        bad = False
    return f"{function} of a {kind} does not take the part {part}." if bad else ""


def part_problem(function: str, name: str) -> str:
    """What is wrong with a part as argument of a function, or ""."""
    upper = name.upper()
    if function.startswith("NORMALIZE"):
        return "" if upper in _NORMAL_FORMS else f"{name} is no normal form ({', '.join(_NORMAL_FORMS)})."
    known: tuple[str, ...] = PARTS
    if function == "LAST_DAY":
        known = ("WEEK", "ISOWEEK", "MONTH", "QUARTER", "YEAR", "ISOYEAR")
    elif function.startswith("TIME_"):
        known = _TIME
    return "" if upper in known else f"{name} is no part that {function} knows ({', '.join(known)})."
