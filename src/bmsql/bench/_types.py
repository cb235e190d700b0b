"""The data of the benchmark: questions with gold, records of runs, manifests.

All are frozen pydantic models, stored as one JSON object a line.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

from pydantic import Field, model_validator

from bmsql.types import Frozen, Usage

Cell = str | int | float | bool | None
Rows = tuple[tuple[Cell, ...], ...]

AnswerKind = Literal["keys", "values", "numbers", "abstain"]
Split = Literal["", "train", "dev", "test"]
SqlCategory = Literal[
    "select", "distinct", "join", "multi_filter", "threshold", "calculate", "order_by", "similarity_search"
]
BioCategory = Literal["implicit_conventions", "missing_context", "multi_hop"]

SQL_CATEGORIES: dict[SqlCategory, str] = {
    "select": "Select",
    "distinct": "Distinct",
    "join": "Join",
    "multi_filter": "Multi-Filter",
    "threshold": "Threshold",
    "calculate": "Calculate",
    "order_by": "Order-By",
    "similarity_search": "Similarity Search",
}
BIO_CATEGORIES: dict[BioCategory, str] = {
    "implicit_conventions": "Implicit conventions",
    "missing_context": "Missing context",
    "multi_hop": "Multi-hop workflows",
}


class Gold(Frozen):
    """The rows of a gold query.

    columns, rows: as the database returned them, in JSON's types, at most the
    rows that the run's limits let through; truncated: there were more. total: rows without the cap, where
    known. fingerprint: of the knowledge base that the query ran over; empty where the rows came with the
    questions.
    """

    columns: tuple[str, ...] = ()
    rows: Rows = ()
    truncated: bool = False
    total: int | None = None
    fingerprint: str = ""


class Question(Frozen):
    """A question with what the right answer to it holds.

    id: unique in its set. answer_kind: what is compared with gold: the set of evidence keys (`keys`), the
    set of values of another column (`values`), the set of numbers (`numbers`), or nothing, because the
    question cannot be answered (`abstain`). key: the gold column compared, for the first two kinds.
    gold_sql: BigQuery dialect, one statement, tables by names that the backend resolves. expected: the rows of
    gold, None until gold was run (`run_gold`). gold_answer: the right answer in words; empty if there is
    none. query_type: the label by which the published agent's figure chooses between its two results; one
    that begins with "general" means the general one. template: the family
    or template it was made from; splits never share one. source: the file or generator it comes from.
    """

    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answer_kind: AnswerKind = "keys"
    key: str = ""
    gold_sql: str = ""
    expected: Gold | None = None
    gold_answer: str = ""
    query_type: str = ""
    sql_categories: tuple[SqlCategory, ...] = ()
    bio_categories: tuple[BioCategory, ...] = ()
    template: str = ""
    split: Split = ""
    profile: str = ""
    entities: dict[str, str] = Field(default_factory=dict)
    source: str = ""

    @property
    def unanswerable(self) -> bool:
        """Whether the right answer is to abstain."""
        return self.answer_kind == "abstain"

    @model_validator(mode="after")
    def _whole(self) -> Question:
        if self.unanswerable == bool(self.gold_sql):
            raise ValueError("a question has either gold SQL or the answer kind 'abstain'")
        if self.answer_kind in {"keys", "values"} and not self.key:
            raise ValueError(f"the answer kind '{self.answer_kind}' needs the column to compare as 'key'")
        return self


class Ran(Frozen):
    """A query that a system ran, with its rows in JSON's types; capped as the run's limits say."""

    sql: str
    columns: tuple[str, ...] = ()
    rows: Rows = ()
    truncated: bool = False


class Failure(Frozen):
    """An error that ended a question: its type in `bmsql.errors`, and its message."""

    type: str
    message: str


class Record(Frozen):
    """What one system made of one question.

    result: the final query with its rows, the one that counts; None when there is none (abstained, failed).
    general: the query without implied conventions, where the final one is another. sql: the text of the
    final query, or of the last draft where none could be run. text: the answer in words. sql_failed: the last
    query could not be executed (rejected, refused by the database, timed out). attempts: drafts tried.
    usage: tokens per step, queries, bytes processed, seconds. bytes_billed: None where bytes are not
    metered. cost: in US dollars, None where no price is known. trace: node and outcome of each step.
    finished: UTC.
    """

    question_id: str
    system: str
    model: str = ""
    sql: str = ""
    result: Ran | None = None
    general: Ran | None = None
    text: str = ""
    abstained: bool = False
    reason: str = ""
    error: Failure | None = None
    sql_failed: bool = False
    attempts: int = 0
    usage: Usage = Usage()
    bytes_billed: int | None = None
    cost: float | None = None
    trace: tuple[tuple[str, str], ...] = ()
    finished: dt.datetime | None = None


class Manifest(Frozen):
    """Everything that a run depends on; two runs with the same one can be compared and resumed.

    settings: what must agree for a run to be resumed (system, its options, model, profile, limits, seed,
    questions and their hash, knowledge base and its fingerprint, hashes of prompts, rules and semantic
    model). versions: of bmsql, Python and the libraries that decide results. questions,
    skipped: how many the run asks, and how many were left out because their gold query does not run. started: UTC.
    """

    run: str
    system: str
    model: str = ""
    settings: dict[str, Any] = Field(default_factory=dict)
    versions: dict[str, str] = Field(default_factory=dict)
    questions: int = 0
    skipped: int = 0
    started: dt.datetime | None = None
