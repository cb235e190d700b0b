"""`bmsql kb ...`: the commands about knowledge bases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bmsql.cli._options import Backend, Debug, Json, Names, SemanticModelFile

kb = typer.Typer(help="The knowledge base.", no_args_is_help=True, rich_markup_mode=None)

To = Annotated[
    str,
    typer.Option("--to", help="Where to: duckdb:///path.duckdb or bigquery://project/dataset.", show_default=False),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="TABLE", help="This table only; may be given several times.", show_default=False),
]
Check = Annotated[
    bool, typer.Option("--check/--no-check", help="Whether tables must have the columns of the semantic model.")
]
Force = Annotated[bool, typer.Option("--force", help="Load anew what is there already.")]
Memory = Annotated[int, typer.Option("--memory", min=128, metavar="MIB", help="Memory for loading, in MiB.")]


@kb.command()
def info(backend: Backend = None, json: Json = False, debug: Debug = False) -> int:
    """Show what is in a knowledge base: tables, rows, versions, checksums, sources."""
    from bmsql.cli import _kb

    return _kb.show_info(backend, as_json=json)


@kb.command()
def load(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Files (.parquet, .csv, .csv.gz, .tsv, .tsv.gz), or folders of them.", show_default=False),
    ],
    to: To,
    only: Only = None,
    check: Check = True,
    null: Annotated[
        list[str] | None,
        typer.Option(
            "--null",
            metavar="TEXT",
            help="A cell of a text file that stands for no value; may be given several times. Empty cells always do.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        str, typer.Option("--source", help="What answers cite as the source of these rows.", show_default=False)
    ] = "",
    force: Force = False,
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
    revision: Annotated[
        str | None, typer.Option("--revision", help="Branch, tag or commit; the newest by default.", show_default=False)
    ] = None,
    only: Only = None,
    repository: Annotated[
        str | None,
        typer.Option("--repository", help="Another dataset of the hub than NIH-CARD/BiomedSQL.", show_default=False),
    ] = None,
    check: Check = True,
    force: Force = False,
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
    rows: Annotated[int, typer.Option("--rows", min=1, help="Synthetic rows in all.", show_default=False)],
    to: Annotated[
        str, typer.Option("--to", help="Where to: duckdb:///path.duckdb or bigquery://project/dataset.")
    ] = "duckdb://synthetic.duckdb",
    seed: Annotated[int, typer.Option("--seed", help="The same seed makes the same rows.")] = 0,
    family: Annotated[
        list[str] | None,
        typer.Option(
            "--family",
            help="Tables of this family of the semantic model get rows; may be given several times. "
            "Association studies (gwas) by default.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that holds no synthetic rows.")] = False,
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
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Build it without asking, whatever it costs.")] = False,
    max_bytes: Annotated[
        int | None,
        typer.Option(
            "--max-bytes", min=0, help="Build it without asking up to this cost, and not above.", show_default=False
        ),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Build the index of values that questions are linked to, and show first what that reads and costs."""
    from bmsql.cli import _kb_index

    ask = not yes and max_bytes is None
    allowed = None if yes else max_bytes
    return _kb_index.build_index(backend, semantic_model, names, allowed=allowed, ask=ask, as_json=json)
