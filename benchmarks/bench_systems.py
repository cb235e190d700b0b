"""Every compared system over questions with gold, with a scripted model that replays gold and damaged drafts.

No model is called: `ScriptedChatModel` plays each step. With gold drafts EX must be 100 %: what is below is lost by the
system itself, not by a model. With damaged drafts (the conditions left out) and invalid ones (a table that is not
there) it must fall; SER is that of invalid ones. Calls and tokens (UTF-8 bytes / 4) are per question, with gold drafts.
The exit code is 1 when gold drafts are not all right.

python benchmarks/bench_systems.py [--count N] [--system NAME ...] [--gold-only] [--repeat N]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bmsql import Agent  # noqa: E402
from bmsql.bench import (  # noqa: E402
    Question,
    RunFolder,
    Summary,
    prepare_run,
    read_questions,
    read_scores,
    reading_for,
    run_questions,
    score_run,
    summarise,
)
from bmsql.bench.systems import SystemOptions, open_system, system_names  # noqa: E402
from tests.bench.gold_model import INVALID, Damage, gold_model, without_conditions  # noqa: E402

DATA = ROOT / "tests" / "data" / "questions"
DRAFTS: dict[str, Damage] = {"gold": lambda sql: sql, "damaged": without_conditions, "invalid": lambda sql: INVALID}
COMPARED = tuple(name for name in system_names() if not name.startswith("ours") and name != "answers")


def write_questions(agent: Agent, count: int, to: Path) -> dict[str, str]:
    """The first `count` questions whose gold runs, each text once, as a file; their gold by question."""
    chosen: dict[str, Question] = {}
    for file in sorted(DATA.glob("*.yaml")):
        for question in read_questions(file, reading_for(agent.dependencies)):
            if len(chosen) < count and question.question not in chosen:
                chosen[question.question] = question
    entries = [
        {"id": f"{number}", "q": one.question, "expect": "abstain"}
        if one.unanswerable
        else {
            "id": f"{number}",
            "q": one.question,
            "sql": one.gold_sql,
            "key": "numbers" if one.answer_kind == "numbers" else one.key,
        }
        for number, one in enumerate(chosen.values())
    ]
    to.write_text(yaml.safe_dump(entries, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return {text: one.gold_sql for text, one in chosen.items()}


def measured(name: str, kind: str, agent: Agent, gold: dict[str, str], file: Path, folder: Path) -> tuple[Summary, int]:
    """The summary of one run, and the calls that it took."""
    model = gold_model(gold, DRAFTS[kind])
    system = open_system(name, SystemOptions(model=model, backend=agent.dependencies.backend))
    run = RunFolder(folder / f"{name}-{kind}".replace(":", "-"))
    prepare_run(run, system, file)
    run_questions(system, run)
    score_run(run, processes=1)
    return summarise(read_scores(run)), len(model.calls)


def _percent(share: float | None, width: int) -> str:
    return f"{100 * (share or 0.0):{width}.1f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each system; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--count", type=int, default=30, help="questions of each run")
    parser.add_argument("--system", action="append", choices=COMPARED, help="a system; may be given several times")
    parser.add_argument("--gold-only", action="store_true", help="leave out damaged and invalid drafts")
    parser.add_argument("--repeat", type=int, default=1, help="as for the other benchmarks; not used")
    given = parser.parse_args(arguments)
    lost = False
    with Agent() as agent, tempfile.TemporaryDirectory() as place:
        file = Path(place) / "questions.yaml"
        gold = write_questions(agent, given.count, file)
        print(f"{len(gold)} questions, of which {sum(not sql for sql in gold.values())} cannot be answered")
        print(
            f"{'system':22} {'EX gold':>8} {'damaged':>8} {'invalid':>8} {'SER':>6} {'calls':>6} {'tokens':>7} {'s':>6}"
        )
        for name in given.system or COMPARED:
            started = time.perf_counter()
            kinds = ("gold",) if given.gold_only else tuple(DRAFTS)
            runs = {kind: measured(name, kind, agent, gold, file, Path(place)) for kind in kinds}
            whole, calls = runs["gold"]
            lost = lost or (whole.ex.value or 0.0) < 1
            rates = " ".join(_percent(runs[kind][0].ex.value, 8) if kind in runs else f"{'':8}" for kind in DRAFTS)
            failed = _percent(runs["invalid"][0].ser.value, 6) if "invalid" in runs else f"{'':6}"
            tokens = whole.prompt_tokens.value or 0.0
            seconds = time.perf_counter() - started
            print(f"{name:22} {rates} {failed} {calls / len(gold):6.2f} {tokens:7.0f} {seconds:6.1f}", flush=True)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
