"""LIKE, with one pattern or several."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql._analysis._typer import Env, Typer
from bmsql.sql._types import BOOL, Type


def like(typer: Typer, node: exp.Expr, env: Env) -> Type:
    """The type of LIKE, LIKE ANY and LIKE ALL, after checking their sides."""
    kind = typer.type_of(node.this, env)
    pattern = node.expression
    if isinstance(pattern, (exp.Any, exp.All)):
        kinds = _patterns(typer, pattern, env)
    else:
        kinds = [(pattern, typer.type_of(pattern, env))]
    if isinstance(pattern, exp.Null):
        typer.context.problem_at(node, "like-null", "LIKE NULL is never true.", "Use IS NULL.")
    for side, found in ((node.this, kind), *kinds):
        if found.kind not in ("STRING", "BYTES", "NULL") and not found.unknown:
            hint = (
                f"Compare with =, or write CAST({side.sql(dialect='bigquery')} AS STRING)." if side is node.this else ""
            )
            typer.context.problem_at(side, "type-mismatch", f"LIKE compares texts; this is {found}.", hint)
    return BOOL


def _patterns(typer: Typer, pattern: exp.Expr, env: Env) -> list[tuple[exp.Expr, Type]]:
    """The patterns of LIKE ANY and LIKE ALL with their types; they are written out."""
    inner = pattern.this
    if isinstance(inner, exp.Query) or inner.name.upper() == "UNNEST":
        message = "LIKE ANY and LIKE ALL take patterns that are written out."
        hint = "Write EXISTS (SELECT 1 FROM UNNEST(patterns) AS x WHERE text LIKE x)."
        typer.context.problem_at(pattern, "like-patterns", message, hint)
        return []
    items = inner.expressions if isinstance(inner, exp.Tuple) else [inner.unnest()]
    return [(item, typer.type_of(item, env)) for item in items]
