"""DuckDB text with holes for operands, and the generator that fills it.

A rule writes `template("CASE WHEN {x} > 0 THEN ln({x}) ELSE {fail:not positive} END", x=node)`. Operands that
are used more than once and cost something are computed once, by a lambda over a one-element list.
`{x!r}` gives an integer literal bare, without its cast to BIGINT. `{fail:...}` is an error, or NULL
under SAFE.
"""

from __future__ import annotations

import string
from functools import lru_cache
from typing import Any

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import ErrorLevel
from sqlglot.generator import Generator

from bmsql.sql._generator import Writer, with_writers
from bmsql.sql.duckdb._kinds import TYPES

_DIALECT = DuckDB()
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between)
_BARE = (exp.Limit, exp.Offset, exp.Ordered, exp.Group, exp.WindowSpec, exp.DataTypeParam, exp.Interval)
_CHEAP = (exp.Column, exp.Literal, exp.Boolean, exp.Null, exp.Dot)
_OPEN = (exp.Binary, exp.Unary, exp.Between, exp.In, exp.Is, exp.Connector)


#: DuckDB text with operands. `safe`: errors become NULL; `plain`: never bind operands. Compiled classes cannot
#: be subclassed, so its class is one of sqlglot's: that of U&'...', which the BigQuery dialect does not have.
Template = exp.UnicodeString

Operand = exp.Expr | list[exp.Expr]


def template(text: str, letter: str = "", /, **operands: Operand) -> Template:
    """A template node of the type `letter`; an operand that is a list fills a comma-separated hole."""
    return _make(text, letter, operands)


def verbatim(text: str, letter: str = "", /, **operands: Operand) -> Template:
    """A template whose operands stand as they are, however often: subqueries, windows, other templates."""
    return _make(text, letter, operands, plain=True)


def aggregate(text: str, letter: str = "", /, **operands: Operand) -> Template:
    """A template of an aggregate function, which a window may follow."""
    return _make(text, letter, operands, aggregate=True)


def _make(
    text: str, letter: str, operands: dict[str, Operand], *, plain: bool = False, aggregate: bool = False
) -> Template:
    names: list[str] = []
    nodes: list[exp.Expr] = []
    for name, value in operands.items():
        for node in value if isinstance(value, list) else (value,):
            names.append(name)
            nodes.append(node)
    made = Template(text=text, names=tuple(names), expressions=nodes, plain=plain, aggregate=aggregate)
    if letter:
        made.type = TYPES[letter]
    return made


class _Text(str):
    """An operand's SQL; its repr is the SQL without an integer literal's cast."""

    __slots__ = ("bare",)
    bare: str

    def __repr__(self) -> str:
        return self.bare


class _Fail:
    """`{fail:message}`: raises in the database, or gives NULL under SAFE."""

    def __init__(self, safe: bool) -> None:
        self.safe = safe

    def __format__(self, spec: str) -> str:
        return "NULL" if self.safe else f"error('{spec}')"


