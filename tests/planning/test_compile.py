"""Every case of `cases.yaml`: the plan's SQL is valid for BigQuery, and gives the right rows on DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import duckdb
import pytest

from bmsql.errors import PlanError
from bmsql.planning import compile_plan
from bmsql.semantic import Recipe, SemanticModel
from bmsql.sql import validate
from bmsql.sql.duckdb import to_duckdb
from bmsql.types import Catalog, Filter, Plan, ValidatedQuery
from tests.yaml_files import read_yaml

CASES = read_yaml(Path(__file__).parent / "cases.yaml")
SOURCES = {"N": ("n", "north"), "S": ("s", "south"), "W": ("w", "walkers")}


def plan_of(given: dict[str, Any]) -> Plan:
    """A plan as the case file abbreviates it."""
    fields = dict(given)
    bare = fields.pop("bare", False)
    sources = fields.get("sources", [])
    fields["sources"] = [
        dict(zip(("alias", "table"), SOURCES[source], strict=True)) if isinstance(source, str) else source
        for source in ([sources] if isinstance(sources, str) else sources)
    ]
    if not bare and not fields.get("aggregate") and not fields.get("select"):
        fields["select"] = [{"column": "id"}]
    return Plan.model_validate(fields)


def folded(sql: str, catalog: Catalog) -> str:
    """SQL on one line, with short table names."""
    return " ".join(sql.split()).replace(f"{catalog.project}.{catalog.dataset}.", "")


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(
    case: dict[str, Any], model: SemanticModel, catalog: Catalog, connection: duckdb.DuckDBPyConnection
) -> None:
    plan = plan_of(case["plan"])
    if "error" in case:
        with pytest.raises(PlanError) as raised:
            compile_plan(plan, model, catalog)
        assert case["error"] in str(raised.value)
        return
    sql = compile_plan(plan, model, catalog).sql(dialect="bigquery")
    checked = validate(sql, catalog)
    assert isinstance(checked, ValidatedQuery), (sql, checked)
    # The compiler leaves nothing to repair but the way a table is quoted.
    assert {fix.code for fix in checked.fixes} <= {"table-name"}, checked.fixes
    if "sql" in case:
        assert folded(checked.sql, catalog) == case["sql"]
    cursor = connection.execute(to_duckdb(checked.sql, catalog))
    rows = [list(row) for row in cursor.fetchall()]
    if "columns" in case:
        assert [column[0] for column in cursor.description or []] == case["columns"]
    # Without an order, any order is right.
    expected = case["rows"] if plan.order else sorted(case["rows"], key=repr)
    assert (rows if plan.order else sorted(rows, key=repr)) == expected, sql


def test_the_cases_cover_the_plan_language() -> None:
    """Each operator and each recipe has a case that runs."""
    plans = [plan_of(case["plan"]) for case in CASES if "rows" in case]
    used = {filter_.op for plan in plans for filter_ in plan.filters}
    assert used == set(get_args(Filter.model_fields["op"].annotation))
    world = read_yaml(Path(__file__).parent / "world.yaml")
    matched = {filter_.target for plan in plans for filter_ in plan.filters if filter_.op in ("match", "region")}
    recipes = {
        recipe["how"]
        for name, entity in world["entities"].items()
        if name in matched
        for recipe in entity.get("match", {}).values()
    }
    assert recipes == set(get_args(Recipe.model_fields["how"].annotation))
    assert {join.kind for plan in plans for join in plan.joins} == {"inner", "semi", "anti"}
    assert {plan.aggregate.function for plan in plans if plan.aggregate} == {
        "count",
        "count_distinct",
        "min",
        "max",
        "avg",
        "sum",
    }
    assert {plan.combine for plan in plans} == {"single", "union", "join"}


def test_the_plan_and_the_model_are_left_as_they_are(model: SemanticModel, catalog: Catalog) -> None:
    plan = plan_of({"sources": ["N", "S"], "combine": "union", "order": [{"column": "find.score"}], "limit": 3})
    before = plan.model_dump(), model.model_dump()
    first = compile_plan(plan, model, catalog).sql("bigquery")
    assert compile_plan(plan, model, catalog).sql("bigquery") == first
    assert (plan.model_dump(), model.model_dump()) == before
