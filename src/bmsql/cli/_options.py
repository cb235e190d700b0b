"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from bmsql.agent import Agent

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        help='"offline" (the default), or a chat model as provider:name, such as openai:NAME. [BMSQL_MODEL]',
        show_default=False,
    ),
]
Backend = Annotated[
    str | None,
    typer.Option("--backend", help='"embedded" (the default) or duckdb:///path. [BMSQL_BACKEND]', show_default=False),
]
SemanticModelFile = Annotated[
    str | None,
    typer.Option(
        "--semantic-model",
        help="Semantic model of the database, a YAML file. [BMSQL_SEMANTIC_MODEL]",
        show_default=False,
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        "--profile", help="Conventions: strict (the default) or biomedsql. [BMSQL_PROFILE]", show_default=False
    ),
]
Rules = Annotated[
    list[Path] | None,
    typer.Option("--rules", help="A rule file; may be given several times. [BMSQL_RULES]", show_default=False),
]
MaxPasses = Annotated[
    int | None,
    typer.Option(
        "--max-passes", help="Plans per question, 1 to 10; 1 by default. [BMSQL_MAX_PASSES]", show_default=False
    ),
]
Candidates = Annotated[
    int | None,
    typer.Option(
        "--candidates",
        help="Drafts of a chat model, of which the commonest result is taken; 1 by default. [BMSQL_CANDIDATES]",
        show_default=False,
    ),
]
Examples = Annotated[
    Path | None,
    typer.Option("--examples", help="A file of your own example queries. [BMSQL_EXAMPLES]", show_default=False),
]
Cache = Annotated[
    Path | None,
    typer.Option("--cache", help="A file to keep a chat model's replies in. [BMSQL_CACHE]", show_default=False),
]
LimitOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=NUMBER",
        help="rows, seconds, memory_mb and the like; may be given several times. [BMSQL_LIMIT_ROWS, ...]",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output, errors too.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error came from.")]


def make_agent(
    *,
    model: str | None = None,
    backend: str | None = None,
    semantic_model: str | None = None,
    profile: str | None = None,
    rules: list[Path] | None = None,
    max_passes: int | None = None,
    limits: list[str] | None = None,
    send_rows: bool | None = None,
    candidates: int | None = None,
    examples: Path | None = None,
    cache: Path | None = None,
) -> Agent:
    """An agent with the options given; those that were not are the agent's own to find."""
    from bmsql.agent import Agent

    return Agent(
        model=model,
        backend=backend,
        semantic_model=semantic_model,
        profile=profile,
        rules=list(rules) if rules else None,
        max_passes=max_passes,
        limits=read_limits(limits) if limits else None,
        send_rows=send_rows,
        candidates=candidates,
        examples=examples,
        cache=cache,
    )


def read_limits(texts: list[str]) -> dict[str, Any]:
    """`["rows=10", "seconds=2.5"]` as numbers by name."""
    from bmsql.types import Limits

    found: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name.strip() not in Limits.model_fields:
            raise typer.BadParameter(
                f"--limit {text!r}: use one of {', '.join(f'{n}=...' for n in Limits.model_fields)}."
            )
        try:
            found[name.strip()] = float(value) if "." in value or "e" in value.lower() else int(value)
        except ValueError as error:
            raise typer.BadParameter(f"--limit {text!r}: {value!r} is no number.") from error
    return found
