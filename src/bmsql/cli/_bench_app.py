"""`bmsql bench ...`: the commands of the benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bmsql.cli._bench_build import build
from bmsql.cli._options import (
    Backend,
    Debug,
    Json,
    LimitOptions,
    MaxPasses,
    Model,
    Profile,
    Rules,
    SemanticModelFile,
)

bench = typer.Typer(
    help="The benchmark: ask questions with known answers, score, compare.", no_args_is_help=True, rich_markup_mode=None
)

bench.command()(build)

Runs = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.", show_default=False)]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, help="How many are under way at once.")]


@bench.command()
def run(
    questions: Annotated[
        Path,
        typer.Option(
            "--questions", help="Question file: .csv (as published), .yaml, .jsonl, .parquet.", show_default=False
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="Folder of the run; given again, the run is resumed.", show_default=False)
    ],
    system: Annotated[str, typer.Option("--system", help="The system, one of `bmsql bench systems`.")] = "ours",
    model: Model = None,
    backend: Backend = None,
    semantic_model: SemanticModelFile = None,
    profile: Profile = None,
    rules: Rules = None,
    max_passes: MaxPasses = None,
    limit: LimitOptions = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="PART",
            help="Leave out a part of the system, for an ablation; may be given several times.",
            show_default=False,
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            metavar="NAME=VALUE",
            help="An option of this system alone; may be given several times.",
            show_default=False,
        ),
    ] = None,
    extra_kb: Annotated[
        list[Path] | None,
        typer.Option(
            "--extra-kb",
            metavar="FOLDER",
            help="Parquet files to add to the knowledge base as further tables; may be given several times.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[
        list[str] | None,
        typer.Option(
            "--split", help="Ask questions of this split only; may be given several times.", show_default=False
        ),
    ] = None,
    template: Annotated[
        list[str] | None,
        typer.Option(
            "--template", help="Ask questions of this template only; may be given several times.", show_default=False
        ),
    ] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="Ask so many, chosen by the seed.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Decides which questions a sample has.")] = 0,
    stored_gold: Annotated[
        bool, typer.Option("--stored-gold", help="Believe the rows of gold in the file, where there are any.")
    ] = False,
    skip_failing_gold: Annotated[
        bool, typer.Option("--skip-failing-gold", help="Leave out questions whose gold query does not run.")
    ] = False,
    concurrency: Concurrency = 4,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", help="Begin no question beyond this cost, in US dollars.", show_default=False),
    ] = None,
    prices: Annotated[
        Path | None, typer.Option("--prices", help="Prices of models and bytes, a YAML file.", show_default=False)
    ] = None,
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Ask again what ended in an error before.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Ask a system the questions of a file, and score it. Exit code 1: it stopped early, and can be resumed."""
    from bmsql.bench import Selection
    from bmsql.bench.systems import SystemOptions
    from bmsql.cli import _bench
    from bmsql.cli._options import read_limits

    selection = Selection(
        splits=tuple(split or ()),
        templates=tuple(template or ()),
        sample=sample,
        seed=seed,
        stored_gold=stored_gold,
        skip_failing=skip_failing_gold,
    )
    options = SystemOptions(
        model=model,
        backend=backend,
        semantic_model=semantic_model,
        profile=profile,
        rules=list(rules) if rules else None,
        limits=read_limits(limit) if limit else None,
        max_passes=max_passes,
        without=tuple(without or ()),
        own=_pairs(option or []),
    )
    driving = _bench.Driving(
        concurrency=concurrency, max_cost=max_cost, prices=prices, retry_errors=retry_errors, as_json=json
    )
    return _bench.ask_all(system, options, questions, out, selection, driving, tuple(extra_kb or ()))


@bench.command()
def systems(json: Json = False, debug: Debug = False) -> int:
    """The systems that can be compared, for `--system`."""
    from bmsql.cli import _bench

    return _bench.list_systems(as_json=json)


@bench.command()
def score(
    runs: Runs,
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            metavar="MODEL",
            help="Chat model that judges answers, as provider:name; it sees questions, rows of gold and answers.",
            show_default=False,
        ),
    ] = None,
    concurrency: Concurrency = 4,
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="Processes that score.", show_default=False)
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Score runs anew, with a judge if one is given. Exit code 1: the judge failed on some answers."""
    from bmsql.cli import _bench

    return _bench.score_all(runs, judge, concurrency, processes, as_json=json)


@bench.command()
def report(
    runs: Runs,
    out: Annotated[Path, typer.Option("--out", help="Folder for report.md and report.html.")] = Path("report"),
    failures: Annotated[int, typer.Option("--failures", min=0, help="Failed questions to show of each run.")] = 40,
    human: Annotated[
        Path | None,
        typer.Option("--human", help="People's scores of the answers, to hold the judge against.", show_default=False),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Compare runs in a report: Markdown, and an HTML page that needs nothing else."""
    from bmsql.cli import _bench

    return _bench.write(runs, out, failures, human, as_json=json)


def _pairs(texts: list[str]) -> dict[str, str]:
    """`["shots=3"]` as `{"shots": "3"}`."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise typer.BadParameter(f"--option {text!r}: write NAME=VALUE.")
        found[name.strip()] = value
    return found
