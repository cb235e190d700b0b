"""Does a draft answer the question? Its tables, figures, counting and limit against the plan.

::

    Which SNPs near BIN1 are significant in Parkinson's?    SELECT SNP FROM alzheimer_gwas ...  -- repaired
    How many drugs are in phase 3 for Parkinson's?          SELECT COUNT(*) FROM indications .. -- repaired
    Which drugs are approved for Parkinson's?               SELECT drug FROM drug_records ...   -- rejected

The plan says which tables can answer, what is counted and how many rows are wanted. What the columns
allow is repaired and reported; what they do not is a problem in words that its author can act on.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from bmsql.conventions._book import RuleBook
from bmsql.conventions._fit_conditions import fit_conditions
from bmsql.conventions._fit_counts import fit_counts
from bmsql.conventions._fit_matches import fit_matches
from bmsql.conventions._fit_order import fit_order
from bmsql.conventions._fit_sets import fit_sets
from bmsql.conventions._fit_tables import fit_tables
from bmsql.conventions._fit_unasked import fit_unasked
from bmsql.semantic import SemanticModel
from bmsql.sql import copied
from bmsql.types import Fix, Plan, Problem

_NAMES = (fit_tables, fit_matches, fit_conditions)
_SHAPE = (fit_sets, fit_counts, fit_order)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A draft held against the plan: the repaired tree, what was repaired, and what cannot be.

    With problems, the tree is the draft's own and must not be run as an answer to the question.
    """

    tree: exp.Query
    fixes: tuple[Fix, ...] = ()
    problems: tuple[Problem, ...] = ()


def fit_to_plan(
    tree: exp.Query, plan: Plan, model: SemanticModel, rules: RuleBook | None = None, question: str = ""
) -> Fitted:
    """Hold a validated draft against the plan of the question that it is to answer.

    With the rules and the question's text, conditions that neither asks for are left out too.

    The input is left as it is. A plan that understood only part of the question, cannot be answered or
    reads no table of the model decides nothing: the draft then comes back as it is. One that cannot
    say all of the question decides about tables and stated figures only.
    """
    if not _decides(plan, model):
        return Fitted(tree)
    fitted = copied(tree)
    fixes: list[Fix] = []
    # What an incomplete plan does not say is the draft's own.
    for step in (*_NAMES, *_SHAPE) if plan.complete else _NAMES:
        made, problems = step(fitted, plan, model)
        if problems:
            return Fitted(tree, (), tuple(problems))
        fixes += made
    if rules is not None and question and plan.complete:
        fixes += fit_unasked(fitted, plan, model, rules, question)
    return Fitted(fitted, tuple(fixes)) if fixes else Fitted(tree)


def _decides(plan: Plan, model: SemanticModel) -> bool:
    understood = plan.answerable and plan.clarification is None and not plan.not_understood
    return understood and bool(plan.sources) and all(source.table in model.tables for source in plan.sources)
