"""What the commands of the benchmark do, with their progress on standard error and results on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bmsql.bench import (
    Estimate,
    Prices,
    Progress,
    RunFolder,
    RunOptions,
    Score,
    Selection,
    Summary,
    judge_run,
    open_judge,
    prepare_run,
    read_grades,
    read_prices,
    read_scores,
    run_questions,
    score_run,
    summarise,
)
from bmsql.bench.systems import SystemOptions, open_system, system_summaries
from bmsql.cli._console import Text, console, show_table, write_json
from bmsql.cli._main import ANSWERED, FAILED
from bmsql.cli._table import rows_table

_STOPS = {
    "cost": "the cap on cost is reached",
    "errors": "too many questions in a row ended in an error",
}


@dataclass(frozen=True)
class Driving:
    """How a run is driven; see `RunOptions`."""

    concurrency: int
    max_cost: float | None
    prices: Path | None
    retry_errors: bool
    as_json: bool


def ask_all(
    name: str,
    options: SystemOptions,
    questions: Path,
    out: Path,
    selection: Selection,
    driving: Driving,
    extra: tuple[Path, ...],
) -> int:
    """Ask a system, score the run and show what it comes to."""
    prices = read_prices(driving.prices) if driving.prices else Prices()
    if extra:
        from bmsql.bench._extended import extended_options

        options = extended_options(options, extra)
    folder = RunFolder(out)
    with closing(options.backend) if extra else nullcontext(), closing(open_system(name, options)) as system:
        with _bar("Running gold") as advance:
            prepare_run(folder, system, questions, selection, on_gold=lambda done, failed: advance(done + failed, None))
        run_options = RunOptions(
            concurrency=driving.concurrency,
            max_cost=driving.max_cost,
            retry_errors=driving.retry_errors,
            prices=prices,
        )
        try:
            with _bar("Asking") as advance:
                progress = run_questions(system, folder, run_options, on_progress=_running(advance))
        except KeyboardInterrupt:
            sys.stderr.write("Interrupted; the same command goes on.\n")
            raise
    score_run(folder)
    _show([folder], as_json=driving.as_json, stopped=progress)
    return ANSWERED if progress.stopped == "done" else FAILED


def list_systems(*, as_json: bool) -> int:
    """Show every system with what it is."""
    rows = list(system_summaries().items())
    if as_json:
        write_json({"systems": [{"name": name, "summary": summary} for name, summary in rows]})
    else:
        show_table(to := console(), rows_table(to, ("system", "what it is"), rows)[0])
    return ANSWERED


def score_all(
    runs: Sequence[Path], judge: str | None, concurrency: int, processes: int | None, *, as_json: bool
) -> int:
    """Score runs, with a judge if there is one."""
    folders = [RunFolder(path) for path in runs]
    failures = 0
    chat = open_judge(judge) if judge else None
    for folder in folders:
        folder.manifest()
        if chat is not None:
            with _bar(f"Judging {folder.path.name}") as advance:
                failures += len(judge_run(folder, chat, concurrency=concurrency, on_judged=advance))
        with _bar(f"Scoring {folder.path.name}") as advance:
            score_run(folder, processes=processes, on_scored=advance)
    _show(folders, as_json=as_json)
    if failures:
        sys.stderr.write(f"The judge failed on {failures} answers; give the same command to try them again.\n")
    return FAILED if failures else ANSWERED


def write(runs: Sequence[Path], out: Path, failures: int, human: Path | None, *, as_json: bool) -> int:
    """Write a report on runs."""
    from bmsql.bench.report import collect, write_report

    grades = read_grades(human) if human else None
    report = collect([RunFolder(path) for path in runs], failures=failures, grades=grades)
    markdown, html = write_report(report, out)
    if as_json:
        write_json({"markdown": str(markdown), "html": str(html), "runs": [run.label for run in report.runs]})
    else:
        console().print(Text(f"Wrote {markdown} and {html}."), soft_wrap=True)
    return ANSWERED


@contextmanager
def _bar(title: str) -> Iterator[Callable[..., None]]:
    """A bar on the terminal; nothing where standard error is a file or a pipe."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    to = Console(file=sys.stderr)
    columns = (
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=to, disable=not to.is_terminal, transient=True) as bar:
        task = bar.add_task("", total=None, note="")

        def advance(done: int, total: int | None, note: str = "") -> None:
            bar.update(task, completed=done, total=total, note=note)

        yield advance


def _running(advance: Callable[..., None]) -> Callable[[Progress, Score | None], None]:
    def show(progress: Progress, score: Score | None) -> None:
        ex = progress.ex.estimate().value
        note = "" if ex is None else f"EX {100 * ex:.1f} %"
        unknown = f" and {progress.unpriced} of unknown cost" if progress.unpriced else ""
        note += f", {progress.errors} errors" if progress.errors else ""
        advance(progress.done, progress.total, f"{note}, ${progress.cost:.2f}{unknown}")

    return show


def _show(folders: Sequence[RunFolder], *, as_json: bool, stopped: Progress | None = None) -> None:
    summaries = [summarise(read_scores(folder)) for folder in folders]
    names = [folder.path.name for folder in folders]
    if as_json:
        runs = [
            {"run": name, **summary.model_dump(mode="json")} for name, summary in zip(names, summaries, strict=True)
        ]
        document: dict[str, Any] = {"runs": runs}
        if stopped is not None:
            document |= {"asked": stopped.asked, "left": stopped.total - stopped.done, "stopped": stopped.stopped}
        write_json(document)
        return
    to = console()
    rows = [_line(name, summary) for name, summary in zip(names, summaries, strict=True)]
    headers = ("run", "system", "questions", "EX %", "JAC %", "RQR %", "SR %", "SER %", "facts %", "tokens", "cost")
    show_table(to, rows_table(to, headers, rows)[0])
    if stopped is not None and stopped.stopped != "done":
        left = stopped.total - stopped.done
        to.print(Text(f"Stopped: {_STOPS[stopped.stopped]}; {left} questions are left. The same command goes on."))


def _line(name: str, summary: Summary) -> tuple[str | int, ...]:
    return (
        name,
        summary.system,
        summary.questions,
        *(_percent(e) for e in (summary.ex, summary.jac, summary.rqr, summary.sr, summary.ser, summary.facts)),
        f"{summary.prompt_tokens.value or 0:.0f}",
        f"${summary.total_cost:.2f}",
    )


def _percent(estimate: Estimate | None) -> str:
    """A share in per cent, with its margin where there is one; reports say more."""
    if estimate is None or estimate.value is None:
        return "–"
    margin = f" ± {100 * estimate.margin:.1f}" if estimate.margin else ""
    return f"{100 * estimate.value:.1f}{margin}"
