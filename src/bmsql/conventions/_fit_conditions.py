"""The figures that a question states against those of a draft.

::

    Huntington drugs at phase 3 or beyond    SELECT drug FROM indications WHERE phase >= 2   -- repaired
    PD SNPs with p below 1e-20               SELECT SNP FROM gwas WHERE -LOG10(p) > 20       -- repaired
"""

from __future__ import annotations

import re

from sqlglot import exp

from bmsql.conventions._fit_stated import keep_values, missing_places
from bmsql.conventions._place import comparison
from bmsql.conventions._roles import roles_of
from bmsql.conventions._schema import Rule
from bmsql.conventions._scopes import Source
from bmsql.conventions._threshold import Demand, Work, enforce, sql
from bmsql.semantic import SemanticModel
from bmsql.types import Filter, Fix, Plan, Problem

_WORD = re.compile(r"[a-z]{4,}")
_OPERATORS = {"<", "<=", ">", ">=", "="}


def fit_conditions(tree: exp.Query, plan: Plan, model: SemanticModel) -> tuple[list[Fix], list[Problem]]:
    """Make the draft keep to the comparisons with numbers that the plan states, in place."""
    work = Work(tree, model)
    fixes = _without_logarithms(work)
    for filter_ in plan.filters:
        if not _is_stated(filter_, plan, model):
            continue
        keep = _kept if len(filter_.values) == 1 else keep_values
        bases = _bases(work, filter_, plan)
        # Where several uses of a table could be the one source that is meant, the draft's author knows which.
        for base in bases if not filter_.source or len(bases) == 1 else ():
            fixes += keep(work, filter_, base)
    problems = [_unnamed(filter_, work) for filter_ in plan.filters if _is_dropped(filter_, work, plan)]
    problems += missing_places(work, plan)
    return (fixes, []) if not problems else ([], problems)


def _is_dropped(filter_: Filter, work: Work, plan: Plan) -> bool:
    """Whether the question names a thing that no condition of the draft speaks of, by column or by value."""
    entity = work.model.entities.get(filter_.target)
    # A category may be asked after ("an agonist or an antagonist?"), a region said in many ways.
    if (
        entity is None
        or entity.kind == "region"
        or (entity.kind == "category" and not _is_named(filter_, plan))
        or filter_.op != "match"
        or filter_.negated
        or not filter_.values
    ):
        return False
    texts = [str(value).lower() for value in filter_.values]
    texts += [mention.text.lower() for mention in plan.mentions if mention.entity == filter_.target]
    literals = [literal.name.lower() for literal in work.tree.find_all(exp.Literal)]
    if any(text in literal for text in texts for literal in literals):
        return False
    if entity.kind == "category" and _WORD.findall(" ".join(texts)):
        # A category may be said in another column: any telling word of it will do.
        words = {word for text in texts for word in _WORD.findall(text)}
        if any(word in literal for word in words for literal in literals) or _says_more(work, plan):
            return False
    read = {base.table for base in work.scopes.bases()}
    if any(filter_.target in {*work.model.tables[table].about, *work.model.tables[table].covers} for table in read):
        return False
    names = {filter_.target, *(name for name, spec in work.model.entities.items() if filter_.target == spec.same_as)}
    roles: set[str] = set()
    for name in names:
        for recipe in work.model.entities[name].match.values():
            roles |= {*recipe.roles, *recipe.ids, *(role for build in recipe.builds.values() for role in build)}
    for scope in work.scopes.all:
        for column in scope.select.find_all(exp.Column):
            if column.find_ancestor(exp.Where, exp.Join, exp.Having, exp.Qualify) is None:
                continue
            if column.find_ancestor(exp.Select) is scope.select and any(
                role in roles for _, role, _ in work.scopes.origins(scope, column)
            ):
                return False
    return True


def _says_more(work: Work, plan: Plan) -> bool:
    """Whether the draft compares a text column that no thing named by the plan explains: it may say the category there.

    One category may imply another, as a data set its tissue.
    """
    entities = work.model.entities
    named = [one for one in plan.filters if one.target in entities and entities[one.target].kind != "category"]
    told = {role for filter_ in named for role in roles_of(filter_.target, work.model)}
    for scope in work.scopes.all:
        for literal in scope.select.find_all(exp.Literal):
            condition = literal.find_ancestor(exp.Predicate, exp.Func) if literal.is_string else None
            if condition is None or condition.find_ancestor(exp.Where, exp.Join) is None:
                continue
            for column in condition.find_all(exp.Column):
                if {role for _, role, _ in work.scopes.origins(scope, column)} - told:
                    return True
    return False


def _is_named(filter_: Filter, plan: Plan) -> bool:
    """Whether a category is named for what rows must have: not by a verb, nor to be asked after."""
    words = filter_.words.lower()
    values = [str(value).lower() for value in filter_.values]
    named = any(words.startswith(value) or set(words.split()) <= set(value.split()) for value in values)
    return bool(words) and named and plan.intent in {"list", "count", "group", "rank"}


def _unnamed(filter_: Filter, work: Work) -> Problem:
    entity = work.model.entities[filter_.target]
    named = filter_.words or ", ".join(map(str, filter_.values))
    columns = dict.fromkeys(
        column
        for base in work.scopes.bases()
        if (recipe := entity.match.get(work.model.tables[base.table].family))
        for role in recipe.roles
        if (column := work.model.column(base.table, role))
    )
    where = f" on {' or '.join(columns)}" if columns else ""
    return Problem(
        code="missing-condition",
        message=f"The question names the {entity.label} '{named}', but no condition of the query speaks of it.",
        suggestion=f"Add a condition{where} for {', '.join(repr(str(value)) for value in filter_.values)}.",
    )


def _is_stated(filter_: Filter, plan: Plan, model: SemanticModel) -> bool:
    if filter_.op not in _OPERATORS or filter_.any_of or filter_.negated or not filter_.values:
        return False
    if len(filter_.values) > 1 and (filter_.op != "=" or not all(_is_number(value) for value in filter_.values)):
        return False
    value = filter_.values[0]
    if isinstance(value, str) or (isinstance(value, bool) and filter_.op != "="):
        return False
    # Two comparisons of one column are the two ends of a range, or two readings.
    alone = sum(other.target == filter_.target and other.source == filter_.source for other in plan.filters) == 1
    return model.role(filter_.target) is not None and alone


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _bases(work: Work, filter_: Filter, plan: Plan) -> list[Source]:
    tables = {source.table for source in plan.sources if filter_.source in ("", source.alias)}
    return [
        base for base in work.scopes.bases() if base.table in tables and work.model.column(base.table, filter_.target)
    ]


def _kept(work: Work, filter_: Filter, base: Source) -> list[Fix]:
    name = work.model.column(base.table, filter_.target) or ""
    written = [
        column
        for column in _columns_of(work, base, name)
        if column.find_ancestor(exp.Where, exp.Join) and not _is_null_test(column)
    ]
    if written and not any(atom.about(base, filter_.target) for atom in work.atoms):
        # It stands in a condition of another form, which may well say it.
        return []
    rule = Rule(
        name="stated",
        title="stated",
        role=filter_.target,
        op=filter_.op,
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


def _is_null_test(column: exp.Column) -> bool:
    return isinstance(column.parent, exp.Is) and isinstance(column.parent.expression, exp.Null)


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
