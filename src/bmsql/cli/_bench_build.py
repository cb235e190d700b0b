"""`bmsql bench build`: questions from templates."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bmsql.cli._options import Backend, Debug, Json, Profile, Rules, SemanticModelFile

if TYPE_CHECKING:
    from bmsql.bench import Split

_SPLITS = ("train", "dev", "test")

Out = Annotated[Path, typer.Option("--out", help="The file to write: .jsonl or .parquet.")]
Number = Annotated[int, typer.Option("--n", min=1, help="Questions to build, over all templates.")]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same questions.")]
SplitOption = Annotated[
    str | None, typer.Option("--split", help="Only templates of this split: train, dev or test.", show_default=False)
]
Templates = Annotated[
    list[Path] | None,
    typer.Option(
        "--templates",
        help="A template file for another knowledge base; may be given several times.",
        show_default=False,
    ),
]


def build(
    out: Out,
    backend: Backend = None,
    semantic_model: SemanticModelFile = None,
    n: Number = 2000,
    seed: Seed = 1,
    profile: Profile = None,
    rules: Rules = None,
    split: SplitOption = None,
    templates: Templates = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Build questions with gold answers from templates and the knowledge base."""
    from bmsql.agent import read_settings
    from bmsql.agent._open import fitted, open_model, open_named_backend, open_rules
    from bmsql.bench import threshold_columns, write_questions
    from bmsql.bench.factory import build_questions, load_templates, shipped_templates
    from bmsql.cli import _bench_built
    from bmsql.cli._console import write_json
    from bmsql.cli._main import ANSWERED

    if split is not None and split not in _SPLITS:
        raise typer.BadParameter(f"--split {split!r}: use one of {', '.join(_SPLITS)}.")
    chosen: Split = split or ""  # type: ignore[assignment]  # one of the three
    settings = read_settings(
        backend=backend, semantic_model=semantic_model, profile=profile, rules=list(rules) if rules else None
    )
    book = load_templates(templates) if templates else shipped_templates()
    started = time.perf_counter()
    opened = open_named_backend(settings)
    try:
        model = fitted(open_model(settings), opened.catalog())
        with _bench_built.progress(n) as advance:
            built = build_questions(
                opened,
                model,
                book,
                n=n,
                seed=seed,
                profile="biomedsql" if settings.profile == "biomedsql" else "strict",
                split=chosen,
                limits=settings.limits,
                logical=threshold_columns(model, open_rules(settings)),
                progress=advance,
            )
    finally:
        opened.close()
    part = out.with_name(f".{out.stem}.part{out.suffix}")
    # A file that is there is whole: an interrupted run leaves none, or the one before.
    write_questions(part, built.questions)
    part.replace(out)
    document = {"file": str(out), "seconds": round(time.perf_counter() - started, 1), **_bench_built.summary(built)}
    if json:
        write_json(document)
    else:
        _bench_built.show(document)
    return ANSWERED
