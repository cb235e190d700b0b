"""What a report shows, gathered from the folders of runs; the pages only lay it out."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import Any

from bmsql.bench._folder import RunFolder
from bmsql.bench._grades import JudgeAgreement, agreement
from bmsql.bench._score import Score
from bmsql.bench._scoring import read_scores
from bmsql.bench._stats import Estimate, Mean
from bmsql.bench._store import Store
from bmsql.bench._summary import Summary, Summing
from bmsql.bench._types import Manifest, Question, Record
from bmsql.bench.report._differences import Edit, Members, member_difference, tree_edits
from bmsql.errors import BenchmarkFileError, ConfigurationError
from bmsql.types import Frozen

EXTREMES = 10


class Extreme(Frozen):
    """A question that took long or cost much."""

    question_id: str
    question: str
    outcome: str
    seconds: float
    tokens: int
    bytes_billed: int | None
    cost: float | None


class FailedQuestion(Frozen):
    """A question whose answer was not right, with what explains it."""

    question_id: str
    question: str
    outcome: str
    kinds: tuple[str, ...]
    jac: float
    gold_sql: str
    sql: str
    text: str
    reason: str
    edits: tuple[Edit, ...] | None
    members: Members | None


class RunReport(Frozen):
    """One run: its name among the others, manifest, summary, and the questions worth a look."""

    label: str
    manifest: Manifest
    summary: Summary
    slowest: tuple[Extreme, ...]
    costliest: tuple[Extreme, ...]
    failed: tuple[FailedQuestion, ...]
    failed_count: int
    human: JudgeAgreement | None = None

    @property
    def without(self) -> tuple[str, ...]:
        """The parts that the system was run without."""
        return tuple(self.manifest.settings.get("system", {}).get("without", ()))


class Difference(Frozen):
    """A run beside the one that it is compared with: the mean difference of EX over the questions of both."""

    label: str
    base: str
    ex: Estimate
    base_ex: Estimate
    delta: Estimate


class Report(Frozen):
    """Runs side by side.

    ablation: runs without a part, beside the whole system. larger: runs over more tables, beside the same system over
    fewer; each with the number of tables.
    """

    runs: tuple[RunReport, ...]
    ablation: tuple[Difference, ...] = ()
    larger: tuple[tuple[int, int, Difference], ...] = ()


def collect(
    folders: Sequence[RunFolder], *, failures: int = 40, grades: dict[str, list[float]] | None = None
) -> Report:
    """The report on runs that were scored.

    failures: how many failed questions of each run are shown. grades: people's scores, to hold the judge against.
    Raises BenchmarkFileError for a folder that is none of a run or was not scored, ConfigurationError for none.
    """
    if not folders:
        raise ConfigurationError("there is no run to report on.", remedy="Give the folder of one or more runs.")
    labels = _labels([folder.manifest() for folder in folders], folders)
    runs = [_run(folder, label, failures, grades) for folder, label in zip(folders, labels, strict=True)]
    ex = {run.label: _ex_by_question(folder) for folder, run in zip(folders, runs, strict=True)}
    return Report(runs=tuple(runs), ablation=tuple(_ablation(runs, ex)), larger=tuple(_larger(runs, ex)))


def _labels(manifests: Sequence[Manifest], folders: Sequence[RunFolder]) -> list[str]:
    """A name for each run: its system and model, and its folder where that is not enough."""
    names = [f"{m.system} ({m.model})" if m.model else m.system for m in manifests]
    labels = [
        name if names.count(name) == 1 else f"{name}, {folder.path.name}"
        for name, folder in zip(names, folders, strict=True)
    ]
    return [label if labels.count(label) == 1 else f"{label} #{number}" for number, label in enumerate(labels, 1)]


def _run(folder: RunFolder, label: str, failures: int, grades: dict[str, list[float]] | None) -> RunReport:
    _check_scored(folder)
    summing = Summing()
    slowest, costliest = _Largest(EXTREMES), _Largest(EXTREMES)
    failed: list[Score] = []
    judged: dict[str, float] = {}
    failed_count = 0
    for score in read_scores(folder):
        summing.add(score)
        slowest.add(score.seconds, score)
        expense = score.cost or score.bytes_billed or score.prompt_tokens + score.completion_tokens
        if expense:
            costliest.add((score.cost or 0.0, score.bytes_billed or 0, float(expense)), score)
        if score.bioscore is not None:
            judged[score.question_id] = score.bioscore
        if score.outcome != "right":
            failed_count += 1
            if len(failed) < failures:
                failed.append(score)
    with folder.questions() as questions, folder.records() as records:
        return RunReport(
            label=label,
            manifest=folder.manifest(),
            summary=summing.result(),
            slowest=tuple(_extreme(score, questions) for score in slowest.items()),
            costliest=tuple(_extreme(score, questions) for score in costliest.items()),
            failed=tuple(_failed(score, questions, records) for score in failed),
            failed_count=failed_count,
            human=agreement(judged, grades) if grades else None,
        )


def _check_scored(folder: RunFolder) -> None:
    folder.manifest()
    if not folder.scores_file.is_file():
        raise BenchmarkFileError(
            "this run was not scored.", file=str(folder.path), remedy="Score it first: bmsql bench score RUN."
        )


class _Largest:
    """The scores with the largest measures, few of them in memory."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._heap: list[tuple[Any, str, Score]] = []

    def add(self, measure: Any, score: Score) -> None:
        # Ids are unique, so that scores themselves are never compared.
        entry = (measure, score.question_id, score)
        if len(self._heap) < self._size:
            heapq.heappush(self._heap, entry)
        else:
            heapq.heappushpop(self._heap, entry)

    def items(self) -> list[Score]:
        """The scores, largest first."""
        return [score for *_, score in sorted(self._heap, key=lambda entry: entry[:2], reverse=True)]


