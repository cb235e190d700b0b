"""An answer as HTML for notebooks: everything escaped, no scripts, nothing loaded from elsewhere."""

from __future__ import annotations

import decimal
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from bmsql.types._text import CELL_CHARACTERS, cell_text, shown_of, visible

if TYPE_CHECKING:
    from bmsql.types._answer import Answer
    from bmsql.types._query import ConventionRecord, QueryResult

ROWS_SHOWN = 20
# Colours come from the notebook's own text colour, so that light and dark themes both read well.
_STYLE = """
.bmsql{font:14px/1.45 system-ui,sans-serif;max-width:100%}
.bmsql p{margin:.3em 0 .6em;font-size:15px}
.bmsql .scroll{overflow-x:auto;margin:.3em 0}
.bmsql table{border-collapse:collapse;font-size:12.5px;color:inherit;background:transparent}
.bmsql th,.bmsql td{text-align:left;padding:.25em .7em;border-bottom:1px solid rgba(128,128,128,.35)}
.bmsql th,.bmsql td{color:inherit;background:transparent;white-space:nowrap}
.bmsql td.n{text-align:right;font-variant-numeric:tabular-nums}
.bmsql .wrap td{white-space:normal;vertical-align:top}
.bmsql .null,.bmsql .small{opacity:.65}
.bmsql .small{font-size:12px}
.bmsql pre{padding:.6em .8em;border:1px solid rgba(128,128,128,.35);border-radius:4px}
.bmsql pre{background:rgba(128,128,128,.08);color:inherit;overflow-x:auto;font-size:12.5px}
.bmsql summary{cursor:pointer}
.bmsql ul{margin:.3em 0;padding-left:1.4em}
""".strip().replace("\n", "")


def answer_html(answer: Answer) -> str:
    """`answer` as one HTML fragment: sentence, rows, folded SQL, conventions, warnings, sources."""
    parts = [f"<style>{_STYLE}</style>", f"<p>{_lines(answer.text)}</p>"]
    if answer.clarification:
        parts.append(_bullets(answer.clarification.alternatives))
    if answer.result is not None:
        parts.append(_rows(answer, answer.result))
    if answer.sql:
        parts.append(f"<details><summary>SQL</summary><pre><code>{_escape(answer.sql)}</code></pre></details>")
    if answer.conventions:
        parts.append(_conventions(answer.conventions))
    if answer.warnings:
        parts.append(f"<div><b>Note</b>{_bullets(answer.warnings)}</div>")
    if answer.sources:
        parts.append(f'<div class="small">Sources: {_escape("; ".join(answer.sources))}</div>')
    used = ", ".join(part for part in (answer.reasoner, answer.backend, answer.profile) if part)
    if used:
        parts.append(f'<div class="small">{_escape(used)}</div>')
    return f'<div class="bmsql">{"".join(parts)}</div>'


def _rows(answer: Answer, result: QueryResult) -> str:
    shown = result.rows[:ROWS_SHOWN]
    head = "".join(f"<th>{_escape(name)}</th>" for name in result.names())
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in shown)
    note = f"showing {len(shown)} of {shown_of(answer)}"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{table}</div><div class="small">{note}</div>'


def _cell(value: Any) -> str:
    if value is None:
        return '<td class="null">NULL</td>'
    kind = ' class="n"' if isinstance(value, int | float | decimal.Decimal) and not isinstance(value, bool) else ""
    full = cell_text(value, 2000)
    title = f' title="{escape(full)}"' if len(full) > CELL_CHARACTERS else ""
    return f"<td{kind}{title}>{escape(cell_text(value))}</td>"


def _conventions(records: tuple[ConventionRecord, ...]) -> str:
    head = "".join(f"<th>{name}</th>" for name in ("Convention", "", "Condition", "Why", "Rows", "Rows without"))
    lines = []
    for record in records:
        why = " ".join(part for part in (record.reason, f"({record.citation})" if record.citation else "") if part)
        cells = (
            record.rule,
            record.status,
            record.predicate,
            why,
            _count(record.rows_with),
            _count(record.rows_without),
        )
        lines.append("<tr>" + "".join(f"<td>{_escape(cell)}</td>" for cell in cells) + "</tr>")
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    return f'<details open><summary>Conventions</summary><div class="scroll wrap">{table}</div></details>'


def _count(value: int | None) -> str:
    return "" if value is None else str(value)


def _bullets(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{_lines(item)}</li>" for item in items) + "</ul>"


def _lines(text: str) -> str:
    return _escape(text).replace("\n", "<br>")


def _escape(text: str) -> str:
    return escape(visible(text))
