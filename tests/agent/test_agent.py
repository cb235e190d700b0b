"""The agent: its ways of asking, its options, and what it says about itself."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bmsql import Agent, Answer, ConfigurationError, Limits, QuestionError
from bmsql.agent import CheckReport
from bmsql.conventions import load_rules
from bmsql.errors import (
    BackendUnavailableError,
    InvalidSqlError,
    QueryCancelledError,
    ReasonerError,
    SemanticModelError,
)
from bmsql.testing import ScriptedReasoner
from bmsql.types import Plan
from tests.graph.fakes import ALL, MODEL, PLAN, LittleBackend, model

QUESTION = "Which SNPs are significant?"


def little(reasoner: ScriptedReasoner | None = None, **options: Any) -> Agent:
    scripted = reasoner or ScriptedReasoner(plan=PLAN, draft=ALL)
    options = {"backend": LittleBackend(), "semantic_model": model(), **options}
    return Agent(model=scripted, **options)


def echo(**more: Any) -> ScriptedReasoner:
    """Answers each question with itself, and fails on those that say so."""

    def draft(question: str, plan: Plan) -> str:
        if "fail" in question:
            raise ReasonerError(f"no reply to {question}")
        return f"SELECT UUID, SNP, '{question}' AS q FROM study LIMIT 3"

    return ScriptedReasoner(plan=Plan(), draft=draft, answer=lambda evidence: evidence.question, **more)


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


def test_sixteen_threads_on_one_agent() -> None:
    agent = little(echo())
    questions = [f"question {n}" for n in range(64)]
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(agent.ask, questions))
    for question, answer in zip(questions, answers, strict=True):
        assert answer.text == question
        assert {row["q"] for row in answer.rows} == {question}


def test_threads_and_event_loops_together() -> None:
    agent = little(echo())

    async def some(start: int) -> list[Answer]:
        return list(await asyncio.gather(*(agent.aask(f"question {n}") for n in range(start, start + 5))))

    agent.ask("before")
    with ThreadPoolExecutor(2) as pool:
        loops = [pool.submit(asyncio.run, some(start)) for start in (0, 100)]
        texts = [[answer.text for answer in loop.result()] for loop in loops]
    assert texts == [[f"question {n}" for n in range(start, start + 5)] for start in (0, 100)]
    assert asyncio.run(some(7))[0].text == "question 7"


def test_aask_does_not_block_the_loop() -> None:
    def slow(question: str, plan: Plan) -> str:
        time.sleep(0.3)
        return ALL

    agent = little(ScriptedReasoner(plan=PLAN, draft=slow))

    async def beat() -> int:
        task = asyncio.create_task(agent.aask(QUESTION))
        beats = 0
        while not task.done():
            await asyncio.sleep(0.01)
            beats += 1
        return beats

    assert asyncio.run(beat()) >= 15


def test_cancelling_stops_the_question() -> None:
    begun, reasoner = (
        threading.Event(),
        ScriptedReasoner(plan=PLAN, draft=lambda q, p: (begun.set(), time.sleep(0.1), ALL)[2]),
    )
    agent = little(reasoner)

    async def cancelled() -> None:
        task = asyncio.create_task(agent.aask(QUESTION))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert "review" not in reasoner.steps()
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(QueryCancelledError):
        agent.ask(QUESTION, cancel=cancel)


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


# -- options --------------------------------------------------------------------------------------


def test_environment_is_read_when_the_agent_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_text(MODEL)
    for name, value in {
        "BMSQL_SEMANTIC_MODEL": str(file),
        "BMSQL_PROFILE": "biomedsql",
        "BMSQL_MAX_PASSES": "4",
        "BMSQL_LIMIT_ROWS": "7",
        "BMSQL_LIMIT_SECONDS": "2.5",
        "BMSQL_SEND_ROWS": "no",
    }.items():
        monkeypatch.setenv(name, value)
    agent = Agent(model=ScriptedReasoner(), backend=LittleBackend())
    deps = agent.dependencies
    assert (deps.model.name, deps.rules.profile, deps.budgets.passes) == ("little", "biomedsql", 4)
    assert (deps.limits, deps.send_rows) == (Limits(rows=7, seconds=2.5), False)
    assert agent.origin["profile"] == "BMSQL_PROFILE"
    explicit = Agent(
        model=ScriptedReasoner(),
        backend=LittleBackend(),
        profile="strict",
        max_passes=2,
        limits={"rows": 9},
        send_rows=True,
    )
    deps = explicit.dependencies
    assert (deps.rules.profile, deps.budgets.passes, deps.limits, deps.send_rows) == (
        "strict",
        2,
        Limits(rows=9, seconds=2.5),
        True,
    )


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("BMSQL_PROFILE", "lax", "strict, biomedsql"),
        ("BMSQL_MAX_PASSES", "many", "whole number"),
        ("BMSQL_MAX_PASSES", "0", "1 to 10"),
        ("BMSQL_LIMIT_ROWS", "-1", "positive"),
        ("BMSQL_LIMIT_SECONDS", "soon", "positive"),
        ("BMSQL_LIMIT_SECONDS", "inf", "bounds"),
        ("BMSQL_LIMIT_SECONDS", "nan", "bounds"),
        ("BMSQL_LIMIT_ROWS", "1" + "0" * 30, "bounds"),
        ("BMSQL_SEND_ROWS", "perhaps", "true"),
        ("BMSQL_MODEL", "gpt-5", "provider:name"),
        ("BMSQL_MODEL", "openai:gpt-5", "OPENAI_API_KEY"),
        ("BMSQL_CANDIDATES", "0", "from 1"),
    ],
)
def test_wrong_variables_are_named(monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str) -> None:
    monkeypatch.setenv(variable, value)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    options: dict[str, Any] = {} if variable == "BMSQL_MODEL" else {"model": ScriptedReasoner()}
    with pytest.raises(ConfigurationError) as raised:
        Agent(backend=LittleBackend(), semantic_model=model(), **options)
    assert variable in raised.value.message
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"profile": "lax"}, "profile="),
        ({"max_passes": 0}, "max_passes="),
        ({"max_passes": True}, "max_passes="),
        ({"limits": {"rows": 0}}, "limits['rows']"),
        ({"limits": {"seconds": float("inf")}}, "limits['seconds']"),
        ({"limits": {"seconds": 1e300}}, "limits['seconds']"),
        ({"limits": {"rows": 10**30}}, "limits['rows']"),
        ({"limits": {"memory_mb": 10**15}}, "limits['memory_mb']"),
        ({"limits": {"bytes_billed": 10**30}}, "limits['bytes_billed']"),
        ({"send_rows": "maybe"}, "send_rows="),
        ({"send_rows": 3}, "send_rows="),
        ({"semantic_model": ""}, "semantic_model="),
        ({"rules": " "}, "rules="),
        ({"limits": {"pages": 1}}, "limits['pages']"),
        ({"limits": 5}, "limits="),
        ({"model": 5}, "model="),
        ({"model": "gpt-5"}, "'gpt-5'"),
        ({"semantic_model": 5}, "semantic_model="),
        ({"rules": 5}, "rules="),
        ({"backend": 5}, "backend"),
        ({"backend": "postgres://x"}, "backend"),
        ({"rules": load_rules(profile="biomedsql"), "profile": "strict"}, "profile="),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], said: str) -> None:
    options = {"model": ScriptedReasoner(), "backend": LittleBackend(), "semantic_model": model(), **options}
    with pytest.raises(ConfigurationError) as raised:
        Agent(**options)
    assert said in raised.value.message
    assert raised.value.remedy


@pytest.mark.parametrize("value", ["postgres://x", "duckdb:///no/such/file.duckdb"])
def test_a_wrong_backend_variable_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("BMSQL_BACKEND", value)
    with pytest.raises((ConfigurationError, BackendUnavailableError), match=r"^BMSQL_BACKEND is") as raised:
        Agent(model=ScriptedReasoner(), semantic_model=model())
    assert raised.value.remedy


def test_a_key_alone_chooses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.setenv(name, "x")
    agent = Agent()
    assert agent.dependencies.reasoner.name == "offline"
    assert agent.dependencies.backend.name == "embedded"


def test_wrong_semantic_model_file(tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_text("name: x\nfamilies: {}\ntables: []\n")
    with pytest.raises(SemanticModelError) as raised:
        Agent(model=ScriptedReasoner(), backend=LittleBackend(), semantic_model=file)
    assert (raised.value.file, raised.value.line) == (str(file), 3)


def test_model_of_another_database_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="none of the tables") as raised:
        Agent(model=ScriptedReasoner(), backend=LittleBackend())
    assert "bmsql schema --from" in raised.value.remedy


def test_optional_table_takes_its_columns_from_the_catalogue() -> None:
    text = MODEL.replace(
        "    family: gwas\n    columns:", "    family: gwas\n    optional: true\n    columns: {}\n    x:", 1
    )
    text = text[: text.index("    x:")] + "entities: {}\n"
    from bmsql.semantic import parse_semantic_model

    agent = little(semantic_model=parse_semantic_model(text))
    assert list(agent.dependencies.model.tables["study"].columns) == ["UUID", "SNP", "p", "gene"]


def test_rules_by_file(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("rules:\n  genome_wide_significance:\n    value: 1e-8\n")
    for rules in (file, str(file), [file], load_rules(file)):
        assert "p < 1e-8" in little(rules=rules).ask(QUESTION).sql


def test_asked_inside_a_node_of_another_graph() -> None:
    from typing import TypedDict

    from langgraph.checkpoint.memory import MemorySaver
    from langgraph.graph import END, START, StateGraph

    class Outer(TypedDict, total=False):
        texts: list[str]

    agent = little(echo())

    def node(state: Outer) -> Outer:
        return {"texts": [agent.ask(f"question {n}").text for n in range(3)]}

    async def anode(state: Outer) -> Outer:
        answers = await asyncio.gather(*(agent.aask(f"question {n}") for n in range(3)))
        return {"texts": [*state["texts"], *(answer.text for answer in answers)]}

    outer = StateGraph(Outer)
    outer.add_node("sync", node)
    outer.add_node("async", anode)
    outer.add_edge(START, "sync")
    outer.add_edge("sync", "async")
    outer.add_edge("async", END)
    graph = outer.compile(checkpointer=MemorySaver())
    out = asyncio.run(graph.ainvoke({"texts": []}, {"configurable": {"thread_id": "1"}}))
    assert out["texts"] == [f"question {n}" for n in range(3)] * 2


def test_offline_reasoner_sees_rows_whatever_send_rows_says() -> None:
    question = "Is rs850738 significant in Alzheimer's disease?"
    texts = {Agent(send_rows=send_rows).ask(question).text for send_rows in (True, False)}
    assert len(texts) == 1


TABLE = "AlzheimerDisease_CombinedGeneData_UUID"
HEAVY = f"SELECT COUNT(*) AS n FROM {TABLE} a, {TABLE} b, {TABLE} c, {TABLE} d WHERE a.p + b.p < c.p + d.p"


def test_cancelling_stops_the_database() -> None:
    with Agent(model=ScriptedReasoner(draft=[HEAVY, "SELECT 1 AS one"])) as agent:

        async def cancelled() -> float:
            task = asyncio.create_task(agent.aask(QUESTION))
            await asyncio.sleep(0.5)
            begun = time.perf_counter()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.get_running_loop().shutdown_default_executor()  # waits for the query's thread
            return time.perf_counter() - begun

        assert asyncio.run(cancelled()) < 10
        assert agent.ask(QUESTION).rows == [{"one": 1}]


def test_time_limit_ends_in_an_abstention() -> None:
    with Agent(model=ScriptedReasoner(draft=HEAVY), limits={"seconds": 0.3}) as agent:
        answer = agent.ask(QUESTION)
    assert answer.abstained
    assert answer.trace[-3].detail["kind"] == "QueryTimeoutError"
    assert "0.3" in answer.reason


def test_offline_agent_from_question_to_evidence() -> None:
    answer = Agent().ask("Which SNPs near BIN1 are significantly associated with Alzheimer's disease?")
    assert len(answer.rows) == len(answer.evidence) == answer.total == 9
    assert answer.sources == ("Bellenguez2022_stageI_5e-8",)
    assert {record.rule for record in answer.conventions if record.status == "applied"} >= {"genome_wide_significance"}
    assert json.dumps(answer.to_dict(), allow_nan=False)
    assert "rs6733839" in answer._repr_html_()
