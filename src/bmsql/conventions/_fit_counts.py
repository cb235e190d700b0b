"""What a draft counts and groups by, against what the question asks."""

from __future__ import annotations

from sqlglot import exp

from bmsql.conventions._place import column_of
from bmsql.conventions._roles import roles_of
from bmsql.conventions._scopes import Scope, Scopes, Source, aggregates, branches
from bmsql.semantic import SemanticModel
from bmsql.sql import copied, one_line
from bmsql.types import Aggregate, Fix, Plan, Problem

_FUNCTIONS: dict[str, type[exp.AggFunc]] = {"min": exp.Min, "max": exp.Max, "avg": exp.Avg, "sum": exp.Sum}
_COMPUTED = (exp.Sum, exp.Avg, exp.Min, exp.Max)
_ASKED = {
    "count": "how many rows there are",
    "count_distinct": "how many there are",
    "min": "the smallest value",
    "max": "the largest value",
    "avg": "the mean",
    "sum": "the sum",
}


def fit_counts(tree: exp.Query, plan: Plan, model: SemanticModel) -> tuple[list[Fix], list[Problem]]:
    """Count what the question counts, in place; problems where the query computes something else."""
    scopes = Scopes(tree, model)
    selects = list(branches(tree))
    scope_of = {id(scope.select): scope for scope in scopes.all}
    if plan.aggregate is None:
        return [], _computes_nothing(plan, selects)
    fixes: list[Fix] = []
    for select in selects:
        scope = scope_of.get(id(select))
        if scope is None:
            continue
        problem = _shape(scope, plan, plan.aggregate, scopes)
        if problem is not None:
            return [], [problem]
        made, problem = _functions(scope, plan, plan.aggregate, scopes)
        if problem is not None:
            return [], [problem]
        fixes += made
    return fixes, []


def _computes_nothing(plan: Plan, selects: list[exp.Select]) -> list[Problem]:
    """A question for rows is not answered by one figure; a plan that selects nothing does not say that it is one."""
    if not plan.select or plan.intent not in {"list", "lookup", "exists", "rank"} or plan.group_by:
        return []
    for select in selects:
        found = aggregates(select)
        if found and not select.args.get("group"):
            return [
                Problem(
                    code="wrong-aggregate",
                    message=f"The question asks for rows, but the query computes only {_text(found[0])}.",
                    snippet=_text(found[0]),
                    suggestion="Select the rows themselves, with their evidence key.",
                )
            ]
    return []


def _shape(scope: Scope, plan: Plan, asked: Aggregate, scopes: Scopes) -> Problem | None:
    """Groups where groups are asked for, one figure where one is; and by the right column."""
    select = scope.select
    group = select.args.get("group")
    computed = aggregates(select) or list(select.find_all(exp.AggFunc))
    if not computed and not (group and plan.group_by):
        return Problem(
            code="wrong-aggregate",
            message=f"The question asks {_wanted(plan, asked, scopes.model)}, but the query lists rows.",
            suggestion=_how(plan, asked, scopes.model),
        )
    found = aggregates(select)
    # Counts with conditions of their own, side by side, are groups in another form.
    pivoted = not group and (len(found) > 1 or any(isinstance(node, exp.CountIf) for node in found))
    if bool(group) == bool(plan.group_by) or not found or pivoted:
        return _wrong_group(scope, plan, scopes) if group and plan.group_by else None
    if group:
        return Problem(
            code="wrong-grouping",
            message=f"The question asks {_wanted(plan, asked, scopes.model)}, but the query gives it for each group.",
            snippet=_text(group),
            suggestion="Leave GROUP BY out, and the grouped columns out of the SELECT list.",
        )
    return Problem(
        code="missing-grouping",
        message=f"The question asks {_wanted(plan, asked, scopes.model)}, but the query does not group its rows.",
        suggestion=_how(plan, asked, scopes.model),
    )


