"""Our overhead around a chat model: `abatch` against a bare LangGraph graph that makes the same calls.

No model is called: `ScriptedChatModel` takes a fixed time for each call, without blocking. Both sides ask through the
same client, as many calls a question, at the same concurrency, in the same run. Prints questions per
second, the ratio, and our CPU time per question: that of the process, less the bare graph's.

Three kinds of questions: the development questions over and over, questions that are all new, and one question about
many genes.

python benchmarks/bench_overhead.py [--questions N] [--concurrency N] [--seconds S] [--repeat N] [--kinds KIND ...]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypedDict

from langgraph.graph import END, START, StateGraph

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.mutations.gold import load_gold  # noqa: E402

from bmsql import Agent  # noqa: E402
from bmsql.backends import open_embedded  # noqa: E402
from bmsql.data import safe_yaml  # noqa: E402
from bmsql.reasoners.chat import ChatClient, Message, Request  # noqa: E402
from bmsql.reasoners.chat._replies import PlanReply  # noqa: E402
from bmsql.testing import ScriptedCall, ScriptedChatModel  # noqa: E402

DEVELOPMENT = ROOT / "tests" / "data" / "questions_dev.yaml"
WARM_UP = "Is TREM2 a genome-wide significant gene for Alzheimer's disease?"
GOLD = {" ".join(one.question.split()): one.sql for one in load_gold()}


class State(TypedDict, total=False):
    """What the bare graph carries."""

    question: str
    plan: str
    answer: str


def gold_draft(call: ScriptedCall) -> str:
    """The gold SQL of the question that a prompt holds."""
    prompt = " ".join(call.prompt.split())
    return next(sql for question, sql in GOLD.items() if question in prompt)


def scripted(seconds: float) -> ScriptedChatModel:
    """A model that accepts the reading, writes gold where that does not suffice, and says nothing of the rows."""
    steps = {
        "plan": {"use_reading": True},
        "draft": gold_draft,
        "repair": gold_draft,
        "answer": "The rows are given below.",
    }
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


def seen(count: int, _: int) -> list[str]:
    """The development questions, over and over."""
    known = [entry["q"] for entry in safe_yaml(DEVELOPMENT.read_text(encoding="utf-8")) if entry.get("sql")]
    return [known[place % len(known)] for place in range(count)]


def new(count: int, turn: int) -> list[str]:
    """Questions of the tests' lists, none of them twice, and others at each turn."""
    known = list(GOLD)
    random.Random(0).shuffle(known)  # noqa: S311 - a fixed order
    return known[turn * count : (turn + 1) * count]


def alike(count: int, turn: int) -> list[str]:
    """One question about many genes, as a pipeline asks it."""
    with open_embedded() as backend:
        found = backend.distinct_values("NeurodegenerativeDiseases_SMR_Genes_Full", "Gene", limit=10_000)
    genes = [gene for gene in found if "," not in gene]
    asked = ("Alzheimer's", "Parkinson's")[turn % 2]
    return [f"In which tissues is {gene} SMR-significant for {asked} disease?" for gene in genes[:count]]


KINDS: dict[str, Callable[[int, int], list[str]]] = {"seen": seen, "new": new, "alike": alike}


async def turn(questions: list[str], options: argparse.Namespace) -> tuple[float, float, float]:
    """The ratio of the throughputs, our CPU seconds and the model's calls a question; prints what was measured."""
    with Agent(model=scripted(options.seconds)) as agent:
        await agent.aask(WARM_UP)
        wall, cpu = time.perf_counter(), time.process_time()
        answers = await agent.abatch(questions, concurrency=options.concurrency)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    failed = [answer for answer in answers if isinstance(answer, Exception)]
    if failed:
        raise failed[0]
    # Only now: what the agent is asked first would not be new to it.
    requests = recorded_requests(list(dict.fromkeys(questions)))
    bare = bare_graph(ChatClient(scripted(options.seconds)), requests)
    bare_wall, bare_cpu = await timed(bare, questions, options.concurrency)
    number = len(questions)
    ratio, ours = bare_wall / wall, (cpu - bare_cpu) / number
    rates = f"{number / wall:.1f} against {number / bare_wall:.1f} questions a second"
    print(f"  {rates}, {ratio:.0%}; {ours * 1000:.1f} ms CPU a question beside {bare_cpu / number * 1000:.1f}")
    return ratio, ours, statistics.mean(len(requests[question]) for question in questions)


async def compare(options: argparse.Namespace) -> None:
    found = {}
    for kind in options.kinds:
        made = KINDS[kind]
        print(f"{kind}: {made.__doc__}")
        turns = [await turn(made(options.questions, number), options) for number in range(max(1, options.repeat))]
        ratio, cpu, calls = (statistics.median(values) for values in zip(*turns, strict=True))
        found[kind] = {"calls": calls, "ratio": ratio, "cpu_ms": cpu * 1000}
    print(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=0.2, help="what a call of the model takes")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS), help="what is asked")
    asyncio.run(compare(parser.parse_args()))


if __name__ == "__main__":
    main()
