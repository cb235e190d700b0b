"""What `bmsql kb load`, `pull` and `synth` show: a progress bar while they work, and what they did."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from bmsql.cli._console import Text, console, heading, show_table, write_json
from bmsql.cli._main import ANSWERED
from bmsql.cli._table import rows_table
from bmsql.loading import LoadProgress, LoadReport, OnProgress
from bmsql.types import visible

_DOING = {
    "download": "fetching",
    "read": "reading",
    "load": "loading",
    "upload": "uploading",
    "verify": "checking",
    "done": "done",
}


@contextmanager
def progress() -> Iterator[OnProgress]:
    """Bars on standard error, one per table; nothing where that is no terminal."""
    to = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), "{task.percentage:>3.0f}%")
    with Progress(*columns, TimeElapsedColumn(), console=to, disable=not to.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def show(step: LoadProgress) -> None:
            text = f"{step.number}/{step.tables} {visible(step.table)}: {_DOING[step.step]}"
            if step.table not in tasks:
                tasks[step.table] = bars.add_task(text, total=1.0)
            bars.update(tasks[step.table], description=text, completed=step.fraction)

        yield show


def show_report(report: LoadReport, *, as_json: bool) -> int:
    """The tables with what was done about each, and how to ask them."""
    if as_json:
        write_json(report.model_dump(mode="json"))
        return ANSWERED
    to = console()
    to.print(Text(f"Knowledge base: {report.target}", style="bold"))
    heading(to, "Tables")
    rows = [
        (table.table, table.action, table.rows, table.columns, f"{table.seconds:.1f}", table.checksum[:12])
        for table in report.tables
    ]
    show_table(to, rows_table(to, ("table", "was", "rows", "columns", "seconds", "checksum"), rows)[0])
    notes: dict[str, list[str]] = {}
    for table in report.tables:
        for note in table.notes:
            notes.setdefault(note, []).append(table.table)
    if notes:
        to.print()
    for note, tables in notes.items():
        to.print(Text(f"{', '.join(tables)}: {note}"))
    to.print()
    to.print(Text(f'Ask it with: bmsql ask "..." --backend {report.target}'))
    return ANSWERED