def _extreme(score: Score, questions: Store[Question]) -> Extreme:
    return Extreme(
        question_id=score.question_id,
        question=questions[score.question_id].question,
        outcome=score.outcome,
        seconds=score.seconds,
        tokens=score.prompt_tokens + score.completion_tokens,
        bytes_billed=score.bytes_billed,
        cost=score.cost,
    )


def _failed(score: Score, questions: Store[Question], records: Store[Record]) -> FailedQuestion:
    question, record = questions[score.question_id], records[score.question_id]
    compared = bool(record.sql) and bool(question.gold_sql)
    error = f"{record.error.type}: {record.error.message}" if record.error else ""
    return FailedQuestion(
        question_id=question.id,
        question=question.question,
        outcome=score.outcome,
        kinds=score.kinds,
        jac=score.jac,
        gold_sql=question.gold_sql,
        sql=record.sql,
        text=record.text,
        reason=error or record.reason,
        edits=tree_edits(question.gold_sql, record.sql) if compared else None,
        members=member_difference(question, record) if record.result else None,
    )


def _ex_by_question(folder: RunFolder) -> dict[str, bool]:
    return {score.question_id: score.ex for score in read_scores(folder) if not score.unanswerable}


def _ablation(runs: Sequence[RunReport], ex: dict[str, dict[str, bool]]) -> Iterable[Difference]:
    for run in runs:
        base = next((other for other in runs if run.without and not other.without and _alike(run, other)), None)
        if base is not None:
            yield _difference(run, base, ex)


def _larger(runs: Sequence[RunReport], ex: dict[str, dict[str, bool]]) -> Iterable[tuple[int, int, Difference]]:
    for run in runs:
        for base in runs:
            few, many = _tables(base), _tables(run)
            same = run.manifest.system == base.manifest.system and run.manifest.model == base.manifest.model
            if same and few and many > few and _questions(run) == _questions(base):
                yield few, many, _difference(run, base, ex)


def _alike(run: RunReport, base: RunReport) -> bool:
    """Whether two runs differ in the parts left out alone: the same system, model, tables and questions."""
    first, second = run.manifest, base.manifest
    return (
        first.system.partition(",")[0] == second.system.partition(",")[0]
        and first.model == second.model
        and first.settings.get("fingerprint") == second.settings.get("fingerprint")
        and _questions(run) == _questions(base)
    )


def _questions(run: RunReport) -> dict[str, Any]:
    """Which questions a run asks."""
    asked = run.manifest.settings.get("questions", {})
    return {name: asked.get(name) for name in ("hash", "splits", "templates", "sample", "seed")}


def _tables(run: RunReport) -> int:
    return int(run.manifest.settings.get("tables", 0))


def _difference(run: RunReport, base: RunReport, ex: dict[str, dict[str, bool]]) -> Difference:
    delta = Mean()
    for name, right in ex[run.label].items():
        if name in ex[base.label]:
            delta.add(float(right) - float(ex[base.label][name]))
    return Difference(
        label=run.label, base=base.label, ex=run.summary.ex, base_ex=base.summary.ex, delta=delta.estimate()
    )
