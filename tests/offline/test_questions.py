"""The question files over the embedded knowledge base: how many answers are right, and how few wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offline.scoring import Question, Score, Scorer, load, sample

DATA = Path(__file__).resolve().parents[1] / "data"
FILES = sorted((DATA / "questions").glob("*.yaml"))
# What `make test` has the time for, over all files; `make test-all` asks everything.
SAMPLE = 60
WRONG = 0.03

by_name = pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])


def least_right(name: str) -> float:
    """Files that the reader was written against must do better than those that were kept back."""
    return 0.90 if name.startswith("heldout_") else 0.95


def check(score: Score) -> None:
    least = least_right(score.name)
    if score.share("right") < least or score.share("wrong", "error") > WRONG:
        wanted = f"At least {least:.0%} must be right, at most {WRONG:.0%} wrong."
        pytest.fail(f"{score.summary()}\n{wanted}\n{score.failures()}", pytrace=False)


def test_there_are_question_files() -> None:
    assert [path.stem for path in FILES if path.stem.startswith("development_")]


@pytest.mark.slow
def test_every_development_question_of_the_first_set_is_right(scorer: Scorer) -> None:
    score = scorer.score("questions_dev", load(DATA / "questions_dev.yaml"))
    assert score.failures() == ""
    assert len(score.scored) == 30


@pytest.mark.slow
def test_a_sample_of_all_files(scorer: Scorer) -> None:
    questions = [question for path in FILES for question in load(path)]
    check(scorer.score("all files", sample(questions, SAMPLE)))


@pytest.mark.all
@by_name
def test_each_file(scorer: Scorer, path: Path) -> None:
    check(scorer.score(path.stem, load(path)))


GENE = Question(id="x1", q="", key="Gene", sql="SELECT DISTINCT Gene FROM {SMR} WHERE Disease = 'ALS'")
COUNT = Question(id="x2", q="", key="numbers", sql="SELECT COUNT(*) FROM {SMR} WHERE Disease = 'ALS'")
NONE = Question(id="x3", q="", sql="SELECT UUID FROM {SMR} WHERE Disease = 'none such'")


def test_the_scorer_tells_right_from_wrong(scorer: Scorer) -> None:
    genes = [(gene, 1) for (gene,) in scorer.gold_rows(GENE)[1]]
    assert scorer.agrees(GENE, 2, genes)
    assert not scorer.agrees(GENE, 2, genes[1:])
    assert not scorer.agrees(GENE, 2, [*genes, ("NONE SUCH", 1)])
    assert not scorer.agrees(GENE, 0, [])
    ((count,),) = scorer.gold_rows(COUNT)[1]
    assert scorer.agrees(COUNT, 1, [(count,)])
    assert not scorer.agrees(COUNT, 1, [(count + 1,)])
    assert not scorer.agrees(COUNT, 1, [])
    assert scorer.agrees(NONE, 0, [])
    assert not scorer.agrees(NONE, 1, [("any",)])


def test_an_answer_where_none_is_due_is_wrong_and_an_abstention_is_not_an_answer(scorer: Scorer) -> None:
    unanswerable, answerable = "How much does donepezil cost?", "Which SNPs near BIN1 are significant for AD?"
    gold = "SELECT UUID FROM {AD} WHERE p < 5e-8"
    asked = [
        Question(id="a", q=unanswerable, expect="abstain"),
        Question(id="b", q=answerable, expect="abstain"),
        Question(id="c", q=unanswerable, sql=gold),
        Question(id="d", q=answerable, sql=gold),
        Question(id="e", q="", expect="abstain"),
    ]
    score = scorer.score("made up", asked)
    assert [one.verdict for one in score.scored] == ["right", "wrong", "abstained", "wrong", "error"]
    assert score.share("wrong", "error") == pytest.approx(0.6)
    assert unanswerable in score.failures()
    assert "right 1 (20.0 %), wrong 2 (40.0 %), abstained 1 (20.0 %), error 1 (20.0 %)" in score.summary()


def test_a_question_file_says_gold_or_an_abstention(tmp_path: Path) -> None:
    odd = tmp_path / "odd.yaml"
    odd.write_text("- {id: a, q: Neither}\n- {id: b, q: Both, sql: SELECT 1, expect: abstain}\n")
    with pytest.raises(ValueError, match="'a', 'b'"):
        load(odd)
    odd.write_text("- {id: a, q: Twice, sql: SELECT 1}\n- {id: a, q: Twice, sql: SELECT 1}\n")
    with pytest.raises(ValueError, match=r"twice: \['a'\]"):
        load(odd)
