"""The agent: its ways of asking, and what it says about itself."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from bmsql import Agent, Answer, ConfigurationError, QuestionError
from bmsql.agent import CheckReport
from bmsql.errors import (
    BackendUnavailableError,
    InvalidSqlError,
    ReasonerError,
)
from bmsql.testing import ScriptedReasoner
from bmsql.types import Plan
from tests.agent.fakes import QUESTION, echo, little
from tests.graph.fakes import ALL, PLAN, LittleBackend


def test_ask_and_its_answer() -> None:
    answer = little().ask(f"  {QUESTION}\n")
    assert isinstance(answer, Answer)
    assert (answer.question, answer.text, str(answer)) == (QUESTION, "3 rows.", "3 rows.")
    assert (answer.reasoner, answer.backend, answer.profile) == ("scripted", "little", "strict")
    assert answer.sql.startswith("SELECT\n  UUID,")
    assert answer.table.num_rows == 3
    assert json.loads(json.dumps(answer.to_dict(), allow_nan=False))["rows"][0] == {
        "UUID": "s_2",
        "SNP": "rs2",
        "p": 0.0,
    }


@pytest.mark.parametrize("question", ["", "   \n\t", "x" * 4001, None, 7, b"bytes", ["list"], "\ud800", "\x00"])
def test_what_is_no_question(question: Any) -> None:
    agent = little()
    with pytest.raises(QuestionError) as raised:
        agent.ask(question)
    assert raised.value.remedy
    with pytest.raises(QuestionError):
        agent.plan(question)
    with pytest.raises(QuestionError):
        list(agent.stream(question))
    with pytest.raises(QuestionError):
        asyncio.run(agent.aask(question))


def test_longest_question_is_read() -> None:
    assert little().ask("x" * 4000).question == "x" * 4000


def test_stream_gives_each_node_and_the_answer_last() -> None:
    agent = little()
    events = list(agent.stream(QUESTION))
    assert [event.kind for event in events] == ["node"] * (len(events) - 1) + ["answer"]
    last = events[-1]
    assert last.answer is not None
    assert [event.node for event in events[:-1]] == [entry.node for entry in last.answer.trace]
    assert (last.text, last.sql) == (last.answer.text, last.answer.sql)
    assert events[1].sql == ALL

    async def collect() -> list[Any]:
        return [event async for event in agent.astream(QUESTION)]

    assert [event.node for event in asyncio.run(collect())] == [event.node for event in events]


def test_batch_keeps_the_order_and_every_answer() -> None:
    agent = little(echo())
    questions = [f"question {n}" for n in range(8)] + ["fail 1", "", "question 9"]
    for results in (agent.batch(questions, concurrency=3), asyncio.run(agent.abatch(questions, concurrency=3))):
        assert [type(result).__name__ for result in results] == ["Answer"] * 8 + [
            "ReasonerError",
            "QuestionError",
            "Answer",
        ]
        assert [result.text for result in results if isinstance(result, Answer)] == [*questions[:8], "question 9"]


def test_batch_raises_only_after_all_others() -> None:
    reasoner = echo()
    agent = little(reasoner)
    with pytest.raises(ReasonerError, match="fail 1"):
        agent.batch(["fail 1", "question 1", "question 2"], concurrency=1, on_error="raise")
    with pytest.raises(ReasonerError, match="fail 2"):
        asyncio.run(agent.abatch(["fail 2", "question 1", "question 2"], concurrency=1, on_error="raise"))
    assert reasoner.steps().count("answer") == 4
    assert agent.batch([]) == []


@pytest.mark.parametrize("wrong", [{"concurrency": 0}, {"concurrency": "x"}, {"on_error": "ignore"}])
def test_batch_options(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"concurrency=|on_error="):
        little().batch(["q"], **wrong)
    with pytest.raises(ConfigurationError, match=r"concurrency=|on_error="):
        asyncio.run(little().abatch(["q"], **wrong))


@pytest.mark.parametrize("questions", ["Which SNPs?", b"q", None, 5])
def test_batch_takes_a_list(questions: Any) -> None:
    with pytest.raises(QuestionError, match="list"):
        little().batch(questions)
    with pytest.raises(QuestionError, match="list"):
        asyncio.run(little().abatch(questions))


@pytest.mark.parametrize("question", [None, 5, b"q"])
def test_check_takes_a_question_as_text(question: Any) -> None:
    with pytest.raises(QuestionError, match=type(question).__name__):
        little().check(ALL, question)


def test_callbacks_see_each_step() -> None:
    from langchain_core.callbacks import BaseCallbackHandler

    class Names(BaseCallbackHandler):
        def __init__(self) -> None:
            self.names: list[str] = []

        def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
            self.names.append(str(kwargs.get("name")))

    names = Names()
    little().ask(QUESTION, config={"callbacks": [names], "run_name": "mine"})
    assert names.names[0] == "mine"
    assert {"plan", "generate", "inject_thresholds", "refine", "answer"} <= set(names.names)


def test_plan_and_check_run_nothing() -> None:
    backend = LittleBackend()
    agent = little(backend=backend)
    assert agent.plan(QUESTION) == PLAN
    report = agent.check("SELECT SNP FROM study", QUESTION)
    assert isinstance(report, CheckReport)
    assert report
    assert "p < 5e-8" in report.refined
    assert {record.rule for record in report.conventions} >= {"genome_wide_significance", "evidence_key"}
    assert report.fixes
    bare = agent.check("SELECT SNP FROM study")
    assert (bare.valid, bare.refined, bare.conventions) == (True, "", ())
    assert {record.rule for record in agent.check(ALL, conventions=True).conventions} == {
        "evidence_key",
        "default_limit",
    }
    assert backend.executed == []


@pytest.mark.parametrize("sql", ["", "DROP TABLE study", "SELECT x FROM study", "SELECT 1 FROM elsewhere", "Hello!"])
def test_check_says_what_is_wrong(sql: str) -> None:
    report = little().check(sql)
    assert not report
    assert report.problems
    assert all(problem.message for problem in report.problems)


def test_check_takes_text_only() -> None:
    with pytest.raises(InvalidSqlError):
        little().check(7)  # type: ignore[arg-type]


def test_tool() -> None:
    tool = little().as_tool()
    assert tool.name == "ask_bmsql"
    assert "A little study" in tool.description
    message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": QUESTION}})
    assert message.content.startswith("3 rows.\nSQL:\nSELECT")
    assert '{"UUID": "s_2", "SNP": "rs2", "p": 0.0}' in message.content
    assert message.artifact["evidence"] == ["s_2", "s_1", "s_6"]
    assert asyncio.run(tool.ainvoke({"question": QUESTION})).startswith("3 rows.")


def test_close_closes_only_what_it_opened(tmp_path: Path) -> None:
    backend = LittleBackend()
    with little(backend=backend) as agent:
        agent.ask(QUESTION)
    assert agent.check(ALL)
    assert backend.distinct_values("study", "gene", limit=5) == ["AAA", "BBB", "CCC"]
    with Agent(model=ScriptedReasoner(plan=Plan(), draft="SELECT 1 AS one")) as opened:
        assert opened.ask("one?").rows == [{"one": 1}]
    with pytest.raises(BackendUnavailableError):
        opened.ask("one?")


def test_it_says_once_what_it_uses(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "bmsql"):
        agent = little()
        agent.ask(QUESTION)
        agent.ask(QUESTION)
    said = [record.getMessage() for record in caplog.records if record.name == "bmsql"]
    assert said == ["reasoner scripted, knowledge base little, profile strict"]
    assert repr(agent) == f"<Agent: {said[0]}>"


def test_offline_agent_from_question_to_evidence() -> None:
    answer = Agent().ask("Which SNPs near BIN1 are significantly associated with Alzheimer's disease?")
    assert len(answer.rows) == len(answer.evidence) == answer.total == 9
    assert answer.sources == ("Bellenguez2022_stageI_5e-8",)
    assert {record.rule for record in answer.conventions if record.status == "applied"} >= {"genome_wide_significance"}
    assert json.dumps(answer.to_dict(), allow_nan=False)
    assert "rs6733839" in answer._repr_html_()
