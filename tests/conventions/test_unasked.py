"""Conditions that nothing in the question asks for, and values that must all be there."""

from __future__ import annotations

import pytest

from bmsql.conventions import fit_to_plan, load_rules
from bmsql.types import ConventionUse, Filter, Plan, PlanJoin, SelectItem, Source
from tests.conventions.world import TABLES, bag, bigquery, model, parse

GWAS = Plan(sources=(Source(alias="g", table=TABLES["AD"]),), select=(SelectItem(column="variant"),))
SIGNIFICANT = GWAS.model_copy(
    update={"conventions": (ConventionUse(rule="genome_wide_significance", mode="implied", words="significant"),)}
)
JUDGED = GWAS.model_copy(update={"conventions": (ConventionUse(rule="genome_wide_significance", mode="judge"),)})
APPROVED = Plan(
    sources=(Source(alias="i", table=TABLES["IND"]),),
    select=(SelectItem(column="drug"),),
    conventions=(ConventionUse(rule="approved_for_indication", mode="implied"),),
)
CASES = [
    # question, plan, draft, right
    ("Which SNPs are significant?", SIGNIFICANT, "p < 5e-8 AND b > 0", "p < 5e-8"),
    ("Which SNPs are significant?", SIGNIFICANT, "p < 5e-8 AND SIGN(b) = 1", "p < 5e-8"),
    ("Which SNPs are significant?", SIGNIFICANT, "p < 5e-8 AND p > 0", "p < 5e-8"),
    ("Which SNPs are significant?", SIGNIFICANT, "p < 5e-8 AND b IS NOT NULL", "p < 5e-8 AND b IS NOT NULL"),
    ("Which SNPs are significant and raise the risk?", SIGNIFICANT, "p < 5e-8 AND b > 0", "p < 5e-8 AND b > 0"),
    ("Which significant SNPs have b over 0.25?", SIGNIFICANT, "p < 5e-8 AND b > 0.25", "p < 5e-8 AND b > 0.25"),
    ("Which significant SNPs are near CR1?", SIGNIFICANT, "nearestGene = 'CR1'", "nearestGene = 'CR1'"),
    ("Is rs4 significant?", JUDGED, "SNP = 'rs4' AND p < 5e-8", "SNP = 'rs4'"),
    (
        "Which drugs are approved?",
        APPROVED,
        "max_phase_for_ind = 4 AND yearOfFirstApproval > 0",
        "max_phase_for_ind = 4",
    ),
    ("Which drugs are approved?", APPROVED, "yearOfFirstApproval > 0", "yearOfFirstApproval > 0"),
]


@pytest.mark.parametrize(("question", "plan", "draft", "right"), CASES, ids=[f"{c[0]} {c[2]}" for c in CASES])
def test_what_nothing_asks_for_is_left_out(question: str, plan: Plan, draft: str, right: str) -> None:
    table, column = ("{IND}", "drugName") if plan is APPROVED else ("{AD}", "SNP")
    tree = parse(f"SELECT {column} FROM {table} WHERE {draft}")
    fitted = fit_to_plan(tree, plan, model(), load_rules(), question)
    assert fitted.problems == ()
    assert bigquery(fitted.tree) == bigquery(parse(f"SELECT {column} FROM {table} WHERE {right}"))
    assert [fix.code for fix in fitted.fixes] == ([] if draft == right else ["unasked"])


def test_without_the_question_nothing_is_left_out() -> None:
    tree = parse("SELECT SNP FROM {AD} WHERE p < 5e-8 AND b > 0")
    assert fit_to_plan(tree, SIGNIFICANT, model()).fixes == ()


BOTH = Plan(
    sources=(Source(alias="s1", table=TABLES["SMR"]), Source(alias="s2", table=TABLES["SMR"])),
    combine="join",
    select=(SelectItem(column="gene", source="s1"),),
    filters=(
        Filter(target="disease", op="match", values=("AD",), source="s1"),
        Filter(target="disease", op="match", values=("PD",), source="s2"),
    ),
    joins=(PlanJoin(left="s1", right="s2", entity="gene", kind="semi"),),
)
IN_BOTH = "SELECT Gene FROM {SMR} WHERE Disease IN ('AD', 'PD') GROUP BY Gene"


def test_each_of_several_values_is_counted_not_so_many_rows() -> None:
    right = parse(f"{IN_BOTH} HAVING COUNT(DISTINCT Disease) = 2")
    for count in ("COUNT(*)", "COUNT(Gene)", "COUNT(DISTINCT Omic_tissue)"):
        fitted = fit_to_plan(parse(f"{IN_BOTH} HAVING {count} = 2"), BOTH, model())
        assert [fix.code for fix in fitted.fixes] == ["aggregate"], count
        assert bag(fitted.tree) == bag(right)
    assert fit_to_plan(right, BOTH, model()).fixes == ()
    named = parse(
        "SELECT Gene FROM {SMR} GROUP BY Gene HAVING COUNTIF(Disease = 'AD') > 0 AND COUNTIF(Disease = 'PD') > 0"
    )
    assert not fit_to_plan(named, BOTH, model()).problems


@pytest.mark.parametrize(
    ("draft", "code"),
    [
        ("SELECT DISTINCT Gene FROM {SMR} WHERE Disease IN ('AD', 'PD')", "missing-condition"),
        (f"{IN_BOTH} HAVING MIN(p_SMR_multi) < 1e-6", "missing-condition"),
        (
            IN_BOTH.replace("GROUP BY Gene", "GROUP BY topRSID") + " HAVING COUNT(DISTINCT Disease) = 2",
            "wrong-grouping",
        ),
    ],
)
def test_having_any_of_them_is_not_having_each(draft: str, code: str) -> None:
    assert [problem.code for problem in fit_to_plan(parse(draft), BOTH, model()).problems] == [code]


def test_a_place_that_is_asked_for_must_be_there() -> None:
    region = GWAS.model_copy(
        update={"filters": (Filter(target="region", op="region", values=("38", 4, 1, 9), words="chr4"),)}
    )
    missing = fit_to_plan(parse("SELECT SNP FROM {AD} WHERE p < 5e-8"), region, model())
    assert [problem.code for problem in missing.problems] == ["missing-condition"]
    there = parse("SELECT SNP FROM {AD} WHERE chr_38 = 4 AND bp_38 BETWEEN 1 AND 9")
    assert fit_to_plan(there, region, model(), load_rules(), "SNPs at chr4").fixes == ()


def test_several_stated_values_are_kept() -> None:
    phases = APPROVED.model_copy(
        update={"conventions": (), "filters": (Filter(target="indication.max_phase", op="=", values=(3, 4)),)}
    )
    right = parse("SELECT drugName FROM {IND} WHERE max_phase_for_ind IN (3, 4)")
    for draft in ("max_phase_for_ind = 4", "max_phase_for_ind = 3 AND max_phase_for_ind < 5", "TRUE"):
        fitted = fit_to_plan(parse(f"SELECT drugName FROM {{IND}} WHERE {draft}"), phases, model())
        assert bag(fitted.tree) == bag(right), draft
    for said in ("max_phase_for_ind >= 3", "max_phase_for_ind = 3 OR max_phase_for_ind = 4"):
        assert fit_to_plan(parse(f"SELECT drugName FROM {{IND}} WHERE {said}"), phases, model()).fixes == ()
