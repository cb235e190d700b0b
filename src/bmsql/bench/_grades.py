"""Scores that people gave to answers, and how the model judge agrees with them."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, ValidationError

from bmsql.bench._entries import read_entries
from bmsql.bench._files import invalid
from bmsql.bench._judge import GOOD
from bmsql.bench._stats import Estimate, Share, cohens_kappa, krippendorff_alpha
from bmsql.errors import BenchmarkFileError
from bmsql.types import Frozen

_IDS = ("id", "uuid", "question_id")
# How files of grades call the people's score, the most telling name first.
_SCORES = ("human_score", "analyst_score", "expert_score", "score")


class Grade(Frozen):
    """One person's score of one answer, on the judge's scale."""

    id: str = Field(min_length=1)
    score: float = Field(ge=-1, le=3)


class JudgeAgreement(Frozen):
    """How the model judge agrees with people, over the answers that both have scored.

    same_verdict: share of answers on which both say the same of "2 or more". kappa: Cohen's, of that verdict.
    alpha: Krippendorff's for interval data, of the scores.
    """

    n: int
    same_verdict: Estimate
    kappa: float | None
    alpha: float | None


def read_grades(path: Path) -> dict[str, list[float]]:
    """People's scores by question, several where several people graded. Raises BenchmarkFileError."""
    grades: dict[str, list[float]] = {}
    for line, entry in read_entries(path):
        name = next((name for name in _IDS if entry.get(name)), "id")
        column = next((column for column in _SCORES if entry.get(column) not in (None, "")), "score")
        try:
            grade = Grade.model_validate({"id": str(entry.get(name) or ""), "score": entry.get(column)})
        except ValidationError as error:
            raise invalid(error, path, line) from error
        grades.setdefault(grade.id, []).append(grade.score)
    if not grades:
        raise BenchmarkFileError("the file holds no grades.", file=str(path), remedy="Add some.")
    return grades


def agreement(judged: dict[str, float], grades: dict[str, list[float]]) -> JudgeAgreement:
    """The judge's scores beside people's; where several people graded an answer, each is a judge of it."""
    pairs = [(judged[name], score) for name, scores in grades.items() if name in judged for score in scores]
    verdicts = [(a >= GOOD, b >= GOOD) for a, b in pairs]
    same = Share()
    for a, b in verdicts:
        same.add(a == b)
    return JudgeAgreement(
        n=len(pairs),
        same_verdict=same.estimate(),
        kappa=cohens_kappa(verdicts),
        alpha=krippendorff_alpha([(judged[name], *scores) for name, scores in grades.items() if name in judged]),
    )
