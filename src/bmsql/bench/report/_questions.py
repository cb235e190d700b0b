"""The questions of a run worth a look: slow, costly, not answered rightly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bmsql.bench._error_kinds import ERROR_KINDS
from bmsql.bench.report._blocks import Block, Code, Details, Listing, Paragraph, Table, dollars
from bmsql.bench.report._collect import Extreme, FailedQuestion, RunReport
from bmsql.bench.report._differences import Edit, Members

_SHOWN_TEXT = 1000
_EDIT_WORDS = {"missing": "only in gold", "surplus": "only in the answer", "changed": "changed"}


def extremes(runs: Sequence[RunReport]) -> Iterator[Block]:
    """The slowest and the costliest questions of each run."""
    headers = ("Question", "Asked", "Outcome", "Seconds", "Tokens", "MB billed", "Cost")
    for run in runs:
        yield Table(f"Slowest: {run.label}", headers, [_extreme(one) for one in run.slowest])
        if run.costliest:
            yield Table(f"Costliest: {run.label}", headers, [_extreme(one) for one in run.costliest])


def _extreme(one: Extreme) -> tuple[str, ...]:
    billed = "–" if one.bytes_billed is None else f"{one.bytes_billed / 1e6:,.1f}"
    cost = dollars(one.cost)
    return (one.question_id, one.question, one.outcome, f"{one.seconds:.2f}", f"{one.tokens:,}", billed, cost)


def failures(runs: Sequence[RunReport]) -> Iterator[Block]:
    """Questions that were not answered rightly, with both queries and the differences."""
    for run in runs:
        if not run.failed_count:
            yield Paragraph(f"{run.label}: all answers were right.")
            continue
        shown = len(run.failed)
        more = "" if shown == run.failed_count else f", of which the first {shown} are shown"
        yield Paragraph(f"{run.label}: {run.failed_count} questions{more}.")
        for one in run.failed:
            kinds = ", ".join(ERROR_KINDS[kind] for kind in one.kinds if kind in ERROR_KINDS)
            summary = f"{one.question_id}: {one.question} – {one.outcome}{f' ({kinds})' if kinds else ''}"
            yield Details(summary, list(_failure(one)))


def _failure(one: FailedQuestion) -> Iterator[Block]:
    if one.text:
        yield Paragraph(f"Answer: {_shortened(one.text)}")
    if one.reason:
        yield Paragraph(f"Reason: {_shortened(one.reason)}")
    if one.gold_sql:
        yield Code("Gold query", one.gold_sql)
    else:
        yield Paragraph("The question cannot be answered; the right answer was to abstain.")
    if one.sql:
        yield Code("Answer's query", one.sql)
    if one.edits is not None:
        yield Listing("Difference of the syntax trees", [_edit(edit) for edit in one.edits] or ["none"])
    if one.members is not None:
        yield Listing(f"Difference of the sets of {one.members.name}", _members(one.members, one.jac))


def _edit(edit: Edit) -> str:
    if edit.kind == "changed":
        return f"{_EDIT_WORDS[edit.kind]}: {edit.gold} → {edit.found}"
    return f"{_EDIT_WORDS[edit.kind]}: {edit.gold or edit.found}"


def _members(members: Members, jac: float) -> list[str]:
    lines = [f"gold has {members.gold_rows} rows, the answer {members.found_rows}; JAC {100 * jac:.1f} %"]
    for kind, some, count in (
        ("missing", members.missing, members.missing_count),
        ("surplus", members.surplus, members.surplus_count),
    ):
        if count:
            more = "" if count == len(some) else ", ..."
            lines.append(f"{count} {kind}: {', '.join(some)}{more}")
    return lines


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_TEXT else f"{text[:_SHOWN_TEXT]} ..."
