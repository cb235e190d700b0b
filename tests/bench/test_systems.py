"""Our own agent as a compared system, with parts left out, and answers of a file."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bmsql.bench import QUESTION_ID, RunFolder, System, prepare_run, read_scores, run_questions, score_run
from bmsql.bench.systems import AnswersSystem, OurSystem, SystemOptions, open_system
from bmsql.errors import BenchmarkFileError, ConfigurationError

QUESTION = "Which SNPs near BIN1 are significantly associated with Alzheimer's disease?"
TABLE = "AlzheimerDisease_CombinedGeneData_UUID"


def test_ours_is_the_agent(ours: OurSystem) -> None:
    assert isinstance(ours, System)
    assert (ours.name, ours.model, ours.settings["without"]) == ("ours", "offline", [])
    answer = ours.ask(QUESTION)
    assert "p < 5e-8" in answer.sql
    assert asyncio.run(ours.aask(QUESTION)).sql == answer.sql


def test_without_conventions_no_threshold_is_implied(ours: OurSystem) -> None:
    backend = ours.dependencies.backend
    bare = OurSystem(SystemOptions(backend=backend, without=("conventions",)))
    assert bare.name == "ours, no conventions"
    assert bare.settings["rules"] != ours.settings["rules"]
    answer = bare.ask(QUESTION)
    assert "5e-8" not in answer.sql
    # The evidence key and the limit are no convention of a question.
    assert "UUID" in answer.sql
    assert "LIMIT 100" in answer.sql
    # Questions are read as the whole system's are, and gold is run as for it.
    assert bare.dependencies.rules.profile == ours.dependencies.rules.profile
    assert len(bare.dependencies.rules) == len(ours.dependencies.rules)


def test_without_linking_nothing_named_is_found(ours: OurSystem) -> None:
    bare = OurSystem(SystemOptions(backend=ours.dependencies.backend, without=("linking", "conventions")))
    assert bare.name == "ours, no conventions, no linking"
    assert bare.ask(QUESTION).abstained


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("our", SystemOptions(), "there is no system 'our'. Did you mean 'ours'?"),
        (
            "ours",
            SystemOptions(without=("brain",)),
            "no part 'brain' to leave out. The parts are: ",
        ),
        ("ours", SystemOptions(own={"shots": "3"}), "the system 'ours' has no option 'shots'. Its options are: none."),
        ("answers", SystemOptions(), "needs a file of answers"),
        ("answers", SystemOptions(own={"file": "x"}, without=("linking",)), "have no parts"),
        ("answers", SystemOptions(own={"path": "x"}), "has no option 'path'. Its options are: file, label."),
    ],
)
def test_wrong_options(name: str, options: SystemOptions, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_system(name, options)
    assert message in str(caught.value)


def answers(path: Path, text: str, ours: OurSystem) -> AnswersSystem:
    path.write_text(text, encoding="utf-8")
    return AnswersSystem(SystemOptions(backend=ours.dependencies.backend, own={"file": str(path), "label": "Experts"}))


def test_people_are_scored_as_one_more_system(ours: OurSystem, file: Path, folder: RunFolder) -> None:
    people = answers(
        file.with_name("people.csv"),
        "uuid,answer,sql,seconds\n"
        f"snp,On chromosome 6.,SELECT UUID FROM {TABLE} WHERE SNP = 'rs75932628',40\n"
        f"many,A few.,SELECT COUNT(DISTINCT SNP) AS n FROM {TABLE} WHERE p < 1e-20,30\n"
        "none,None.,SELECT nothing FROM nowhere,20\n"
        "gene,LRRK2 and MAPT.,,10\n",
        ours,
    )
    assert isinstance(people, System)
    prepare_run(folder, people, file)
    run_questions(people, folder)
    score_run(folder)
    scores = {score.question_id: score for score in read_scores(folder)}
    outcomes = {"snp": "right", "many": "wrong", "none": "wrong", "gene": "wrong", "cup": "right"}
    assert {name: score.outcome for name, score in scores.items()} == outcomes
    assert scores["many"].kinds == ("threshold_wrong",)
    assert (scores["none"].sql_failed, scores["none"].facts) == (True, "stated")
    assert (scores["gene"].sql_failed, scores["gene"].kinds) == (False, ())
    assert (scores["snp"].system, scores["snp"].seconds) == ("Experts", 40)
    asked = {"metadata": {QUESTION_ID: "snp"}}
    assert asyncio.run(people.aask("?", config=asked)).text == "On chromosome 6."  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "answer\nx\n", "a.csv:2: id: "),
        ("a.csv", "id,answer\nq,x\nq,y\n", "a.csv:3: there are two answers to 'q'"),
        ("a.jsonl", '{"id": "q", "seconds": -1}', "a.jsonl:1: seconds: "),
        ("a.jsonl", "{", "a.jsonl:1: "),
        ("a.yaml", "- 1", "a.yaml:1: an entry is no mapping"),
        ("a.yaml", "[]", "a.yaml: the file holds no answers"),
        ("a.txt", "x", "a.txt: files of this kind are not read"),
    ],
)
def test_answer_files_that_are_wrong(tmp_path: Path, ours: OurSystem, name: str, text: str, message: str) -> None:
    with pytest.raises(BenchmarkFileError) as caught:
        answers(tmp_path / name, text, ours)
    assert message in str(caught.value)
