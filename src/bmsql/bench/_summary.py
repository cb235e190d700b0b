"""What the scores of a run come to, taken in one after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from bmsql.bench._error_kinds import ERROR_KINDS, ErrorKind
from bmsql.bench._judge import ABSTAINED, GOOD
from bmsql.bench._score import Outcome, Score
from bmsql.bench._stats import Estimate, Mean, Share, cramers_v
from bmsql.bench._types import BIO_CATEGORIES, SQL_CATEGORIES, BioCategory, SqlCategory
from bmsql.types import Frozen


class CategoryScore(Frozen):
    """EX and RQR over the questions of one category; rqr is None without a judge."""

    ex: Estimate
    rqr: Estimate | None = None


class Summary(Frozen):
    """The metrics of one run, each with its 95 % interval.

    Over the questions that can be answered: ex, jac: of the final result; routed_ex, routed_jac: where a gold label
    chooses between two results, as the published agent is scored; ser: SQL that could not be executed; ex_sr:
    abstentions among abstentions and results that are not gold's; facts: answers in words that state gold's facts; rqr,
    sr: by the judge, over the answers with a score. refused: abstentions among the questions that cannot be answered.

    Per question: tokens (of the prompt, and of the reply), model calls, queries, seconds, bytes billed, cost in US
    dollars; the last two over the questions for which they are known. total_cost: of all of them. kinds: how many of
    the results that are not gold's show each kind of error; `failing` is their number. v_ex, v_jac: Cramér's V with the
    judge's score.
    """

    system: str
    questions: int
    answerable: int
    outcomes: dict[Outcome, int]
    ex: Estimate
    jac: Estimate
    routed_ex: Estimate
    routed_jac: Estimate
    ser: Estimate
    ex_sr: Estimate
    facts: Estimate
    rqr: Estimate | None = None
    sr: Estimate | None = None
    refused: Estimate
    prompt_tokens: Estimate
    completion_tokens: Estimate
    calls: Estimate
    queries: Estimate
    seconds: Estimate
    bytes_billed: Estimate
    cost: Estimate
    total_cost: float
    both_empty: int
    missing_key: int
    truncated: int
    failing: int
    kinds: dict[ErrorKind, int]
    by_sql: dict[SqlCategory, CategoryScore]
    by_bio: dict[BioCategory, CategoryScore]
    by_template: dict[str, Estimate]
    judged: int
    judge_failures: int
    v_ex: float | None
    v_jac: float | None


@dataclass
class _Category:
    ex: Share = field(default_factory=Share)
    rqr: Share = field(default_factory=Share)

    def add(self, score: Score) -> None:
        self.ex.add(score.ex)
        if score.bioscore is not None:
            self.rqr.add(score.bioscore >= GOOD)

    def result(self) -> CategoryScore:
        return CategoryScore(ex=self.ex.estimate(), rqr=self.rqr.estimate() if self.rqr.n else None)


_JUDGED = ("rqr", "sr")
_SHARES = ("ex", "routed_ex", "ser", "ex_sr", "facts", "refused", *_JUDGED)
_USED = ("prompt_tokens", "completion_tokens", "calls", "queries", "seconds")
_MEANS = ("jac", "routed_jac", *_USED, "bytes_billed", "cost")


class Summing:
    """Scores are taken in one after the other; nothing of them is kept."""

    def __init__(self) -> None:
        self._system = ""
        self._count: Counter[str] = Counter()
        self._outcomes: Counter[Outcome] = Counter()
        self._kinds: Counter[ErrorKind] = Counter()
        self._shares = {name: Share() for name in _SHARES}
        self._means = {name: Mean() for name in _MEANS}
        self._sql: dict[SqlCategory, _Category] = {}
        self._bio: dict[BioCategory, _Category] = {}
        self._templates: dict[str, Share] = {}
        self._ex_by_score: Counter[tuple[bool, float]] = Counter()
        self._jac_by_score: Counter[tuple[str, float]] = Counter()

    def add(self, score: Score) -> None:
        """Take in one score."""
        self._system = self._system or score.system
        self._count["questions"] += 1
        self._outcomes[score.outcome] += 1
        self._add_usage(score)
        if score.unanswerable:
            self._shares["refused"].add(score.outcome == "right")
            return
        self._add_result(score)
        if score.judge_failed:
            self._count["judge_failures"] += 1
        if score.bioscore is not None:
            self._add_judged(score, score.bioscore)

    def _add_usage(self, score: Score) -> None:
        means = self._means
        for name in _USED:
            means[name].add(getattr(score, name))
        if score.bytes_billed is not None:
            means["bytes_billed"].add(score.bytes_billed)
        if score.cost is not None:
            means["cost"].add(score.cost)

    def _add_result(self, score: Score) -> None:
        shares, means = self._shares, self._means
        shares["ex"].add(score.ex)
        shares["routed_ex"].add(score.routed_ex)
        shares["ser"].add(score.sql_failed)
        means["jac"].add(score.jac)
        means["routed_jac"].add(score.routed_jac)
        if not score.ex:
            shares["ex_sr"].add(score.outcome == "abstained")
            self._count["failing"] += bool(score.kinds)
            self._kinds.update(score.kinds)
        # An answer that was not given states no facts.
        shares["facts"].add(score.facts == "stated")
        for flag in ("both_empty", "missing_key", "truncated"):
            self._count[flag] += getattr(score, flag)
        for name in score.sql_categories:
            self._sql.setdefault(name, _Category()).add(score)
        for category in score.bio_categories:
            self._bio.setdefault(category, _Category()).add(score)
        if score.template:
            self._templates.setdefault(score.template, Share()).add(score.ex)

    def _add_judged(self, score: Score, bioscore: float) -> None:
        self._shares["rqr"].add(bioscore >= GOOD)
        if bioscore < GOOD:
            self._shares["sr"].add(bioscore == ABSTAINED)
        self._ex_by_score[(score.ex, bioscore)] += 1
        self._jac_by_score[(_jac_class(score.jac), bioscore)] += 1

    def result(self) -> Summary:
        """The summary of what was taken in so far."""
        judged = self._shares["rqr"].n
        shares = {name: share.estimate() for name, share in self._shares.items() if judged or name not in _JUDGED}
        means = {name: mean.estimate() for name, mean in self._means.items()}
        return Summary(
            system=self._system,
            questions=self._count["questions"],
            answerable=self._shares["ex"].n,
            outcomes={name: self._outcomes[name] for name in ("right", "wrong", "abstained", "error")},
            **shares,
            **means,
            total_cost=self._means["cost"].total,
            both_empty=self._count["both_empty"],
            missing_key=self._count["missing_key"],
            truncated=self._count["truncated"],
            failing=self._count["failing"],
            kinds={kind: self._kinds[kind] for kind in ERROR_KINDS},
            by_sql={name: self._sql[name].result() for name in SQL_CATEGORIES if name in self._sql},
            by_bio={name: self._bio[name].result() for name in BIO_CATEGORIES if name in self._bio},
            by_template={name: share.estimate() for name, share in sorted(self._templates.items())},
            judged=judged,
            judge_failures=self._count["judge_failures"],
            v_ex=cramers_v(self._ex_by_score),
            v_jac=cramers_v(self._jac_by_score),
        )


def summarise(scores: Iterable[Score]) -> Summary:
    """The summary of scores of one run."""
    summing = Summing()
    for score in scores:
        summing.add(score)
    return summing.result()


def _jac_class(jac: float) -> str:
    """A share of rows has no classes of its own; its table against the judge's score needs some."""
    if jac in (0.0, 1.0):
        return f"{jac:.0f}"
    return "under half" if jac < 0.5 else "half or more"
