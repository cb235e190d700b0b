"""The scores of one record against its question."""

from __future__ import annotations

from typing import Literal

from bmsql.bench._compare import NOTHING, Match, compare
from bmsql.bench._error_kinds import ErrorKind, error_kinds
from bmsql.bench._facts import FactVerdict, check_facts
from bmsql.bench._judge import Judgement
from bmsql.bench._types import BioCategory, Question, Ran, Record, SqlCategory
from bmsql.errors import ConfigurationError
from bmsql.types import Frozen

Outcome = Literal["right", "wrong", "abstained", "error"]


class Score(Frozen):
    """What one answer is worth; all that summaries and reports need, without rows.

    outcome: of an answerable question by execution accuracy (`ex`); an unanswerable one is right when it was
    abstained from. ex, jac: of the final result; routed_ex, routed_jac: of the general result instead where the
    question's label says so and that result can be compared. kinds: of error, where a query's result is not
    gold's. facts: of the answer in words. truncated: rows of gold or of the result were cut off by the run's limits.
    bioscore: the judge's score, None where it gave none; judge_failed: it was asked, and gave none.
    """

    question_id: str
    system: str
    outcome: Outcome
    unanswerable: bool = False
    ex: bool = False
    jac: float = 0.0
    both_empty: bool = False
    missing_key: bool = False
    routed_ex: bool = False
    routed_jac: float = 0.0
    sql_failed: bool = False
    kinds: tuple[ErrorKind, ...] = ()
    facts: FactVerdict = ""
    truncated: bool = False
    sql_categories: tuple[SqlCategory, ...] = ()
    bio_categories: tuple[BioCategory, ...] = ()
    template: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    calls: int = 0
    queries: int = 0
    seconds: float = 0.0
    bytes_billed: int | None = None
    cost: float | None = None
    bioscore: float | None = None
    judge_failed: bool = False


def score_record(
    question: Question,
    record: Record,
    logical: frozenset[str] = frozenset(),
    judgement: Judgement | None = None,
) -> Score:
    """The scores of a record; `logical` as in `error_kinds`.

    Raises ConfigurationError when the question's gold was not run.
    """
    match = _match(question, record.result)
    routed = _routed(question, record, match)
    outcome = _outcome(question, record, match)
    steps = record.usage.steps
    return Score(
        question_id=record.question_id,
        system=record.system,
        outcome=outcome,
        unanswerable=question.unanswerable,
        ex=match.ex,
        jac=match.jac,
        both_empty=match.both_empty,
        missing_key=match.missing_key,
        routed_ex=routed.ex,
        routed_jac=routed.jac,
        sql_failed=record.sql_failed,
        kinds=_kinds(question, record, match, logical),
        facts=check_facts(question, record),
        truncated=bool(
            (record.result and record.result.truncated) or (question.expected and question.expected.truncated)
        ),
        sql_categories=question.sql_categories,
        bio_categories=question.bio_categories,
        template=question.template,
        prompt_tokens=sum(step.prompt_tokens for step in steps),
        completion_tokens=sum(step.completion_tokens for step in steps),
        calls=sum(step.calls for step in steps),
        queries=record.usage.queries,
        seconds=record.usage.seconds,
        bytes_billed=record.bytes_billed,
        cost=record.cost,
        bioscore=judgement.score if judgement else None,
        judge_failed=judgement is not None and judgement.failure is not None,
    )


def _match(question: Question, found: Ran | None) -> Match:
    if question.unanswerable or found is None:
        return NOTHING
    gold = question.expected
    if gold is None:
        raise ConfigurationError(
            f"the gold query of question {question.id!r} was not run.",
            remedy="Give the questions of the run's own folder, or let `bmsql bench run` run gold.",
        )
    return compare(question.answer_kind, question.key, (gold.columns, gold.rows), (found.columns, found.rows))


def _routed(question: Question, record: Record, final: Match) -> Match:
    """The published agent's figure: a label that comes with gold says which of the two results is looked at."""
    general = record.general
    if general is None or not question.query_type.strip().lower().startswith("general"):
        return final
    match = _match(question, general)
    # A general result without the evidence key was never meant to be compared.
    return final if match.missing_key else match


def _outcome(question: Question, record: Record, match: Match) -> Outcome:
    if record.error is not None:
        return "error"
    if question.unanswerable:
        return "right" if record.abstained else "wrong"
    if record.abstained:
        return "abstained"
    return "right" if match.ex else "wrong"


def _kinds(question: Question, record: Record, match: Match, logical: frozenset[str]) -> tuple[ErrorKind, ...]:
    if question.unanswerable or match.ex or not record.sql:
        return ()
    return error_kinds(question.gold_sql, record.sql, failed=record.sql_failed, logical=logical)
