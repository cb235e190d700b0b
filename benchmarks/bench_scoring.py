"""Time and memory to score the records of a whole benchmark, and to sum the scores up.

python benchmarks/bench_scoring.py [--records N] [--repeat N] [--processes N]

The records are made from the development questions: of ten, six replay gold, three replay what a system without
conventions would return, and one failed. Every query is a text of its own, so that no cache helps.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from bmsql.backends import open_embedded
from bmsql.bench import (
    Journal,
    Manifest,
    Question,
    Ran,
    Reading,
    Record,
    RunFolder,
    read_questions,
    read_scores,
    run_gold,
    score_run,
    summarise,
    threshold_columns,
)
from bmsql.conventions import load_rules
from bmsql.semantic import load_semantic_model

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
ALL = 68_227  # as many as the published benchmark has questions


def questions_with_gold() -> list[Question]:
    """The development questions that have gold, with its rows."""
    with open_embedded() as backend:
        return [
            question
            for path in sorted((DATA / "questions").glob("*.yaml"))
            for question in run_gold(read_questions(path, Reading()), backend)
            if isinstance(question, Question) and question.expected and question.expected.rows
        ]


def write_run(folder: RunFolder, count: int) -> None:
    """A run of `count` questions."""
    folder.path.mkdir(parents=True)
    logical = sorted(threshold_columns(load_semantic_model(), load_rules()))
    manifest = Manifest(run="bench", system="replay", settings={"threshold_columns": logical}, questions=count)
    folder.manifest_file.write_text(manifest.model_dump_json(), encoding="utf-8")
    known = questions_with_gold()
    with (
        Journal(folder.questions_file, durable=False) as questions,
        Journal(folder.records_file, durable=False) as records,
    ):
        for number, question in enumerate(islice(cycle(known), count)):
            numbered = question.model_copy(
                update={
                    "id": f"{question.source}.{question.id}.{number}",
                    "gold_sql": f"{question.gold_sql} /* {number} */",
                }
            )
            questions.append(numbered)
            records.append(record(numbered, number))


def record(question: Question, number: int) -> Record:
    """A right, a wrong or a failed record of a question."""
    gold = question.expected
    if gold is None:
        raise ValueError(f"{question.id} has no gold")
    common = {
        "question_id": question.id,
        "system": "replay",
        "text": f"{len(gold.rows)} rows, such as {gold.rows[0][-1]}.",
    }
    if number % 10 == 0:
        return Record(**common, sql=f"{question.gold_sql} LIMIT", sql_failed=True, abstained=True)
    if number % 10 < 4:
        sql = question.gold_sql.replace(" < 5e-8", " < 5e-6").replace("< 2.95e-6", "< 0.05")
        rows = (*gold.rows, *(tuple(f"other {number}" for _ in row) for row in gold.rows))
        return Record(**common, sql=sql, result=Ran(sql=sql, columns=gold.columns, rows=rows))
    return Record(
        **common, sql=question.gold_sql, result=Ran(sql=question.gold_sql, columns=gold.columns, rows=gold.rows)
    )


def measure(folder: RunFolder, processes: int | None) -> Iterator[float]:
    """Seconds to score, those of all cores together, and to sum up."""
    started, used = time.perf_counter(), cpu_seconds()
    score_run(folder, processes=processes)
    yield time.perf_counter() - started
    yield cpu_seconds() - used
    started = time.perf_counter()
    summarise(read_scores(folder))
    yield time.perf_counter() - started


def cpu_seconds() -> float:
    """Seconds of processor time of this process and of those that it has ended."""
    return sum(os.times()[:4])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--records", type=int, default=ALL)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--processes", type=int, help="by default one for each core")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = RunFolder(Path(place) / "run")
        write_run(folder, options.records)
        size = sum(path.stat().st_size for path in folder.path.iterdir()) / 2**20
        times = [tuple(measure(folder, options.processes)) for _ in range(max(1, options.repeat))]
    scored, used, summed = (statistics.median(values) for values in zip(*times, strict=True))
    here = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{options.records} records, {size:.0f} MiB of questions and records")
    print(f"score        {scored:.1f} s ({1000 * scored / options.records:.2f} ms each)")
    print(f"             {used:.1f} s of all cores together ({1000 * used / options.records:.2f} ms each)")
    print(f"sum up       {summed:.1f} s")
    print(f"memory       {here:.0f} MiB here, at most {workers:.0f} MiB in a worker")


if __name__ == "__main__":
    main()
