"""The walker: types every expression of a query once, and gathers what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sqlglot import exp

from bmsql.sql._analysis._context import Context
from bmsql.sql._analysis._names import field_type, path_of, resolve
from bmsql.sql._analysis._scope import Column, Relation, Resolution, Scope
from bmsql.sql._source import Edit
from bmsql.sql._types import UNKNOWN, Type


class Env(NamedTuple):
    """Where an expression stands, and what is allowed there. `inside`: an aggregate or window."""

    scope: Scope
    clause: str
    aggregates: bool = False
    windows: bool = False
    aliases: bool = False
    inside: str = ""


Handler = Callable[["Typer", exp.Expr, Env], Type]


class Typer:
    """One analysis of one tree; not shared between threads."""

    def __init__(self, context: Context, tree: exp.Expr) -> None:
        self.context = context
        self.resolutions: dict[int, Resolution] = {}
        # Names that qualify columns: a table that is rewritten must keep the name they use.
        self.qualifiers = {column.parts[0].name.lower() for column in tree.find_all(exp.Column)}
        # Nodes that look like tables and are arrays of a table in scope: `FROM t, t.tags`.
        self.arrays: set[int] = set()

    def query(
        self, node: exp.Expr, parent: Scope | None, ctes: dict[str, tuple[Column, ...] | None]
    ) -> tuple[Column, ...] | None:
        """The columns of a query; None when they cannot all be known."""
        from bmsql.sql._analysis._query import query_columns

        return query_columns(node, parent, ctes, self)

    def infer(
        self,
        node: exp.Expr,
        scope: Scope,
        clause: str,
        *,
        aggregates: bool = False,
        windows: bool = False,
        aliases: bool = False,
    ) -> Type:
        """The type of an expression in a clause."""
        return self.type_of(node, Env(scope, clause, aggregates, windows, aliases))

    def type_of(self, node: exp.Expr, env: Env) -> Type:
        """The type of an expression; unknown kinds of nodes are walked through."""
        from bmsql.sql._analysis._infer import HANDLERS

        handler = HANDLERS.get(type(node))
        if handler is not None:
            return handler(self, node, env)
        for child in node.iter_expressions():
            self.type_of(child, env)
        return UNKNOWN

    def column(self, node: exp.Expr, env: Env) -> Type:
        """The type of a column reference."""
        if isinstance(node, exp.Column) and node.meta.get("quoted_column"):
            self._place_quoted(node, env)
        found = resolve(node, env.scope, self.context, env.clause, env.aliases)
        self.resolutions[id(node)] = found
        return found.type

    def _place_quoted(self, node: exp.Column, env: Env) -> None:
        """Give the parts of a path in one pair of backticks their place; repair it where it names a column.

        The parser splits such a path, and BigQuery does so for a table's full name only.
        """
        parts = list(node.parts)
        names = [part.name for part in parts]
        for token in self.context.source.tokens:
            if token.kind != "quoted" or "." not in token.text:
                continue
            quoted = token.text.strip("`").split(".")
            if quoted != names[: len(quoted)]:
                continue
            after = token.end + 1 if len(quoted) < len(names) else token.start
            for index, part in enumerate(parts):
                start = token.start if index < len(quoted) else after
                part.meta.update(start=start, end=(token.end if start == token.start else start + len(part.name)) - 1)
            if len(quoted) == len(names) and any(level.relation(names[0].lower()) for level in env.scope.chain()):
                replacement = ".".join(names)
                self.context.edit(
                    Edit(token.start, token.end, replacement),
                    "quoted-path",
                    "A path in backticks is quoted part by part.",
                    token.text,
                )
            return

    def field(self, kind: Type, name: str, node: exp.Expr) -> Type:
        """The type of a field of a value."""
        return field_type(kind, name, node, self.context)

    def condition(self, node: exp.Expr, scope: Scope, clause: str, **allowed: bool) -> None:
        """Type a condition, which must be BOOL."""
        kind = self.infer(node, scope, clause, **allowed)
        self.require_bool(node, kind, clause)

    def require_bool(self, node: exp.Expr, kind: Type, where: str) -> None:
        """Record a problem when a condition is not BOOL."""
        if kind.kind in ("BOOL", "NULL") or kind.unknown:
            return
        hint = (
            "Compare it with something, for example > 0."
            if kind.numeric
            else "Compare it with something, for example = 'text'."
        )
        self.context.problem_at(node, "condition-not-bool", f"{where} needs a BOOL condition; this is {kind}.", hint)

    def relations_of(self, node: exp.Expr) -> set[Relation | None]:
        """The FROM items that an expression reads; None stands for one that is not known."""
        found: set[Relation | None] = set()
        for column in node.find_all(exp.Column):
            resolution = self.resolutions.get(id(column))
            if resolution is not None:
                found.add(resolution.relation)
        return found

    def path_type(self, node: exp.Expr, env: Env) -> Type:
        """The type of a dotted expression: a long path, or a field of a computed value."""
        base = node
        while isinstance(base, exp.Dot):
            base = base.this
        if (
            isinstance(base, exp.Column)
            and not isinstance(base.this, exp.Star)
            and all(isinstance(part, exp.Identifier) for part in path_of(node))
        ):
            return self.column(node, env)
        if isinstance(node.expression, exp.Identifier):
            return self.field(self.type_of(node.this, env), node.expression.name, node)
        return self.type_of(node.expression, env)
