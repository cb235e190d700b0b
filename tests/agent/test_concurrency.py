"""The agent in threads, event loops and other graphs; what stops a question."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from bmsql import Agent, Answer
from bmsql.errors import (
    QueryCancelledError,
)
from bmsql.testing import ScriptedReasoner
from bmsql.types import Plan
from tests.agent.fakes import QUESTION, echo, little
from tests.graph.fakes import ALL, PLAN


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
