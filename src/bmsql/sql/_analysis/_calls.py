"""Calls: known functions, argument counts and types, aggregates and windows in their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from bmsql.sql import _functions
from bmsql.sql._analysis._literals import check_literal
from bmsql.sql._analysis._operators import is_literal
from bmsql.sql._function_list import CONSTANT_ARGUMENTS
from bmsql.sql._parts import PARTS, part_mismatch, part_problem
from bmsql.sql._regex import pattern_problem
from bmsql.sql._types import ARRAY, PART, STRUCT, UNKNOWN, Type

if TYPE_CHECKING:
    from bmsql.sql._analysis._typer import Env, Typer

# What stands around the argument of an aggregate.
WRAPPERS = (exp.Distinct, exp.Order, exp.Limit, exp.IgnoreNulls, exp.RespectNulls, exp.HavingMax)
# Words that look like calls where a value is wanted.
_NO_VALUES = {
    "UNNEST": (
        "unnest-as-value",
        "UNNEST stands in FROM, or behind IN; it is no value.",
        "Write FROM t, UNNEST(array) AS x and select x.",
    ),
    "SOME": ("quantified-comparison", "A comparison with SOME is not supported.", "Use IN."),
}
_REGEX = ("REGEXP_CONTAINS", "REGEXP_EXTRACT", "REGEXP_SUBSTR", "REGEXP_EXTRACT_ALL", "REGEXP_INSTR", "REGEXP_REPLACE")


def call_type(typer: Typer, node: exp.Expr, env: Env, prefix: str = "") -> Type:
    """The type of a call, after checking it."""
    name = prefix + node.name.upper() if isinstance(node, exp.Anonymous) else ""
    if name == "STRUCT":
        fields = tuple(
            (item.alias_or_name if isinstance(item, (exp.Alias, exp.Column)) else "", typer.type_of(item, env))
            for item in node.expressions
        )
        return Type(STRUCT, fields=fields)
    if name in ("OFFSET", "ORDINAL", "SAFE_OFFSET", "SAFE_ORDINAL"):
        return typer.type_of(node.expressions[0], env) if node.expressions else UNKNOWN
    function = _functions.functions().get(name)
    if function is None:
        return _not_a_call(typer, node, name, env)
    if function.kind == "window" and env.inside != "over":
        typer.context.problem_at(
            node,
            "window-without-over",
            f"{name} is a window function and needs OVER (...).",
            f"Write {name}(...) OVER (ORDER BY ...).",
        )
    aggregate = function.kind == "aggregate" and env.inside != "over"
    inner = env._replace(inside="", aliases=env.aliases and not aggregate)
    if aggregate:
        inner = _enter_aggregate(typer, node, name, env)
    elif env.inside == "aggregate":
        inner = inner._replace(inside="aggregate")
    return _check_arguments(typer, node, function, inner)


def _not_a_call(typer: Typer, node: exp.Expr, name: str, env: Env) -> Type:
    # Unknown functions are the guard's business; its arguments are checked all the same.
    if name in _NO_VALUES:
        typer.context.problem_at(node, *_NO_VALUES[name])
    for child in node.iter_expressions():
        if not isinstance(child, exp.Identifier):
            typer.type_of(child, env)
    return UNKNOWN


def _enter_aggregate(typer: Typer, node: exp.Expr, name: str, env: Env) -> Env:
    if env.inside == "aggregate":
        typer.context.problem_at(
            node,
            "nested-aggregate",
            f"{name} stands inside another aggregate function.",
            "Compute the inner one in a subquery.",
        )
    elif not env.aggregates:
        better = "Use HAVING, or a subquery." if env.clause == "WHERE" else "Compute it in a subquery."
        typer.context.problem_at(
            node, "aggregate-not-allowed", f"The aggregate function {name} is not allowed in {env.clause}.", better
        )
    else:
        env.scope.aggregated = True
    return env._replace(inside="aggregate", aliases=False)


def _check_arguments(typer: Typer, node: exp.Expr, function: _functions.Function, env: Env) -> Type:
    context, name = typer.context, function.name
    arguments, distinct, orders = _unwrap(typer, node, env)
    if distinct and function.kind == "scalar":
        context.problem_at(node, "distinct", f"{name} does not take DISTINCT.")
    if distinct and orders:
        _check_distinct_order(typer, node, arguments, orders)
    if name == "COUNT" and len(arguments) == 1 and isinstance(arguments[0], exp.Star):
        return function.signatures[0].result
    if any(isinstance(argument, (exp.Kwarg, exp.PropertyEQ)) for argument in arguments):
        for argument in arguments:
            typer.type_of(argument.expression if isinstance(argument, (exp.Kwarg, exp.PropertyEQ)) else argument, env)
        return function.signatures[0].result
    signatures = _by_count(typer, node, function, arguments, env)
    if not signatures:
        return function.signatures[0].result if len(function.signatures) == 1 else UNKNOWN
    kinds = _argument_types(typer, arguments, signatures, name, env)
    if kinds is None or _wrong_values(typer, node, name, arguments, kinds):
        return UNKNOWN
    return _match(typer, node, function, signatures, arguments, kinds)


def _by_count(
    typer: Typer, node: exp.Expr, function: _functions.Function, arguments: list[exp.Expr], env: Env
) -> list[_functions.Signature]:
    """The signatures that take so many arguments, with a problem when there is none."""
    count, name = len(arguments), function.name
    found = [signature for signature in function.signatures if signature.accepts_count(count)]
    if found and not (name == "COUNT" and count != 1):
        return found
    usage = "COUNT(*), COUNT(x) or COUNT(DISTINCT x)" if name == "COUNT" else function.usage()
    plural = "argument" if count == 1 else "arguments"
    typer.context.problem_at(node, "argument-count", f"{name} does not take {count} {plural}.", f"Use {usage}.")
    for argument in arguments:
        # A bare name may be a date part here, so it is no missing column.
        if not isinstance(argument, exp.Column):
            typer.type_of(argument, env)
    return []


def _wrong_values(typer: Typer, node: exp.Expr, name: str, arguments: list[exp.Expr], kinds: list[Type]) -> bool:
    """Whether an argument of the right type is still refused: not written out, an array, a wrong part."""
    context = typer.context
    constant = CONSTANT_ARGUMENTS.get(name)
    if constant is not None and constant < len(arguments) and arguments[constant].find(exp.Column) is not None:
        message = f"Argument {constant + 1} of {name} must be written out."
        context.problem_at(arguments[constant], "constant-argument", message, "Use a literal.")
        return True
    if name == "ARRAY_AGG" and kinds[0].kind == ARRAY:
        hint = "Use ARRAY_CONCAT_AGG, or UNNEST it first."
        context.problem_at(node, "argument-type", "ARRAY_AGG does not take an ARRAY.", hint)
        return True
    if name == "CONCAT" and (refused := _not_joined(kinds)):
        message, hint = (
            f"CONCAT does not take {refused} here.",
            "Use TO_JSON_STRING(x) or ARRAY_TO_STRING(array, ', ').",
        )
        context.problem_at(node, "argument-type", message, hint)
        return True
    if name.endswith(("_ADD", "_SUB", "_DIFF", "_TRUNC")):
        part = next((unit for argument in arguments[1:] if (unit := _unit(argument))), "")
        mismatch = part_mismatch(name, part, kinds[0]) if part else ""
        if mismatch:
            context.problem_at(node, "date-part", mismatch, "Use another part, or CAST to DATE, DATETIME or TIMESTAMP.")
            return True
    return False


def _not_joined(kinds: list[Type]) -> str:
    """The kind of value that CONCAT does not turn into a text; BYTES only go with BYTES."""
    names = {kind.kind for kind in kinds}
    mixed = {"BYTES"} if names - {"BYTES", "?", "NULL"} else set()
    return next(iter(sorted(names & ({ARRAY, STRUCT, "JSON"} | mixed))), "")


def _match(
    typer: Typer,
    node: exp.Expr,
    function: _functions.Function,
    signatures: list[_functions.Signature],
    arguments: list[exp.Expr],
    kinds: list[Type],
) -> Type:
    """The result of the signature that the types fit, with a problem when there is none."""
    literals = [is_literal(argument) for argument in arguments]
    matches = [
        (signature, result)
        for signature in signatures
        if (result := _functions.call(signature, kinds, literals)) is not None
    ]
    if matches:
        if any(kind.unknown for kind in kinds) and len({result for _, result in matches}) > 1:
            return UNKNOWN
        exact = [match for match in matches if kinds and match[0].parameters[0].type == kinds[0]]
        best = exact or matches
        for index, argument in enumerate(arguments):
            expected = {_expected(signature.parameter(index).type, result) for signature, result in best}
            if len(expected) == 1:
                check_literal(typer, argument, expected.pop())
        return best[0][1]
    shown = ", ".join(str(kind) if not kind.unknown else "?" for kind in kinds)
    hint = f"Use {function.usage()}."
    if function.name in ("SUM", "AVG") and kinds[0].kind == "BOOL":
        hint = "Use COUNTIF(condition)."
    elif "STRING" in (kind.kind for kind in kinds) and function.name not in _REGEX:
        hint += " Convert a text with SAFE_CAST(x AS FLOAT64)."
    elif kinds and kinds[0].numeric:
        hint += " Convert a number with CAST(x AS STRING)."
    typer.context.problem_at(node, "argument-type", f"{function.name} does not take ({shown}).", hint)
    return UNKNOWN


def _expected(parameter: Type, result: Type) -> Type:
    """What an argument becomes: a type variable is what the call gives."""
    return result if len(parameter.kind) == 1 else parameter


def _argument_types(
    typer: Typer, arguments: list[exp.Expr], signatures: list[_functions.Signature], name: str, env: Env
) -> list[Type] | None:
    kinds: list[Type] = []
    for index, argument in enumerate(arguments):
        if all(s.parameter(index).type.kind == PART for s in signatures):
            problem = _part_problem(name, argument)
            if problem:
                typer.context.problem_at(
                    argument, "date-part", problem, f"Write the part as a word, as in {name}(x, MONTH)."
                )
                return None
            kinds.append(Type(PART))
        elif isinstance(argument, exp.Star):
            typer.context.problem_at(argument, "star", f"{name} does not take *.", "Name a column.")
            return None
        elif isinstance(argument, exp.Column) and isinstance(argument.this, exp.Star):
            typer.context.problem_at(argument, "star", f"{name} does not take {argument.sql()}.", "Name a column.")
            return None
        else:
            kinds.append(typer.type_of(argument, env))
    return kinds


def _unit(argument: exp.Expr) -> str:
    if isinstance(argument, exp.Interval) and isinstance(argument.args.get("unit"), exp.Var):
        return str(argument.args["unit"].name).upper()
    return argument.name.upper() if isinstance(argument, exp.Column) and argument.name.upper() in PARTS else ""


def _part_problem(function: str, argument: exp.Expr) -> str:
    if isinstance(argument, exp.Anonymous) and argument.name.upper() == "WEEK":
        return ""
    if isinstance(argument, (exp.Column, exp.Var)) and not argument.args.get("table"):
        return part_problem(function, argument.name)
    return f"{function} takes a part such as MONTH here, not {argument.sql(dialect='bigquery')}."


def _unwrap(typer: Typer, node: exp.Expr, env: Env) -> tuple[list[exp.Expr], bool, list[exp.Expr]]:
    """The arguments of a call without DISTINCT, ORDER BY, LIMIT, IGNORE NULLS and HAVING MAX."""
    arguments: list[exp.Expr] = []
    distinct = False
    orders: list[exp.Expr] = []
    for argument in node.expressions:
        inner = argument
        while isinstance(inner, WRAPPERS):
            _check_limit(typer, inner)
            if isinstance(inner, exp.Order):
                orders += [ordered.this for ordered in inner.expressions]
            elif isinstance(inner, exp.HavingMax):
                typer.type_of(inner.expression, env)
            if isinstance(inner, exp.Distinct):
                distinct = True
                arguments += inner.expressions[:-1]
                # `SUM(DISTINCT)` has no argument at all.
                inner = inner.expressions[-1] if inner.expressions else None
            else:
                inner = inner.this
        if inner is not None:
            arguments.append(inner)
    for order in orders:
        typer.type_of(order, env)
    return arguments, distinct, orders


def _check_limit(typer: Typer, node: exp.Expr) -> None:
    """LIMIT in an aggregate takes a written number."""
    if isinstance(node, exp.Limit) and node.expression.find(exp.Column) is not None:
        typer.context.problem_at(node, "limit", "LIMIT takes a whole number.", "Write LIMIT 3.")


def _check_distinct_order(typer: Typer, node: exp.Expr, arguments: list[exp.Expr], orders: list[exp.Expr]) -> None:
    texts = [argument.sql(dialect="bigquery").lower() for argument in arguments]
    for order in orders:
        if order.sql(dialect="bigquery").lower() not in texts:
            message = f"{node.name.upper()} with DISTINCT can only be ordered by its own argument."
            typer.context.problem_at(order, "distinct-order", message, "Order by the argument, or drop DISTINCT.")


def check_regex(typer: Typer, node: exp.Expr) -> None:
    """Record a problem when a constant pattern is no RE2 pattern."""
    name = node.name.upper()
    if name not in _REGEX or len(node.expressions) < 2:
        return
    pattern = node.expressions[1]
    if not isinstance(pattern, (exp.Literal, exp.RawString)) or (
        isinstance(pattern, exp.Literal) and not pattern.is_string
    ):
        return
    problem = pattern_problem(
        str(pattern.this), one_group=name in ("REGEXP_EXTRACT", "REGEXP_SUBSTR", "REGEXP_EXTRACT_ALL", "REGEXP_INSTR")
    )
    if problem:
        typer.context.problem_at(
            pattern,
            "regex",
            f"The pattern is no valid RE2 expression: {problem}.",
            "RE2 has no look-around and no backreferences.",
        )
