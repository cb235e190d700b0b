"""Rule files, profiles, triggers, warnings and the catalogue."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlglot import exp

from bmsql.conventions import PROFILES, RuleBook, catalogue, load_rules
from bmsql.conventions._scopes import aggregates
from bmsql.errors import ConfigurationError, SemanticModelError
from bmsql.semantic import parse_semantic_model
from bmsql.types import ConventionUse
from tests.conventions.world import bigquery, model, parse

_BARE = [ConventionUse(rule=name, mode="waived") for name in ("evidence_key", "default_limit")]

_EXPRESSION = """
name: expression
evidence_key: row_id
default_limit: 7
families:
  contrast:
    label: differential expression
    subject: gene
    roles:
      contrast.key: {meaning: row}
      contrast.gene: {meaning: gene}
      contrast.fdr: {meaning: false discovery rate}
      contrast.call: {meaning: call in words}
tables:
  deg_2024:
    family: contrast
    columns:
      row_id: {type: STRING, role: contrast.key}
      symbol: {type: STRING, role: contrast.gene}
      fdr: {type: FLOAT64, role: contrast.fdr}
      call: {type: STRING, role: contrast.call}
entities:
  gene: {label: gene, plural: genes, kind: symbol, match: {contrast: {how: equals, roles: [contrast.gene]}}}
"""
_OWN_RULES = """
rules:
  false_discovery_rate:
    title: False discovery rate
    role: contrast.fdr
    op: "<"
    value: 5e-2
    best: min
    reason: Benjamini and Hochberg at 5 %.
    citation: Benjamini & Hochberg 1995
    words: [differentially expressed, significant]
    complement_words: [not differentially expressed]
  called:
    title: Called by the pipeline
    kind: approval
    role: contrast.call
    op: "="
    value: "up"
    reason: The pipeline's own call.
