"""All records of a run scored: streamed, by several processes where there are many."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from pathlib import Path

from bmsql.bench._files import unwritable
from bmsql.bench._folder import RunFolder
from bmsql.bench._judge import Judgement
from bmsql.bench._prepare import THRESHOLD_COLUMNS
from bmsql.bench._score import Score, score_record
from bmsql.bench._store import Store
from bmsql.bench._types import Question, Record
from bmsql.errors import ConfigurationError

# Fewer are scored before another process has started.
_WORTH_PROCESSES = 4000
_CHUNK = 500


def score_run(
    folder: RunFolder,
    *,
    processes: int | None = None,
    on_scored: Callable[[int, int], None] | None = None,
) -> int:
    """Score the records of a run, write `scores.jsonl` and return how many there are.

    Scores stand in the order of the questions, so that an interrupted and resumed run has the same file. Few
    records are in memory at a time. processes: by default one for each core, or this
    process alone where there are few records. Raises ConfigurationError for less than one.
    """
    if processes is not None and processes < 1:
        raise ConfigurationError(f"the number of processes is {processes}.", remedy="Use a whole number from 1.")
    # Without its semantic model at hand: the run has written down what is needed of it.
    logical = frozenset(folder.manifest().settings.get(THRESHOLD_COLUMNS, ()))
    with folder.questions() as questions, folder.records() as records:
        asked = [name for name in questions.ids() if name in records]
    wanted = processes or (os.cpu_count() or 1 if len(asked) >= _WORTH_PROCESSES else 1)
    chunks = [asked[start : start + _CHUNK] for start in range(0, len(asked), _CHUNK)]
    partial = folder.scores_file.with_name(f"{folder.scores_file.name}.part")
    done = 0
    try:
        with partial.open("w", encoding="utf-8") as out:
            for lines, chunk in zip(_scored(folder.path, logical, chunks, wanted), chunks, strict=True):
                out.write(lines)
                done += len(chunk)
                if on_scored is not None:
                    on_scored(done, len(asked))
        partial.replace(folder.scores_file)
    except OSError as error:
        raise unwritable(folder.scores_file, error) from error
    return done


def read_scores(folder: RunFolder) -> Iterator[Score]:
    """The scores of a run that was scored, one at a time. Raises BenchmarkFileError."""
    with Store(folder.scores_file, Score, "question_id") as scores:
        yield from scores


def _scored(folder: Path, logical: frozenset[str], chunks: Sequence[Sequence[str]], processes: int) -> Iterator[str]:
    """The lines of each chunk, in order."""
    if processes == 1 or len(chunks) < 2:
        with closing(_Scorer(folder, logical)) as scorer:
            yield from map(scorer.lines, chunks)
        return
    # A forked copy of a process with threads (a database, a pool) can hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, _start, (folder, logical)) as pool:
        waiting: list[Future[str]] = []
        for chunk in chunks:
            waiting.append(pool.submit(_lines, chunk))
            if len(waiting) >= 2 * processes:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()


class _Scorer:
    """Scores records of one run by their ids."""

    def __init__(self, path: Path, logical: frozenset[str]) -> None:
        folder = RunFolder(path)
        self._questions: Store[Question] = folder.questions()
        self._records: Store[Record] = folder.records()
        self._judgements = Store(folder.judgements_file, Judgement, "question_id") if folder.judged() else None
        self._logical = logical

    def lines(self, names: Sequence[str]) -> str:
        """A line for each record."""
        return "".join(self._score(name).model_dump_json() + "\n" for name in names)

    def close(self) -> None:
        """Close the files."""
        for store in (self._questions, self._records, self._judgements):
            if store is not None:
                store.close()

    def _score(self, name: str) -> Score:
        judgement = self._judgements.get(name) if self._judgements is not None else None
        return score_record(self._questions[name], self._records[name], self._logical, judgement)


_scorer: _Scorer | None = None


def _start(folder: Path, logical: frozenset[str]) -> None:
    """Prepare a process for scoring."""
    global _scorer  # noqa: PLW0603 - a process of the pool has no other place
    _scorer = _Scorer(folder, logical)


def _lines(names: Sequence[str]) -> str:
    if _scorer is None:
        raise RuntimeError("the process was not prepared for scoring")
    return _scorer.lines(names)
