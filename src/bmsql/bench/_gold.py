"""Gold queries, run on the knowledge base that the systems are asked about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from bmsql.bench._cells import cells
from bmsql.bench._types import Gold, Question
from bmsql.errors import BackendError, BackendUnavailableError, InvalidSqlError, SqlError
from bmsql.sql import format_sql, parse, validate
from bmsql.types import Catalog, Frozen, Limits, Rejected

if TYPE_CHECKING:
    from bmsql.backends import Backend


class GoldFailed(Frozen):
    """A question whose gold query does not run on this knowledge base, and why."""

    question: Question
    message: str


def run_gold(
    questions: Iterable[Question], backend: Backend, limits: Limits | None = None, *, stored: bool = False
) -> Iterator[Question | GoldFailed]:
    """The questions with the rows of their gold queries, in the order given.

    A question that cannot be answered has no gold; one whose rows are of this knowledge base already is passed on, and
    with `stored` one that has rows of any.
    Raises BackendUnavailableError when the database is gone.
    """
    catalog, fingerprint, within = backend.catalog(), backend.fingerprint(), limits or Limits()
    for question in questions:
        known = question.expected is not None and (stored or question.expected.fingerprint == fingerprint)
        if question.unanswerable or known:
            yield question
            continue
        try:
            gold = _run(question, backend, catalog, within)
        except (SqlError, BackendError) as error:
            if isinstance(error, BackendUnavailableError):
                raise
            yield GoldFailed(question=question, message=str(error))
        else:
            yield question.model_copy(update={"expected": gold.model_copy(update={"fingerprint": fingerprint})})


def _run(question: Question, backend: Backend, catalog: Catalog, limits: Limits) -> Gold:
    query = validate(unqualified(question.gold_sql, catalog), catalog)
    if isinstance(query, Rejected):
        first = query.problems[0]
        raise InvalidSqlError(first.message, line=first.line, column=first.column, remedy=first.suggestion)
    result = backend.execute(query, limits)
    names = tuple(column.name for column in result.columns)
    if question.answer_kind in {"keys", "values"} and question.key.lower() not in (name.lower() for name in names):
        raise InvalidSqlError(
            f"the gold query returns no column {question.key!r}, but {', '.join(names)}.",
            remedy="Select it, or name another column as the key.",
        )
    return Gold(columns=names, rows=cells(result.rows), truncated=result.truncated)


def unqualified(sql: str, catalog: Catalog) -> str:
    """`sql` with the catalogue's tables by their bare names, wherever the question set keeps its own copy of them.

    Raises SqlSyntaxError.
    """
    tree = parse(sql)
    changed = False
    for table in tree.find_all(exp.Table):
        if (table.db or table.catalog) and table.name in catalog.by_name:
            table.set("db", None)
            table.set("catalog", None)
            changed = True
    return format_sql(tree, pretty=False) if changed else sql
