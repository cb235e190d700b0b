"""The tables of a draft against those that can answer the question."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from bmsql.conventions._scopes import Scopes, Source, branches
from bmsql.semantic import SemanticModel
from bmsql.types import Fix, Mention, Plan, Problem


def fit_tables(tree: exp.Query, plan: Plan, model: SemanticModel) -> tuple[list[Fix], list[Problem]]:
    """Exchange look-alikes in place where the columns allow; problems for tables that cannot answer."""
    scopes = Scopes(tree, model)
    uses = list(scopes.bases())
    wanted = list(dict.fromkeys(source.table for source in plan.sources))
    read = {use.table for use in uses}
    fixes: list[Fix] = []
    for wrong in sorted(read - set(wanted)):
        if _is_beside(tree, wrong, wanted, read, model):
            continue
        right = _replacement(scopes, wrong, wanted, read, model)
        if right is None:
            return [], [_problem(plan, model, wrong, wanted)]
        fixes.append(_exchange(scopes, wrong, right, model, _why(plan, model, wrong)))
        read = read - {wrong} | {right}
    missing = [table for table in wanted if table not in read]
    if len(missing) == 1 and (fix := _second_branch(tree, plan, model, uses, missing[0])):
        return [*fixes, fix], []
    # As many tables as the question needs, but another: one of them stands where the missing one should.
    exchanged = len(uses) >= len(plan.sources)
    lacking = [table for table in missing if exchanged or _needed(plan, model, table, read)]
    return (fixes, []) if not lacking else ([], [_missing(plan, model, lacking, read)])


def _is_beside(tree: exp.Query, other: str, wanted: list[str], read: set[str], model: SemanticModel) -> bool:
    """Whether a table of another kind is read beside all that are wanted: it narrows, and does not replace."""
    families = {model.tables[table].family for table in wanted}
    branched = tree.find(exp.SetOperation) is not None
    return set(wanted) <= read and model.tables[other].family not in families and not branched


def _replacement(scopes: Scopes, wrong: str, wanted: list[str], read: set[str], model: SemanticModel) -> str | None:
    """The one table that is wanted, not read, and has all the columns that the draft uses of `wrong`."""
    missing = [table for table in wanted if table not in read]
    family = model.tables[wrong].family
    alike = [table for table in missing if model.tables[table].family == family]
    if not alike and any(model.tables[table].family == family for table in wanted):
        return None
    candidates = [
        table
        for table in alike or missing
        if all(_counterpart(model, wrong, table, column) for column in _columns(scopes, wrong))
    ]
    return candidates[0] if len(candidates) == 1 else None


def _columns(scopes: Scopes, table: str) -> set[str]:
    return {column.name for _, column in _used(scopes, table)}


def _used(scopes: Scopes, table: str) -> Iterator[tuple[Source, exp.Column]]:
    """Each column of the query that is one of `table`, with the use of the table that it comes from."""
    for scope in scopes.all:
        for column in scope.select.find_all(exp.Column):
            if isinstance(column.this, exp.Star) or column.find_ancestor(exp.Select) is not scope.select:
                continue
            source = scopes.find(scope, column)
            if source is not None and source.table == table and scopes.has(source, column.name.lower()):
                yield source, column


def _counterpart(model: SemanticModel, wrong: str, right: str, column: str) -> str:
    """The column of `right` that holds what `column` of `wrong` holds: of the same name or role; or ''."""
    there = {name.lower(): name for name in model.tables[right].columns}
    role = model.role_of(wrong, column)
    if column.lower() in there:
        found = there[column.lower()]
        same = model.role_of(right, found).rpartition(".")[2] == role.rpartition(".")[2]
        return found if same or model.tables[wrong].family == model.tables[right].family else ""
    return model.column(right, f"{model.tables[right].family}.{role.rpartition('.')[2]}") or "" if role else ""


def _exchange(scopes: Scopes, wrong: str, right: str, model: SemanticModel, why: str) -> Fix:
    for source, column in list(_used(scopes, wrong)):
        name = _counterpart(model, wrong, right, column.name)
        if name.lower() != column.name.lower():
            column.this.set("this", name)
        if not source.alias and column.table.rpartition(".")[2].lower() == wrong.lower():
            column.set("table", exp.to_identifier(right, quoted=True))
            for part in ("db", "catalog"):
                column.set(part, None)
    for use in list(scopes.bases()):
        if use.table == wrong:
            _rename(use.node, right)
            use.table = right
    return Fix(code="table", message=f"Reads {right} instead of {wrong}: {why}.", before=wrong, after=right)


def _rename(node: exp.Expr, table: str) -> None:
    """Give a table node another name; a name in one pair of backticks keeps its project and dataset."""
    before = node.name.rpartition(".")[0]
    node.set("this", exp.to_identifier(f"{before}.{table}" if before else table, quoted=True))


def _second_branch(tree: exp.Query, plan: Plan, model: SemanticModel, uses: list[Source], missing: str) -> Fix | None:
    """A UNION that reads one table twice, where the question asks the same of two of them."""
    if plan.combine != "union" or len(plan.sources) != 2 or not isinstance(tree, exp.SetOperation):
        return None
    selects = list(branches(tree))
    if len(selects) != 2 or len(uses) != 2 or uses[0].table != uses[1].table:
        return None
    if [use.scope.select for use in uses] != selects or model.tables[missing].family != model.tables[
        uses[1].table
    ].family:
        return None
    wrong = uses[1].table
    _rename(uses[1].node, missing)
    return Fix(
        code="table",
        message=f"Reads {missing} in the second branch: {wrong} was read twice, and the question asks of both.",
        before=wrong,
        after=missing,
    )


def _needed(plan: Plan, model: SemanticModel, table: str, read: set[str]) -> bool:
    """Whether the question cannot be answered without `table`: it says something that only this one holds.

    A table that is joined by what the rows of another are of, and has no condition of its own, adds nothing.
    """
    families = {model.tables[other].family for other in read if other in model.tables}
    if model.tables[table].family in families or not families:
        return True
    aliases = {source.alias for source in plan.sources if source.table == table}
    joined = {join.entity for join in plan.joins if {join.left, join.right} & aliases}
    subjects = {model.families[family].subject for family in families}
    asked = any(
        filter_.source in aliases and filter_.op != "not_null" and not _matched(filter_.target, families, model)
        for filter_ in plan.filters
    )
    return asked or not joined or not joined <= subjects


def _matched(target: str, families: set[str], model: SemanticModel) -> bool:
    """Whether an entity can be matched in one of the families."""
    return target in model.entities and bool(families & model.entities[target].match.keys())


# -- what is said -----------------------------------------------------------------------------------


def _named(mention: Mention, model: SemanticModel) -> str:
    spec = model.entities.get(mention.entity)
    return f"the {spec.label if spec else mention.entity} '{mention.text}'"


def _holds(model: SemanticModel, table: str, mention: Mention) -> bool:
    """Whether the rows of `table` can be tied to what the question names."""
    spec, entity = model.tables[table], model.entities.get(mention.entity)
    if mention.entity in spec.about:
        return spec.about[mention.entity] == mention.value
    if mention.entity in spec.covers:
        return mention.value in spec.covers[mention.entity]
    return entity is None or spec.family in entity.match


def _why(plan: Plan, model: SemanticModel, wrong: str) -> str:
    """Why a table cannot answer, in words."""
    not_held = [mention for mention in plan.mentions if not _holds(model, wrong, mention)]
    if not_held:
        names = " and ".join(dict.fromkeys(_named(mention, model) for mention in not_held))
        about = ", ".join(model.tables[wrong].about.values())
        return (
            f"the question names {names}, and this table is about {about}"
            if about
            else (f"the question names {names}, which {model.family_of(wrong).label} do not hold")
        )
    return f"the question is not about {model.family_of(wrong).label}"


def _described(model: SemanticModel, table: str) -> str:
    family = model.family_of(table)
    row = f": a row is {family.row}" if family.row else ""
    shown = [column for role in family.show if (column := model.column(table, role))]
    columns = f"; its columns are {', '.join(shown)} and others" if shown else ""
    return f"{table} ({family.label}{row}{columns})"


def _problem(plan: Plan, model: SemanticModel, wrong: str, wanted: list[str]) -> Problem:
    return Problem(
        code="wrong-table",
        message=f"{wrong} ({model.family_of(wrong).label}) cannot answer the question: {_why(plan, model, wrong)}.",
        snippet=wrong,
        suggestion="Read " + " and ".join(_described(model, table) for table in wanted) + ".",
    )


def _missing(plan: Plan, model: SemanticModel, lacking: list[str], read: set[str]) -> Problem:
    together = "each of them, with UNION ALL" if plan.combine == "union" else "them together"
    besides = f" beside {', '.join(sorted(read))}" if read else ""
    return Problem(
        code="missing-table",
        message=f"The question also needs {', '.join(lacking)}{besides}, which the query does not read.",
        suggestion=f"Read {together}: " + "; ".join(_described(model, table) for table in lacking) + ".",
    )
