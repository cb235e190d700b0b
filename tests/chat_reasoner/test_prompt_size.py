"""What a question costs with a chat model, over the development questions. The scripted model gives the gold drafts."""

from __future__ import annotations

import statistics

import pytest
from benchmarks.bench_prompts import DATA, measure

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
