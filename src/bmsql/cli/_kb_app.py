"""`bmsql kb ...`: the commands about knowledge bases."""

from __future__ import annotations

import typer

from bmsql.cli._options import (
    Backend,
    CheckColumns,
    Debug,
    Families,
    Json,
    LoadAnew,
    MaxBytes,
    Memory,
    Names,
    Nulls,
    Only,
    ReplaceFile,
    Repository,
    Revision,
    RowsSeed,
    SemanticModelFile,
    Source,
    SyntheticRows,
    SyntheticTo,
    TablePaths,
    To,
    Yes,
)

kb = typer.Typer(help="The knowledge base.", no_args_is_help=True, rich_markup_mode=None)


@kb.command()
def info(backend: Backend = None, json: Json = False, debug: Debug = False) -> int:
    """Show what is in a knowledge base: tables, rows, versions, checksums, sources."""
    from bmsql.cli import _kb

    return _kb.show_info(backend, as_json=json)


@kb.command()
def load(
    paths: TablePaths,
    to: To,
    only: Only = None,
    check: CheckColumns = True,
    null: Nulls = None,
    source: Source = "",
    force: LoadAnew = False,
    memory: Memory = 2048,
    semantic_model: SemanticModelFile = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Load files of tables. Stopped and run again, it goes on; until it is done nothing changes."""
    from bmsql.agent import read_settings
    from bmsql.cli import _kb_load
    from bmsql.loading import load

    with _kb_load.progress() as on_progress:
        report = load(
            paths,
            to,
            semantic_model=read_settings(semantic_model=semantic_model).semantic_model,
            check=check,
            only=only or (),
            nulls=("", *(null or ())),
            source=source,
            force=force,
            memory_mb=memory,
            on_progress=on_progress,
        )
    return _kb_load.show_report(report, as_json=json)


@kb.command()
def pull(
    to: To,
    revision: Revision = None,
    only: Only = None,
    repository: Repository = None,
    check: CheckColumns = True,
    force: LoadAnew = False,
    memory: Memory = 2048,
    semantic_model: SemanticModelFile = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Fetch the published tables from the Hugging Face hub and load them."""
    from bmsql.agent import read_settings
    from bmsql.cli import _kb_load
    from bmsql.loading import pull

    named = {"repository": repository} if repository else {}
    with _kb_load.progress() as on_progress:
        report = pull(
            to,
            **named,
            revision=revision,
            only=only or (),
            semantic_model=read_settings(semantic_model=semantic_model).semantic_model,
            check=check,
            force=force,
            memory_mb=memory,
            on_progress=on_progress,
        )
    return _kb_load.show_report(report, as_json=json)


@kb.command()
def synth(
    rows: SyntheticRows,
    to: SyntheticTo = "duckdb://synthetic.duckdb",
    seed: RowsSeed = 0,
    family: Families = None,
    force: ReplaceFile = False,
    memory: Memory = 2048,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Make a knowledge base of the embedded facts and synthetic rows, for measuring at scale."""
    from bmsql.cli import _kb_load
    from bmsql.loading import synthesize

    with _kb_load.progress() as on_progress:
        report = synthesize(
            rows, to, seed=seed, families=family or (), force=force, memory_mb=memory, on_progress=on_progress
        )
    return _kb_load.show_report(report, as_json=json)


@kb.command()
def index(
    backend: Backend = None,
    semantic_model: SemanticModelFile = None,
    names: Names = None,
    yes: Yes = False,
    max_bytes: MaxBytes = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Build the index of values that questions are linked to, and show first what that reads and costs."""
    from bmsql.cli import _kb_index

    ask = not yes and max_bytes is None
    allowed = None if yes else max_bytes
    return _kb_index.build_index(backend, semantic_model, names, allowed=allowed, ask=ask, as_json=json)