disable: [nominal_significance]
"""
_MINE = "rules:\n  mine:\n    title: t\n    reason: r\n"


def _file(folder: Path, text: str) -> Path:
    path = folder / "rules.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_default_profile_is_strict_and_profiles_differ() -> None:
    assert load_rules().profile == "strict"
    names = {profile: {rule.name for rule in load_rules(profile=profile)} for profile in PROFILES}
    assert names["biomedsql"] - names["strict"] == {"approval_year"}
    assert names["strict"] <= names["biomedsql"]


def test_a_rule_of_ones_own_needs_no_python(tmp_path: Path) -> None:
    book = load_rules(_file(tmp_path, _OWN_RULES))
    own = parse_semantic_model(_EXPRESSION)
    uses = [ConventionUse(rule=name, mode="implied") for name in ("false_discovery_rate", "called")]
    applied = book.apply(parse("SELECT symbol FROM `p.d.deg_2024` WHERE fdr < 0.1 AND call = 'down'"), own, uses)
    right = "SELECT row_id, symbol FROM `p.d.deg_2024` WHERE fdr < 0.05 AND call = 'up' LIMIT 7"
    assert bigquery(applied.tree) == right
    assert [record.status for record in applied.records] == ["corrected", "corrected", "applied", "applied"]
    assert applied.records[0].citation == "Benjamini & Hochberg 1995"
    assert book.triggers("contrast")["false_discovery_rate"].imply == ("differentially expressed", "significant")
    assert "nominal_significance" not in book
    assert "false_discovery_rate" not in book.unknown_roles(own)
    assert "genome_wide_significance" in book.unknown_roles(own)
    assert set(load_rules().unknown_roles(model())) == set()


def test_a_file_changes_fields_of_a_rule_and_keeps_the_others(tmp_path: Path) -> None:
    path = _file(tmp_path, "rules:\n  genome_wide_significance:\n    value: 1e-8\n")
    rule = load_rules(path)["genome_wide_significance"]
    assert rule.value == 1e-8
    assert rule.role == "gwas.p_value"
    assert rule.words == load_rules()["genome_wide_significance"].words
    again = load_rules(path, override={"genome_wide_significance": 5e-9, "heidi": {"value": 0.05, "reason": "ours"}})
    assert again["genome_wide_significance"].value == 5e-9
    assert (again["heidi"].value, again["heidi"].reason) == (0.05, "ours")


def test_switching_off() -> None:
    book = load_rules(disable=["heidi", "default_limit", "evidence_key"])
    applied = book.apply(parse("SELECT Gene FROM {SMR}"), model(), [_use("smr_significance")])
    assert bigquery(applied.tree).endswith("WHERE p_SMR_multi < 2.95e-6")
    assert [record.rule for record in applied.records] == ["smr_significance"]
    ignored = book.apply(parse("SELECT Gene FROM {SMR}"), model(), [ConventionUse(rule="heidi", mode="implied")])
    assert not ignored.changed
    assert ignored.records == ()


@pytest.mark.parametrize(
    ("text", "line", "field", "message"),
    [
        (f"{_MINE}    op: '<'\n    value: 1\n", 2, "rules.mine", "needs a `role`"),
        (f"{_MINE}    role: gwas.p_value\n", 2, "rules.mine", "needs an operator"),
        (f"{_MINE}    role: gwas.p_value\n    op: '<<'\n    value: 1\n", 6, "rules.mine.op", "Input should be"),
        (f"{_MINE}    role: gwas.p_value\n    op: '<'\n    value: high\n", 2, "rules.mine", "needs a number"),
        ("rules:\n  heidi:\n    treshold: 3\n", 3, "rules.heidi.treshold", "unknown field 'treshold'"),
        ("rules:\n  heidi:\n    complement: heidi_fails\n", 3, "rules.heidi.complement", "no rule 'heidi_fails'"),
        ("rules:\n  heidi: 3\n", 2, "rules.heidi", "valid dictionary"),
        ("rules: [a]\n", 1, "rules", "mapping"),
        ("- a\n", 1, "", "mapping"),
        ("rules:\n  a: {\n", 3, "", "not valid YAML"),
        ("rules:\n  heidi: {value: [0, 1]}\n", 2, "rules.heidi", "takes one value"),
        ("rules:\n  heidi_failed: {value: 1}\n", 2, "rules.heidi_failed", "needs two values"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, line: int, field: str, message: str) -> None:
    with pytest.raises(SemanticModelError, match=message.replace("(", r"\(")) as caught:
        load_rules(_file(tmp_path, text))
    assert caught.value.line == line
    assert caught.value.field == field
    assert caught.value.file.endswith("rules.yaml")


def test_what_is_wrong_in_arguments_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no profile 'lax'"):
        load_rules(profile="lax")
    with pytest.raises(ConfigurationError, match="Did you mean 'heidi'"):
        load_rules(disable=["heidy"])
    with pytest.raises(ConfigurationError, match="no rule 'zzz'"):
        load_rules(override={"zzz": 1})
    with pytest.raises(ConfigurationError, match="rule 'heidi' is wrong"):
        load_rules(override={"heidi": "high"})
    with pytest.raises(SemanticModelError, match="cannot read"):
        load_rules(tmp_path / "absent.yaml")
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"rules: {\xff}")
    with pytest.raises(SemanticModelError, match="UTF-8"):
        load_rules(path)
    with pytest.raises(ConfigurationError, match=r"no rule 'heidy' \(.*rules.yaml\)"):
        load_rules(_file(tmp_path, "disable: [heidy]\n"))


def test_triggers_are_those_of_the_family() -> None:
    book = load_rules()
    gwas, smr = book.triggers("gwas"), book.triggers("smr")
    assert "significant" in gwas["genome_wide_significance"].imply
    assert "smr_significance" not in gwas
    assert "genome_wide_significance" not in smr
    assert "whatever their p-value" in gwas["genome_wide_significance"].waive
    assert "miss genome-wide significance" in gwas["genome_wide_significance"].complement
    assert "fails heidi" in smr["heidi"].complement
    assert set(book.triggers("licence")) == {"evidence_key", "default_limit"}
    for family in ("gwas", "smr", "drug", "indication"):
        for trigger in book.triggers(family).values():
            for phrases in (trigger.imply, trigger.waive, trigger.complement):
                assert list(phrases) == sorted(phrases, key=lambda phrase: -len(phrase)) or len(phrases) < 2
                assert all(phrase == phrase.lower() for phrase in phrases)


def test_the_catalogue_is_plain_data_with_a_citation_for_each_rule() -> None:
    entries = catalogue(load_rules(profile="biomedsql"))
    assert json.loads(json.dumps(entries)) == entries
    conditions = {entry["name"]: entry["condition"] for entry in entries}
    assert conditions["genome_wide_significance"] == "gwas.p_value < 5e-8"
    assert conditions["smr_significance"] == "smr.p_multi < 2.95e-6"
    assert conditions["heidi_failed"] == "smr.p_heidi BETWEEN 0 AND 0.01"
    assert conditions["approved_drug"] == "drug.approved = TRUE"
    assert conditions["trial_phase"] == "indication.max_phase, drug.max_phase"
    assert all(entry["reason"] and entry["citation"] for entry in entries)
    strict = {entry["name"]: entry for entry in catalogue(load_rules())}
    assert strict["smr_significance"]["companions"] == ["heidi"]


def _use(rule: str, mode: str = "implied", **more: str) -> ConventionUse:
    return ConventionUse.model_validate({"rule": rule, "mode": mode, **more})


def test_a_correction_says_what_it_replaced() -> None:
    tree = parse("SELECT SNP FROM {AD} WHERE p < 0.05")
    applied = load_rules().apply(tree, model(), [_use("genome_wide_significance")])
    record = applied.records[0]
    assert record.status == "corrected"
    assert record.reason.startswith("Replaces `p < 0.05`.")
    assert record.profile == "strict"
    assert record.table == "AlzheimerDisease_CombinedGeneData_UUID"


def test_a_stated_threshold_is_reported_as_the_users() -> None:
    use = _use("genome_wide_significance", "stated", words="p < 1e-9", value="1e-9")
    applied = load_rules().apply(parse("SELECT SNP FROM {AD} WHERE p < 1e-9"), model(), [use, *_BARE])
    record = applied.records[0]
    assert (record.status, record.predicate, record.words) == ("stated", "p < 1e-9", "p < 1e-9")
    assert not applied.changed


def test_a_stated_threshold_on_one_alias_leaves_the_implied_one_on_the_other() -> None:
    sql = "SELECT a.SNP FROM {AD} AS a JOIN {PD} AS b ON a.SNP = b.SNP WHERE a.p < 1e-4"
    uses = [_use("genome_wide_significance", "stated", source="a"), _use("genome_wide_significance"), *_BARE]
    applied = load_rules().apply(parse(sql), model(), uses)
    assert bigquery(applied.tree).endswith("WHERE a.p < 1e-4 AND b.p < 5e-8")


def test_a_waived_threshold_that_the_draft_has_is_warned_of() -> None:
    applied = load_rules().apply(
        parse("SELECT SNP FROM {AD} WHERE p < 5e-8"), model(), [_use("genome_wide_significance", "waived"), *_BARE]
    )
    assert applied.warnings == ("The question asks for no genome-wide significance, but the query has p < 5e-8.",)


def test_aliases_of_the_plan_lead_to_tables_of_the_draft() -> None:
    sql = "SELECT x.SNP FROM {AD} AS x JOIN {PD} AS y ON x.SNP = y.SNP"
    uses = [_use("genome_wide_significance", source="pd"), _use("genome_wide_significance", "complement", source="ad")]
    sources = {"ad": "AlzheimerDisease_CombinedGeneData_UUID", "pd": "ParkinsonDisease_CompleteGeneData_No23andMe"}
    applied = load_rules().apply(parse(sql), model(), [*uses, *_BARE], sources=sources)
    assert bigquery(applied.tree).endswith("WHERE y.p < 5e-8 AND x.p >= 5e-8")
    lost = load_rules().apply(parse(sql), model(), [*uses, *_BARE])
    assert {record.status for record in lost.records if record.rule == "genome_wide_significance"} == {"unmet"}
    assert len(lost.warnings) == 2


def test_columns_are_qualified_when_asked() -> None:
    book, tree = load_rules(), parse("SELECT SNP FROM {AD} AS a")
    qualified = book.apply(tree, model(), [_use("genome_wide_significance"), *_BARE], qualified=True)
    assert bigquery(qualified.tree).endswith("AS a WHERE a.p < 5e-8")
    plain = book.apply(tree, model(), [_use("genome_wide_significance"), *_BARE])
    assert bigquery(plain.tree).endswith("AS a WHERE p < 5e-8")


def test_comments_of_the_author_stay() -> None:
    tree = parse("SELECT SNP /* the marker */ FROM {AD} WHERE p < 0.05 /* nominal */ AND b > 0 -- risk\n")
    applied = load_rules().apply(tree, model(), [_use("genome_wide_significance"), *_BARE])
    written = bigquery(applied.tree)
    assert "the marker" in written
    assert "nominal" in written
    assert "risk" in written


def test_limits_of_the_question() -> None:
    book = load_rules()
    stated = book.apply(parse("SELECT UUID FROM {AD}"), model(), [_use("default_limit", "stated", value="500")])
    assert bigquery(stated.tree).endswith("LIMIT 500")
    assert stated.records[-1].status == "stated"
    waived = book.apply(parse("SELECT UUID FROM {AD}"), model(), [_use("default_limit", "waived")])
    assert "LIMIT" not in bigquery(waived.tree)
    other = load_rules(override={"default_limit": {"value": 20}}).apply(parse("SELECT UUID FROM {AD}"), model(), ())
    assert bigquery(other.tree).endswith("LIMIT 20")


def test_the_key_stands_in_parenthesised_and_nested_unions() -> None:
    sql = "(SELECT SNP FROM {AD}) UNION ALL (SELECT SNP FROM {PD} UNION ALL SELECT SNP FROM {AD})"
    applied = load_rules().apply(parse(sql), model(), ())
    assert bigquery(applied.tree).count("UUID, SNP") == 3


def test_a_pivot_is_filtered_before_it_turns() -> None:
    sql = "SELECT * FROM {SMR} PIVOT(COUNT(Gene) FOR Disease IN ('AD', 'PD'))"
    applied = load_rules(profile="biomedsql").apply(parse(sql), model(), [_use("smr_significance"), *_BARE])
    assert "WHERE p_SMR_multi < 2.95e-6) PIVOT(" in bigquery(applied.tree)


def test_a_book_reads_like_a_mapping() -> None:
    book = load_rules()
    assert isinstance(book, RuleBook)
    assert len(book) == len(list(book))
    assert book["heidi"].name == "heidi"
    with pytest.raises(KeyError):
        book["approval_year"]


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT t.* REPLACE (MAX(x) AS x) FROM t", ["MAX(x)"]),
        ("SELECT a.b, 1, COUNT(*) FROM t GROUP BY 1, 2", ["COUNT(*)"]),
        ("SELECT STRUCT(MAX(b) AS b).b, t.c.d FROM t", ["MAX(b)"]),
        ("SELECT a, MAX(b) OVER () FROM t", []),
        ("SELECT t.x, (SELECT MAX(q) FROM u) FROM t", []),
    ],
)
def test_aggregates_are_those_of_the_list_itself(sql: str, found: list[str]) -> None:
    select = parse(sql)
    assert isinstance(select, exp.Select)
    assert [bigquery(one) for one in aggregates(select)] == found
