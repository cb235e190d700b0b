"""An answer on the terminal."""

from __future__ import annotations

from rich.console import Console

from bmsql.cli._console import Text, heading, indented, show_sql, show_table
from bmsql.cli._table import rows_table
from bmsql.types import Answer, ConventionRecord, QueryResult, Usage, money_text, shown_of, size_text

_STATUS = {
    "applied": "applied",
    "complement": "applied as its opposite",
    "corrected": "corrected",
    "already": "already in the query",
    "stated": "the question's own condition stands",
    "waived": "left out, as asked",
    "judged": "judged, not filtered by",
    "unmet": "could not be applied",
}


def show_answer(to: Console, answer: Answer, max_rows: int) -> None:
    """Sentence, SQL, rows, conventions, warnings, sources, and what it was answered with."""
    to.print(Text(answer.text, style="bold"))
    if answer.clarification:
        for number, alternative in enumerate(answer.clarification.alternatives, start=1):
            to.print(Text(f"  {number}. {alternative}"))
    if answer.sql:
        heading(to, "SQL (BigQuery)")
        show_sql(to, answer.sql)
    if answer.result is not None:
        _show_rows(to, answer, answer.result, max_rows)
    if answer.conventions:
        heading(to, "Conventions")
        show_conventions(to, answer.conventions)
    if answer.warnings:
        heading(to, "Note")
        for warning in answer.warnings:
            to.print(Text(f"- {warning}"))
    if answer.sources:
        heading(to, "Sources")
        for source in answer.sources:
            to.print(Text(f"- {source}"))
    to.print()
    to.print(Text(used_line(answer), style="dim"))


def used_line(answer: Answer) -> str:
    """Which reasoner, knowledge base and profile answered, and how long it took."""
    queries = f"{answer.usage.queries} quer{'y' if answer.usage.queries == 1 else 'ies'}"
    used = f"Reasoner: {answer.reasoner}. Knowledge base: {answer.backend}. Profile: {answer.profile}."
    return f"{used} {queries}, {model_use(answer.usage)}{answer.usage.seconds * 1000:.0f} ms.{_billed(answer)}"


def model_use(usage: Usage) -> str:
    """Calls and tokens of a chat model, with a comma behind them; nothing where none was called."""
    steps = usage.steps
    calls = sum(step.calls for step in steps)
    if not calls:
        return ""
    about = "about " if any(step.estimated for step in steps) else ""
    sent, written = sum(step.prompt_tokens for step in steps), sum(step.completion_tokens for step in steps)
    return f"{calls} model call{'' if calls == 1 else 's'} with {about}{sent} + {written} tokens, "


def _billed(answer: Answer) -> str:
    """What BigQuery bills for the answer, and for all of the session; empty where nothing is metered."""
    usage = answer.usage
    if usage.total_bytes_billed is None:
        return ""
    this = f"{size_text(usage.bytes_billed or 0)} ({money_text(usage.cost or 0)})"
    return f" Billed: {this}; in all {size_text(usage.total_bytes_billed)} ({money_text(usage.total_cost or 0)})."


def show_conventions(to: Console, records: tuple[ConventionRecord, ...]) -> None:
    """Each convention with its condition, reason, source, and the count without it."""
    for record in records:
        head = Text("- ")
        head.append(record.rule, style="bold")
        head.append(f" ({_STATUS[record.status]})")
        if record.predicate:
            head.append(f": {record.predicate}")
        to.print(head)
        why = " ".join(part for part in (record.reason, f"[{record.citation}]" if record.citation else "") if part)
        if why:
            indented(to, why)
        if record.rows_without is not None:
            with_ = f", {record.rows_with} with it" if record.rows_with is not None else ""
            indented(to, f"Rows: {record.rows_without} without it{with_}.")


def _show_rows(to: Console, answer: Answer, result: QueryResult, max_rows: int) -> None:
    shown = result.rows[:max_rows]
    heading(to, f"Rows: showing {len(shown)} of {shown_of(answer)}")
    if not shown:
        return
    table, left_out = rows_table(to, result.names(), shown)
    show_table(to, table)
    if left_out:
        to.print(Text(f"Columns that did not fit: {', '.join(left_out)}. --json has them.", style="dim"))
