"""What `bmsql bench build` shows: a bar while it works, then what was built."""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bmsql.bench import BIO_CATEGORIES, SQL_CATEGORIES, Question
from bmsql.bench.factory import Built
from bmsql.cli._console import Text, console, heading, show_table
from bmsql.cli._table import rows_table


@contextmanager
def progress(total: int) -> Iterator[Callable[[int], None]]:
    """A bar on the terminal; nothing where standard error is a file or a pipe."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    to = Console(file=sys.stderr)
    columns = (TextColumn("Building questions"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=to, disable=not to.is_terminal, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda made: bar.advance(task, made)


def summary(built: Built) -> dict[str, Any]:
    """What was built, in numbers."""
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


def show(document: dict[str, Any]) -> None:
    """Print the summary: tables by family, split and category."""
    to = console()
    to.print(
        Text(f"Wrote {document['questions']} questions of {document['templates']} templates to {document['file']}"),
        soft_wrap=True,
    )
    names = ("family", "questions", "templates", "empty %", "median rows", "most rows")
    rows = [
        (family, *("" if value is None else value for value in numbers.values()))
        for family, numbers in document["families"].items()
    ]
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
