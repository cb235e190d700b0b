"""What a model's plan reply becomes: names checked, values as stored, thresholds left to the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bmsql import Agent
from bmsql.errors import PlanError
from bmsql.planning import compile_plan
from bmsql.reasoners.chat._replies import PlanReply
from bmsql.reasoners.chat._to_plan import PlanMaker
from bmsql.reasoners.offline import OfflineReasoner
from bmsql.types import Plan, QueryResult

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "plans.yaml").read_text("utf-8"))


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
