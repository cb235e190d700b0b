"""What a model's plan reply becomes: names checked, values as stored, thresholds left to the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bmsql import Agent
from bmsql.errors import PlanError
from bmsql.planning import compile_plan
from bmsql.reasoners.chat._replies import PlanReply
from bmsql.reasoners.chat._to_plan import PlanMaker
from bmsql.reasoners.offline import OfflineReasoner
from bmsql.types import Plan, QueryResult
from tests.yaml_files import read_yaml

CASES: list[dict[str, Any]] = read_yaml(Path(__file__).parent / "plans.yaml")


@pytest.fixture(scope="module")
def agent() -> Agent:
    return Agent()


def made(agent: Agent, case: dict[str, Any]) -> Plan:
    deps = agent.dependencies
    reasoner = deps.reasoner
    assert isinstance(reasoner, OfflineReasoner)
    maker = PlanMaker(deps.model, deps.rules, [table.name for table in deps.backend.catalog().tables])
    reply = PlanReply.model_validate(_named(case["reply"]))
    question = case["question"]
    mentions = reasoner.plan(question).mentions
    return maker.make(reply, question, mentions, lambda tables: reasoner.conventions(question, tables))


def _named(value: Any) -> Any:
    """YAML reads the bare key `on` as true."""
    if isinstance(value, dict):
        return {"on" if key is True else key: _named(item) for key, item in value.items()}
    return [_named(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_reply(agent: Agent, case: dict[str, Any]) -> None:
    if "error" in case:
        with pytest.raises(PlanError, match=case["error"]):
            made(agent, case)
        return
    plan = made(agent, case)
    deps = agent.dependencies
    sql = compile_plan(plan, deps.model, deps.backend.catalog()).sql("bigquery")
    if "sql" in case:
        assert sql.replace("`", "") == " ".join(case["sql"].split()).replace("`", "")
    if "rules" in case:
        assert [f"{use.rule} {use.mode}" for use in plan.conventions] == case["rules"]
    assert isinstance(deps.run(sql), QueryResult)


def test_readings_ask_back(agent: Agent) -> None:
    case = {"question": "What about GBA1?", "reply": {"readings": ["GWAS hits near GBA1?", "Drugs for GBA1?"]}}
    plan = made(agent, case)
    assert plan.clarification is not None
    assert plan.clarification.alternatives == ("GWAS hits near GBA1?", "Drugs for GBA1?")


def test_unanswerable_says_why(agent: Agent) -> None:
    case = {"question": "Who won?", "reply": {"answerable": False, "problem": "no table holds matches"}}
    plan = made(agent, case)
    assert (plan.answerable, plan.problem) == (False, "no table holds matches")


@pytest.mark.parametrize("written", ["10^-6", "10⁻⁶", "2 × 10⁻⁶", ".000002", "2*10^-6", "2e−6", "2E-6", "0.000002"])
def test_a_threshold_of_the_question_is_kept_in_whatever_notation(agent: Agent, written: str) -> None:
    value = "1e-6" if written.startswith("10") else "2e-6"
    reply = {
        "tables": ["AlzheimerDisease_CombinedGeneData_UUID"],
        "filters": [{"on": "p", "op": "<", "values": [value]}],
    }
    plan = made(agent, {"question": f"Which SNPs near BIN1 have p < {written} in AD?", "reply": reply})
    assert [filter_.values for filter_ in plan.filters] == [(float(value),)]


@pytest.mark.parametrize(
    "reply",
    [
        {"function": "median"},
        {"limit": "many"},
        {"filters": [{"on": "p", "op": "~"}]},
        {"filters": [{"on": "p", "op": "like", "values": ["%1%"]}]},
        {"tables": [{"name": "x"}]},
        {"joins": [{"left": "a", "right": "b", "on": "gene", "kind": "sideways"}]},
    ],
)
def test_what_would_change_the_question_is_not_guessed(reply: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PlanReply.model_validate(reply)
