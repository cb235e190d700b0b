"""The prompts: rendered strictly, and small over the development questions. The scripted model gives gold drafts."""

from __future__ import annotations

import statistics

import pytest
from benchmarks.bench_prompts import DATA, measure

from bmsql.prompts import load_prompt, prompt_names
from tests.offline.scoring import load

TOKENS, CALLS, RECALL = 3000, 3, 0.97


@pytest.mark.all
def test_prompts_stay_small_and_hold_what_the_gold_query_needs() -> None:
    cases = [case for case in load(DATA / "questions_dev.yaml") if case.sql]
    assert len(cases) > 20
    measured = measure(cases, "drafted")
    assert statistics.median(measured.totals) <= TOKENS
    assert statistics.median(measured.calls) <= CALLS
    assert measured.wanted > 150
    assert measured.found / measured.wanted >= RECALL, measured.missing


@pytest.mark.parametrize("name", prompt_names())
def test_prompts_are_rendered_strictly(name: str) -> None:
    prompt = load_prompt(name)
    values = dict.fromkeys(prompt.variables, "{{question}} $x")
    system, user = prompt.render(values)
    assert "{{question}} $x" in user
    with pytest.raises(KeyError, match="unknown"):
        prompt.render({**values, "nothing": ""})
    values.popitem()
    with pytest.raises(KeyError, match="missing"):
        prompt.render(values)
    assert len(prompt.hash) == 12
    assert system
