"""The judge, played by a scripted chat model, and its agreement with people. No model is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bmsql.bench import (
    Failure,
    Gold,
    Journal,
    Question,
    Record,
    RunFolder,
    Verdict,
    agreement,
    judge_answer,
    judge_prompt,
    judge_run,
    read_grades,
    read_scores,
    score_run,
    summarise,
)
from bmsql.bench._judge import Judgement, reference
from bmsql.bench._types import Manifest
from bmsql.errors import BenchmarkFileError, ConfigurationError, CredentialsError
from bmsql.reasoners.chat import ChatClient
from bmsql.testing import ScriptedChatModel


def question(name: str = "q", **more: Any) -> Question:
    gold = Gold(columns=("K", "gene"), rows=(("k1", "BIN1"), ("k2", None)))
    return Question(
        **{"id": name, "question": "Which genes?", "key": "K", "gold_sql": "SELECT K FROM t", "expected": gold, **more}
    )


def record(name: str = "q", text: str = "BIN1.", **more: Any) -> Record:
    return Record(question_id=name, system="s", text=text, **more)


def verdict(match: int = 3, deduction: float = 0, *, abstained: bool = False) -> dict[str, Any]:
    return {"reason": "because", "abstained": abstained, "match": match, "deduction": deduction}


def judge(*replies: Any) -> ChatClient:
    return ChatClient(ScriptedChatModel(replies=list(replies)), attempts=1)


@pytest.mark.parametrize(
    ("given", "score"),
    [
        (verdict(3), 3.0),
        (verdict(3, 0.5), 2.5),
        (verdict(2, 1), 1.0),
        (verdict(0, 1), 0.0),
        (verdict(3, abstained=True), -1.0),
    ],
)
def test_the_scale(given: dict[str, Any], score: float) -> None:
    judged = judge_answer(question(), record(), judge(given))
    assert (judged.score, judged.reason, judged.failure) == (score, "because", None)
    assert judged.prompt == judge_prompt().identity
    assert judged.usage is not None
    assert judged.usage.calls == 1


def test_what_the_judge_is_shown() -> None:
    model = ScriptedChatModel(replies=[verdict()])
    judge_answer(question(gold_answer="BIN1, and $one more."), record(text=" It is $BIN1. "), ChatClient(model))
    shown = model.calls[0].prompt
    for part in ("Which genes?", "BIN1, and $one more.", "has 2 rows", "k1 | BIN1", "It is $BIN1.", "deduction"):
        assert part in shown
    assert "$question" not in shown


def test_the_reference() -> None:
    many = Gold(columns=("K",), rows=tuple((f"k{n}",) for n in range(50)), truncated=True)
    assert "has 50 rows or more, of which the first are:" in reference(question(expected=many))
    assert "k19" in reference(question(expected=many))
    assert "k20" not in reference(question(expected=many))
    assert "there are no such rows" in reference(question(expected=Gold(columns=("K",))))


def test_no_model_is_asked_where_there_is_no_answer() -> None:
    none = judge()
    assert judge_answer(question(), record(abstained=True), none).score == -1.0
    assert judge_answer(question(), record(error=Failure(type="E", message="m")), none).score == 0.0
    assert judge_answer(question(), record(text=" "), none).score == 0.0


def test_a_reply_that_is_no_verdict_is_the_judges_failure() -> None:
    judged = judge_answer(question(), record(), judge({"score": 11}, {"score": 11}))
    assert judged.score is None
    assert judged.failure is not None
    assert judged.failure.type == "ModelOutputError"


def test_verdicts_off_the_scale_are_none() -> None:
    with pytest.raises(ValueError, match="match"):
        Verdict.model_validate(verdict(4))
    with pytest.raises(ValueError, match="deduction"):
        Verdict.model_validate(verdict(3, 0.7))


def run_of(folder: RunFolder, pairs: list[tuple[Question, Record]]) -> RunFolder:
    folder.path.mkdir()
    folder.manifest_file.write_text(Manifest(run="r", system="s").model_dump_json(), encoding="utf-8")
    with Journal(folder.questions_file) as questions, Journal(folder.records_file) as records:
        for asked, answered in pairs:
            questions.append(asked)
            records.append(answered)
    return folder


def test_a_run_is_judged_once_and_failures_again(folder: RunFolder) -> None:
    run_of(folder, [(question(name), record(name, text=name)) for name in ("a", "b", "c")])
    with Journal(folder.records_file) as records, Journal(folder.questions_file) as questions:
        questions.append(Question(id="d", question="Who won?", answer_kind="abstain"))
        records.append(record("d", text="Nobody."))

    def first(call: Any) -> Any:
        return {"odd": 1} if "Answer to grade:\nb" in call.prompt else verdict(2)

    failures = judge_run(folder, judge(*[first] * 4), concurrency=1)
    assert [failure.type for failure in failures] == ["ModelOutputError"]
    score_run(folder)
    half = summarise(read_scores(folder))
    assert (half.judged, half.judge_failures, half.rqr and half.rqr.value) == (2, 1, 1.0)
    # Only the failed one is asked about again; a question that cannot be answered is not judged.
    assert judge_run(folder, judge(verdict(1)), concurrency=1) == []
    assert judge_run(folder, judge(), concurrency=1) == []
    score_run(folder)
    found = summarise(read_scores(folder))
    assert (found.judged, found.judge_failures) == (3, 0)
    assert found.rqr is not None
    assert found.rqr.value == pytest.approx(2 / 3)
    assert found.sr is not None
    assert (found.sr.n, found.sr.value) == (1, 0.0)


def test_rqr_and_sr_by_hand(folder: RunFolder) -> None:
    answers = {"a": 3, "b": 2, "c": 1, "d": 0, "e": None}
    run_of(
        folder, [(question(name), record(name, text=name, abstained=value is None)) for name, value in answers.items()]
    )
    judge_run(folder, judge(*(verdict(value) for value in answers.values() if value is not None)), concurrency=1)
    score_run(folder)
    found = summarise(read_scores(folder))
    # Two of five have 2 or more; of the three others one abstained.
    assert found.rqr is not None
    assert found.rqr.value == pytest.approx(0.4)
    assert found.sr is not None
    assert found.sr.value == pytest.approx(1 / 3)


def test_what_would_fail_every_answer_is_raised(folder: RunFolder) -> None:
    class Keyless:
        name = "keyless"

        def complete(self, request: Any, *, cancel: Any = None) -> Any:
            raise CredentialsError("no key", remedy="set it")

    run_of(folder, [(question(), record())])
    with pytest.raises(CredentialsError, match="no key"):
        judge_run(folder, Keyless())
    with pytest.raises(ConfigurationError, match="concurrency"):
        judge_run(folder, Keyless(), concurrency=0)


def test_a_judgement_is_a_score_on_the_scale() -> None:
    with pytest.raises(ValueError, match="less than or equal to 3"):
        Judgement(question_id="q", score=3.5)


def test_agreement_with_people_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("uuid,model_score,analyst_score\na,3,3\nb,2.5,1\nc,0,0\nd,-1,-1\nx,1,1\n", encoding="utf-8")
    grades = read_grades(path)
    assert grades == {"a": [3.0], "b": [1.0], "c": [0.0], "d": [-1.0], "x": [1.0]}
    found = agreement({"a": 3.0, "b": 2.0, "c": 0.0, "d": -1.0, "unasked": 3.0}, grades)
    # Three of four verdicts agree; by chance 2/4 * 1/4 + 2/4 * 3/4 would: kappa (0.75 - 0.5) / 0.5.
    assert (found.n, found.same_verdict.value, found.kappa) == (4, 0.75, pytest.approx(0.5))
    assert found.alpha is not None
    assert 0.9 < found.alpha < 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("uuid,score\na,\n", "grades.csv:2: score: "),
        ("uuid,score\na,7\n", "grades.csv:2: score: input should be less than or equal to 3"),
        ("uuid,score\n,2\n", "grades.csv:2: id: "),
        ("uuid,score\n", "grades.csv: the file holds no grades"),
    ],
)
def test_grades_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "grades.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BenchmarkFileError) as caught:
        read_grades(path)
    assert message in str(caught.value)
