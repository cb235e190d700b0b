"""Each rule against its case file: what stays, what changes, and that the rows are the right ones."""

from __future__ import annotations

from typing import Any

import pytest

from bmsql.conventions import Applied, load_rules
from bmsql.types import ConventionUse
from tests.conventions.world import CASES, bag, bigquery, load_cases, model, parse, run

_CLAUSES = {"evidence_key", "default_limit"}
# Each rule is looked at alone; the key and the limit have their own files.
_BARE = [ConventionUse(rule=name, mode="waived") for name in sorted(_CLAUSES)]


def _files() -> list[str]:
    return sorted(path.stem for path in CASES.glob("*.yaml"))


def _shipped() -> set[str]:
    return {rule.name for profile in ("strict", "biomedsql") for rule in load_rules(profile=profile)}


def _uses(case: dict[str, Any], rule: str) -> list[ConventionUse]:
    given = case.get("uses") or [{"rule": rule, "mode": case.get("mode", "implied"), "source": case.get("source", "")}]
    return [ConventionUse(**use) for use in given]


def _pairs(kind: str, clauses: bool = False) -> list[Any]:
    found = []
    for name in _files():
        if (name in _CLAUSES) != clauses:
            continue
        data = load_cases(name)
        for number, given in enumerate(data.get(kind) or ()):
            case = {"profile": data.get("profile", "strict"), **(given if isinstance(given, dict) else {"sql": given})}
            found.append(pytest.param(name, case, id=f"{name}-{case.get('name', number)}"))
    return found


def _apply(name: str, case: dict[str, Any]) -> Applied:
    return load_rules(profile=case["profile"]).apply(parse(case["sql"]), model(), [*_uses(case, name), *_BARE])


def test_every_rule_has_cases() -> None:
    assert set(_files()) == _shipped()
    for name in _files():
        data = load_cases(name)
        assert data["rule"] == name
        assert data["fail"], name
        assert data["pass"] or name == "trial_phase", name


@pytest.mark.parametrize(("name", "case"), _pairs("pass"))
def test_a_query_that_says_it_already_stays(name: str, case: dict[str, Any]) -> None:
    applied = load_rules(profile=case["profile"]).apply(
        parse(case["sql"]), model(), [*_uses(case, name), *_BARE, ConventionUse(rule="heidi", mode="judge")]
    )
    assert bigquery(applied.tree) == bigquery(parse(case["sql"]))
    assert not applied.changed
    assert {record.status for record in applied.records if record.rule == name} == {"already"}
    assert all(record.predicate for record in applied.records if record.rule == name)


@pytest.mark.parametrize(("name", "case"), _pairs("fail"))
def test_a_query_that_does_not_is_rewritten(name: str, case: dict[str, Any]) -> None:
    applied = _apply(name, case)
    assert bag(applied.tree) == bag(parse(case["right"])), bigquery(applied.tree)
    status = case["status"]
    found = {record.source: record.status for record in applied.records if record.rule == name}
    if isinstance(status, dict):
        assert {source: found[source] for source in status} == status
    else:
        assert set(found.values()) == {status}
    assert applied.changed == (bigquery(applied.tree) != bigquery(parse(case["sql"])))
    if "predicate" in case:
        assert [record.predicate for record in applied.records if record.rule == name] == [case["predicate"]]
    if status == "unmet":
        assert applied.warnings


@pytest.mark.parametrize(("name", "case"), [*_pairs("fail"), *_pairs("pass"), *_pairs("fail", clauses=True)])
def test_twice_is_once_and_the_input_stays(name: str, case: dict[str, Any]) -> None:
    tree = parse(case["sql"])
    before = repr(tree)
    book = load_rules(profile=case["profile"])
    uses = _uses(case, name)
    first = book.apply(tree, model(), uses)
    assert repr(tree) == before
    second = book.apply(first.tree, model(), uses)
    assert bigquery(second.tree) == bigquery(first.tree)
    assert not second.changed
    reparsed = book.apply(parse(bigquery(first.tree)), model(), uses)
    assert bigquery(reparsed.tree) == bigquery(first.tree)
    if "@" not in case["sql"]:
        run(first.tree)


@pytest.mark.parametrize(("name", "case"), _pairs("fail", clauses=True))
def test_key_and_limit_are_added(name: str, case: dict[str, Any]) -> None:
    uses = [use for use in _BARE if use.rule != name]
    applied = load_rules(profile=case["profile"]).apply(parse(case["sql"]), model(), uses)
    assert bigquery(applied.tree) == bigquery(parse(case.get("text", case["right"])))
    assert [record.status for record in applied.records if record.rule == name] == ["applied"]
    run(applied.tree)


@pytest.mark.parametrize(("name", "case"), [*_pairs("pass", clauses=True), *_pairs("none", clauses=True)])
def test_key_and_limit_leave_what_needs_none(name: str, case: dict[str, Any]) -> None:
    uses = [use for use in _BARE if use.rule != name]
    applied = load_rules(profile=case["profile"]).apply(parse(case["sql"]), model(), uses)
    assert bigquery(applied.tree) == bigquery(parse(case["sql"]))
    assert not applied.changed


@pytest.mark.parametrize("sql", load_cases("evidence_key")["none"])
def test_what_takes_no_key_has_no_record_of_one(sql: str) -> None:
    applied = load_rules().apply(parse(sql), model(), ())
    assert "evidence_key" not in {record.rule for record in applied.records}


@pytest.mark.parametrize("held", [True, False])
def test_many_alternatives_take_no_longer_than_their_number(held: bool) -> None:
    # Each OR that is looked at twice would double the work: these would not end.
    stated = "p < 5e-8" if held else "b > 0"
    alternatives = " OR ".join(f"(nearestGene = 'G{number}' AND p < 5e-8)" for number in range(60))
    sql = f"SELECT SNP FROM {{AD}} WHERE {alternatives} OR (nearestGene = 'H' AND {stated})"
    case = {"profile": "strict", "sql": sql}
    applied = _apply("genome_wide_significance", case)
    (record,) = [record for record in applied.records if record.rule == "genome_wide_significance"]
    assert (record.status, applied.changed) == (("already", False) if held else ("applied", True))
