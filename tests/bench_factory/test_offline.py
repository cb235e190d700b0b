"""The offline reasoner over built questions, which it was not written against: a small measure of each change.

`benchmarks/bench_offline.py --n 2000` measures more of them, by family and split.
"""

from __future__ import annotations

import pytest
from benchmarks.bench_offline import ask

from bmsql import Agent
from bmsql.bench.factory import build_questions, shipped_templates

SIZE, RIGHT, WRONG = 30, 0.85, 0.1


@pytest.mark.all
def test_most_answers_to_built_questions_are_right_and_few_wrong() -> None:
    with Agent() as agent:
        deps = agent.dependencies
        built = build_questions(deps.backend, deps.model, shipped_templates(), n=SIZE, seed=3)
        scored = [(ask(agent, question)[0].outcome, question.question) for question in built.questions]
    outcomes = [outcome for outcome, _ in scored]
    failed = "\n".join(f"{outcome}: {text}" for outcome, text in scored if outcome != "right")
    assert len(scored) == SIZE
    assert outcomes.count("right") >= RIGHT * SIZE, failed
    assert outcomes.count("wrong") + outcomes.count("error") <= WRONG * SIZE, failed
