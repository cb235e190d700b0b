"""A draft that reads the wrong table, checked by the agent and on its way through the graph."""

from __future__ import annotations

import pytest

from bmsql import Agent
from bmsql.graph import GraphContext
from bmsql.testing import ScriptedReasoner
from bmsql.types import Answer

QUESTION = "Which SNPs near SNCA are significant for Parkinson's disease?"
GENE = "'SNCA' IN UNNEST(SPLIT(nearestGene, ';'))"
LOOK_ALIKE = f"SELECT SNP FROM AlzheimerDisease_CombinedGeneData_UUID WHERE {GENE} AND p < 0.05"
OTHER = "SELECT topRSID FROM NeurodegenerativeDiseases_SMR_Genes_Full WHERE Gene = 'SNCA'"


@pytest.fixture(scope="module")
def agent() -> Agent:
    return Agent()


def test_check_with_a_question_exchanges_the_look_alike(agent: Agent) -> None:
    report = agent.check(LOOK_ALIKE, QUESTION)
    assert report.valid
    assert report.tables == ("ParkinsonDisease_CompleteGeneData_No23andMe",)
    assert "table" in [fix.code for fix in report.fixes]
    assert "p < 5e-8" in report.refined
    assert agent.check(LOOK_ALIKE).tables == ("AlzheimerDisease_CombinedGeneData_UUID",)


def test_check_with_a_question_says_why_a_table_cannot_answer(agent: Agent) -> None:
    report = agent.check(OTHER, QUESTION)
    assert (report.valid, report.runs) == (False, True)
    assert [problem.code for problem in report.problems] == ["wrong-table"]
    assert agent.check(OTHER).valid
    assert not agent.check("SELECT nothing FROM nowhere", QUESTION).runs


def test_the_graph_exchanges_the_table_of_a_models_draft(agent: Agent) -> None:
    reasoner = ScriptedReasoner(plan=agent.plan(QUESTION), draft=LOOK_ALIKE)
    answer = Answer.model_validate(
        agent.graph.invoke({"question": QUESTION}, context=GraphContext(reasoner=reasoner))["answer"]
    )
    direct = agent.ask(QUESTION)
    assert set(answer.evidence) == set(direct.evidence) != set()
    validated = next(entry for entry in answer.trace if entry.node == "validate")
    assert any("ParkinsonDisease" in fix for fix in validated.detail["fixes"])


def test_the_graph_tells_a_model_why_its_table_cannot_answer(agent: Agent) -> None:
    reasoner = ScriptedReasoner(plan=agent.plan(QUESTION), draft=OTHER, repair=[LOOK_ALIKE])
    answer = Answer.model_validate(
        agent.graph.invoke({"question": QUESTION}, context=GraphContext(reasoner=reasoner))["answer"]
    )
    rejected = next(entry for entry in answer.trace if entry.outcome == "rejected")
    assert "cannot answer the question" in str(rejected.detail["problems"])
    assert not answer.abstained
