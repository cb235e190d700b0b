"""Our overhead around a chat model: `abatch` against a bare LangGraph graph that makes the same calls.

No model is called: `ScriptedChatModel` takes a fixed time for each call, without blocking. Both sides ask through the
same client, as many calls a question, at the same concurrency, in the same run, by turns. Prints questions per
second, the ratio, and our CPU time per question: that of the process, less the bare graph's.

python benchmarks/bench_overhead.py [--questions N] [--concurrency N] [--seconds S] [--repeat N]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypedDict

import yaml
from langgraph.graph import END, START, StateGraph

from bmsql import Agent
from bmsql.reasoners.chat import ChatClient, Message, Request
from bmsql.reasoners.chat._replies import PlanReply
from bmsql.testing import ScriptedCall, ScriptedChatModel

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = ROOT / "tests" / "data" / "questions_dev.yaml"


class State(TypedDict, total=False):
    """What the bare graph carries."""

    question: str
    plan: str
    answer: str


def scripted(seconds: float) -> ScriptedChatModel:
    """A model that accepts the reading and says nothing of the rows, each after `seconds`."""
    steps = {"plan": {"use_reading": True}, "answer": "The rows are given below."}
    return ScriptedChatModel(steps=steps, delay=seconds)


def recorded_requests(questions: list[str]) -> dict[str, list[Request]]:
    """The requests that the agent makes for each question, so that the bare graph makes the same ones."""
    model = scripted(0)
    requests = {}
    with Agent(model=model) as agent:
        for question in questions:
            before = len(model.calls)
            agent.ask(question)
            requests[question] = [_request(call) for call in model.calls[before:]]
    return requests


def _request(call: ScriptedCall) -> Request:
    roles = {"system": "system", "human": "user", "ai": "assistant"}
    messages = tuple(Message(role=roles[one.type], content=one.text) for one in call.messages)
    return Request(step=call.step, messages=messages, schema=PlanReply if call.step == "plan" else None)


def bare_graph(client: ChatClient, requests: dict[str, list[Request]]) -> Callable[[str], Awaitable[object]]:
    """A graph of one node for each call of a question."""

    def node(place: int) -> Callable[[State], Awaitable[State]]:
        async def call(state: State) -> State:
            due = requests[state["question"]]
            if place < len(due):
                reply = await client.acomplete(due[place])
                return {"answer": reply.text}
            return {"answer": ""}

        return call

    most = max(map(len, requests.values()))
    graph = StateGraph(State)
    names = [f"call_{place}" for place in range(most)]
    for place, name in enumerate(names):
        graph.add_node(name, node(place))
    for left, right in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(left, right)
    compiled = graph.compile()

    async def ask(question: str) -> object:
        return await compiled.ainvoke({"question": question})

    return ask


async def timed(ask: Callable[[str], Awaitable[object]], questions: list[str], concurrency: int) -> tuple[float, float]:
    """Wall and CPU seconds for all questions, `concurrency` of them at a time."""
    free = asyncio.Semaphore(concurrency)

    async def one(question: str) -> None:
        async with free:
            await ask(question)

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*map(one, questions))
    return time.perf_counter() - wall, time.process_time() - cpu


async def compare(options: argparse.Namespace) -> None:
    known = [entry["q"] for entry in yaml.safe_load(QUESTIONS.read_text(encoding="utf-8")) if entry.get("sql")]
    questions = [known[place % len(known)] for place in range(options.questions)]
    requests = recorded_requests(known)
    calls = statistics.mean(len(requests[question]) for question in questions)
    ratios, ours_cpu = [], []
    for _ in range(max(1, options.repeat)):
        bare = bare_graph(ChatClient(scripted(options.seconds)), requests)
        bare_wall, bare_cpu = await timed(bare, questions, options.concurrency)
        with Agent(model=scripted(options.seconds)) as agent:
            await agent.aask(questions[0])
            wall, cpu = time.perf_counter(), time.process_time()
            answers = await agent.abatch(questions, concurrency=options.concurrency)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        failed = [answer for answer in answers if isinstance(answer, Exception)]
        if failed:
            raise failed[0]
        ratios.append(bare_wall / wall)
        ours_cpu.append((cpu - bare_cpu) / len(questions))
        rates = f"{len(questions) / wall:.1f} against {len(questions) / bare_wall:.1f} questions a second"
        print(f"{rates}, {ratios[-1]:.0%}; {ours_cpu[-1] * 1000:.1f} ms CPU a question beside {bare_cpu / len(questions) * 1000:.1f}")
    print(json.dumps({"calls": calls, "ratio": statistics.median(ratios), "cpu_ms": statistics.median(ours_cpu) * 1000}))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=0.2, help="what a call of the model takes")
    parser.add_argument("--repeat", type=int, default=1)
    asyncio.run(compare(parser.parse_args()))


if __name__ == "__main__":
    main()