@lru_cache(maxsize=2048)
def _uses(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for _, name, _, _ in string.Formatter().parse(text):
        if name:
            counts[name] = counts.get(name, 0) + 1
    return counts


def is_cheap(node: exp.Expr) -> bool:
    """Whether to write an operand twice rather than to bind it."""
    while isinstance(node, (exp.Paren, exp.Cast, exp.Neg)) or (isinstance(node, exp.Dot) and node.this is not node):
        node = node.this
    return isinstance(node, _CHEAP)


def _twice(operand: exp.Expr, safe: bool) -> bool:
    """Whether an operand is written out at each of its places: a lambda cannot hold an aggregate in HAVING."""
    return is_cheap(operand) or (not safe and _is_aggregate(operand))


def _is_aggregate(node: exp.Expr) -> bool:
    parts = node.walk(prune=lambda part: isinstance(part, exp.Query))
    return any(isinstance(part, exp.AggFunc) or bool(part.args.get("aggregate")) for part in parts)


def _literal_sql(generator: Generator, expression: exp.Literal) -> str:
    text = str(expression.this)
    if expression.is_string:
        return "'" + text.replace("'", "''") + "'"
    return integer(text, expression) if text.lstrip("-").isdigit() else decimal(text)


def _unnest_sql(generator: Generator, expression: exp.Unnest) -> str:
    alias = expression.args["alias"]
    ordinality = " WITH ORDINALITY" if expression.args.get("offset") else ""
    columns = ", ".join(f'"{column.name}"' for column in alias.columns)
    return f'UNNEST({generator.sql(expression.expressions[0])}){ordinality} AS "{alias.name}"({columns})'


def _template_sql(generator: Generator, node: Template) -> str:
    text: str = node.args["text"]
    safe = bool(node.args.get("safe"))
    bind = not node.args.get("plain") and not node.args.get("aggregate") and _must_bind(node, text, safe)
    holes: dict[str, Any] = {"fail": _Fail(safe)}
    bound: list[str] = []
    grouped: dict[str, list[_Text]] = {}
    for name, operand in zip(node.args["names"], node.expressions, strict=True):
        sql = generator.sql(operand)
        if isinstance(operand, _OPEN) and not isinstance(operand, (exp.Paren, exp.Dot)):
            sql = f"({sql})"
        if bind and not _twice(operand, safe):
            field = f"a{len(bound)}"
            bound.append(f"{field} := {sql}")
            sql = f"v.{field}"
        value = _Text(sql)
        value.bare = str(operand.this) if isinstance(operand, exp.Literal) and not operand.is_string else sql
        grouped.setdefault(name, []).append(value)
    for name, values in grouped.items():
        if len(values) == 1:
            holes[name] = values[0]
        else:
            holes[name] = _Text(", ".join(values))
            holes[name].bare = ", ".join(value.bare for value in values)
    filled = text.format_map(holes)
    if safe:
        filled = f"TRY({filled})"
    return f"list_transform([struct_pack({', '.join(bound)})], lambda v: {filled})[1]" if bound else filled


def _must_bind(node: Template, text: str, safe: bool) -> bool:
    uses = _uses(text)
    # Under SAFE only the function's own errors become NULL: its arguments stay outside TRY.
    return any(
        (uses.get(name, 0) > 1 or safe) and not _twice(operand, safe)
        for name, operand in zip(node.args["names"], node.expressions, strict=True)
    )


def integer(text: str, node: exp.Expr) -> str:
    """An integer literal: BIGINT, save where its place gives it a type."""
    parent = node.parent
    if isinstance(parent, _BARE):
        return text
    if isinstance(parent, _COMPARISONS) and not isinstance(parent.this, exp.Literal):
        return text
    if isinstance(parent, (exp.Add, exp.Sub, exp.Mul, exp.Div)) and parent.is_type(exp.DType.DOUBLE):
        return text
    return f"CAST({text} AS BIGINT)"


def decimal(text: str) -> str:
    """A decimal literal with an exponent: DuckDB reads it as DOUBLE, and without one as DECIMAL."""
    text = text.lower()
    if text.startswith("."):
        text = "0" + text
    elif text.startswith("-."):
        text = "-0" + text[1:]
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{exponent or '0'}"


def generate(tree: exp.Expr) -> str:
    """The DuckDB text of a rewritten tree: by sqlglot, with templates, BIGINT integers and DOUBLE decimals."""
    generator = _DIALECT.generator(identify=True, unsupported_level=ErrorLevel.RAISE, comments=False)
    return with_writers(generator, _WRITERS).generate(tree, copy=False)


_WRITERS: dict[type[exp.Expr], Writer] = {
    Template: _template_sql, exp.Literal: _literal_sql, exp.Unnest: _unnest_sql
}  # fmt: skip
