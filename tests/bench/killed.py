"""A run to be killed: `killed.py FOLDER SECONDS` asks 40 questions, each of which takes so long."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path

from bmsql.bench import Gold, Question, RunFolder, RunOptions, Selection, prepare_run, run_questions, write_questions
from bmsql.bench.systems import OurSystem, SystemOptions
from tests.bench.scripted import ScriptedSystem

TABLE = "AlzheimerDisease_CombinedGeneData_UUID"


def main(folder: RunFolder, seconds: float) -> dict[str, int]:
    """How many questions were asked, and how many are done."""
    questions = [
        Question(
            id=f"q{number}",
            question=f"Question {number}?",
            key="UUID",
            gold_sql=f"SELECT UUID FROM {TABLE} WHERE p < 5e-8 LIMIT {number}",
            expected=Gold(columns=("UUID",), rows=tuple((f"key{n}",) for n in range(number))),
        )
        for number in range(40)
    ]
    file = folder.path.parent / "questions.jsonl"
    if not file.exists():
        write_questions(file, questions)

    def script(name: str) -> str:
        time.sleep(seconds)
        # Every third answer is right: an empty result, for the one question that has no rows.
        return f"SELECT 'key0' AS UUID FROM {TABLE} LIMIT {int(name[1:]) % 3}"

    with closing(OurSystem(SystemOptions())) as ours:
        system = ScriptedSystem(ours.dependencies, script)
        prepare_run(folder, system, file, Selection(stored_gold=True))
        progress = run_questions(system, folder, RunOptions(concurrency=2))
    return {"asked": progress.asked, "done": progress.done}


if __name__ == "__main__":
    main(RunFolder(Path(sys.argv[1])), float(sys.argv[2]))
