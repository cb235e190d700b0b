"""`bmsql bench build`: questions from templates."""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bmsql.cli._console import Text, console, heading, show_table, write_json
from bmsql.cli._options import Backend, Debug, Json, Profile, SemanticModelFile
from bmsql.cli._table import rows_table

if TYPE_CHECKING:
    from bmsql.bench import Question, Split
    from bmsql.bench.build import Built

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
    split: SplitOption = None,
    templates: Templates = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Build questions with gold answers from templates and the knowledge base."""
    from bmsql.agent import read_settings
    from bmsql.agent._open import fitted, open_model, open_named_backend
    from bmsql.bench import write_questions
    from bmsql.bench.build import build_questions, load_templates, shipped_templates
    from bmsql.cli._main import ANSWERED

    if split is not None and split not in _SPLITS:
        raise typer.BadParameter(f"--split {split!r}: use one of {', '.join(_SPLITS)}.")
    chosen: Split = split or ""  # type: ignore[assignment]  # one of the three
    settings = read_settings(backend=backend, semantic_model=semantic_model, profile=profile)
    book = load_templates(templates) if templates else shipped_templates()
    started = time.perf_counter()
    opened = open_named_backend(settings)
    try:
        with _progress(n) as advance:
            built = build_questions(
                opened,
                fitted(open_model(settings), opened.catalog()),
                book,
                n=n,
                seed=seed,
                profile=settings.profile,
                split=chosen,
                limits=settings.limits,
                progress=advance,
            )
    finally:
        opened.close()
    part = out.with_name(f".{out.stem}.part{out.suffix}")
    # A file that is there is whole: an interrupted run leaves none, or the one before.
    write_questions(part, built.questions)
    part.replace(out)
    document = {"file": str(out), "seconds": round(time.perf_counter() - started, 1), **_summary(built)}
    if json:
        write_json(document)
    else:
        _show(document)
    return ANSWERED


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    """A bar on the terminal; nothing where standard error is a file or a pipe."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    to = Console(file=sys.stderr)
    columns = (TextColumn("Building questions"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=to, disable=not to.is_terminal, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda made: bar.advance(task, made)


def _summary(built: Built) -> dict[str, Any]:
    """What was built, in numbers."""
    from bmsql.bench import BIO_CATEGORIES, SQL_CATEGORIES

    families: dict[str, list[Question]] = {}
    for question in built.questions:
        families.setdefault(question.template.partition(".")[0], []).append(question)
    sql = Counter(category for question in built.questions for category in question.sql_categories)
    bio = Counter(category for question in built.questions for category in question.bio_categories)
    return {
        "questions": len(built.questions),
        "templates": len({question.template for question in built.questions}),
        "splits": dict(Counter(question.split for question in built.questions)),
        "families": {name: _family(questions) for name, questions in sorted(families.items())},
        "sql_categories": {label: sql[name] for name, label in SQL_CATEGORIES.items()},
        "bio_categories": {label: bio[name] for name, label in BIO_CATEGORIES.items()},
        "dropped": dict(built.dropped),
        "unused": built.unused,
    }


def _family(questions: Sequence[Question]) -> dict[str, Any]:
    """Questions, templates, the share of empty gold results, and the sizes of the others."""
    golds = [question.expected for question in questions if question.expected is not None]
    sizes = [len(gold.rows) for gold in golds if gold.rows]
    return {
        "questions": len(questions),
        "templates": len({question.template for question in questions}),
        "empty": round(100 * (len(golds) - len(sizes)) / len(golds), 1) if golds else None,
        "median": statistics.median_low(sizes) if sizes else None,
        "most": max(sizes, default=None),
    }


def _show(document: dict[str, Any]) -> None:
    to = console()
    to.print(
        Text(f"Wrote {document['questions']} questions of {document['templates']} templates to {document['file']}"),
        soft_wrap=True,
    )
    names = ("family", "questions", "templates", "empty %", "median rows", "most rows")
    rows = [(family, *numbers.values()) for family, numbers in document["families"].items()]
    heading(to, "Families")
    show_table(to, rows_table(to, names, rows)[0])
    for title, field in (("Splits", "splits"), ("SQL categories", "sql_categories"), ("Reasoning", "bio_categories")):
        heading(to, title)
        show_table(to, rows_table(to, ("name", "questions"), list(document[field].items()))[0])
    if document["dropped"]:
        heading(to, "Drawn and left out")
        show_table(to, rows_table(to, ("because", "questions"), list(document["dropped"].items()))[0])
    if document["unused"]:
        heading(to, "Templates without questions")
        show_table(to, rows_table(to, ("template", "because"), list(document["unused"].items()))[0])
