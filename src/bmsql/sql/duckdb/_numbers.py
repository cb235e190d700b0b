"""Rounding, and FORMAT."""

from __future__ import annotations

import re

from sqlglot import exp

from bmsql.sql.duckdb._casts import to_string
from bmsql.sql.duckdb._kinds import NAMES, is_string, kind, source, unsupported
from bmsql.sql.duckdb._strings import number
from bmsql.sql.duckdb._template import template


def round_(node: exp.Expr) -> exp.Expr | None:
    """ROUND(x, n) rounds the exact value of x: 1.15 is 1.1499..., hence 1.1; DuckDB rounds 11.5."""
    digits = node.args.get("decimals")
    letter = kind(node.this)
    if digits is None and letter != "N":
        return None
    if letter == "N":
        places = number(digits) if digits is not None else 0
        if places is None or not 0 <= places <= 9:
            raise unsupported(f"{source(node)} is translated for 0 to 9 literal decimals only")
        return template(f"CAST(round({{x}}, {places}) AS DECIMAL(38, 9))", "N", x=node.this)
    places = number(digits)
    if places is None or letter not in "IF0":
        raise unsupported(f"ROUND is translated for literal decimals only: {source(node)}")
    x = "CAST({x} AS DOUBLE)"
    if places <= 0 or letter == "I":
        return template(f"round({x}, {places})" if places else f"round({x})", "F", x=node.this)
    if places > 15:
        return template(x, "F", x=node.this)
    # printf rounds the exact value, ties to even; a tie (exactly representable) goes away from zero.
    return template(
        f"CASE WHEN abs({{x}} * {2 ** (places + 1)}e0) < 9e15 AND abs({{x}} * {2 ** (places + 1)}e0) % 2e0 = 1e0 "
        f"THEN round({{x}}, {places}) ELSE CAST(printf('%.{places}f', {{x}}) AS DOUBLE) END",
        "F", x=node.this,
    )  # fmt: skip


_SPEC = re.compile(r"%([-+ 0#']*)(\d+|\*)?(?:\.(\d+|\*))?([a-zA-Z%])|[^%]+|%", re.DOTALL)


def format_(node: exp.Expr) -> exp.Expr:
    """FORMAT with a literal pattern, piece by piece; NULL when an argument is NULL, save with %t."""
    layout, *values = [node.this, *node.expressions] if isinstance(node, exp.Format) else node.expressions
    if not is_string(layout):
        raise unsupported("FORMAT is translated for a literal pattern only")
    queue = list(values)
    texts: list[str] = []
    operands: dict[str, exp.Expr] = {}
    for match in _SPEC.finditer(layout.this):
        flags, width, precision, letter = match.groups()
        if letter is None and match.group() != "%":
            texts.append(_literal(match.group()))
        elif letter == "%" and match.group() == "%%":
            texts.append("'%'")
        elif letter is None or not queue or "*" in (width, precision):
            raise unsupported(f"FORMAT's {match.group()} is not translated")
        else:
            name = f"v{len(operands)}"
            value = queue.pop(0)
            text, value = _specifier(match.group(), flags, width, precision, letter, value)
            texts.append(text.replace("@", name))
            operands[name] = value
    if queue:
        raise unsupported("FORMAT has more arguments than its pattern asks for")
    return template(f"({' || '.join(texts or [chr(39) * 2])})", "S", **operands)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''").replace("{", "{{").replace("}", "}}") + "'"


def _specifier(
    spec: str, flags: str, width: str | None, precision: str | None, letter: str, value: exp.Expr
) -> tuple[str, exp.Expr]:
    given = kind(value)
    plain = spec.replace("'", "")
    if letter in "di" and given in "I0" and precision is None:
        if "'" not in flags:
            return f"printf('{plain[:-1]}d', {{@}})", value
        if not width and flags == "'":
            return "format('{{:,}}', {@})", value
    elif letter in "xXo" and given == "I" and not flags.strip("-0") and precision is None:
        return f"CASE WHEN {{@}} < 0 THEN {{fail:FORMAT of a negative number}} ELSE printf('{plain}', {{@}}) END", value
    elif letter in "feEgG" and given == "F":
        if "'" not in flags:
            return f"printf('{plain}', {{@}})", value
        if letter == "f" and not width and flags == "'":
            return f"format('{{{{:,.{precision or 6}f}}}}', {{@}})", value
    elif letter == "s" and given in "S0" and not flags.strip("-"):
        return f"printf('{plain}', {{@}})" if width or precision else "{@}", value
    elif letter == "t" and given in "IOD" and spec == "%t":
        return "COALESCE({@}, 'NULL')", to_string(value)
    elif letter == "t" and given in "S0" and spec == "%t":
        return "COALESCE({@}, 'NULL')", value
    elif letter == "T" and given == "I" and spec == "%T":
        return "COALESCE({@}, 'NULL')", to_string(value)
    raise unsupported(f"FORMAT's {spec} of {NAMES[given]} is not translated", "Use CONCAT and CAST.")


def trunc(node: exp.Expr) -> exp.Expr | None:
    """TRUNC(x, n) cuts the exact value of x: 2.3 is 2.2999..., hence 2.2."""
    digits = node.args.get("decimals")
    if digits is None:
        return None
    places = number(digits)
    if places is None or kind(node.this) not in "IF" or places > 15:
        raise unsupported(f"TRUNC is translated for literal decimals only: {source(node)}")
    if places <= 0:
        return template(f"(trunc({{x}} / {10**-places}e0) * {10**-places}e0)", "F", x=node.this)
    cut = f"regexp_extract(printf('%.40f', CAST({{x}} AS DOUBLE)), '^-?[0-9]+\\.[0-9]{{{{{places}}}}}')"
    return template(
        f"CASE WHEN isfinite(CAST({{x}} AS DOUBLE)) THEN CAST({cut} AS DOUBLE) ELSE {{x}} END", "F", x=node.this
    )


RULES = ((exp.Round, round_), (exp.Trunc, trunc), (exp.Format, format_))
