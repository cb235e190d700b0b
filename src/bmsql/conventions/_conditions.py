"""The conditions of a query that filter rows, each with the stored column it speaks of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from bmsql.conventions._read import Reading, bare, read_condition
from bmsql.conventions._scopes import Scope, Scopes, Source, is_grouped, lone_extreme

Origins = list[tuple[Source, str, str]]


@dataclass(eq=False, slots=True)
class Clause:
    """A clause that keeps rows: `holder.args[key]` is its expression. `case` is a condition in the output."""

    scope: Scope
    holder: exp.Expr
    key: str
    kind: Literal["where", "on", "having", "qualify", "case"]
    join: exp.Join | None = None

    @property
    def expression(self) -> exp.Expr | None:
        """The condition as it stands now."""
        found = self.holder.args.get(self.key)
        return found if isinstance(found, exp.Expr) else None

    def filters(self, source: Source) -> bool:
        """Whether it drops rows of `source`, which the ON of an outer join does on its optional side only."""
        if self.kind != "on" or self.join is None:
            return True
        side = (self.join.side or "").upper()
        if side == "LEFT":
            return source.join is self.join
        if side == "RIGHT":
            return source.join is not self.join
        return side != "FULL"


@dataclass(eq=False, slots=True)
class Atom:
    """One condition on one column, in a clause."""

    node: exp.Expr
    reading: Reading
    clause: Clause
    via: Source | None
    origins: Origins

    def about(self, base: Source, role: str) -> bool:
        """Whether it filters the rows of this table use by the column of `role`."""
        return any(source is base and found == role for source, found, _ in self.origins) and (
            self.via is None or self.clause.filters(self.via)
        )


def clauses(scopes: Scopes) -> Iterator[Clause]:
    """The filtering clauses of all scopes, and the conditions of the output of grouped ones."""
    for scope in scopes.all:
        select = scope.select
        for key in ("where", "having", "qualify"):
            holder = select.args.get(key)
            if holder is not None:
                yield Clause(scope, holder, "this", key)
        for source in scope.sources:
            if source.join is not None and source.join.args.get("on") is not None:
                yield Clause(scope, source.join, "on", "on", source.join)
        if is_grouped(select):
            yield from _cases(scope)


def _cases(scope: Scope) -> Iterator[Clause]:
    """`COUNTIF(p < 5e-8)`, `SUM(IF(...))`: a count that keeps to the rule within its own column."""
    for item in scope.select.expressions:
        for node in item.find_all(exp.CountIf, exp.If):
            if node.this is not None:
                yield Clause(scope, node, "this", "case")


def atoms(scopes: Scopes) -> list[Atom]:
    """All conditions on single stored columns, wherever they stand."""
    found: list[Atom] = []
    for clause in clauses(scopes):
        if clause.expression is None:
            continue
        for node in parts(clause.expression):
            reading = read_condition(node)
            if reading is None:
                continue
            via, origins = _origins(scopes, clause, reading)
            if origins:
                found.append(Atom(node, reading, clause, via, origins))
    return found


def _origins(scopes: Scopes, clause: Clause, reading: Reading) -> tuple[Source | None, Origins]:
    column = reading.column
    origins: Origins = []
    via: Source | None = None
    if clause.kind in {"having", "qualify"} and not column.table:
        origins = scopes.item_origins(clause.scope, column.name)
    if not origins:
        via = scopes.find(clause.scope, column)
        origins = scopes.origins(clause.scope, column)
    if reading.extreme:
        if clause.kind != "having" or not lone_extreme(clause.scope.select):
            return via, []
        origins = [(source, role, reading.extreme) for source, role, inner in origins if not inner]
    return via, origins


def parts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a condition that are joined by AND and OR."""
    stack = [node]
    while stack:
        current = bare(stack.pop())
        if isinstance(current, exp.And | exp.Or):
            stack += [current.expression, current.this]
        else:
            yield current


def conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The parts of a condition that are joined by AND alone."""
    stack = [node]
    while stack:
        current = bare(stack.pop())
        if isinstance(current, exp.And):
            stack += [current.expression, current.this]
        else:
            yield current
