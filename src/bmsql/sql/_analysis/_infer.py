"""Types of expressions, by kind of node."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql._analysis._calls import call_type, check_regex
from bmsql.sql._analysis._like import like
from bmsql.sql._analysis._literals import check_literal
from bmsql.sql._analysis._operators import arithmetic, comparison, concatenation, is_literal, together
from bmsql.sql._analysis._sizes import check_size
from bmsql.sql._analysis._typer import Env, Handler, Typer
from bmsql.sql._analysis._windows import window_type
from bmsql.sql._parts import EXTRACT_PARTS, extract_problem
from bmsql.sql._types import (
    ARRAY,
    BOOL,
    BYTES,
    INT64,
    NULL,
    STRING,
    STRUCT,
    UNKNOWN,
    Type,
    castable,
    coerces,
    of_datatype,
)

_EQUALITIES = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)


def _column(typer: Typer, node: exp.Expr, env: Env) -> Type:
    if isinstance(node.this, exp.Star):
        typer.context.problem_at(node, "star", f"{node.sql()} is not allowed here.", "Name the columns.")
        return UNKNOWN
    return typer.column(node, env)


def _literal(typer: Typer, node: exp.Expr, env: Env) -> Type:
    if node.args.get("is_string"):
        return STRING
    text = str(node.this)
    return INT64 if text.isdigit() or text[:2].lower() == "0x" else Type("FLOAT64")


def _paren(typer: Typer, node: exp.Expr, env: Env) -> Type:
    return typer.type_of(node.this, env)


def _tuple(typer: Typer, node: exp.Expr, env: Env) -> Type:
    return Type(STRUCT, fields=tuple(("", typer.type_of(item, env)) for item in node.expressions))


def _compare(typer: Typer, node: exp.Expr, env: Env) -> Type:
    left, right = node.this, node.expression
    if isinstance(right, (exp.Any, exp.All)):
        return _quantified(typer, node, env)
    kinds = (typer.type_of(left, env), typer.type_of(right, env))
    comparison(typer, node, left, right, *kinds)
    if kinds[0].kind == kinds[1].kind == STRUCT and not isinstance(node, _EQUALITIES):
        typer.context.problem_at(node, "type-mismatch", "STRUCTs have no order.", "Compare their fields.")
    return BOOL


def _quantified(typer: Typer, node: exp.Expr, env: Env) -> Type:
    typer.type_of(node.this, env)
    typer.context.problem_at(
        node, "quantified-comparison", "A comparison with ANY or ALL is not supported.", "Use IN or NOT IN."
    )
    return BOOL


def _logical(typer: Typer, node: exp.Expr, env: Env) -> Type:
    word = type(node).__name__.upper()
    # A long chain of ANDs leans to the left: walk it without recursion.
    operands: list[exp.Expr] = []
    stack = [node]
    while stack:
        part = stack.pop()
        if type(part) is type(node):
            stack += [part.expression, part.this]
        else:
            operands.append(part)
    for operand in operands:
        typer.require_bool(operand, typer.type_of(operand, env), word)
    return BOOL


def _not(typer: Typer, node: exp.Expr, env: Env) -> Type:
    typer.require_bool(node.this, typer.type_of(node.this, env), "NOT")
    return BOOL


def _is(typer: Typer, node: exp.Expr, env: Env) -> Type:
    kind = typer.type_of(node.this, env)
    if isinstance(node.expression, exp.Boolean):
        typer.require_bool(node.this, kind, "IS TRUE / IS FALSE")
    elif not isinstance(node.expression, exp.Null):
        typer.type_of(node.expression, env)
        typer.context.problem_at(node, "is", "IS is followed by NULL, TRUE or FALSE.", "Use = to compare with a value.")
    return BOOL


def _between(typer: Typer, node: exp.Expr, env: Env) -> Type:
    kind = typer.type_of(node.this, env)
    for bound in (node.args["low"], node.args["high"]):
        comparison(typer, node, node.this, bound, kind, typer.type_of(bound, env), "BETWEEN")
    return BOOL


def _in(typer: Typer, node: exp.Expr, env: Env) -> Type:
    kind = typer.type_of(node.this, env)
    unnest, query = node.args.get("unnest"), node.args.get("query")
    if unnest is not None:
        array = typer.type_of(unnest.expressions[0], env)
        if array.kind == ARRAY:
            literal = isinstance(unnest.expressions[0], exp.Array)
            comparison(typer, node, node.this, unnest, kind, array.element or UNKNOWN, "IN UNNEST", literal)
        elif not array.unknown:
            typer.context.problem_at(
                unnest, "unnest-of-scalar", f"UNNEST takes an ARRAY, not {array}.", "Use SPLIT(text, ',')."
            )
    elif query is not None:
        columns = typer.query(query, env.scope, env.scope.ctes)
        if columns is not None:
            if len(columns) != 1:
                typer.context.problem_at(
                    query,
                    "subquery-columns",
                    f"The subquery of IN has {len(columns)} columns; it must have one.",
                    "Select one column.",
                )
            else:
                comparison(typer, node, node.this, query, kind, columns[0].type, "IN")
    for item in node.expressions:
        comparison(typer, node, node.this, item, kind, typer.type_of(item, env), "IN")
    if unnest is None and query is None and not node.expressions:
        typer.context.problem_at(
            node, "in", "IN needs a list, a subquery or UNNEST(array).", "Write IN (a, b) or IN UNNEST(array)."
        )
    return BOOL


def _case(typer: Typer, node: exp.Expr, env: Env) -> Type:
    operand = node.args.get("this")
    kind = typer.type_of(operand, env) if operand is not None else None
    branches: list[exp.Expr] = []
    kinds: list[Type] = []
    for branch in node.args["ifs"]:
        when = typer.type_of(branch.this, env)
        if operand is None or kind is None:
            typer.require_bool(branch.this, when, "WHEN")
        else:
            comparison(typer, branch, operand, branch.this, kind, when, "CASE")
        branches.append(branch.args["true"])
        kinds.append(typer.type_of(branch.args["true"], env))
    if node.args.get("default") is not None:
        branches.append(node.args["default"])
        kinds.append(typer.type_of(node.args["default"], env))
    return together(typer, branches, kinds, "the branches of CASE")


def _if(typer: Typer, node: exp.Expr, env: Env) -> Type:
    typer.require_bool(node.this, typer.type_of(node.this, env), "IF")
    branches = [branch for branch in (node.args.get("true"), node.args.get("false")) if branch is not None]
    kinds = [typer.type_of(branch, env) for branch in branches]
    if len(branches) != 2:
        typer.context.problem_at(
            node, "argument-count", "IF takes 3 arguments.", "Use IF(condition, value, otherwise)."
        )
        return UNKNOWN
    return together(typer, branches, kinds, "the results of IF")


def _cast(typer: Typer, node: exp.Expr, env: Env) -> Type:
    source, target = typer.type_of(node.this, env), of_datatype(node.args["to"])
    if _is_typed_literal(typer, node):
        check_literal(typer, node.this, target)
    if not castable(source, target, is_literal(node.this)):
        typer.context.problem_at(node, "invalid-cast", f"{source} cannot be cast to {target}.")
    elif isinstance(node.this, exp.Array) and source.element is not None and target.element is not None:
        literal = all(is_literal(item) for item in node.this.expressions)
        if not coerces(source.element, target.element, literal):
            message = f"The elements are {source.element}, the array is {target}."
            typer.context.problem_at(node, "type-mismatch", message, "Give the elements the type of the array.")
    return target


def _is_typed_literal(typer: Typer, node: exp.Expr) -> bool:
    """Whether it is `DATE '2020-01-01'`, which is checked at once, and no CAST, which fails as it runs."""
    start = node.this.meta.get("start") if isinstance(node.this, exp.Literal) else None
    index = typer.context.source.by_start.get(start) if start is not None else None
    return (
        index is not None
        and index > 0
        and typer.context.source.tokens[index - 1].upper == of_datatype(node.args["to"]).kind
    )


def _extract(typer: Typer, node: exp.Expr, env: Env) -> Type:
    part = node.this.name.upper() if not isinstance(node.this, (exp.Anonymous, exp.WeekStart)) else "WEEK"
    kind = typer.type_of(node.expression, env)
    problem = extract_problem(part, kind)
    if problem:
        hint = (
            f"Parts are {', '.join(EXTRACT_PARTS)}."
            if part not in EXTRACT_PARTS
            else "Cast it: EXTRACT(YEAR FROM CAST(x AS DATE))."
        )
        typer.context.problem_at(
            node, "extract", problem, hint if kind.kind == "STRING" or part not in EXTRACT_PARTS else ""
        )
    return {"DATE": Type("DATE"), "TIME": Type("TIME"), "DATETIME": Type("DATETIME")}.get(part, INT64)


def _array(typer: Typer, node: exp.Expr, env: Env) -> Type:
    if len(node.expressions) == 1 and isinstance(node.expressions[0], exp.Query):
        columns = typer.query(node.expressions[0], env.scope, env.scope.ctes)
        if columns is None:
            return Type(ARRAY, element=UNKNOWN)
        if len(columns) != 1:
            typer.context.problem_at(
                node,
                "subquery-columns",
                f"ARRAY(SELECT ...) has {len(columns)} columns; it must have one.",
                "Use SELECT AS STRUCT.",
            )
            return Type(ARRAY, element=UNKNOWN)
        _check_nested(typer, node, columns[0].type)
        return Type(ARRAY, element=columns[0].type)
    kinds = [typer.type_of(item, env) for item in node.expressions]
    element = together(typer, node.expressions, kinds, "the elements of the array")
    _check_nested(typer, node, element)
    return Type(ARRAY, element=element)


def _check_nested(typer: Typer, node: exp.Expr, element: Type) -> None:
    if element.kind == ARRAY:
        message = "An ARRAY cannot hold ARRAYs."
        typer.context.problem_at(node, "nested-array", message, "Put each into a STRUCT, or use ARRAY_CONCAT.")


def _struct(typer: Typer, node: exp.Expr, env: Env) -> Type:
    return Type(STRUCT, fields=tuple((item.alias_or_name, typer.type_of(item, env)) for item in node.expressions))


def _bracket(typer: Typer, node: exp.Expr, env: Env) -> Type:
    kind = typer.type_of(node.this, env)
    for index in node.expressions:
        found = typer.type_of(index, env)
        if kind.kind == ARRAY and found.kind not in ("INT64", "NULL", "?"):
            typer.context.problem_at(index, "type-mismatch", f"An array index is INT64, not {found}.")
    if kind.kind == ARRAY:
        return kind.element or UNKNOWN
    if kind.kind not in ("JSON", "STRUCT", "?", "NULL"):
        typer.context.problem_at(
            node, "index-of-scalar", f"[...] reads an element of an ARRAY; this is {kind}.", "Use SUBSTR for a text."
        )
    return kind if kind.kind == "JSON" else UNKNOWN


def _subquery(typer: Typer, node: exp.Expr, env: Env) -> Type:
    columns = typer.query(node, env.scope, env.scope.ctes)
    if columns is None:
        return UNKNOWN
    if len(columns) != 1:
        typer.context.problem_at(
            node,
            "subquery-columns",
            f"A subquery used as a value has {len(columns)} columns; it must have one.",
            "Select one column.",
        )
        return UNKNOWN
    return columns[0].type


def _exists(typer: Typer, node: exp.Expr, env: Env) -> Type:
    typer.query(node.this, env.scope, env.scope.ctes)
    return BOOL


def _alias(typer: Typer, node: exp.Expr, env: Env) -> Type:
    return typer.type_of(node.this, env)


def _interval(typer: Typer, node: exp.Expr, env: Env) -> Type:
    if node.this is not None and not isinstance(node.this, exp.Literal):
        kind = typer.type_of(node.this, env)
        if kind.kind not in ("INT64", "NULL", "?"):
            typer.context.problem_at(
                node, "interval", f"INTERVAL counts in INT64, not {kind}.", "Use CAST(x AS INT64)."
            )
    return Type("INTERVAL")


def _negative(typer: Typer, node: exp.Expr, env: Env) -> Type:
    kind = typer.type_of(node.this, env)
    if not kind.numeric and kind.kind not in ("INTERVAL", "NULL", "?"):
        typer.context.problem_at(node, "type-mismatch", f"The minus sign takes a number, not {kind}.")
        return UNKNOWN
    return kind


def _zone(typer: Typer, node: exp.Expr, env: Env) -> Type:
    return typer.type_of(node.this, env)


def _arithmetic(typer: Typer, node: exp.Expr, env: Env) -> Type:
    return arithmetic(typer, node, typer.type_of(node.this, env), typer.type_of(node.expression, env))


def _concatenation(typer: Typer, node: exp.Expr, env: Env) -> Type:
    return concatenation(typer, node, typer.type_of(node.this, env), typer.type_of(node.expression, env))


def _bits(typer: Typer, node: exp.Expr, env: Env) -> Type:
    kinds = [typer.type_of(child, env) for child in (node.this, node.args.get("expression")) if child is not None]
    for kind in kinds:
        if kind.kind not in ("INT64", "BYTES", "NULL", "?"):
            typer.context.problem_at(
                node, "type-mismatch", f"A bit operator takes INT64, not {kind}.", "Use POW(x, y) for a power."
            )
    return kinds[0]


def _dot(typer: Typer, node: exp.Expr, env: Env) -> Type:
    return typer.path_type(node, env) if isinstance(node, exp.Dot) else UNKNOWN


def _constant(kind: Type) -> Handler:
    return lambda typer, node, env: kind


def _prefixed(typer: Typer, node: exp.Expr, env: Env) -> Type:
    prefix = "NET." if isinstance(node, exp.NetFunc) else ""
    return call_type(typer, node.this, env, prefix)


def _call(typer: Typer, node: exp.Expr, env: Env) -> Type:
    check_regex(typer, node)
    check_size(typer, node)
    return call_type(typer, node, env)


HANDLERS: dict[type, Handler] = {
    exp.Column: _column,
    exp.Literal: _literal,
    exp.RawString: _constant(STRING),
    exp.ByteString: _constant(BYTES),
    exp.HexString: _constant(INT64),
    exp.Boolean: _constant(BOOL),
    exp.Null: _constant(NULL),
    exp.Paren: _paren,
    exp.Tuple: _tuple,
    exp.Alias: _alias,
    exp.Like: like,
    exp.And: _logical,
    exp.Or: _logical,
    exp.Not: _not,
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
    exp.Case: _case,
    exp.If: _if,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Extract: _extract,
    exp.Array: _array,
    exp.Struct: _struct,
    exp.Bracket: _bracket,
    exp.Subquery: _subquery,
    exp.Select: _subquery,
    exp.Exists: _exists,
    exp.Interval: _interval,
    exp.Neg: _negative,
    exp.AtTimeZone: _zone,
    exp.DPipe: _concatenation,
    exp.Dot: _dot,
    exp.Anonymous: _call,
    exp.SafeFunc: _prefixed,
    exp.NetFunc: _prefixed,
    exp.Window: window_type,
    exp.CurrentDate: _constant(Type("DATE")),
    exp.CurrentTimestamp: _constant(Type("TIMESTAMP")),
    exp.CurrentDatetime: _constant(Type("DATETIME")),
    exp.CurrentTime: _constant(Type("TIME")),
    exp.ParseJSON: _constant(Type("JSON")),
}
HANDLERS |= dict.fromkeys(
    (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ), _compare
)
HANDLERS |= dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div), _arithmetic)
HANDLERS |= dict.fromkeys(
    (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot, exp.BitwiseLeftShift, exp.BitwiseRightShift), _bits
)
