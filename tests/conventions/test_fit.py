"""Drafts held against a plan: what is repaired, what is rejected, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bmsql.conventions import fit_to_plan, load_rules
from bmsql.types import (
    Aggregate,
    ConventionUse,
    Filter,
    Mention,
    Order,
    Plan,
    PlanJoin,
    SelectItem,
    Source,
)
from tests.conventions.world import TABLES, bag, bigquery, model, parse, run
from tests.yaml_files import read_yaml

CASES = read_yaml(Path(__file__).parent / "fit.yaml")


def _plan(given: dict[str, Any]) -> Plan:
    aggregate = given.get("aggregate")
    return Plan(
        intent=given.get("intent", "list"),
        combine=given.get("combine", "single"),
        sources=tuple(Source(alias=f"s{n}", table=TABLES[name]) for n, name in enumerate(given["sources"])),
        filters=tuple(Filter(target=t, op=op, values=(value,)) for t, op, value in given.get("filters", ())),
        mentions=tuple(
            Mention(text=text, start=0, end=1, entity=entity, value=value)
            for entity, text, value in given.get("mentions", ())
        ),
        select=() if aggregate or given.get("selects_nothing") else (SelectItem(column="variant"),),
        aggregate=Aggregate(function=aggregate[0], column=aggregate[1]) if aggregate else None,
        group_by=tuple(SelectItem(column=column) for column in given.get("group_by", ())),
        order=tuple(Order(column=column, descending=descending) for column, descending in given.get("order", ())),
        limit=given.get("limit"),
        not_understood=tuple(given.get("not_understood", ())),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_draft_is_held_against_the_plan(case: dict[str, Any]) -> None:
    tree, plan = parse(case["sql"]), _plan(case["plan"])
    before = bigquery(tree)
    fitted = fit_to_plan(tree, plan, model())
    assert bigquery(tree) == before
    said = " ".join(f"{one.message} {getattr(one, 'suggestion', '')}" for one in (*fitted.fixes, *fitted.problems))
    assert all(words in said for words in case.get("words", ())), said
    if "problem" in case:
        assert [problem.code for problem in fitted.problems] == [case["problem"]]
        assert all(problem.message.endswith(".") and problem.suggestion for problem in fitted.problems)
        assert fitted.tree is tree
        return
    assert fitted.problems == ()
    assert bag(fitted.tree) == bag(parse(case["right"])), bigquery(fitted.tree)
    assert bool(fitted.fixes) == (bigquery(fitted.tree) != before)
    again = fit_to_plan(fitted.tree, plan, model())
    assert not again.fixes
    assert not again.problems
    run(fitted.tree)


def test_two_uses_of_a_table_are_told_apart_by_what_their_conditions_name() -> None:
    sources = (Source(alias="i", table=TABLES["IND"]), Source(alias="j", table=TABLES["IND"]))
    plan = Plan(
        sources=sources,
        filters=(
            Filter(target="disease", op="match", values=("alzheimer disease",), source="i"),
            Filter(target="disease", op="match", values=("parkinson disease",), source="j"),
        ),
        joins=(PlanJoin(left="i", right="j", entity="drug", kind="semi"),),
        conventions=(ConventionUse(rule="approved_for_indication", mode="implied", source="i"),),
    )
    draft = (
        "SELECT DISTINCT drugName FROM {IND} WHERE efo_term = 'alzheimer disease' AND drugName IN "
        "(SELECT drugName FROM {IND} WHERE efo_term = 'parkinson disease')"
    )
    right = draft.replace("'alzheimer disease'", "'alzheimer disease' AND max_phase_for_ind = 4")
    applied = load_rules().apply_plan(parse(draft), model(), plan)
    assert bag(applied.tree) == bag(parse(right))
    assert bigquery(applied.tree).count("max_phase_for_ind") == 1
