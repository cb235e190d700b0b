"""Runs of the systems of the paper: no fault of a model loses a question, and gold drafts are right."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from bmsql.bench import (
    RunFolder,
    Score,
    Selection,
    System,
    prepare_run,
    read_questions,
    read_scores,
    reading_for,
    run_questions,
    score_run,
)
from bmsql.bench.systems import OurSystem
from bmsql.errors import ModelUnavailableError, QueryCancelledError
from bmsql.testing import ScriptedChatModel
from tests.bench.gold_model import INVALID, gold_model, without_conditions
from tests.bench.paper import AD, CALLS, GOLD, QUESTION, SHAPES, Open

DATA = Path(__file__).parent.parent / "data" / "questions"


# -- faults ---------------------------------------------------------------------------------------

FAULTS: dict[str, tuple[Any, str]] = {
    "prose": ("I would look at the table of variants first.", "failed"),
    "invalid": (INVALID, "failed"),
    "unsafe": (f"DROP TABLE {AD}", "failed"),
    "empty": ("", "ModelOutputError"),
    "refusal": (AIMessage("", response_metadata={"finish_reason": "content_filter"}), "ModelRefusedError"),
    "down": (ModelUnavailableError("The model is down.", remedy="Wait."), "ModelUnavailableError"),
}


@pytest.mark.all
@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_of_a_model_loses_a_question(fault: str, open_one: Open, file: Path, tmp_path: Path) -> None:
    reply, outcome = FAULTS[fault]
    for name in SHAPES if fault in {"prose", "down"} else ("single", "react"):
        prose = isinstance(reply, str) and reply and name == "react"
        model = ScriptedChatModel(
            replies={"action": "execute", "sql": reply} if prose else reply, steps={"columns": {"tables": []}}
        )
        folder = RunFolder(tmp_path / name)
        system = open_one(name, model, without=("validator",) if fault == "unsafe" else ())
        prepare_run(folder, system, file)
        progress = run_questions(system, folder)
        assert (progress.asked, progress.done) == (5, 5)
        with folder.records() as records:
            found = [records[identifier] for identifier in records.ids()]
        assert {record.error.type if record.error else "failed" for record in found} == {outcome}, name
        assert all(record.result is None for record in found)
        assert all(record.sql_failed for record in found) == (outcome == "failed")


@pytest.mark.parametrize("name", SHAPES)
def test_a_question_that_was_cancelled_asks_nothing(name: str, open_one: Open) -> None:
    model, cancel = gold_model({QUESTION: GOLD}), threading.Event()
    cancel.set()
    with pytest.raises(QueryCancelledError):
        open_one(name, model).ask(QUESTION, cancel=cancel)
    assert model.calls == []


# -- scores ---------------------------------------------------------------------------------------


def scored(system: System, file: Path, folder: RunFolder, **selection: Any) -> list[Score]:
    prepare_run(folder, system, file, Selection(**selection))
    run_questions(system, folder)
    score_run(folder, processes=1)
    return list(read_scores(folder))


def gold_of(system: System, file: Path) -> dict[str, str]:
    return {question.question: question.gold_sql for question in read_questions(file, reading_for(system.dependencies))}


@pytest.mark.parametrize("name", SHAPES)
def test_gold_drafts_are_all_right_and_damaged_ones_are_not(
    name: str, ours: OurSystem, open_one: Open, file: Path, tmp_path: Path
) -> None:
    gold = gold_of(ours, file)
    whole = scored(open_one(name, gold_model(gold)), file, RunFolder(tmp_path / "gold"))
    assert [score.outcome for score in whole] == ["right"] * 5
    worse = scored(open_one(name, gold_model(gold, without_conditions)), file, RunFolder(tmp_path / "damaged"))
    assert sum(score.outcome == "right" for score in worse) <= 2


@pytest.mark.all
@pytest.mark.parametrize("name", CALLS)
def test_gold_drafts_of_more_questions(name: str, ours: OurSystem, open_one: Open, tmp_path: Path) -> None:
    file = DATA / "heldout_one.yaml"
    gold = gold_of(ours, file)
    whole = scored(open_one(name, gold_model(gold)), file, RunFolder(tmp_path / "gold"), sample=40)
    assert {score.outcome for score in whole} == {"right"}
    worse = scored(
        open_one(name, gold_model(gold, without_conditions)), file, RunFolder(tmp_path / "damaged"), sample=40
    )
    assert sum(score.outcome == "right" for score in worse) < 20
