"""The ladder's counts against counts made by other means, and the evidence query against its rows."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from bmsql.conventions import load_rules
from bmsql.types import ConventionUse
from tests.conventions.world import CASES, bigquery, load_cases, model, parse, prefiltered, run
from tests.yaml_files import read_yaml

AD = "AlzheimerDisease_CombinedGeneData_UUID"
_FAMILIES = {"genome_wide_significance": ("gwas", "p < 5e-8"), "approved_drug": ("drug", "drugIsApproved")}


def _applied_cases() -> list[Any]:
    found = []
    for name in _FAMILIES:
        for case in load_cases(name)["fail"]:
            statuses = case["status"].values() if isinstance(case["status"], dict) else [case["status"]]
            if set(statuses) == {"applied"} and not case.get("source"):
                found.append(pytest.param(name, case, id=f"{name}-{case['name']}"))
    return found


def _count(tree: exp.Query) -> int:
    rows = run(tree)
    only = list(rows[0].values()) if len(rows) == 1 else []
    counts = list(tree.find_all(exp.Count)) and not tree.args.get("group")
    return int(only[0]) if counts and len(only) == 1 and isinstance(tree, exp.Select) else len(rows)


@pytest.mark.parametrize(("name", "case"), _applied_cases())
def test_counts_are_those_of_the_queries(name: str, case: dict[str, Any]) -> None:
    book, tree = load_rules(), parse(case["sql"])
    uses = [ConventionUse(rule=name, mode="implied")]
    applied = book.apply(tree, model(), uses)
    query = book.ladder(applied.tree, model(), applied.records)
    assert query is not None
    ladder = book.read_ladder(run(query)[0], applied.records)
    assert ladder.rows_with == _count(prefiltered(tree, _FAMILIES[name][1], _FAMILIES[name][0]))
    if "5e-8" not in case["sql"]:
        assert ladder.rows_unfiltered == _count(tree)
    for record in ladder.records:
        if record.rule == name:
            assert record.rows_with == ladder.rows_with
            assert record.rows_without is not None
    if len(ladder.steps) == 1:
        assert ladder.steps[0].rows_without == ladder.rows_unfiltered


def _ladder(sql: str, *rules: str, profile: str = "strict", mode: str = "implied") -> Any:
    book = load_rules(profile=profile)
    uses = [ConventionUse.model_validate({"rule": rule, "mode": mode}) for rule in rules]
    applied = book.apply(parse(sql), model(), uses)
    query = book.ladder(applied.tree, model(), applied.records)
    assert query is not None
    return book.read_ladder(run(query)[0], applied.records)


def test_none_passes_and_the_note_says_how_near_it_was() -> None:
    ladder = _ladder("SELECT SNP, p FROM {AD} WHERE nearestGene = 'APOE' ORDER BY p", "genome_wide_significance")
    assert (ladder.rows_with, ladder.rows_unfiltered) == (0, 2)
    assert ladder.steps[0].best == 0.04
    assert any("0 of 2 pass p < 5e-8" in note and "0.04" in note for note in ladder.notes)


def test_each_rule_is_left_out_alone_and_untested_rows_are_counted_apart() -> None:
    ladder = _ladder("SELECT Gene FROM {SMR} WHERE Disease = 'PD'", "smr_significance")
    by_rule = {step.record.rule: step for step in ladder.steps}
    # PD: CR1 passes p and fails HEIDI, SNCA twice passes p and was not tested, LRRK2 passes both.
    assert ladder.rows_unfiltered == 4
    assert ladder.rows_with == 1
    assert by_rule["smr_significance"].rows_without == 1
    assert by_rule["heidi"].rows_without == 4
    assert by_rule["heidi"].missing == 2
    assert "HEIDI not tested (NeurodegenerativeDiseases_SMR_Genes_Full): 2 of 4, counted apart." in ladder.notes


@pytest.mark.parametrize(
    ("sql", "rows_with", "unfiltered"),
    [
        ("SELECT COUNT(*) AS n FROM {AD}", 3, 9),
        ("SELECT COUNT(DISTINCT nearestGene) AS n FROM {AD}", 2, 6),
        ("SELECT COUNT(p) AS n FROM {AD}", 3, 8),
        ("SELECT COUNTIF(b > 0) AS n FROM {AD}", 1, 5),
        ("SELECT MIN(p) AS best FROM {AD}", 3, 9),
        ("SELECT DISTINCT nearestGene FROM {AD}", 2, 6),
        ("SELECT nearestGene, COUNT(*) AS n FROM {AD} GROUP BY nearestGene", 2, 6),
        ("SELECT SNP FROM {AD} ORDER BY p LIMIT 1", 3, 9),
        ("(SELECT SNP FROM {AD})", 3, 9),
        ("WITH t AS (SELECT nearestGene AS g FROM {AD}) SELECT COUNT(DISTINCT g) AS n FROM t", 2, 6),
    ],
)
def test_a_row_is_what_a_row_of_the_result_is(sql: str, rows_with: int, unfiltered: int) -> None:
    ladder = _ladder(sql, "genome_wide_significance")
    assert (ladder.rows_with, ladder.rows_unfiltered) == (rows_with, unfiltered)


def test_a_complement_counts_what_is_not_recorded() -> None:
    ladder = _ladder("SELECT SNP FROM {AD}", "genome_wide_significance", mode="complement")
    assert (ladder.rows_with, ladder.rows_unfiltered) == (5, 9)
    assert ladder.steps[0].missing == 1
    assert any("counted apart" in note for note in ladder.notes)


def test_not_recorded_values_of_a_join_are_counted_as_its_results_are() -> None:
    """Two drugs behind six joined rows are two, and the rule that lacks a value is named."""
    sql = "SELECT COUNT(DISTINCT d.drugName) AS n FROM {DRUG} AS d JOIN {IND} AS i ON TRUE WHERE d.drugName = 'OLD'"
    for draft in (sql, sql.replace("COUNT(DISTINCT d.drugName) AS n", "DISTINCT d.drugName")):
        ladder = _ladder(draft, "approved_drug")
        (step,) = ladder.steps
        assert (step.missing, step.rows_without, ladder.rows_with) == (1, 1, 0)
        note = next(note for note in ladder.notes if "counted apart" in note)
        assert note.endswith("not recorded (d): 1 of 1, counted apart.")
        assert not note.startswith("Not recorded")


def test_not_recorded_values_behind_groups_are_left_out() -> None:
    ladder = _ladder("SELECT nearestGene, COUNT(*) AS n FROM {AD} GROUP BY nearestGene", "genome_wide_significance")
    assert ladder.steps[0].missing is None
    assert not any("counted apart" in note for note in ladder.notes)


def test_phase_names_the_highest_reached() -> None:
    ladder = _ladder("SELECT DISTINCT drugName FROM {IND} WHERE drugName = 'GANTENERUMAB'", "approved_for_indication")
    assert ladder.rows_with == 0
    assert any("largest value is 3" in note for note in ladder.notes)


def test_no_rule_no_ladder() -> None:
    book = load_rules()
    applied = book.apply(parse("SELECT SNP FROM {AD}"), model(), ())
    assert book.ladder(applied.tree, model(), applied.records) is None


def test_the_ladder_can_be_built_from_the_text_of_the_query() -> None:
    book = load_rules()
    uses = [ConventionUse(rule="genome_wide_significance", mode="implied")]
    sql = "SELECT a.SNP, b.SNP FROM {AD} AS a FULL JOIN {PD} AS b ON a.SNP = b.SNP"
    applied = book.apply(parse(sql), model(), uses)
    direct = book.ladder(applied.tree, model(), applied.records)
    again = book.ladder(parse(bigquery(applied.tree)), model(), applied.records)
    assert direct is not None
    assert again is not None
    assert bigquery(direct) == bigquery(again)
    assert [column for column in run(again)[0] if column.startswith("in_")] == ["in_0", "in_1"]


def _keys(sql: str, uses: list[ConventionUse] | None = None) -> list[str]:
    book = load_rules()
    applied = book.apply(parse(sql), model(), uses or [])
    before = bigquery(applied.tree)
    query = book.evidence_query(applied.tree, model())
    assert bigquery(applied.tree) == before
    assert query is not None
    return [row["UUID"] for row in run(query)]


@pytest.mark.parametrize("case", read_yaml(CASES.parent / "evidence.yaml"))
def test_evidence_of_merged_rows(case: dict[str, Any]) -> None:
    assert _keys(case["sql"]) == case["keys"]


def test_evidence_keeps_to_the_conventions_and_is_capped() -> None:
    uses = [ConventionUse(rule="genome_wide_significance", mode="implied")]
    assert _keys("SELECT COUNT(*) AS n FROM {AD} WHERE nearestGene = 'CR1'", uses) == ["AD_3", "AD_4"]
    query = load_rules().evidence_query(parse("SELECT COUNT(*) AS n FROM {AD}"), model())
    assert query is not None
    assert query.args["limit"].expression.name == "100"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT UUID, SNP FROM {AD}",
        "SELECT DISTINCT UUID, SNP FROM {AD}",
        "SELECT 1 AS one",
        "SELECT COUNT(*) AS n FROM `p.d.other`",
    ],
)
def test_no_evidence_query_where_none_is_needed_or_possible(sql: str) -> None:
    assert load_rules().evidence_query(parse(sql), model()) is None


def test_evidence_of_several_columns_compares_no_structs() -> None:
    tree = parse("SELECT DISTINCT SNP, nearestGene FROM {AD} ORDER BY SNP LIMIT 1")
    query = load_rules().evidence_query(tree, model())
    assert query is not None
    assert query.find(exp.Exists) is not None
    assert not list(query.find_all(exp.Tuple, exp.In))


@pytest.mark.parametrize(
    ("sql", "scans"),
    [
        ("SELECT SNP FROM {AD}", 1),
        ("SELECT COUNT(DISTINCT SNP) AS n FROM {AD}", 1),
        ("SELECT DISTINCT nearestGene FROM {AD}", 1),
        ("SELECT DISTINCT nearestGene, 'AD' AS disease FROM {AD} WHERE nearestGene IS NOT NULL", 1),
        ("SELECT DISTINCT a.nearestGene FROM {AD} AS a JOIN {SMR} AS s ON s.topRSID = a.SNP", 1),
        ("SELECT nearestGene, COUNT(*) AS n FROM {AD} GROUP BY nearestGene", 1),
        ("SELECT nearestGene, COUNT(*) AS n FROM {AD} GROUP BY 1 ORDER BY n DESC LIMIT 3", 1),
        # What follows from the rows that are left is to be counted for each variant of the query.
        ("SELECT nearestGene FROM {AD} GROUP BY 1 HAVING COUNT(*) > 1", 3),
        ("SELECT DISTINCT nearestGene FROM (SELECT nearestGene FROM {AD} WHERE b > 0) AS t", 3),
        ("SELECT DISTINCT * FROM {AD}", 4),
        ("SELECT DISTINCT 'AD' AS disease FROM {AD}", 4),
        ("SELECT DISTINCT COUNT(*) OVER () AS n FROM {AD}", 4),
        ("SELECT b > 0 AS nearestGene FROM {AD} GROUP BY nearestGene", 3),
    ],
)
def test_the_rows_are_read_as_seldom_as_can_be(sql: str, scans: int) -> None:
    book = load_rules()
    applied = book.apply(parse(sql), model(), [ConventionUse(rule="genome_wide_significance", mode="implied")])
    query = book.ladder(applied.tree, model(), applied.records)
    assert query is not None
    assert sum(table.name == AD for table in query.find_all(exp.Table)) == scans
