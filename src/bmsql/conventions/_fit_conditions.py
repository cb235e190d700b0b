"""The figures that a question states against those of a draft.

::

    Huntington drugs at phase 3 or beyond    SELECT drug FROM indications WHERE phase >= 2   -- repaired
    PD SNPs with p below 1e-20               SELECT SNP FROM gwas WHERE -LOG10(p) > 20       -- repaired
"""

from __future__ import annotations

from sqlglot import exp

from bmsql.conventions._place import comparison
from bmsql.conventions._schema import Rule
from bmsql.conventions._scopes import Source
from bmsql.conventions._threshold import Demand, Work, enforce, sql
from bmsql.semantic import SemanticModel
from bmsql.types import Filter, Fix, Plan, Problem

_OPERATORS = {"<", "<=", ">", ">=", "="}


def fit_conditions(tree: exp.Query, plan: Plan, model: SemanticModel) -> tuple[list[Fix], list[Problem]]:
    """Make the draft keep to the comparisons with numbers that the plan states, in place."""
    work = Work(tree, model)
    fixes = _without_logarithms(work)
    for filter_ in plan.filters:
        if not _is_stated(filter_, plan, model):
            continue
        bases = _bases(work, filter_, plan)
        # A role that several uses of a table have: which of them is meant, the draft's author knows.
        if len(bases) == 1:
            fixes += _kept(work, filter_, bases[0])
    return fixes, []


def _is_stated(filter_: Filter, plan: Plan, model: SemanticModel) -> bool:
    if filter_.op not in _OPERATORS or filter_.any_of or filter_.negated or len(filter_.values) != 1:
        return False
    value = filter_.values[0]
    if isinstance(value, str) or (isinstance(value, bool) and filter_.op != "="):
        return False
    # Two comparisons of one column are the two ends of a range, or two readings.
    alone = sum(other.target == filter_.target and other.source == filter_.source for other in plan.filters) == 1
    return model.role(filter_.target) is not None and alone


def _bases(work: Work, filter_: Filter, plan: Plan) -> list[Source]:
    tables = {source.table for source in plan.sources if filter_.source in ("", source.alias)}
    return [
        base for base in work.scopes.bases() if base.table in tables and work.model.column(base.table, filter_.target)
    ]


def _kept(work: Work, filter_: Filter, base: Source) -> list[Fix]:
    name = work.model.column(base.table, filter_.target) or ""
    written = [column for column in _columns_of(work, base, name) if column.find_ancestor(exp.Where, exp.Join)]
    if written and not any(atom.about(base, filter_.target) for atom in work.atoms):
        # It stands in a condition of another form, which may well say it.
        return []
    rule = Rule(
        name="stated",
        title="stated",
        role=filter_.target,
        op=filter_.op,  # type: ignore[arg-type]
        value=filter_.values[0],
        reason="the question states it",
        stricter="correct",
    )
    outcome = enforce(work, Demand(rule, rule.op, rule.value, base.node))
    if outcome.status == "already":
        return []
    was = ", ".join(outcome.replaced)
    words = f" ('{filter_.words}')" if filter_.words else ""
    message = f"{outcome.predicate}{f' instead of {was}' if was else ''}: the question states it{words}."
    return [Fix(code="condition", message=message, before=was, after=outcome.predicate)]


def _columns_of(work: Work, base: Source, name: str) -> list[exp.Column]:
    return [
        column
        for scope in work.scopes.all
        for column in scope.select.find_all(exp.Column)
        if column.name.lower() == name.lower()
        and column.find_ancestor(exp.Select) is scope.select
        and work.scopes.find(scope, column) is base
    ]


def _without_logarithms(work: Work) -> list[Fix]:
    """A bound on a logarithm said of the column itself: the logarithm of an underflowed 0 is an error."""
    fixes = []
    for atom in list(work.atoms):
        kept = atom.reading.kept
        bound = kept.high if kept.high is not None else kept.low
        if kept.form != "log" or bound is None or (kept.high is not None and kept.low is not None):
            continue
        inclusive = kept.high_in if kept.high is not None else kept.low_in
        op = ("<" if kept.high is not None else ">") + ("=" if inclusive else "")
        before = sql(atom.node)
        new = comparison(atom.reading.subject, op, float(f"{bound:.6g}"))
        atom.node.replace(new)
        message = f"{sql(new)} instead of {before}: the logarithm fails where the value is 0."
        fixes.append(Fix(code="condition", message=message, before=before, after=sql(new)))
    if fixes:
        work.touched()
    return fixes
