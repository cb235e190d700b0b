"""A report as Markdown. Figures are left out: the tables hold their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bmsql.bench.report._blocks import Bars, Block, Code, Details, Listing, Paragraph, Radar, Scatter, Table
from bmsql.bench.report._collect import Report
from bmsql.bench.report._content import TITLE, sections

# Characters that Markdown, or HTML within it, would take for markup.
_SPECIAL = {character: f"\\{character}" for character in "\\`*_[]|~#"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_ESCAPES = str.maketrans(_SPECIAL)


def markdown_report(report: Report) -> str:
    """The report as one Markdown document."""
    lines = [f"# {TITLE}", ""]
    for section in sections(report):
        lines += [f"## {section.title}", ""]
        for block in section.blocks:
            lines += _block(block, 3)
    return "\n".join(lines).rstrip() + "\n"


def escaped(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
    return " ".join(text.translate(_ESCAPES).split())


def _block(block: Block, level: int) -> Iterator[str]:
    match block:
        case Paragraph():
            yield from (escaped(block.text), "")
        case Table():
            yield from (f"{'#' * level} {escaped(block.caption)}", "")
            yield from _table(block)
            if block.note:
                yield from (escaped(block.note), "")
        case Code():
            yield from (f"{escaped(block.title)}:", "")
            yield from _fenced(block.text)
        case Listing():
            yield from (f"{escaped(block.title)}:", "")
            yield from (f"- {escaped(item)}" for item in block.items)
            yield ""
        case Details():
            yield from (f"{'#' * level} {escaped(block.summary)}", "")
            for inner in block.blocks:
                yield from _block(inner, level + 1)
        case Radar() | Scatter() | Bars():
            return


def _table(table: Table) -> Iterator[str]:
    yield _row(table.headers)
    yield _row(["---", *("---:" for _ in table.headers[1:])], plain=True)
    yield from (_row(row) for row in table.rows)
    yield ""


def _row(cells: Sequence[str], *, plain: bool = False) -> str:
    return f"| {' | '.join(cell if plain else escaped(cell) for cell in cells)} |"


def _fenced(text: str) -> Iterator[str]:
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}sql", *text.splitlines(), fence, "")
