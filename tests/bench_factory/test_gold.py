"""Gold of templates against SQL that was written by hand, without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from bmsql.bench.factory import shipped_templates
from bmsql.bench.factory._gold import Drawn, Filling
from bmsql.bench.factory._run import GoldRunner
from bmsql.bench.factory._templates import Template
from bmsql.semantic import SemanticModel
from tests.yaml_files import read_yaml

CASES: list[dict[str, Any]] = read_yaml(Path(__file__).parent / "checked.yaml")
BOOK = shipped_templates()


def drawn(template: Template, name: str, value: Any) -> Drawn:
    slot = template.slots[name]
    values = tuple(value) if isinstance(value, list) else (value,)
    return Drawn(values, str(values[0]), slot.entity or ("disease" if slot.about else ""))


def compared(rows: list[tuple[Any, ...]]) -> list[Any]:
    return sorted({value for row in rows for value in row}, key=str)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['template']}-{case.get('profile', 'strict')}")
def test_gold_finds_what_sql_written_by_hand_finds(
    case: dict[str, Any], runner: GoldRunner, model: SemanticModel, facts_tables: duckdb.DuckDBPyConnection
) -> None:
    template, profile = BOOK.by_id[case["template"]], case.get("profile", "strict")
    slots = {name: drawn(template, name, value) for name, value in case["slots"].items()}
    tables = {
        alias: tuple(
            table
            for table in model.tables_of(source.family)
            if not source.pinned or slots[source.pinned].values[0] in model.tables[table].about.values()
        )
        for alias, source in template.bound_sources.items()
    }
    ran = runner.run(Filling(BOOK, model, template, profile).gold(slots, tables))
    assert not ran.uncertain
    key = template.keys.get(profile, "UUID")
    places = range(len(ran.gold.columns)) if template.kind_in(profile) == "numbers" else [ran.gold.columns.index(key)]
    found = compared([tuple(row[place] for place in places) for row in ran.gold.rows])
    by_hand = compared(facts_tables.execute(case["sql"]).fetchall())
    assert found == by_hand
    if "rows" in case:
        assert by_hand == sorted(case["rows"], key=str)
    else:
        assert len(by_hand) == case["count"]


def test_there_are_enough_and_of_all_kinds() -> None:
    assert len(CASES) >= 25
    families = {case["template"].partition(".")[0] for case in CASES}
    assert len(families) >= 15
    assert {case.get("profile", "strict") for case in CASES} == {"strict", "biomedsql"}
