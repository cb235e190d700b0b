"""Writing a report's files."""

from __future__ import annotations

from pathlib import Path

from bmsql.bench._files import unwritable
from bmsql.bench._store import write_whole
from bmsql.bench.report._collect import Report
from bmsql.bench.report._html import html_report
from bmsql.bench.report._markdown import markdown_report


def write_report(report: Report, folder: Path) -> tuple[Path, Path]:
    """Write `report.md` and `report.html` into `folder`, and return their paths. Raises BenchmarkFileError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    markdown, html = folder / "report.md", folder / "report.html"
    write_whole(markdown, markdown_report(report))
    write_whole(html, html_report(report))
    return markdown, html
