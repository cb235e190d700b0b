"""Why a result is wrong: the paper's five kinds, found by comparing the syntax trees of gold and the system's query.

Tables are compared by name, without project and dataset; thresholds are comparisons of a column with a number,
and equalities with a truth value or on a column that a convention speaks of; aggregation is the aggregate functions
and the grouping. A query may have several of the kinds, and is `other` where it has none.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import sqlglot
from sqlglot import exp

if TYPE_CHECKING:
    from bmsql.conventions import RuleBook
    from bmsql.semantic import SemanticModel

ErrorKind = Literal["tables", "threshold_missing", "threshold_wrong", "aggregation", "syntax", "other"]

# In the paper's order: the first that applies is a query's main kind.
ERROR_KINDS: dict[ErrorKind, str] = {
    "tables": "Wrong tables",
    "threshold_missing": "Threshold missing",
    "threshold_wrong": "Threshold wrong",
    "aggregation": "Wrong aggregation",
    "syntax": "Syntax",
    "other": "Other",
}

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "!=", "!=": "="}
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.EQ: "=",
    exp.NEQ: "!=",
}
_CONNECTORS = (exp.And, exp.Or, exp.Where, exp.Having, exp.Qualify)
_REMEMBERED = 4096


class Cutoff(NamedTuple):
    """One comparison with a constant: what is compared, how, and with what."""

    subject: str
    op: str
    value: float | bool


class Features(NamedTuple):
    """What of a query the error kinds look at."""

    tables: frozenset[str]
    cutoffs: frozenset[Cutoff]
    aggregation: frozenset[str]


def error_kinds(gold_sql: str, sql: str, *, failed: bool, logical: frozenset[str]) -> tuple[ErrorKind, ...]:
    """The kinds of error in a query whose result is not gold's, in the paper's order.

    failed: it could not be executed. logical: columns, in lower case, on which an equality is a threshold
    (`threshold_columns`). Raises sqlglot's ParseError when gold does not parse.
    """
    gold = _features(gold_sql, logical)
    try:
        found = _features(sql, logical)
    except sqlglot.errors.SqlglotError:
        return ("syntax",)
    missing, wrong = _threshold_errors(gold.cutoffs, found.cutoffs)
    verdicts: dict[ErrorKind, bool] = {
        "tables": gold.tables != found.tables,
        "threshold_missing": missing,
        "threshold_wrong": wrong,
        "aggregation": gold.aggregation != found.aggregation,
        "syntax": failed,
    }
    return tuple(kind for kind, applies in verdicts.items() if applies) or ("other",)


def threshold_columns(model: SemanticModel, rules: RuleBook) -> frozenset[str]:
    """The columns that conventions with a condition speak of, in lower case."""
    roles = {role for rule in rules if rule.op for role in rule.all_roles}
    columns = (item for table in model.tables.values() for item in table.columns.items())
    return frozenset(name.lower() for name, column in columns if column.role in roles)


def thresholds_in(sql: str, logical: frozenset[str]) -> frozenset[Cutoff]:
    """The thresholds of a query. Raises sqlglot's ParseError."""
    return _features(sql, logical).cutoffs


@lru_cache(maxsize=_REMEMBERED)
def _features(sql: str, logical: frozenset[str]) -> Features:
    tree = sqlglot.parse_one(sql, read="bigquery")
    own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    tables: set[str] = set()
    cutoffs: set[Cutoff] = set()
    aggregation: set[str] = set()
    for node in tree.walk():
        if isinstance(node, exp.Table):
            # A path such as UNNEST's, or a name without one, is no table.
            if node.name and not (node.name.lower() in own and not node.db):
                tables.add(node.name.rpartition(".")[2])
        elif isinstance(node, exp.AggFunc):
            if not isinstance(node.parent, exp.Window):
                aggregation.add(_aggregate(node))
        elif isinstance(node, exp.Group):
            aggregation.update(_groups(node))
        else:
            cutoffs.update(cutoff for cutoff in _cutoffs(node) if _is_threshold(cutoff, logical))
    return Features(frozenset(tables), frozenset(cutoffs), frozenset(aggregation))


def _threshold_errors(gold: frozenset[Cutoff], found: frozenset[Cutoff]) -> tuple[bool, bool]:
    """Whether a threshold of gold is missing, and whether one is there that gold does not have."""
    compared = {cutoff.subject for cutoff in found}
    missing = any(cutoff.subject not in compared for cutoff in gold)
    expected = {cutoff.subject for cutoff in gold}
    # A threshold on the wrong column is one that is missing on the right one, not a second error.
    differing = any(cutoff.subject in compared and cutoff not in found for cutoff in gold)
    unasked = any(cutoff not in gold for cutoff in found if cutoff.subject in expected or not missing)
    return missing, differing or unasked


def _is_threshold(cutoff: Cutoff, logical: frozenset[str]) -> bool:
    if cutoff.op in {"=", "!="} and not isinstance(cutoff.value, bool):
        return cutoff.subject in logical
    return True