def _wrong_group(scope: Scope, plan: Plan, scopes: Scopes) -> Problem | None:
    """A group key that is a stored column, but none that the question groups by."""
    wanted = {role for item in plan.group_by for role in roles_of(item.column, scopes.model)}
    group = scope.select.args["group"]
    named: set[str] = set()
    for written in group.expressions:
        key = _by_position(written, scope.select)
        if not isinstance(key, exp.Column):
            return None
        origins = scopes.origins(scope, key) or scopes.item_origins(scope, key.name)
        if not origins:
            return None
        named |= {role for _, role, _ in origins}
    if not wanted or not named or named & wanted:
        return None
    return Problem(
        code="wrong-grouping",
        message=f"The query groups by {', '.join(_text(key) for key in group.expressions)}, "
        f"but the question asks {_wanted(plan, plan.aggregate, scopes.model)}.",
        snippet=_text(group),
        suggestion=_how(plan, plan.aggregate, scopes.model),
    )


def _by_position(key: exp.Expr, select: exp.Select) -> exp.Expr:
    """The item of the SELECT list that `GROUP BY 1` means."""
    if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit():
        position = int(key.name) - 1
        return select.expressions[position].unalias() if 0 <= position < len(select.expressions) else key
    return key


def _functions(scope: Scope, plan: Plan, asked: Aggregate, scopes: Scopes) -> tuple[list[Fix], Problem | None]:
    fixes: list[Fix] = []
    found = [*aggregates(scope.select), *_in_clauses(scope.select)]
    counts = any(isinstance(node, exp.Count | exp.CountIf) for node in found)
    for node in found:
        if asked.function in {"count", "count_distinct"}:
            if isinstance(node, _COMPUTED) and not counts:
                return [], _other_function(node, plan, asked, scopes.model)
            new = _counting(node, scope, asked, scopes)
        elif isinstance(node, _COMPUTED) and not isinstance(node, _FUNCTIONS[asked.function]):
            new = _FUNCTIONS[asked.function](this=copied(node.this))
        elif isinstance(node, exp.Count | exp.CountIf) and not any(isinstance(one, _COMPUTED) for one in found):
            return [], _other_function(node, plan, asked, scopes.model)
        else:
            new = None
        if new is None or new == node:
            continue
        before, after = _text(node), _text(new)
        node.replace(new)
        what = _wanted(plan, asked, scopes.model)
        fixes.append(
            Fix(
                code="aggregate",
                message=f"{after} instead of {before}: the question asks {what}.",
                before=before,
                after=after,
            )
        )
    return fixes, None


def _in_clauses(select: exp.Select) -> list[exp.Expr]:
    """Aggregates of HAVING and ORDER BY, which must count the same."""
    found: list[exp.Expr] = []
    for key in ("having", "order"):
        clause = select.args.get(key)
        if clause is not None:
            found += [node for node in clause.find_all(exp.AggFunc) if node.find_ancestor(exp.Select) is select]
    return [node for node in found if node.find_ancestor(exp.Window) is None]


def _counting(node: exp.Expr, scope: Scope, asked: Aggregate, scopes: Scopes) -> exp.Expr | None:
    """What `node` should be where the question counts, or None where it is right or nothing is certain."""
    if isinstance(node, exp.CountIf):
        return _counted_if(node, scope, asked, scopes)
    if not isinstance(node, exp.Count):
        return None
    inner = node.this
    of = inner.expressions[0] if isinstance(inner, exp.Distinct) and len(inner.expressions) == 1 else None
    if isinstance(inner, exp.Distinct) and not isinstance(of, exp.Column):
        return None
    bases = [source for source in scope.sources if source.table]
    if not bases:
        return None
    if asked.function == "count":
        if of is None or of.name.lower() == scopes.model.evidence_key.lower() or len(scope.sources) > 1:
            return None
        return None if asked.column else exp.Count(this=exp.Star(), big_int=True)
    entity = scopes.model.entities.get(asked.column)
    if entity is None:
        return None
    base = _base(bases, asked, scopes.model)
    if base is None:
        return None
    if of is not None and _is_of(of, asked.column, scope, scopes):
        return None
    if of is None and not _multiplies(base, scope, asked.column, scopes.model):
        return None
    recipe = entity.match[scopes.model.tables[base.table].family]
    column = scopes.model.column(base.table, recipe.shown)
    if not column or recipe.how in {"item", "listed"}:
        return None
    return exp.Count(this=exp.Distinct(expressions=[column_of(scopes, base, column)]), big_int=True)


