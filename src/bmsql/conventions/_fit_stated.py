"""Values and places that a question states, in forms other than one comparison.

::

    approved or in phase 3    WHERE phase = 4                  -- repaired: phase IN (3, 4)
    within 100 kb of rs1      WHERE p < 5e-8                   -- rejected: no condition on the position
"""

from __future__ import annotations

from sqlglot import exp

from bmsql.conventions._conditions import Atom
from bmsql.conventions._place import both, column_of, drop, literal
from bmsql.conventions._scopes import Source
from bmsql.conventions._threshold import Work, sql
from bmsql.semantic import SemanticModel
from bmsql.types import Filter, Fix, Plan, Problem


def keep_values(work: Work, filter_: Filter, base: Source) -> list[Fix]:
    """Make the draft keep the one of several values of a column that the question states, in place."""
    atoms = [atom for atom in work.atoms if atom.about(base, filter_.target)]
    if _says(atoms, filter_):
        return []
    name = work.model.column(base.table, filter_.target) or ""
    column = column_of(work.scopes, base, name)
    wanted = exp.In(this=column, expressions=[literal(value) for value in sorted(filter_.values, key=float)])
    was = ", ".join(sql(atom.node) for atom in atoms)
    if atoms:
        for atom in atoms[1:]:
            drop(atom.node)
        atoms[0].node.replace(wanted)
    elif base.join is not None and (base.join.side or ""):
        return []  # an optional source: where the condition goes is its author's choice
    else:
        _add(base.scope.select, wanted)
    work.touched()
    words = f" ('{filter_.words}')" if filter_.words else ""
    message = f"{sql(wanted)}{f' instead of {was}' if was else ''}: the question states it{words}."
    return [Fix(code="condition", message=message, before=was, after=sql(wanted))]


def _says(atoms: list[Atom], filter_: Filter) -> bool:
    """Whether points together, or one range, keep just the values."""
    wanted = set(filter_.values)
    points: set[object] = set()
    for atom in atoms:
        kept = atom.reading.kept
        if kept.is_range and all(kept.holds(value) for value in wanted):
            below = min(float(value) for value in wanted) - 1
            return not kept.holds(below)
        points |= kept.points or set()
    return points == wanted


def _add(select: exp.Select, condition: exp.Expr) -> None:
    where = select.args.get("where")
    if where is None:
        select.set("where", exp.Where(this=condition))
    else:
        where.set("this", both(where.this, condition))


def missing_places(work: Work, plan: Plan) -> list[Problem]:
    """Problems for a region, or a distance, that no condition of the draft speaks of."""
    problems = []
    for filter_ in plan.filters:
        if filter_.op in {"near", "region"} and not filter_.negated and not _reads_positions(work):
            where = " or ".join(sorted(_positions(work)))
            problems.append(
                Problem(
                    code="missing-condition",
                    message=f"The question asks for a place ('{filter_.words.strip()}'); no condition speaks of it.",
                    suggestion=f"Add conditions on the chromosome and on {where or 'the position'}.",
                )
            )
    return problems


def _positions(work: Work) -> set[str]:
    """The position columns of the tables that the draft reads."""
    roles = position_roles(work.model)
    return {name for base in work.scopes.bases() for role in roles if (name := work.model.column(base.table, role))}


def position_roles(model: SemanticModel) -> set[str]:
    """The roles that hold a position on a chromosome, in any genome build."""
    builds = [recipe.builds for spec in model.entities.values() for recipe in spec.match.values()]
    return {position for build in builds for _, position in build.values()}


def _reads_positions(work: Work) -> bool:
    names = {name.lower() for name in _positions(work)}
    return any(
        column.name.lower() in names and column.find_ancestor(exp.Where, exp.Join, exp.Having, exp.Qualify) is not None
        for column in work.tree.find_all(exp.Column)
    )
