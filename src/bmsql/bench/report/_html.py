"""A report as one HTML page: style and figures are inside, nothing is loaded, nothing runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from bmsql._version import __version__
from bmsql.bench.report._blocks import Bars, Block, Code, Details, Listing, Paragraph, Radar, Scatter, Section, Table
from bmsql.bench.report._collect import Report
from bmsql.bench.report._content import TITLE, sections
from bmsql.bench.report._markup import Markup, element, joined
from bmsql.bench.report._svg import bars, legend, radar, scatter

# What cells of figures begin with; others hold words, which are read from the left.
_FIGURE = tuple("0123456789–−+$")


def html_report(report: Report) -> str:
    """The report as one HTML document."""
    parts = sections(report)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        # The page may load nothing, whatever stands in its texts.
        element("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
        element("title", f"{TITLE} – bmsql"),
        element("style", Markup(_style())),
    )
    names = ", ".join(run.label for run in report.runs)
    body = element(
        "body",
        element("a", "Skip to the comparison", class_="skip", href="#section-1"),
        element("header", element("h1", TITLE), element("p", names, class_="soft")),
        element("nav", element("ul", _entries(parts)), aria_label="Sections"),
        element("main", [_section(part, number) for number, part in enumerate(parts, 1)]),
        element("footer", element("p", f"Written by bmsql {__version__}.", class_="soft"), style="text-align:center"),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


@cache
def _style() -> str:
    return (files("bmsql.bench") / "data" / "report.css").read_text(encoding="utf-8")


def _entries(parts: Sequence[Section]) -> list[Markup]:
    return [element("li", element("a", part.title, href=f"#section-{number}")) for number, part in enumerate(parts, 1)]


def _section(section: Section, number: int) -> Markup:
    heading = f"section-{number}"
    blocks = [_block(block) for block in section.blocks]
    return element("section", element("h2", section.title, id=heading), blocks, aria_labelledby=heading)


def _block(block: Block) -> Markup:
    match block:
        case Paragraph():
            return element("p", block.text)
        case Table():
            return _table(block)
        case Radar():
            return _figure(radar(block), block.title, [label for label, _ in block.series])
        case Scatter():
            labels = [label for label, *_ in block.points]
            return _figure(scatter(block), block.title, labels, hollow="published" if block.reference else "")
        case Bars():
            return _figure(bars(block), block.title, [label for label, _ in block.series])
        case Code():
            return joined([element("p", f"{block.title}:"), element("pre", element("code", block.text))])
        case Listing():
            items = [element("li", item) for item in block.items]
            return joined([element("p", f"{block.title}:"), element("ul", items)])
        case Details():
            inner = [_block(part) for part in block.blocks]
            return element("details", element("summary", block.summary), element("div", inner))


def _table(table: Table) -> Markup:
    wordy = [not all(cell.startswith(_FIGURE) for cell in column) for column in zip(*table.rows, strict=True)]
    wordy = wordy or [False for _ in table.headers]
    heads = zip(table.headers, wordy, strict=True)
    head = element("tr", [element("th", header, scope="col", class_=_class(words)) for header, words in heads])
    rows = [_row(row, wordy) for row in table.rows]
    made = element("table", element("caption", table.caption), element("thead", head), element("tbody", rows))
    # A wide table scrolls by itself, with the keyboard too.
    scrolling = element("div", made, class_="scroll", tabindex="0", role="region", aria_label=table.caption)
    return joined([scrolling, element("p", table.note, class_="note")] if table.note else [scrolling])


def _row(row: Sequence[str], wordy: Sequence[bool]) -> Markup:
    first, *others = row
    cells = [element("td", cell, class_=_class(words)) for cell, words in zip(others, wordy[1:], strict=True)]
    return element("tr", element("th", first, scope="row"), cells)


def _class(words: bool) -> str | None:
    return "words" if words else None


def _figure(drawing: Markup, title: str, labels: Sequence[str], *, hollow: str = "") -> Markup:
    return element("figure", drawing, element("figcaption", title, legend(labels, hollow=hollow)))
