"""The benchmark: questions with gold, compared systems, runs, metrics and reports.

`bmsql bench` is this package on the command line; `docs/benchmark.md` says how results are scored.
"""

from bmsql.bench._categories import sql_categories
from bmsql.bench._cells import cells
from bmsql.bench._compare import TOLERANCE, Match, compare
from bmsql.bench._error_kinds import ERROR_KINDS, ErrorKind, error_kinds, threshold_columns
from bmsql.bench._files import Reading, table_names
from bmsql.bench._folder import RunFolder
from bmsql.bench._gold import GoldFailed, run_gold
from bmsql.bench._grades import Grade, JudgeAgreement, agreement, read_grades
from bmsql.bench._judge import Judgement, Verdict, judge_answer, judge_prompt, judge_run, open_judge
from bmsql.bench._prepare import Selection, prepare_run, reading_for
from bmsql.bench._prices import ModelPrice, Prices, read_prices
from bmsql.bench._questions import read_questions, write_questions
from bmsql.bench._record import failure_of, record_of
from bmsql.bench._run import Progress, RunOptions, run_questions
from bmsql.bench._score import Score, score_record
from bmsql.bench._scoring import read_scores, score_run
from bmsql.bench._stats import Estimate, cohens_kappa, cramers_v, krippendorff_alpha, wilson_interval
from bmsql.bench._store import Journal, Store
from bmsql.bench._summary import CategoryScore, Summary, summarise
from bmsql.bench._systems import QUESTION_ID, TEMPLATE, System
from bmsql.bench._types import (
    BIO_CATEGORIES,
    SQL_CATEGORIES,
    AnswerKind,
    BioCategory,
    Cell,
    Failure,
    Gold,
    Manifest,
    Question,
    Ran,
    Record,
    Rows,
    Split,
    SqlCategory,
)

__all__ = [
    "BIO_CATEGORIES",
    "ERROR_KINDS",
    "QUESTION_ID",
    "SQL_CATEGORIES",
    "TEMPLATE",
    "TOLERANCE",
    "AnswerKind",
    "BioCategory",
    "CategoryScore",
    "Cell",
    "ErrorKind",
    "Estimate",
    "Failure",
    "Gold",
    "GoldFailed",
    "Grade",
    "Journal",
    "JudgeAgreement",
    "Judgement",
    "Manifest",
    "Match",
    "ModelPrice",
    "Prices",
    "Progress",
    "Question",
    "Ran",
    "Reading",
    "Record",
    "Rows",
    "RunFolder",
    "RunOptions",
    "Score",
    "Selection",
    "Split",
    "SqlCategory",
    "Store",
    "Summary",
    "System",
    "Verdict",
    "agreement",
    "cells",
    "cohens_kappa",
    "compare",
    "cramers_v",
    "error_kinds",
    "failure_of",
    "judge_answer",
    "judge_prompt",
    "judge_run",
    "krippendorff_alpha",
    "open_judge",
    "prepare_run",
    "read_grades",
    "read_prices",
    "read_questions",
    "read_scores",
    "reading_for",
    "record_of",
    "run_gold",
    "run_questions",
    "score_record",
    "score_run",
    "sql_categories",
    "summarise",
    "table_names",
    "threshold_columns",
    "wilson_interval",
    "write_questions",
]
