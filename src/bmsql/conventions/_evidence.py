"""The evidence of a query whose rows carry no key: the keys of the rows under them, capped."""

from __future__ import annotations

from sqlglot import exp

from bmsql.conventions._default_limit import limit_of
from bmsql.conventions._evidence_key import has_key, key_column, takes_key
from bmsql.conventions._scopes import Scopes, branches, is_grouped
from bmsql.semantic import SemanticModel
from bmsql.sql import copied

_MERGING = ("distinct", "group", "having", "qualify", "windows", "order", "limit", "offset")

_GROUPS = "surviving_groups"


def build_evidence(tree: exp.Query, model: SemanticModel) -> exp.Query | None:
    """`SELECT DISTINCT key` over the FROM and WHERE of a DISTINCT, grouped or aggregate query, or None.

    Groups that HAVING or a LIMIT leave out of the result are left out of the evidence too.
    """
    if not model.evidence_key or takes_key(tree):
        return None
    query = _unwrapped(copied(tree))
    scopes = Scopes(query, model)
    if all(has_key(scopes, select, model.evidence_key) for select in branches(query)):
        return None
    with_ = query.args.get("with_")
    keyed: list[exp.Select] = []
    for select in list(branches(query)):
        found = _keyed(select, tree, scopes)
        if found is not None:
            keyed.append(found)
    if not keyed:
        return None
    evidence: exp.Query = keyed[0]
    for other in keyed[1:]:
        evidence = exp.Union(this=evidence, expression=other, distinct=False)
    if with_ is not None:
        evidence.set("with_", with_)
    order = exp.Ordered(this=exp.Literal.number(1), nulls_first=True)
    evidence.set("order", exp.Order(expressions=[order]))
    evidence.set("limit", exp.Limit(expression=exp.Literal.number(model.default_limit)))
    return evidence


def _unwrapped(tree: exp.Query) -> exp.Query:
    while isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Query) and not tree.args.get("with_"):
        tree = tree.this
    return tree


def _keyed(select: exp.Select, tree: exp.Query, scopes: Scopes) -> exp.Select | None:
    scope = next((found for found in scopes.all if found.select is select), None)
    if scope is None or not scope.sources:
        return None
    column = key_column(scopes, scope, scopes.model.evidence_key)
    if column is None:
        # Its rows are merged already: the evidence lies one query deeper.
        bodies = [source.body for source in scope.sources if source.body is not None]
        for body in bodies:
            inner = [found for part in branches(body) if (found := _keyed(part, body, scopes)) is not None]
            if len(inner) == 1:
                return inner[0]
        return None
    restriction = _surviving_groups(select, tree, scopes.model.default_limit)
    result = select
    result.set("expressions", [column])
    for key in (*_MERGING, "with_"):
        result.set(key, None)
    if restriction is not None:
        where = result.args.get("where")
        if where is None:
            result.set("where", exp.Where(this=restriction))
        else:
            left = exp.Paren(this=where.this) if isinstance(where.this, exp.Or) else where.this
            where.set("this", exp.And(this=left, expression=restriction))
    # A join repeats the rows of its main source, and evidence names each once.
    result.set("distinct", exp.Distinct())
    result.pop()
    return result


def _surviving_groups(select: exp.Select, tree: exp.Query, cap: int) -> exp.Expr | None:
    """Whether a row is of a group in the result, where the query drops groups by HAVING or a small LIMIT.

    `key IN (SELECT key FROM the query)`; for several keys EXISTS, because an IN of tuples compares STRUCTs.
    """
    group = select.args.get("group")
    limit = limit_of(tree)
    small = limit is not None and limit.expression.is_int and int(limit.expression.name) < cap
    if not (small or select.args.get("having")) or (is_grouped(select) and group is None):
        return None
    expressions = group.expressions if group is not None else select.expressions
    keys = [_group_key(select, item) for item in expressions]
    if not keys or any(key is None for key in keys):
        return None
    known = [key for key in keys if key is not None]
    result = copied(select)
    result.set("with_", None)
    source = exp.Subquery(this=result, alias=exp.TableAlias(this=exp.to_identifier("result")))
    names = [exp.Column(this=exp.to_identifier(name), table=exp.to_identifier("result")) for _, name in known]
    values = [copied(value) for value, _ in known]
    if len(known) == 1:
        surviving = exp.Select(expressions=names, from_=exp.From(this=source))
        return exp.In(this=values[0], query=exp.Subquery(this=surviving))
    # Names of their own, so that those in `values` mean the columns of the outer query.
    renamed = [exp.alias_(name, f"group_key_{number}", copy=False) for number, name in enumerate(names, start=1)]
    groups = exp.Subquery(
        this=exp.Select(expressions=renamed, from_=exp.From(this=source)),
        alias=exp.TableAlias(this=exp.to_identifier(_GROUPS)),
    )
    equal = [
        exp.EQ(
            this=exp.Column(this=exp.to_identifier(item.alias), table=exp.to_identifier(_GROUPS)),
            expression=value if isinstance(value, exp.Column | exp.Literal | exp.Anonymous) else exp.Paren(this=value),
        )
        for item, value in zip(renamed, values, strict=True)
    ]
    found = exp.Select(expressions=[exp.Literal.number(1)], from_=exp.From(this=groups))
    found.set("where", exp.Where(this=exp.and_(*equal, copy=False)))
    return exp.Exists(this=found)


def _group_key(select: exp.Select, item: exp.Expr) -> tuple[exp.Expr, str] | None:
    """The expression that is grouped by, and the name under which the result shows it."""
    if isinstance(item, exp.Literal) and not item.is_string:
        position = int(item.name) - 1
        item = select.expressions[position] if position < len(select.expressions) else item
    for shown in select.expressions:
        value = shown.this if isinstance(shown, exp.Alias) else shown
        named = isinstance(item, exp.Column) and not item.table and item.name.lower() == shown.alias_or_name.lower()
        if shown is item or named or value == item:
            return (value, shown.alias_or_name) if shown.alias_or_name and not value.is_star else None
    return None
