"""The benchmark: questions, systems, runs, metrics, reports."""

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
    "SQL_CATEGORIES",
    "AnswerKind",
    "BioCategory",
    "Cell",
    "Failure",
    "Gold",
    "Manifest",
    "Question",
    "Ran",
    "Record",
    "Rows",
    "Split",
    "SqlCategory",
]
