"""What the metrics say beyond the comparison: by category, by kind of error, of the answers in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bmsql.bench._error_kinds import ERROR_KINDS
from bmsql.bench._stats import Estimate
from bmsql.bench._summary import CategoryScore, Summary
from bmsql.bench._types import BIO_CATEGORIES, SQL_CATEGORIES
from bmsql.bench.report._blocks import Bars, Block, Paragraph, Radar, Scatter, Table, number, percent
from bmsql.bench.report._collect import RunReport
from bmsql.bench.report._published import published
from bmsql.bench.report._words import words


def tokens(runs: Sequence[RunReport]) -> Iterator[Block]:
    """Prompt tokens against EX, beside the published figures."""
    own = [
        (run.label, run.summary.prompt_tokens.value, 100 * run.summary.ex.value)
        for run in runs
        if run.summary.prompt_tokens.value is not None and run.summary.ex.value is not None
    ]
    theirs = [
        (f"{one.system}, {one.model} (published)", one.tokens, one.ex)
        for one in published().systems
        if one.tokens is not None
    ]
    yield Scatter("Prompt tokens per question against EX", "Prompt tokens", "EX %", own, theirs)


def categories(runs: Sequence[RunReport]) -> Iterator[Block]:
    """EX and RQR by SQL category and by reasoning category."""
    labels = [run.label for run in runs]
    sql_names = {str(name): title for name, title in SQL_CATEGORIES.items()}
    bio_names = {str(name): title for name, title in BIO_CATEGORIES.items()}
    by_sql = [{str(name): score for name, score in run.summary.by_sql.items()} for run in runs]
    by_bio = [{str(name): score for name, score in run.summary.by_bio.items()} for run in runs]
    yield from _by_category("SQL category", sql_names, labels, by_sql)
    yield from _by_category("Reasoning category", bio_names, labels, by_bio)


def _by_category(
    title: str, names: Mapping[str, str], labels: Sequence[str], scores: Sequence[Mapping[str, CategoryScore]]
) -> Iterator[Block]:
    present = [name for name in names if any(name in found for found in scores)]
    if not present:
        yield Paragraph(f"No question has a {_lower(title)}.")
        return
    judged = any(score.rqr is not None for found in scores for score in found.values())
    for measure in ("ex", "rqr") if judged else ("ex",):
        series = [
            (label, [_value(found.get(name), measure) for name in present])
            for label, found in zip(labels, scores, strict=True)
        ]
        if len(present) > 2:
            yield Radar(f"{measure.upper()} by {_lower(title)}", [names[name] for name in present], series)
        yield Table(
            f"{measure.upper()} % by {_lower(title)}",
            ("System", *(f"{names[name]} ({_most(scores, name, measure)})" for name in present)),
            [
                (label, *(percent(_estimate(found.get(name), measure)) for name in present))
                for label, found in zip(labels, scores, strict=True)
            ],
            words().notes["category"],
        )


def _most(scores: Sequence[Mapping[str, CategoryScore]], name: str, measure: str) -> int:
    """Questions of a category: runs may have asked different numbers of them."""
    estimates = [_estimate(found.get(name), measure) for found in scores]
    return max(estimate.n if estimate else 0 for estimate in estimates)


def _lower(title: str) -> str:
    """A title within a sentence; abbreviations stay as they are."""
    return title if title[:2].isupper() else title[0].lower() + title[1:]


def _estimate(score: CategoryScore | None, measure: str) -> Estimate | None:
    if score is None:
        return None
    return score.ex if measure == "ex" else score.rqr


def _value(score: CategoryScore | None, measure: str) -> float | None:
    estimate = _estimate(score, measure)
    return None if estimate is None else estimate.value


def kinds(runs: Sequence[RunReport]) -> Iterator[Block]:
    """How often each kind of error occurs."""
    names = list(ERROR_KINDS)
    if any(run.summary.failing for run in runs):
        yield Bars(
            "Queries whose result is not gold's, by kind of error",
            [ERROR_KINDS[name] for name in names],
            [(run.label, [run.summary.kinds[name] for name in names]) for run in runs],
        )
    rows = [
        (run.label, str(run.summary.failing), *(_share(run.summary, run.summary.kinds[name]) for name in names))
        for run in runs
    ]
    yield Table(
        "Kinds of error, found by comparing the syntax trees of gold and the answer's query",
        ("System", "Queries compared", *ERROR_KINDS.values()),
        rows,
        words().notes["kinds"],
    )


def _share(summary: Summary, count: int) -> str:
    return f"{count} ({100 * count / summary.failing:.0f} %)" if summary.failing else "0"


def answers(runs: Sequence[RunReport]) -> Iterator[Block]:
    """What is known of the answers in words: facts, the judge, and people."""
    rows = [
        (
            run.label,
            percent(run.summary.facts),
            str(run.summary.judged),
            str(run.summary.judge_failures),
            number(run.summary.v_ex),
            number(run.summary.v_jac),
        )
        for run in runs
    ]
    yield Table(
        "Answers in words",
        ("System", "Facts stated %", "Judged", "Judge failed", "V of EX and score", "V of JAC and score"),
        rows,
        words().notes["answers"],
    )
    graded = [run for run in runs if run.human is not None]
    if graded:
        beside = [
            (run.label, str(h.n), percent(h.same_verdict), number(h.kappa), number(h.alpha))
            for run in graded
            if (h := run.human) is not None
        ]
        yield Table(
            "The model judge beside people",
            ("System", "Scores compared", "Same verdict %", "Cohen's kappa", "Krippendorff's alpha"),
            beside,
            words().notes["people"],
        )
