"""Windows: what OVER may hold, its order, its partitions and its frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlglot import exp

from bmsql.sql import _functions
from bmsql.sql._analysis._calls import WRAPPERS
from bmsql.sql._function_list import NEEDS_ORDER, NO_FRAME, NO_ORDER
from bmsql.sql._types import ARRAY, STRUCT, Type

if TYPE_CHECKING:
    from bmsql.sql._analysis._scope import Scope
    from bmsql.sql._analysis._typer import Env, Typer

_CURRENT = "CURRENT ROW"
_UNBOUNDED = "UNBOUNDED"
_ORDER_OF_BOUNDS = "The order is UNBOUNDED PRECEDING, n PRECEDING, CURRENT ROW, n FOLLOWING, UNBOUNDED FOLLOWING."
_NOT_ORDERED = frozenset((ARRAY, STRUCT, "GEOGRAPHY"))
_NOT_PARTITIONED = frozenset(("FLOAT64", "JSON", "GEOGRAPHY"))


def window_type(typer: Typer, node: exp.Expr, env: Env) -> Type:
    """The type of `f(...) OVER (...)`, after checking it and its window."""
    call = node.this
    while isinstance(call, (exp.IgnoreNulls, exp.RespectNulls)):
        call = call.this
    name = call.name.upper() if isinstance(call, exp.Anonymous) else call.sql(dialect="bigquery").partition("(")[0]
    _check_place(typer, node, name, env)
    inner = env._replace(inside="", windows=False)
    check_window(typer, node, inner)
    _check_order(typer, node, name, call, env.scope)
    return typer.type_of(call, inner._replace(inside="over"))


def check_window(typer: Typer, node: exp.Expr, env: Env) -> None:
    """Type the parts of a window, in OVER or in the WINDOW clause, and check its frame."""
    for part in node.args.get("partition_by") or ():
        kind = typer.type_of(part, env)
        if not _partitions(kind):
            message, hint = f"A window cannot be partitioned by {kind}.", "Partition by CAST(x AS STRING)."
            typer.context.problem_at(part, "window-partition", message, hint)
    order = node.args.get("order")
    keys = []
    for ordered in order.expressions if order is not None else ():
        keys.append(typer.type_of(ordered.this, env))
        check_ordered(typer, ordered.this, keys[-1])
    _check_base(typer, node, env.scope)
    spec = node.args.get("spec")
    if spec is not None:
        inherited = order is None and _inherits(node, "order", env.scope)
        _check_frame(typer, node, spec, None if inherited else keys)


def check_ordered(typer: Typer, node: exp.Expr, kind: Type) -> None:
    """Record a problem when values of this type have no order."""
    if kind.kind in _NOT_ORDERED:
        hint = "Order by a field of it." if kind.kind == STRUCT else "Order by ARRAY_LENGTH(...) or by one element."
        typer.context.problem_at(node, "order-by-type", f"Rows cannot be ordered by {kind}.", hint)


def _check_place(typer: Typer, node: exp.Expr, name: str, env: Env) -> None:
    context, function = typer.context, _functions.functions().get(name)
    if env.inside == "aggregate":
        message = "A window function cannot be the argument of an aggregate function."
        context.problem_at(node, "window-in-aggregate", message, "Compute it in a subquery.")
    elif not env.windows:
        filters = env.clause in ("WHERE", "HAVING")
        better = "Use QUALIFY, or filter in an outer query." if filters else "Compute it in a subquery."
        message = f"The window function {name} is not allowed in {env.clause}."
        context.problem_at(node, "window-not-allowed", message, better)
    if function is not None and function.kind == "scalar":
        context.problem_at(node, "over", f"{name} is no aggregate or window function, so it takes no OVER.")


def _check_order(typer: Typer, node: exp.Expr, name: str, call: exp.Expr, scope: Scope) -> None:
    context = typer.context
    ordered = node.args.get("order") is not None or _inherits(node, "order", scope)
    framed = node.args.get("spec") is not None or _inherits(node, "spec", scope)
    if name in NEEDS_ORDER and not ordered:
        message = f"{name} needs ORDER BY in its OVER clause."
        context.problem_at(node, "window-order", message, f"Write {name}(...) OVER (... ORDER BY ...).")
    if name in NO_ORDER and ordered:
        context.problem_at(node, "window-order", f"{name} takes no ORDER BY in its OVER clause.", "Drop it.")
    if name in NO_FRAME and framed:
        context.problem_at(node, "window-frame", f"{name} takes no ROWS or RANGE frame.", "Drop the frame.")
    if name in NO_ORDER and isinstance(call, exp.Anonymous) and not _is_share(call.expressions[1:2]):
        context.problem_at(call, "argument-range", f"The second argument of {name} is from 0 to 1.", "Write 0.5.")
    if ordered and isinstance(call, exp.Anonymous):
        distinct = any(a.find(exp.Distinct) for a in call.expressions if isinstance(a, WRAPPERS))
        if distinct:
            context.problem_at(node, "window-order", "A window with DISTINCT takes no ORDER BY.")


def _is_share(arguments: list[exp.Expr]) -> bool:
    """Whether a written number is a share; of anything else nothing is known."""
    value = arguments[0] if arguments else None
    while isinstance(value, WRAPPERS):
        value = value.this
    return not isinstance(value, exp.Literal) or value.is_string or 0 <= float(value.this) <= 1


def _base_name(node: exp.Expr) -> str:
    alias = node.args.get("alias")
    return str(alias.name) if alias is not None else ""


def _named(node: exp.Expr, windows: Mapping[str, exp.Expr]) -> exp.Expr | None:
    """The window of the WINDOW clause that `node` builds on."""
    return windows.get(_base_name(node).lower())


def _inherits(node: exp.Expr, key: str, scope: Scope) -> bool:
    """Whether a window that `node` builds on has a part."""
    seen: set[int] = set()
    base = _named(node, scope.windows)
    while base is not None and id(base) not in seen:
        seen.add(id(base))
        if base.args.get(key):
            return True
        base = _named(base, scope.windows)
    return False


def _check_base(typer: Typer, node: exp.Expr, scope: Scope) -> None:
    name = _base_name(node)
    if not name:
        return
    if name.lower() not in scope.windows:
        message = f"There is no window named {name}."
        typer.context.problem_at(node, "unknown-window", message, "Define it in the WINDOW clause.")
    if node.args.get("partition_by"):
        message = f"A window that builds on {name} cannot have PARTITION BY."
        typer.context.problem_at(node, "window-base", message, f"Put it into the definition of {name}.")
    if node.args.get("order") is not None and _inherits(node, "order", scope):
        message = f"{name} is ordered already; a window that builds on it cannot have another ORDER BY."
        typer.context.problem_at(node, "window-base", message, "Write the whole window out.")


def _partitions(kind: Type) -> bool:
    if kind.kind == ARRAY:
        return kind.element is None or _partitions(kind.element)
    if kind.kind == STRUCT:
        return all(_partitions(field) for _, field in kind.fields)
    return kind.kind not in _NOT_PARTITIONED


# -- frames -----------------------------------------------------------------------------------------


def _check_frame(typer: Typer, node: exp.Expr, spec: exp.Expr, keys: list[Type] | None) -> None:
    """ROWS or RANGE with its bounds; `keys` are the types ordered by, None where another window has them."""
    kind = str(spec.args.get("kind") or "")
    bounds = [(spec.args.get("start"), str(spec.args.get("start_side") or ""))]
    end = spec.args.get("end")
    bounds.append((_CURRENT, "") if end is None else (end, str(spec.args.get("end_side") or "")))
    problem = _kind_problem(kind) or _bounds_problem(bounds) or _offset_problem(kind, bounds)
    if not problem and kind == "RANGE" and keys is not None:
        problem = _range_problem(bounds, keys)
    if problem:
        typer.context.problem_at(node, "window-frame", *problem)


def _kind_problem(kind: str) -> tuple[str, str] | None:
    if kind in ("ROWS", "RANGE"):
        return None
    return f"BigQuery has no {kind} frame.", "Use ROWS or RANGE."


def _rank(value: object, side: str) -> int:
    if value == _CURRENT:
        return 2
    far = value == _UNBOUNDED
    return (0 if far else 1) if side == "PRECEDING" else (4 if far else 3)


def _bounds_problem(bounds: list[tuple[object, str]]) -> tuple[str, str] | None:
    start, end = (_rank(*bound) for bound in bounds)
    if start > end or start == 4 or end == 0:
        return "The frame begins after its end.", _ORDER_OF_BOUNDS
    return None


def _offsets(bounds: list[tuple[object, str]]) -> list[exp.Expr]:
    return [value for value, _ in bounds if isinstance(value, exp.Expr)]


def _offset_problem(kind: str, bounds: list[tuple[object, str]]) -> tuple[str, str] | None:
    for offset in _offsets(bounds):
        value = offset.unnest()
        if isinstance(value, (exp.Parameter, exp.Placeholder)):
            continue
        text = value.sql(dialect="bigquery")
        if not isinstance(value, exp.Literal) or value.is_string:
            return f"The bound {text} of the frame is no written number of 0 or more.", "Write ROWS 2 PRECEDING."
        if kind == "ROWS" and not str(value.this).isdigit():
            return f"A ROWS frame counts whole rows, not {text}.", "Write ROWS 2 PRECEDING."
    return None


def _range_problem(bounds: list[tuple[object, str]], keys: list[Type]) -> tuple[str, str] | None:
    if not _offsets(bounds):
        whole = [_rank(*bound) for bound in bounds] == [0, 4]
        return None if keys or whole else ("A RANGE frame needs ORDER BY.", "Add ORDER BY, or drop the frame.")
    if len(keys) != 1:
        return "A RANGE frame with a distance needs ORDER BY with exactly one key.", "Order by one number."
    if keys[0].kind == "INT64" and any(not str(value.this).isdigit() for value in _offsets(bounds)):
        return "A RANGE frame over INT64 takes a whole number.", "Write RANGE BETWEEN 10 PRECEDING AND CURRENT ROW."
    if keys[0].numeric or keys[0].unknown:
        return None
    hint = "Order by UNIX_DATE(date)." if keys[0].kind == "DATE" else "Use ROWS, or order by a number."
    return f"A RANGE frame with a distance is ordered by a number, not by {keys[0]}.", hint
