"""`bmsql bench ...`: the commands of the benchmark."""

from __future__ import annotations

from pathlib import Path

import typer

from bmsql.cli._options import (
    AskedSplits,
    AskedTemplates,
    Backend,
    BuiltSplit,
    Concurrency,
    Debug,
    ExtraKb,
    Failures,
    HowMany,
    HumanScores,
    Json,
    Judge,
    LimitOptions,
    MaxCost,
    MaxPasses,
    Model,
    OwnOptions,
    PricesFile,
    Processes,
    Profile,
    QuestionFile,
    QuestionsOut,
    QuestionsSeed,
    ReportOut,
    RetryErrors,
    Rules,
    RunOut,
    Runs,
    Sample,
    SampleSeed,
    SemanticModelFile,
    SkipFailingGold,
    StoredGold,
    System,
    TemplateFiles,
    Without,
    read_limits,
    read_own_options,
)

bench = typer.Typer(
    help="The benchmark: ask questions with known answers, score, compare.", no_args_is_help=True, rich_markup_mode=None
)


@bench.command()
def build(
    out: QuestionsOut,
    backend: Backend = None,
    semantic_model: SemanticModelFile = None,
    n: HowMany = 2000,
    seed: QuestionsSeed = 1,
    profile: Profile = None,
    rules: Rules = None,
    split: BuiltSplit = None,
    templates: TemplateFiles = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Build questions with gold answers from templates and the knowledge base."""
    from bmsql.agent import read_settings
    from bmsql.cli import _bench_build

    settings = read_settings(backend=backend, semantic_model=semantic_model, profile=profile, rules=rules or None)
    return _bench_build.build_file(settings, out, n=n, seed=seed, split=split or "", templates=templates, as_json=json)


@bench.command()
def run(
    questions: QuestionFile,
    out: RunOut,
    system: System = "ours",
    model: Model = None,
    backend: Backend = None,
    semantic_model: SemanticModelFile = None,
    profile: Profile = None,
    rules: Rules = None,
    max_passes: MaxPasses = None,
    limit: LimitOptions = None,
    without: Without = None,
    option: OwnOptions = None,
    extra_kb: ExtraKb = None,
    split: AskedSplits = None,
    template: AskedTemplates = None,
    sample: Sample = None,
    seed: SampleSeed = 0,
    stored_gold: StoredGold = False,
    skip_failing_gold: SkipFailingGold = False,
    concurrency: Concurrency = 4,
    max_cost: MaxCost = None,
    prices: PricesFile = None,
    retry_errors: RetryErrors = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Ask a system the questions of a file, and score it. Exit code 1: it stopped early, and can be resumed."""
    from bmsql.bench import Selection
    from bmsql.bench.systems import SystemOptions
    from bmsql.cli import _bench

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
        rules=rules or None,
        limits=read_limits(limit),
        max_passes=max_passes,
        without=tuple(without or ()),
        own=read_own_options(option),
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
    judge: Judge = None,
    concurrency: Concurrency = 4,
    processes: Processes = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Score runs anew, with a judge if one is given. Exit code 1: the judge failed on some answers."""
    from bmsql.cli import _bench

    return _bench.score_all(runs, judge, concurrency, processes, as_json=json)


@bench.command()
def report(
    runs: Runs,
    out: ReportOut = Path("report"),
    failures: Failures = 40,
    human: HumanScores = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Compare runs in a report: Markdown, and an HTML page that needs nothing else."""
    from bmsql.cli import _bench

    return _bench.write(runs, out, failures, human, as_json=json)
