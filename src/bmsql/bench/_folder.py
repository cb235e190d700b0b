"""The folder of a run: what was asked, what came of it, and what it was worth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bmsql.backends import file_lock
from bmsql.bench._files import unwritable
from bmsql.bench._manifest import read_manifest
from bmsql.bench._store import Store
from bmsql.bench._types import Manifest, Question, Record
from bmsql.errors import BenchmarkFileError, ConfigurationError


@dataclass(frozen=True)
class RunFolder:
    """The files of one run.

    manifest.json: what the run depends on. questions.jsonl: the questions with the rows of gold. records.jsonl: a
    record for each question asked. judgements.jsonl: of the model that judged answers. scores.jsonl: a score
    for each record.
    """

    path: Path

    @property
    def manifest_file(self) -> Path:
        """Written once the questions are there."""
        return self.path / "manifest.json"

    @property
    def questions_file(self) -> Path:
        """The questions with gold."""
        return self.path / "questions.jsonl"

    @property
    def records_file(self) -> Path:
        """The records, in the order in which they were finished."""
        return self.path / "records.jsonl"

    @property
    def judgements_file(self) -> Path:
        """The judgements."""
        return self.path / "judgements.jsonl"

    @property
    def scores_file(self) -> Path:
        """The scores, in the order of the questions."""
        return self.path / "scores.jsonl"

    def manifest(self) -> Manifest:
        """The manifest. Raises BenchmarkFileError where the folder is none of a run."""
        if not self.manifest_file.is_file():
            raise BenchmarkFileError(
                "this is no folder of a run: it has no manifest.json.",
                file=str(self.path),
                remedy="Give the folder that `bmsql bench run --out` was given.",
            )
        return read_manifest(self.manifest_file)

    def questions(self) -> Store[Question]:
        """The questions that the run asks, with gold."""
        return Store(self.questions_file, Question, "id")

    def records(self) -> Store[Record]:
        """The records so far."""
        if not self.records_file.exists():
            self.records_file.touch()
        return Store(self.records_file, Record, "question_id")

    def judged(self) -> bool:
        """Whether answers were judged by a model."""
        return self.judgements_file.exists()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder against other processes. Raises ConfigurationError where one is at work in it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with file_lock(self.path / ".lock", seconds=0):
                yield
        except TimeoutError as error:
            raise ConfigurationError(
                f"another process is at work in {self.path}.", remedy="Wait for it, or give another --out."
            ) from error
        except OSError as error:
            raise unwritable(self.path, error) from error
