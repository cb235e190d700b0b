"""Scoring a run: by several processes as by one, and summed up by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from bmsql.bench import Score, score_run, summarise
from bmsql.errors import ConfigurationError
from tests.bench.test_report import run


@pytest.mark.slow
def test_several_processes_write_what_one_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run(tmp_path / "run", "ours", 7)
    alone = folder.scores_file.read_bytes()
    folder.scores_file.unlink()
    monkeypatch.setattr("bmsql.bench._scoring._CHUNK", 5)
    seen: list[tuple[int, int]] = []
    assert score_run(folder, processes=2, on_scored=lambda done, total: seen.append((done, total))) == 12
    assert folder.scores_file.read_bytes() == alone
    assert seen == [(5, 12), (10, 12), (12, 12)]
    with pytest.raises(ConfigurationError, match="processes is 0"):
        score_run(folder, processes=0)


def score(name: str, **more: object) -> Score:
    return Score.model_validate({"question_id": name, "system": "s", "outcome": "wrong", **more})


def test_sums_by_hand() -> None:
    found = summarise(
        [
            score("a", outcome="right", ex=True, jac=1.0, facts="stated", prompt_tokens=100, cost=0.5, seconds=1.0),
            score("b", jac=0.5, kinds=["tables", "syntax"], sql_failed=True, prompt_tokens=300, missing_key=True),
            score("c", outcome="abstained", facts="", prompt_tokens=200, cost=0.25, template="T"),
            score("d", outcome="right", ex=True, jac=1.0, both_empty=True, template="T", sql_categories=["join"]),
            score("e", outcome="right", unanswerable=True, prompt_tokens=400),
            score("f", unanswerable=True),
        ]
    )
    assert (found.questions, found.answerable) == (6, 4)
    assert found.outcomes == {"right": 3, "wrong": 2, "abstained": 1, "error": 0}
    assert (found.ex.value, found.jac.value, found.ser.value, found.facts.value) == (0.5, 0.625, 0.25, 0.25)
    # Of two that are not gold's, one was abstained from; of two without an answer, one was refused.
    assert (found.ex_sr.value, found.refused.value) == (0.5, 0.5)
    assert (found.kinds["tables"], found.kinds["syntax"], found.kinds["other"], found.failing) == (1, 1, 0, 1)
    assert (found.both_empty, found.missing_key, found.truncated) == (1, 1, 0)
    assert found.prompt_tokens.value == pytest.approx(1000 / 6)
    assert (found.cost.n, found.total_cost) == (2, 0.75)
    assert (found.by_template["T"].n, found.by_template["T"].value) == (2, 0.5)
    assert found.by_sql["join"].ex.value == 1.0
    assert (found.rqr, found.sr, found.judged, found.v_ex) == (None, None, 0, None)


def test_nothing_sums_up_to_nothing() -> None:
    found = summarise([])
    assert (found.questions, found.ex.value, found.ex.n) == (0, None, 0)