def _cutoffs(node: exp.Expr) -> Iterator[Cutoff]:
    negated = _is_negated(node)
    if (op := _OPERATORS.get(type(node))) is not None:
        left, right = node.this, node.expression
        if (value := _constant(right)) is None:
            left, right, op = right, left, _FLIPPED[op]
            value = _constant(right)
        yield from _cutoff(left, op, value, negated)
    elif isinstance(node, exp.Between):
        yield from _cutoff(node.this, ">=", _constant(node.args["low"]), negated)
        yield from _cutoff(node.this, "<=", _constant(node.args["high"]), negated)
    elif isinstance(node, exp.In):
        for item in node.expressions:
            yield from _cutoff(node.this, "=", _constant(item), negated)
    elif isinstance(node, exp.Is):
        value = _constant(node.expression)
        if isinstance(value, bool):
            yield from _cutoff(node.this, "=", value, negated)
    elif isinstance(node, exp.Column) and isinstance(_outer(node), _CONNECTORS):
        # A column that is a condition by itself is true or false.
        yield Cutoff(node.name.lower(), "=", not negated)


def _cutoff(subject: exp.Expr, op: str, value: float | bool | None, negated: bool) -> Iterator[Cutoff]:
    if value is None or not (name := _subject(subject)):
        return
    op = _NEGATED[op] if negated else op
    if op == "!=" and isinstance(value, bool):
        op, value = "=", not value
    yield Cutoff(name, op, value)


def _subject(node: exp.Expr) -> str:
    """What is compared: the column's name, or the expression around it without qualifiers; empty without a column."""
    while isinstance(node, exp.Paren | exp.Cast | exp.TryCast):
        node = node.this
    if isinstance(node, exp.Column):
        return node.name.lower()
    if isinstance(node, exp.AggFunc):
        return _aggregate(node)
    if node.find(exp.Column) is None or node.find(exp.Select) is not None:
        return ""
    bare = node.copy()
    for column in list(bare.find_all(exp.Column)):
        column.replace(exp.column(column.name.lower()))
    return bare.sql("bigquery", comments=False, unsupported_level=sqlglot.ErrorLevel.IGNORE)


def _constant(node: exp.Expr) -> float | bool | None:
    """The number or truth value of a constant expression, such as `5e-8` or `5 * POW(10, -8)`; None for others."""
    match node:
        case exp.Boolean():
            return bool(node.this)
        case exp.Literal():
            return None if node.is_string else float(node.this)
        case exp.Paren() | exp.Cast() | exp.TryCast():
            return _constant(node.this)
        case exp.Neg():
            value = _constant(node.this)
            return None if value is None else -value
        case exp.Mul() | exp.Div() | exp.Add() | exp.Sub() | exp.Pow():
            return _computed(node)
        case _:
            return None


def _computed(node: exp.Binary) -> float | None:
    a, b = _constant(node.this), _constant(node.expression)
    if a is None or b is None:
        return None
    try:
        match node:
            case exp.Mul():
                value = a * b
            case exp.Div():
                value = a / b
            case exp.Add():
                value = a + b
            case exp.Sub():
                value = a - b
            case _:
                value = a**b
    except (ZeroDivisionError, OverflowError):
        return None
    # 5 * POW(10, -8) is 5e-8 but for the last binary digit.
    return None if isinstance(value, complex) else float(f"{value:.12g}")


def _aggregate(node: exp.AggFunc) -> str:
    """An aggregate function with what decides its value; which column is counted does not, unless distinct."""
    name = type(node).__name__.lower()
    distinct = isinstance(node.this, exp.Distinct)
    if isinstance(node, exp.Count) and not distinct:
        return name
    columns = sorted({column.name.lower() for column in node.find_all(exp.Column)})
    return f"{name}({'distinct ' if distinct else ''}{', '.join(columns)})"


def _groups(node: exp.Group) -> Iterator[str]:
    select = node.parent
    outputs = select.expressions if isinstance(select, exp.Select) else []
    by_alias = {output.alias.lower(): output.this for output in outputs if isinstance(output, exp.Alias)}
    for item in node.expressions:
        key = item
        if isinstance(item, exp.Literal) and not item.is_string and 0 < int(item.this) <= len(outputs):
            key = outputs[int(item.this) - 1].unalias()
        elif isinstance(item, exp.Column) and not item.table:
            key = by_alias.get(item.name.lower(), item)
        yield f"by {_subject(key) or key.sql('bigquery')}"


def _is_negated(node: exp.Expr) -> bool:
    """Whether an odd number of NOTs stands directly before a condition."""
    negated, parent = False, node.parent
    while isinstance(parent, exp.Paren | exp.Not):
        negated ^= isinstance(parent, exp.Not)
        parent = parent.parent
    return negated


def _outer(node: exp.Expr) -> exp.Expr | None:
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.Not):
        parent = parent.parent
    return parent
