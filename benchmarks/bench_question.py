"""Time per question: everything but import, over the development questions.

The agent is made and warmed up first. Prints the median and the 95th percentile per question and per
node of the graph (a question enters some nodes twice; their times are added).

python benchmarks/bench_question.py [--repeat N]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import yaml

from bmsql import Agent

QUESTIONS = Path(__file__).resolve().parent.parent / "tests" / "data" / "questions_dev.yaml"


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def line(name: str, seconds: Sequence[float]) -> str:
    """Median and 95th percentile in milliseconds."""
    return f"{name:<20}{statistics.median(seconds) * 1000:9.1f}{percentile(seconds, 0.95) * 1000:9.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeat", type=int, default=3, help="how often each question is asked")
    options = parser.parse_args()
    questions = [entry["q"] for entry in yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))]

    started = time.perf_counter()
    agent = Agent()
    opened = time.perf_counter() - started
    started = time.perf_counter()
    agent.ask(questions[0])
    first = time.perf_counter() - started

    totals: list[float] = []
    nodes: dict[str, list[float]] = defaultdict(list)
    slowest = (0.0, "")
    for _ in range(max(1, options.repeat)):
        for question in questions:
            started = time.perf_counter()
            answer = agent.ask(question)
            seconds = time.perf_counter() - started
            totals.append(seconds)
            slowest = max(slowest, (seconds, question))
            spent: dict[str, float] = defaultdict(float)
            for entry in answer.trace:
                spent[entry.node] += entry.seconds
            for node, value in spent.items():
                nodes[node].append(value)

    print(f"{len(questions)} questions, asked {max(1, options.repeat)} times; milliseconds")
    print(f"{'':<20}{'median':>9}{'p95':>9}")
    print(line("question", totals))
    for node, values in nodes.items():
        print(line(f"  {node}", values))
    print(f"slowest: {slowest[0] * 1000:.1f} ms: {slowest[1]}")
    print(f"before: opening the agent {opened * 1000:.0f} ms (imports included), first question {first * 1000:.0f} ms")


if __name__ == "__main__":
    main()
