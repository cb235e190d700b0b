"""What comes before the first question of a run: choosing questions, running gold, writing the manifest."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmsql.bench._error_kinds import threshold_columns
from bmsql.bench._files import Reading
from bmsql.bench._folder import RunFolder
from bmsql.bench._gold import GoldFailed, run_gold
from bmsql.bench._manifest import check_same, file_hash, knowledge_settings, make_manifest, write_manifest
from bmsql.bench._questions import read_questions
from bmsql.bench._store import Journal
from bmsql.bench._systems import System
from bmsql.bench._types import Manifest, Question
from bmsql.errors import ConfigurationError

if TYPE_CHECKING:
    from bmsql.graph import Dependencies

# The setting that lets a run be scored without its semantic model at hand.
THRESHOLD_COLUMNS = "threshold_columns"
_SHOWN = 3


@dataclass(frozen=True)
class Selection:
    """Which questions of a file are asked: of some splits or templates, and a sample of them that the seed decides.

    stored_gold: believe the rows of gold that come with a question, instead of running its query. skip_failing: leave
    out questions whose gold query does not run on this knowledge base, instead of refusing the run.
    """

    splits: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 0
    stored_gold: bool = False
    skip_failing: bool = False


def prepare_run(
    folder: RunFolder,
    system: System,
    file: Path,
    selection: Selection | None = None,
    *,
    on_gold: Callable[[int, int], None] | None = None,
) -> Manifest:
    """Make `folder` ready for `run_questions`, or check that it is that of the same run.

    Raises BenchmarkFileError for a wrong question file, ConfigurationError where the folder holds a run of other
    settings, where nothing is selected, or where gold fails.
    """
    selection = selection or Selection()
    wanted = _manifest(folder, system, file, selection)
    if folder.manifest_file.exists():
        stored = folder.manifest()
        check_same(stored, wanted, folder.path)
        return stored
    with folder.locked():
        written, skipped = _write_questions(folder, system.dependencies, file, selection, on_gold)
        manifest = wanted.model_copy(update={"questions": written, "skipped": skipped})
        write_manifest(folder.manifest_file, manifest)
    return manifest


def reading_for(deps: Dependencies) -> Reading:
    """How question files are read for a semantic model and its conventions."""
    key = deps.model.evidence_key
    logical = threshold_columns(deps.model, deps.rules)
    return Reading(evidence_key=key, logical=logical) if key else Reading(logical=logical)


def select_questions(file: Path, reading: Reading, selection: Selection) -> Iterator[Question]:
    """The selected questions in the order of the file."""

    def fits(question: Question) -> bool:
        return (not selection.splits or question.split in selection.splits) and (
            not selection.templates or question.template in selection.templates
        )

    if selection.sample is None:
        yield from (question for question in read_questions(file, reading) if fits(question))
        return
    ranked = (
        (_rank(selection.seed, question.id), question.id)
        for question in read_questions(file, reading)
        if fits(question)
    )
    chosen = {name for _, name in heapq.nsmallest(selection.sample, ranked)}
    yield from (question for question in read_questions(file, reading) if question.id in chosen)


def _rank(seed: int, identifier: str) -> bytes:
    """A place in a random order that does not change when questions are added elsewhere."""
    return hashlib.sha256(f"{seed}:{identifier}".encode()).digest()


def _manifest(folder: RunFolder, system: System, file: Path, selection: Selection) -> Manifest:
    if selection.sample is not None and selection.sample < 1:
        raise ConfigurationError(f"the sample is {selection.sample}.", remedy="Use a whole number from 1.")
    questions: dict[str, Any] = {
        "file": file.name,
        "hash": file_hash(file),
        "splits": sorted(selection.splits),
        "templates": sorted(selection.templates),
        "sample": selection.sample,
        "seed": selection.seed,
        "stored_gold": selection.stored_gold,
        "skip_failing": selection.skip_failing,
    }
    deps = system.dependencies
    settings = {
        **knowledge_settings(deps),
        THRESHOLD_COLUMNS: sorted(reading_for(deps).logical),
        "system": dict(system.settings),
        "questions": questions,
    }
    return make_manifest(folder.path.name, system=system.name, model=system.model, settings=settings)


def _write_questions(
    folder: RunFolder,
    deps: Dependencies,
    file: Path,
    selection: Selection,
    on_gold: Callable[[int, int], None] | None,
) -> tuple[int, int]:
    """Write the questions with gold; how many were written, and how many left out."""
    partial = folder.questions_file.with_name(f"{folder.questions_file.name}.part")
    partial.unlink(missing_ok=True)
    failed: list[GoldFailed] = []
    written = 0
    chosen = select_questions(file, reading_for(deps), selection)
    with Journal(partial, durable=False) as out:
        for item in run_gold(chosen, deps.backend, deps.limits, stored=selection.stored_gold):
            if isinstance(item, GoldFailed):
                failed.append(item)
            else:
                out.append(item)
                written += 1
            if on_gold is not None:
                on_gold(written, len(failed))
    if failed and not selection.skip_failing:
        raise ConfigurationError(
            _gold_message(failed, written), remedy="Correct them, or leave them out: --skip-failing-gold."
        )
    if not written:
        raise ConfigurationError(
            f"{file} holds no question that is selected and whose gold runs on {deps.backend.name}.",
            remedy="Choose other splits, templates or another file.",
        )
    partial.replace(folder.questions_file)
    return written, len(failed)


def _gold_message(failed: list[GoldFailed], written: int) -> str:
    shown = "; ".join(f"{one.question.id}: {one.message}" for one in failed[:_SHOWN])
    return f"the gold queries of {len(failed)} of {len(failed) + written} questions do not run: {shown}"
