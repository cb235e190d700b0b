"""Kinds of error and categories, read off syntax trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlglot

from bmsql.bench import error_kinds, sql_categories, threshold_columns
from bmsql.bench.report._differences import tree_edits
from bmsql.conventions import load_rules
from bmsql.semantic import load_semantic_model
from tests.yaml_files import read_yaml

CASES = read_yaml(Path(__file__).parent / "errors.yaml")
LOGICAL = frozenset({"p", "b", "p_smr_multi", "p_heidi", "max_phase_for_ind", "drugisapproved"})


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_kinds(case: dict[str, Any]) -> None:
    found = error_kinds(case["gold"], case["sql"], failed=case.get("failed", False), logical=LOGICAL)
    assert found == tuple(case["kinds"])


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_gold_beside_itself_has_no_error(case: dict[str, Any]) -> None:
    assert error_kinds(case["gold"], case["gold"], failed=False, logical=LOGICAL) == ("other",)


def test_gold_must_parse() -> None:
    with pytest.raises(sqlglot.errors.SqlglotError):
        error_kinds("SELECT FROM WHERE", "SELECT 1", failed=False, logical=LOGICAL)


def test_threshold_columns_are_those_of_the_conventions() -> None:
    columns = threshold_columns(load_semantic_model(), load_rules())
    assert {"p", "p_smr_multi", "p_heidi", "max_phase_for_ind", "drugisapproved"} <= columns
    assert not columns & {"chr_38", "bp_38", "snp", "uuid"}


@pytest.mark.parametrize(
    ("sql", "categories"),
    [
        ("SELECT UUID FROM t", ["select"]),
        ("SELECT DISTINCT g FROM t ORDER BY g", ["select", "distinct", "order_by"]),
        ("SELECT COUNT(DISTINCT g) FROM t WHERE p < 5e-8", ["select", "distinct", "threshold", "calculate"]),
        ("SELECT 1 - freq AS other FROM t", ["select", "calculate"]),
        ("SELECT a.u FROM a JOIN b ON a.x = b.x WHERE a.y = 1 AND b.z = 2", ["select", "join", "multi_filter"]),
        ("SELECT u FROM t WHERE EXISTS (SELECT 1 FROM s WHERE s.x = t.x)", ["select", "join"]),
        ("SELECT u FROM t, UNNEST(SPLIT(g, ';')) AS x WHERE x = 'A'", ["select"]),
        ("SELECT u FROM t WHERE LOWER(n) LIKE '%a%'", ["select", "similarity_search"]),
        ("SELECT u FROM t WHERE REGEXP_CONTAINS(n, 'a')", ["select", "similarity_search"]),
        ("SELECT u FROM t WHERE CONTAINS_SUBSTR(n, 'a')", ["select", "similarity_search"]),
        ("SELECT u FROM t WHERE drugIsApproved = TRUE", ["select", "threshold"]),
    ],
)
def test_categories(sql: str, categories: list[str]) -> None:
    assert list(sql_categories(sql, LOGICAL)) == categories


def edits(gold: str, sql: str) -> set[tuple[str, str, str]] | None:
    found = tree_edits(gold, sql)
    return None if found is None else {(edit.kind, edit.gold, edit.found) for edit in found}


def test_edits_show_what_differs_and_nothing_around_it() -> None:
    gold = "SELECT UUID FROM T WHERE d = 'AD' AND p < 5e-8 AND h > 0.01 LIMIT 1"
    assert edits(gold, "SELECT UUID, A1 FROM x.y.T WHERE d = 'AD' AND p < 5e-6 LIMIT 1") == {
        ("missing", "h > 0.01", ""),
        ("surplus", "", "A1"),
        ("changed", "5e-8", "5e-6"),
    }
    assert edits(gold, gold) == set()
    assert edits(gold, "SELECT WHERE") is None
