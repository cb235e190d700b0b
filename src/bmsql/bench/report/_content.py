"""The sections of a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bmsql.bench.report._blocks import (
    Block,
    Listing,
    Paragraph,
    Section,
    Table,
    amount,
    dollars,
    number,
    percent,
    points,
)
from bmsql.bench.report._collect import Difference, Report, RunReport
from bmsql.bench.report._measures import answers, categories, kinds, tokens
from bmsql.bench.report._published import published
from bmsql.bench.report._questions import extremes, failures
from bmsql.bench.report._words import words

TITLE = "Benchmark report"
_HASH_LENGTH = 12


def sections(report: Report) -> list[Section]:
    """All that a report says, in order."""
    runs = report.runs
    found = [
        Section("Comparison", list(_comparison(runs))),
        Section("Published figures", list(_reference())),
        Section("Tokens against accuracy", list(tokens(runs))),
        Section("By category", list(categories(runs))),
        Section("Kinds of error", list(kinds(runs))),
        Section("Answers in words", list(answers(runs))),
    ]
    if report.ablation:
        found.insert(1, Section("Ablation", list(_ablation(report.ablation))))
    if report.larger:
        found.insert(1, Section("More tables", list(_larger(report.larger))))
    found += [
        Section("Slowest and costliest questions", list(extremes(runs))),
        Section("Questions that were not answered rightly", list(failures(runs))),
        Section("Runs", list(_manifests(runs))),
        Section("How to read this", list(_legend())),
    ]
    return found


def _comparison(runs: Sequence[RunReport]) -> Iterator[Block]:
    headers = ("System", "Questions", "EX %", "JAC %", "RQR %", "SR %", "SER %", "Prompt tokens")
    rows = [
        (
            run.label,
            str(run.summary.answerable),
            percent(run.summary.ex),
            percent(run.summary.jac),
            percent(run.summary.rqr),
            percent(run.summary.sr),
            percent(run.summary.ser),
            amount(run.summary.prompt_tokens),
        )
        for run in runs
    ]
    yield Table(
        "Each system over the questions that can be answered, with 95 % intervals",
        headers,
        rows,
        words().notes["comparison"],
    )
    headers = ("System", "Calls", "Reply tokens", "Queries", "Seconds", "MB billed", "Cost per question", "Cost in all")
    yield Table("What a question takes, on average", headers, [_spent(run) for run in runs])
    headers = ("System", "Right", "Wrong", "Abstained", "Error", "Refused rightly %", "Gold-routed EX %", "SR by EX %")
    yield Table(
        "Outcomes",
        headers,
        [_outcomes(run) for run in runs],
        words().notes["outcomes"],
    )
    yield Table(
        "Results to look at with care",
        ("System", "Both sets empty", "Evidence key missing", "Rows cut off"),
        [(run.label, *map(str, (s.both_empty, s.missing_key, s.truncated))) for run in runs for s in [run.summary]],
        words().notes["care"],
    )


def _spent(run: RunReport) -> tuple[str, ...]:
    s = run.summary
    megabytes = "–" if s.bytes_billed.value is None else f"{s.bytes_billed.value / 1e6:,.1f}"
    return (
        run.label,
        amount(s.calls, 1),
        amount(s.completion_tokens),
        amount(s.queries, 1),
        amount(s.seconds, 2),
        megabytes,
        dollars(s.cost.value),
        dollars(s.total_cost if s.cost.n else None),
    )


def _outcomes(run: RunReport) -> tuple[str, ...]:
    s = run.summary
    counts = [str(s.outcomes[name]) for name in ("right", "wrong", "abstained", "error")]
    return (run.label, *counts, percent(s.refused), percent(s.routed_ex), percent(s.ex_sr))


def _reference() -> Iterator[Block]:
    given = published()
    yield Paragraph(f"Not measured here. Source: {given.source}, {given.url}. {given.note}")
    headers = ("System", "Model", "EX %", "JAC %", "RQR %", "SR %", "SER %", "Prompt tokens")
    rows = [
        (
            one.system,
            one.model or "–",
            *(number(value, 1) for value in (one.ex, one.jac, one.rqr, one.sr, one.ser)),
            "–" if one.tokens is None else f"{one.tokens:,.0f}",
        )
        for one in given.systems
    ]
    yield Table(f"Reference: published, n = {given.sample}", headers, rows)
    yield Paragraph(f"Twenty tables instead of ten, as published: {given.larger_schema}")


def _ablation(differences: Sequence[Difference]) -> Iterator[Block]:
    rows = [(d.label, d.base, percent(d.ex), percent(d.base_ex), points(d.delta), str(d.delta.n)) for d in differences]
    yield Table(
        "EX without a part, beside the whole system",
        ("Without a part", "Whole", "EX %", "EX % of the whole", "Difference (points)", "Questions"),
        rows,
        words().notes["ablation"],
    )


def _larger(found: Sequence[tuple[int, int, Difference]]) -> Iterator[Block]:
    rows = [
        (d.label, str(few), str(many), percent(d.base_ex), percent(d.ex), points(d.delta)) for few, many, d in found
    ]
    yield Table(
        "EX as tables are added, over the same questions",
        ("System", "Tables", "Tables, more", "EX %", "EX %, more tables", "Difference (points)"),
        rows,
        f"Published, for twenty tables instead of ten: {published().larger_schema}",
    )


def _manifests(runs: Sequence[RunReport]) -> Iterator[Block]:
    headers = ("Run", "Questions", "Seed", "Knowledge base", "Conventions", "Semantic model", "Tables", "Versions")
    rows = []
    for run in runs:
        m, s = run.manifest, run.manifest.settings
        asked = s.get("questions", {})
        versions = ", ".join(f"{name} {version}" for name, version in m.versions.items())
        skipped = f", {m.skipped} left out" if m.skipped else ""
        rows.append(
            (
                run.label,
                f"{m.questions}{skipped} of {asked.get('file', '?')} ({asked.get('hash', '?')})",
                str(asked.get("seed", "–")),
                f"{s.get('backend', '–')} ({str(s.get('fingerprint', '–'))[:_HASH_LENGTH]})",
                _named(s.get("conventions"), "profile"),
                _named(s.get("semantic_model"), "name"),
                str(s.get("tables", "–")),
                versions or "–",
            )
        )
    yield Table("What each run depends on; its manifest.json has it all", headers, rows)


def _named(value: object, name: str) -> str:
    return f"{value.get(name)} ({value.get('hash')})" if isinstance(value, dict) else "–"


def _legend() -> Iterator[Block]:
    yield Listing("Metrics", words().metrics)
