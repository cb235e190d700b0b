"""Conditions that a draft adds of its own, and that the question does not ask for.

::

    How many SNPs are significant in Parkinson's?    ... WHERE p < 5e-8 AND freq > 0.05    -- freq is left out
    Is rs1 significant?                              ... WHERE snp = 'rs1' AND p < 5e-8    -- p is left out, and judged

A condition counts as asked for where the plan, a word of the question or a value in it speaks of its column. Conditions
that leave out what is not recorded stay.
"""

from __future__ import annotations

import re

from sqlglot import exp

from bmsql.conventions._asked import asked_roles, words_ask
from bmsql.conventions._book import RuleBook
from bmsql.conventions._conditions import atoms, clauses, conjuncts
from bmsql.conventions._place import drop
from bmsql.conventions._read import bare, constant, read_condition
from bmsql.conventions._scopes import Scope, Scopes
from bmsql.conventions._values import kept_by
from bmsql.semantic import SemanticModel
from bmsql.sql import one_line
from bmsql.types import Fix, Plan

# Words of a text that are long enough to name something, or hold a digit.
_TELLING = re.compile(r"[a-z]{4,}|[a-z]+\d[a-z\d]*|^[a-z]{2,3}$")
_NUMBER = re.compile(r"\d[\d.,]*(?:e-?\d+)?")


def fit_unasked(tree: exp.Query, plan: Plan, model: SemanticModel, rules: RuleBook, question: str) -> list[Fix]:
    """Leave out what nothing in the question asks for, in place."""
    scopes = Scopes(tree, model)
    tables = {source.table for source in plan.sources}
    spoken = {role for atom in atoms(scopes) for _, role, _ in atom.origins}
    asked = asked_roles(plan, model, rules, spoken)
    found: list[tuple[exp.Expr, str]] = []
    for clause in clauses(scopes):
        if clause.kind not in {"where", "on"} or clause.expression is None:
            continue
        for part in conjuncts(clause.expression):
            role = _role(part, clause.scope, scopes, tables)
            if role and (_drops_the_best(part, role, rules) or _is_mistaken(part, role, plan, rules, spoken)):
                found.append((part, role))
                continue
            if not role or role in asked or _keeps_recorded(part, role, model, rules):
                continue
            if not _value_is_named(part, question) and not words_ask(question, role, plan, rules):
                found.append((part, role))
    return [_left_out(part, role, model) for part, role in found]


def _role(part: exp.Expr, scope: Scope, scopes: Scopes, tables: set[str]) -> str:
    """The role of the one column that a condition compares with constants; '' for any other condition."""
    if part.find(exp.Query, exp.AggFunc, exp.Window, exp.Null) or not part.find(exp.Predicate, exp.Boolean, exp.Column):
        return ""
    columns = list(part.find_all(exp.Column))
    names = {(column.table.lower(), column.name.lower()) for column in columns}
    if len(names) != 1 or isinstance(columns[0].this, exp.Star):
        return ""
    origins = scopes.origins(scope, columns[0])
    roles = {role for source, role, extreme in origins if source.table in tables and not extreme}
    return roles.pop() if len(roles) == 1 and len(origins) >= 1 else ""


def _keeps_recorded(part: exp.Expr, role: str, model: SemanticModel, rules: RuleBook) -> bool:
    """Whether it leaves out only what stands for "not recorded": year > 0, name != ''."""
    node = bare(part)
    if isinstance(node, exp.NEQ) and constant(node.expression) in {"", None}:
        return True
    spec = model.role(role)
    missing = [value for value in (spec.missing if spec else ()) if isinstance(value, int | float)]
    below = [rule.not_recorded.below for rule in rules if rule.role == role and rule.not_recorded is not None]
    reading = read_condition(part)
    if reading is None:
        return False
    kept = reading.kept
    if kept.excluded is not None:
        return all(value in missing or value == "" for value in kept.excluded)
    limits = [*missing, *(value for value in below if value is not None)]
    return bool(limits) and kept.is_range and kept.high is None and kept.low is not None and kept.low <= max(limits)


def _drops_the_best(part: exp.Expr, role: str, rules: RuleBook) -> bool:
    """Whether it leaves out p-values of 0, which are the smallest of all."""
    reading = read_condition(part)
    rule = next((one for one in rules if one.role == role and one.kind == "threshold" and one.op == "<"), None)
    if reading is None or rule is None or reading.extreme:
        return False
    kept = reading.kept
    return kept.excluded == frozenset({0}) or (
        kept.is_range and kept.low == 0 and not kept.low_in and kept.high is None
    )


def _is_mistaken(part: exp.Expr, role: str, plan: Plan, rules: RuleBook, spoken: set[str]) -> bool:
    """Whether it stands for a rule on the wrong column, beside a condition on the right one."""
    reading = read_condition(part)
    implied = [rules[use.rule] for use in plan.conventions if use.rule in rules and use.mode == "implied"]
    beside = {other for rule in implied for other in rule.companions.get(rules.profile, ())}
    if reading is None or any(rules[name].role == role for name in beside if name in rules):
        return False
    return any(
        mistaken.role == role and mistaken.op and reading.kept == kept_by(mistaken.op, mistaken.value)
        for rule in implied
        if rule.role in spoken
        for mistaken in rule.instead_of
    )


def _value_is_named(part: exp.Expr, question: str) -> bool:
    """Whether the question itself has a value of the condition."""
    lowered = question.lower()
    numbers = {_number(text) for text in _NUMBER.findall(lowered)}
    for literal in part.find_all(exp.Literal):
        if literal.is_string:
            if any(word in lowered for word in _TELLING.findall(literal.name.lower())):
                return True
        elif _number(literal.name) not in {None, 0.0, 1.0} and _number(literal.name) in numbers:
            return True
    return False


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "").rstrip("."))
    except ValueError:
        return None


def _left_out(part: exp.Expr, role: str, model: SemanticModel) -> Fix:
    text = one_line(part, comments=False)
    drop(part)
    spec = model.role(role)
    about = f" on {spec.meaning.partition(';')[0]}" if spec and spec.meaning else ""
    return Fix(code="unasked", message=f"Left out {text}: the question asks for no condition{about}.", before=text)
