"""Dropped and wrong thresholds: p-values, HEIDI, approval, signs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

_P = ("p", "p_smr_multi", "p_smr", "p_gwas")
_APPROVAL = ("max_phase_for_ind", "drugisapproved")
_SIGN = ("b", "b_smr")
_COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ)


def conditions(tree: exp.Query, names: tuple[str, ...]) -> list[exp.Expr]:
    """Comparisons of a column of these names with a constant, in WHERE and ON."""
    return [
        node
        for node in tree.find_all(*_COMPARISONS)
        if isinstance(node.this, exp.Column)
        and node.this.name.lower() in names
        and isinstance(node.expression, exp.Literal | exp.Boolean | exp.Neg)
        and node.find_ancestor(exp.Where, exp.Join) is not None
    ]


def without(tree: exp.Query, numbers: list[int], names: tuple[str, ...]) -> exp.Query:
    """A copy without some of the conditions."""
    copied = tree.copy()
    found = conditions(copied, names)
    for number in numbers:
        _drop(found[number])
    return copied


def _drop(node: exp.Expr) -> None:
    parent = node.parent
    if isinstance(parent, exp.And | exp.Or):
        other = parent.expression if parent.this is node else parent.this
        parent.replace(other)
    elif isinstance(parent, exp.Where):
        parent.pop()
    elif isinstance(parent, exp.Paren):
        _drop(parent)
    else:
        node.replace(exp.true())


def _dropping(names: tuple[str, ...], *, all_of_them: bool = False) -> Callable[[exp.Query, str], Iterator[str]]:
    def damage(tree: exp.Query, sql: str) -> Iterator[str]:
        count = len(conditions(tree, names))
        if all_of_them:
            if count > 1:
                yield without(tree, list(range(count)), names).sql("bigquery")
            return
        for number in range(count):
            yield without(tree, [number], names).sql("bigquery")

    return damage


def _changing(
    names: tuple[str, ...], change: Callable[[exp.Expr], list[exp.Expr]]
) -> Callable[[exp.Query, str], Iterator[str]]:
    def damage(tree: exp.Query, sql: str) -> Iterator[str]:
        for number, found in enumerate(conditions(tree, names)):
            for new in change(found):
                copied = tree.copy()
                conditions(copied, names)[number].replace(new)
                yield copied.sql("bigquery")

    return damage


def _bounds(*values: str) -> Callable[[exp.Expr], list[exp.Expr]]:
    def change(node: exp.Expr) -> list[exp.Expr]:
        if isinstance(node, exp.EQ) or node.expression.name in values:
            return []
        return [type(node)(this=node.this.copy(), expression=exp.Literal.number(value)) for value in values]

    return change


def _inclusive(node: exp.Expr) -> list[exp.Expr]:
    other = {exp.LT: exp.LTE, exp.GT: exp.GTE}.get(type(node))
    return [other(this=node.this.copy(), expression=node.expression.copy())] if other else []


def _logarithm(node: exp.Expr) -> list[exp.Expr]:
    if not isinstance(node, exp.LT) or node.expression.name != "5e-8":
        return []
    return [exp.GT(this=exp.Neg(this=exp.func("LOG10", node.this.copy())), expression=exp.Literal.number("7.3"))]


def _column(*names: str) -> Callable[[exp.Expr], list[exp.Expr]]:
    def change(node: exp.Expr) -> list[exp.Expr]:
        changed = []
        for name in names:
            if node.this.name.lower() != "p_smr_multi" or not isinstance(node, exp.LT):
                continue
            new = node.copy()
            new.this.set("this", exp.to_identifier(name))
            changed.append(new)
        return changed

    return change


def _flipped(node: exp.Expr) -> list[exp.Expr]:
    other = {exp.LT: exp.GT, exp.GT: exp.LT}.get(type(node))
    return [other(this=node.this.copy(), expression=node.expression.copy())] if other else []


def _weaker_approval(node: exp.Expr) -> list[exp.Expr]:
    if node.this.name.lower() == "max_phase_for_ind" and isinstance(node, exp.EQ) and node.expression.name == "4":
        lower = [exp.GTE(this=node.this.copy(), expression=exp.Literal.number(value)) for value in ("1", "2", "3")]
        return [*lower, exp.EQ(this=node.this.copy(), expression=exp.Literal.number("3"))]
    if node.this.name.lower() == "drugisapproved" and node.expression == exp.true():
        new = node.copy()
        new.this.set("this", exp.to_identifier("maxClinicalTrialPhase"))
        return [exp.GTE(this=new.this, expression=exp.Literal.number("3"))]
    return []


DAMAGES = {
    "drop a p-value threshold": _dropping(_P),
    "drop all p-value thresholds": _dropping(_P, all_of_them=True),
    "p at 0.05": _changing(_P, _bounds("0.05")),
    "p at another cut-off": _changing(_P, _bounds("5e-6", "1e-5", "0.01", "1e-3")),
    "a stricter p": _changing(_P, _bounds("5e-10", "1e-12")),
    "p <= in place of <": _changing(_P, _inclusive),
    "a logarithm of p": _changing(_P, _logarithm),
    "the wrong p column": _changing(_P, _column("p_SMR", "p_GWAS", "p_eQTL")),
    "drop HEIDI": _dropping(("p_heidi",)),
    "HEIDI at another cut-off": _changing(("p_heidi",), _bounds("0.05", "0.001")),
    "HEIDI the wrong way round": _changing(("p_heidi",), _flipped),
    "drop p and HEIDI": _dropping(("p_smr_multi", "p_heidi"), all_of_them=True),
    "drop the approval filter": _dropping(_APPROVAL),
    "a weaker approval filter": _changing(_APPROVAL, _weaker_approval),
    "drop the sign of the effect": _dropping(_SIGN),
}