def _counted_if(node: exp.CountIf, scope: Scope, asked: Aggregate, scopes: Scopes) -> exp.Expr | None:
    """COUNTIF counts rows; where one of what is counted has several, the different ones are counted."""
    bases = [source for source in scope.sources if source.table]
    if asked.function != "count_distinct" or asked.column not in scopes.model.entities or not bases:
        return None
    base = _base(bases, asked, scopes.model)
    if base is None or not _multiplies(base, scope, asked.column, scopes.model):
        return None
    recipe = scopes.model.entities[asked.column].match[scopes.model.tables[base.table].family]
    column = scopes.model.column(base.table, recipe.shown)
    if not column or recipe.how in {"item", "listed"}:
        return None
    named = column_of(scopes, base, column)
    chosen = exp.If(this=copied(node.this), true=named, false=exp.Null())
    return exp.Count(this=exp.Distinct(expressions=[chosen]), big_int=True)


def _base(bases: list[Source], asked: Aggregate, model: SemanticModel) -> Source | None:
    """The use of a table whose entity is counted: the one of the plan's alias, else the first that has it."""
    match = model.entities[asked.column].match
    having = [base for base in bases if model.tables[base.table].family in match]
    return next(iter(sorted(having, key=lambda base: base.name != asked.source)), None)


def _multiplies(base: Source, scope: Scope, entity: str, model: SemanticModel) -> bool:
    """Whether one of what is counted may have several rows here."""
    family = model.family_of(base.table)
    return family.exploded or family.subject != entity or len(scope.sources) > 1


def _is_of(column: exp.Column, entity: str, scope: Scope, scopes: Scopes) -> bool:
    roles = roles_of(entity, scopes.model)
    origins = scopes.origins(scope, column)
    return not origins or any(role in roles for _, role, _ in origins)


# -- what is said -----------------------------------------------------------------------------------


def _text(node: exp.Expr) -> str:
    return one_line(node, comments=False).strip()


def _plural(name: str, model: SemanticModel) -> str:
    spec = model.entities.get(name)
    if spec is not None:
        return spec.plural
    role = model.role(name)
    return role.meaning.partition(";")[0] if role else name


def _wanted(plan: Plan, asked: Aggregate | None, model: SemanticModel) -> str:
    if asked is None:
        return "something else"
    of = _plural(asked.column, model) if asked.column else "rows"
    what = f"how many {of} there are" if asked.function.startswith("count") else f"{_ASKED[asked.function]} of {of}"
    groups = ", ".join(_plural(item.column, model) for item in plan.group_by)
    return f"{what} by {groups}" if groups else what


def _how(plan: Plan, asked: Aggregate | None, model: SemanticModel) -> str:
    if asked is None:
        return ""
    call = {"count": "COUNT(*)", "count_distinct": "COUNT(DISTINCT ...)"}.get(
        asked.function, f"{asked.function.upper()}(...)"
    )
    of = f" over {_plural(asked.column, model)}" if asked.column else ""
    groups = ", ".join(_plural(item.column, model) for item in plan.group_by)
    return f"Select {call}{of}" + (f", with GROUP BY over {groups}." if groups else ".")


def _other_function(node: exp.Expr, plan: Plan, asked: Aggregate, model: SemanticModel) -> Problem:
    return Problem(
        code="wrong-aggregate",
        message=f"The question asks {_wanted(plan, asked, model)}, but the query computes {_text(node)}.",
        snippet=_text(node),
        suggestion=_how(plan, asked, model),
    )
