"""Runs: what is recorded, resumed, refused and stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bmsql.bench import (
    ModelPrice,
    Prices,
    Progress,
    Question,
    Record,
    RunFolder,
    RunOptions,
    Score,
    Selection,
    Summary,
    System,
    prepare_run,
    read_questions,
    read_scores,
    run_questions,
    score_run,
    summarise,
)
from bmsql.bench.systems import OurSystem
from bmsql.errors import (
    BackendUnavailableError,
    BenchmarkFileError,
    ConfigurationError,
    ModelOutputError,
    ReasonerError,
)
from tests.bench import killed
from tests.bench.conftest import QUESTIONS
from tests.bench.scripted import ScriptedSystem, tokens

ALL = ["snp", "many", "none", "cup", "gene"]


def gold(file: Path) -> dict[str, str | None]:
    """Gold queries by id; None for the question that has none."""
    return {question.id: question.gold_sql or None for question in read_questions(file)}


def records(folder: RunFolder) -> dict[str, Record]:
    with folder.records() as store:
        return {record.question_id: record for record in store}


def scores(folder: RunFolder) -> dict[str, Score]:
    score_run(folder)
    return {score.question_id: score for score in read_scores(folder)}


def summary(folder: RunFolder) -> Summary:
    score_run(folder)
    return summarise(read_scores(folder))


def test_replayed_gold_is_right(scripted: ScriptedSystem, file: Path, folder: RunFolder) -> None:
    assert isinstance(scripted, System)
    scripted.script = gold(file).get
    manifest = prepare_run(folder, scripted, file)
    assert (manifest.questions, manifest.skipped, manifest.system) == (5, 0, "scripted")
    seen: list[int] = []
    progress = run_questions(scripted, folder, on_progress=lambda now, score: seen.append(now.done))
    assert (progress.done, progress.total, progress.stopped) == (5, 5, "done")
    assert seen == [0, 1, 2, 3, 4, 5]
    found = summary(folder)
    assert found.outcomes == {"right": 5, "wrong": 0, "abstained": 0, "error": 0}
    assert (found.ex.n, found.ex.value, found.jac.value, found.both_empty) == (4, 1.0, 1.0, 1)
    assert (found.refused.n, found.refused.value, found.ser.value) == (1, 1.0, 0.0)
    with folder.questions() as questions:
        expected = questions["many"].expected
    assert expected is not None
    assert records(folder)["many"].result.rows == expected.rows  # type: ignore[union-attr]


def test_each_kind_of_failure_is_recorded_as_what_it_is(
    scripted: ScriptedSystem, file: Path, folder: RunFolder
) -> None:
    table = "AlzheimerDisease_CombinedGeneData_UUID"
    script = {
        "snp": f"SELECT UUID FROM {table} WHERE SNP = 'rs1'",
        "many": f"SELECT COUNT(*) AS n FROM {table} WHERE p < 5e-8 AND",
        "none": ReasonerError("no reply", remedy="wait"),
        "cup": f"SELECT UUID FROM {table} LIMIT 1",
        "gene": None,
    }
    scripted.script = script.__getitem__  # type: ignore[assignment]
    prepare_run(folder, scripted, file)
    run_questions(scripted, folder)
    kept, found = records(folder), scores(folder)
    assert {name: score.outcome for name, score in found.items()} == {
        "snp": "wrong",
        "many": "abstained",
        "none": "error",
        "cup": "wrong",
        "gene": "abstained",
    }
    assert [name for name, record in kept.items() if record.sql_failed] == ["many"]
    assert (kept["many"].sql, kept["many"].attempts) == (script["many"], 1)
    assert kept["none"].error is not None
    assert (kept["none"].error.type, kept["none"].error.message) == ("ReasonerError", "no reply")
    assert found["many"].kinds == ("syntax",)
    assert found["snp"].kinds == ("other",)
    total = summary(folder)
    assert (total.ser.value, total.ex.value, total.refused.value) == (0.25, 0.0, 0.0)
    # Of four that are not right, two were abstained from.
    assert total.ex_sr.value == 0.5


def test_resuming_asks_what_is_left_and_nothing_twice(scripted: ScriptedSystem, file: Path, folder: RunFolder) -> None:
    scripted.script = gold(file).get
    prepare_run(folder, scripted, file)
    run_questions(scripted, folder)
    whole = summary(folder)
    lines = folder.records_file.read_bytes().splitlines(keepends=True)
    # Two records, and a third that was cut off in the middle.
    folder.records_file.write_bytes(b"".join(lines[:2]) + lines[2][: len(lines[2]) // 2])
    kept = [json.loads(line)["question_id"] for line in lines[:2]]
    scripted.asked.clear()
    prepare_run(folder, scripted, file)
    progress = run_questions(scripted, folder)
    assert sorted(scripted.asked) == sorted(set(ALL) - set(kept))
    assert (progress.done, progress.asked) == (5, 3)
    assert len(folder.records_file.read_bytes().splitlines()) == 5
    assert summary(folder) == whole
    scripted.asked.clear()
    assert run_questions(scripted, folder).done == 5
    assert scripted.asked == []


def test_errors_are_asked_again_when_wanted(scripted: ScriptedSystem, file: Path, folder: RunFolder) -> None:
    answers = gold(file)
    scripted.script = lambda name: ReasonerError("down") if name == "gene" else answers[name]
    prepare_run(folder, scripted, file)
    assert run_questions(scripted, folder).errors == 1
    scripted.script, scripted.asked = answers.get, []
    assert run_questions(scripted, folder).errors == 1
    assert run_questions(scripted, folder, RunOptions(retry_errors=True)).errors == 0
    assert scripted.asked == ["gene"]
    assert scores(folder)["gene"].outcome == "right"


def test_other_settings_are_refused(ours: OurSystem, file: Path, folder: RunFolder) -> None:
    first = ScriptedSystem(ours.dependencies, options={"shots": 3})
    prepare_run(folder, first, file, Selection(seed=1))
    prepare_run(folder, first, file, Selection(seed=1))
    other = ScriptedSystem(ours.dependencies, options={"shots": 5}, model="another:model")
    with pytest.raises(ConfigurationError) as caught:
        prepare_run(folder, other, file, Selection(seed=2))
    for words in (
        'model was "scripted:model", now "another:model"',
        "questions.seed was 1, now 2",
        "shots was 3, now 5",
    ):
        assert words in caught.value.message
    assert "--out" in caught.value.remedy
    file.write_text(file.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"questions\.hash was"):
        prepare_run(folder, first, file, Selection(seed=1))


def test_cost_is_capped_before_it_is_exceeded(ours: OurSystem, file: Path, folder: RunFolder) -> None:
    system = ScriptedSystem(ours.dependencies, usage=tokens(1000, 500, 200))
    # 800 * 1 + 200 * 0.5 + 500 * 4 dollars per million: 0.0029 a question.
    prices = Prices(models={"scripted:model": ModelPrice(prompt=1, completion=4, cached=0.5)})
    prepare_run(folder, system, file)
    options = RunOptions(concurrency=1, max_cost=0.007, prices=prices)
    progress = run_questions(system, folder, options)
    assert (progress.done, progress.stopped, progress.cost) == (2, "cost", pytest.approx(0.0058))
    # Resumed with the same cap nothing is begun; with more it goes on.
    assert run_questions(system, folder, options).done == 2
    more = RunOptions(concurrency=4, max_cost=1.0, prices=prices)
    progress = run_questions(system, folder, more)
    assert (progress.done, progress.stopped, progress.cost) == (5, "done", pytest.approx(0.0145))
    assert summary(folder).total_cost == pytest.approx(0.0145)


def test_what_a_failed_step_has_used_is_paid_too(ours: OurSystem, file: Path, folder: RunFolder) -> None:
    error = ModelOutputError("cut off", model="scripted:model")
    error.usage = tokens(1_000_000).steps[0]
    system = ScriptedSystem(ours.dependencies, lambda name: error if name == "gene" else None)
    prices = Prices(models={"scripted:model": ModelPrice(prompt=2, completion=4)})
    prepare_run(folder, system, file)
    assert run_questions(system, folder, RunOptions(prices=prices)).cost == pytest.approx(2.0)
    assert scores(folder)["gene"].prompt_tokens == 1_000_000


def test_a_cost_that_is_not_known_cannot_be_capped(ours: OurSystem, file: Path, folder: RunFolder) -> None:
    system = ScriptedSystem(ours.dependencies, usage=tokens(10))
    prepare_run(folder, system, file)
    with pytest.raises(ConfigurationError, match="no known cost"):
        run_questions(system, folder, RunOptions(concurrency=1, max_cost=1.0))
    with pytest.raises(ConfigurationError, match="the cap on cost is 0"):
        run_questions(system, folder, RunOptions(max_cost=0.0))
    with pytest.raises(ConfigurationError, match="concurrency"):
        run_questions(system, folder, RunOptions(concurrency=0))


def test_errors_in_a_row_stop_the_run(ours: OurSystem, file: Path, folder: RunFolder) -> None:
    system = ScriptedSystem(ours.dependencies, lambda name: ReasonerError("down"))
    prepare_run(folder, system, file)
    progress = run_questions(system, folder, RunOptions(concurrency=1, max_errors=2))
    assert (progress.stopped, progress.done, progress.errors) == ("errors", 2, 2)


def test_what_would_fail_every_question_ends_the_run_unrecorded(ours: OurSystem, file: Path, folder: RunFolder) -> None:
    system = ScriptedSystem(ours.dependencies, lambda name: BackendUnavailableError("gone"))
    prepare_run(folder, system, file)
    with pytest.raises(BackendUnavailableError, match="gone"):
        run_questions(system, folder, RunOptions(concurrency=1))
    assert records(folder) == {}


def test_an_interrupt_stops_what_is_under_way(ours: OurSystem, file: Path, folder: RunFolder) -> None:
    system = ScriptedSystem(ours.dependencies)

    def interrupt(progress: Progress, score: Score | None) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    prepare_run(folder, system, file)
    with pytest.raises(KeyboardInterrupt):
        run_questions(system, folder, RunOptions(concurrency=1), on_progress=interrupt)
    assert len(records(folder)) == 2
    assert run_questions(system, folder).done == 5


def test_one_process_at_a_time(scripted: ScriptedSystem, file: Path, folder: RunFolder) -> None:
    prepare_run(folder, scripted, file)
    with folder.locked(), pytest.raises(ConfigurationError, match="another process is at work"):
        run_questions(scripted, folder)


def test_gold_that_does_not_run(scripted: ScriptedSystem, file: Path, folder: RunFolder) -> None:
    file.write_text(QUESTIONS + '- {id: odd, q: "?", sql: "SELECT UUID FROM no_such_table"}\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="the gold queries of 1 of 6 questions do not run: odd: "):
        prepare_run(folder, scripted, file)
    assert not folder.manifest_file.exists()
    manifest = prepare_run(folder, scripted, file, Selection(skip_failing=True))
    assert (manifest.questions, manifest.skipped) == (5, 1)


def test_questions_are_selected(scripted: ScriptedSystem, file: Path, tmp_path: Path) -> None:
    def chosen(selection: Selection, name: str) -> list[str]:
        folder = RunFolder(tmp_path / name)
        prepare_run(folder, scripted, file, selection)
        with folder.questions() as questions:
            return questions.ids()

    assert chosen(Selection(templates=("A",)), "a") == ["snp", "none"]
    some = chosen(Selection(sample=3, seed=7), "b")
    assert some == chosen(Selection(sample=3, seed=7), "c")
    assert len(some) == 3
    assert some == [name for name in ALL if name in some]
    assert any(chosen(Selection(sample=3, seed=seed), f"s{seed}") != some for seed in range(5))
    with pytest.raises(ConfigurationError, match="no question that is selected"):
        chosen(Selection(splits=("test",)), "d")
    with pytest.raises(ConfigurationError, match="the sample is 0"):
        chosen(Selection(sample=0), "e")


def test_stored_gold_is_believed_when_wanted(scripted: ScriptedSystem, tmp_path: Path, folder: RunFolder) -> None:
    file = tmp_path / "q.csv"
    row = "Q1.1,?,SELECT UUID FROM `{dataset_name}.gone`,[{'UUID': 'x'}]"
    file.write_text(f"uuid,question,sql_query,execution_results\n{row}\n", encoding="utf-8")
    prepare_run(folder, scripted, file, Selection(stored_gold=True))
    with folder.questions() as questions:
        expected = questions["Q1.1"].expected
    assert expected is not None
    assert expected.rows == (("x",),)


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkFileError, match="no folder of a run"):
        RunFolder(tmp_path).manifest()


def test_the_gold_label_routes_as_published() -> None:
    from bmsql.bench import Gold, Ran, score_record

    question = Question(
        id="q", question="?", key="K", gold_sql="SELECT K FROM t", expected=Gold(columns=("K",), rows=(("a",),))
    )
    right, wrong = (Ran(sql="SELECT K FROM t", columns=("K",), rows=((value,),)) for value in ("a", "b"))
    keyless = Ran(sql="SELECT x FROM t", columns=("x",), rows=(("z",),))

    def routed(label: str, general: Ran | None) -> tuple[bool, bool]:
        record = Record(question_id="q", system="s", sql=wrong.sql, result=wrong, general=general)
        score = score_record(question.model_copy(update={"query_type": label}), record)
        return score.ex, score.routed_ex

    assert routed("General query", right) == (False, True)
    assert routed("refined", right) == (False, False)
    assert routed("", right) == (False, False)
    assert routed("general", None) == (False, False)
    assert routed("general", keyless) == (False, False)


@pytest.mark.slow
@pytest.mark.all
def test_killed_in_the_middle_and_resumed_is_the_same_run(tmp_path: Path) -> None:
    """`kill -9` at any moment: no question is lost or asked twice, and the figures are those of a whole run."""
    folder = RunFolder(tmp_path / "killed")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    process = subprocess.Popen([sys.executable, killed.__file__, str(folder.path), "0.05"], env=environment)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (
        not folder.records_file.exists() or folder.records_file.read_bytes().count(b"\n") < 5
    ):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait(30) == -signal.SIGKILL
    left = folder.records_file.read_bytes().count(b"\n")
    assert 5 <= left < 40
    assert killed.main(folder, 0) == {"asked": 40 - left, "done": 40}
    whole = RunFolder(tmp_path / "whole")
    killed.main(whole, 0)
    lines = [json.loads(line)["question_id"] for line in folder.records_file.read_bytes().splitlines()]
    assert len(lines) == len(set(lines)) == 40
    # Times differ; nothing else may.
    assert figures(folder) == figures(whole)


def figures(folder: RunFolder) -> list[Score]:
    return [score.model_copy(update={"seconds": 0.0}) for score in scores(folder).values()]
