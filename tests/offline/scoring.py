"""Questions with gold SQL: asked, scored against the gold rows, and the failures told.

A question file is a YAML list of `id`, `q` and either `sql` (gold, in the BigQuery dialect, tables in
braces) or `expect: abstain`. `key` names the gold column whose set of values the answer must have in one of
its columns (the evidence key where it is left out); `numbers` compares the numbers of the rows. Gold runs on
a DuckDB of its own and is translated by sqlglot alone, so that the library cannot agree with its own mistakes.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import duckdb
import sqlglot

from bmsql import Agent
from bmsql.errors import BmsqlError
from tests.yaml_files import read_yaml

Verdict = Literal["right", "wrong", "abstained", "error"]
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Question:
    """A question, and what the right answer to it is."""

    id: str
    q: str
    sql: str = ""
    key: str = ""
    expect: str = ""
    family: str = ""


@dataclass(frozen=True)
class Scored:
    """A question with the verdict on its answer, and what explains the verdict."""

    question: Question
    verdict: Verdict
    note: str = ""


@dataclass
class Score:
    """The verdicts on the questions of one file."""

    name: str
    scored: list[Scored] = field(default_factory=list)
    seconds: float = 0.0

    def share(self, *verdicts: Verdict) -> float:
        """The share of the questions with one of the verdicts."""
        return sum(one.verdict in verdicts for one in self.scored) / len(self.scored)

    def failures(self) -> str:
        """A table of what was not right; empty when all was."""
        lines = []
        for one in self.scored:
            if one.verdict != "right":
                lines += [f"{one.question.id:8} {one.verdict:9} {one.question.q}", f"{'':19}{one.note[:400]}"]
        return "\n".join(lines)

    def summary(self) -> str:
        """One line: how many were right, wrong, abstained from."""
        found = Counter(one.verdict for one in self.scored)
        total = len(self.scored)
        counts = ", ".join(
            f"{verdict} {found[verdict]} ({100 * found[verdict] / total:.1f} %)"
            for verdict in ("right", "wrong", "abstained", "error")
        )
        return f"{self.name}: {total} questions, {counts}, {1000 * self.seconds / total:.0f} ms each"


@dataclass(frozen=True)
class Scorer:
    """Asks an agent and compares with gold.

    gold: a connection that holds the same rows as the agent's knowledge base. tables: the names that
    stand for tables in gold SQL. key: the evidence key.
    """

    agent: Agent
    gold: duckdb.DuckDBPyConnection
    tables: Mapping[str, str]
    key: str

    def score(self, name: str, questions: Sequence[Question]) -> Score:
        """Ask all the questions."""
        start = time.perf_counter()
        score = Score(name, [self.ask(question) for question in questions])
        score.seconds = time.perf_counter() - start
        return score

    def ask(self, question: Question) -> Scored:
        """Ask one question. Any of the library's errors is a verdict; other exceptions are not caught."""
        try:
            answer = self.agent.ask(question.q)
        except BmsqlError as error:
            return Scored(question, "error", f"{type(error).__name__}: {error}")
        if answer.abstained:
            return Scored(question, "right" if question.expect == "abstain" else "abstained", answer.text)
        columns = list(answer.rows[0]) if answer.rows else []
        rows = [tuple(row[column] for column in columns) for row in answer.rows]
        right = question.expect != "abstain" and self.agrees(question, len(columns), rows)
        return Scored(question, "right" if right else "wrong", " ".join((answer.sql or "").split()))

    def agrees(self, question: Question, width: int, rows: Sequence[Row]) -> bool:
        """Whether rows of `width` columns say what gold says."""
        names, gold = self.gold_rows(question)
        if question.key == "numbers":
            wanted, found = _numbers(gold), _numbers(rows)
            # A count may stand beside what it is made of, but not among so many numbers that any would fit.
            return wanted == found or (bool(wanted) and wanted <= found and len(rows) <= max(2, len(wanted)))
        column = names.index(question.key or self.key)
        wanted = {row[column] for row in gold}
        if not wanted:
            return not rows
        return any({row[index] for row in rows} == wanted for index in range(width))

    def gold_rows(self, question: Question) -> tuple[list[str], list[Row]]:
        """The column names and the rows of gold."""
        sql = question.sql
        for short, name in self.tables.items():
            sql = sql.replace(f"{{{short}}}", f"`{name}`")
        cursor = self.gold.execute(sqlglot.transpile(sql, read="bigquery", write="duckdb")[0])
        return [column[0] for column in cursor.description or []], cursor.fetchall()


def load(path: Path) -> list[Question]:
    """The questions of a file. Raises ValueError for one that says neither gold nor `expect`."""
    questions = [Question(**entry) for entry in read_yaml(path)]
    odd = [question.id for question in questions if bool(question.sql) == (question.expect == "abstain")]
    repeated = [name for name, count in Counter(question.id for question in questions).items() if count > 1]
    if odd or repeated:
        raise ValueError(f"{path.name}: neither gold nor an abstention: {odd}; ids twice: {repeated}")
    return questions


def sample(questions: Sequence[Question], size: int) -> list[Question]:
    """The same `size` questions each time, whatever is added elsewhere in the file."""
    ranked = sorted(questions, key=lambda question: hashlib.sha256(question.id.encode()).digest())
    return ranked[:size]


def _numbers(rows: Iterable[Row]) -> set[float]:
    return {
        round(float(value), 9)
        for row in rows
        for value in row
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
