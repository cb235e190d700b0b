"""What is found out about the final rows: counts without each convention, evidence keys, sources."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence

from pydantic import Field
from sqlglot import exp

from bmsql.errors import BudgetExceededError
from bmsql.graph._data import load_run
from bmsql.graph._dependencies import Dependencies
from bmsql.graph._plans import key_of
from bmsql.graph._state import GraphState
from bmsql.graph._unrecorded import unrecorded_notes, unrecorded_query
from bmsql.sql import copied, format_sql, shared_tree
from bmsql.types import (
    ConventionRecord,
    ExecutionFailed,
    Frozen,
    QueryResult,
    RanQuery,
    Rejected,
    ValidatedQuery,
    size_text,
)

log = logging.getLogger(__name__)
# Evidence keys that an answer carries; the rest can be had by running its SQL.
EVIDENCE_SHOWN = 100
# Notes of the ladder that repeat what the records' counts say.
_SAID_BY_RECORDS = "Without "


class Measured(Frozen):
    """What was found out about the final rows.

    records: the conventions with their counts; total: rows without the query's limit, where
    counted; evidence: keys of the rows; sources: their studies; results: of the queries it took.
    """

    records: tuple[ConventionRecord, ...] = ()
    total: int | None = None
    evidence: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    results: tuple[QueryResult, ...] = Field(default=(), exclude=True)


def measure(state: GraphState, deps: Dependencies, cancel: threading.Event | None = None) -> Measured:
    """Counts, evidence and sources of the final query in `state`.

    A count that cannot be made costs the answer nothing but that count: it is a warning.
    """
    final = load_run(state["refined"] or state["general"])
    if final is None:
        raise ValueError("there is no result to measure")
    records = tuple(ConventionRecord.model_validate(record) for record in state["records"])
    limited = next((record for record in records if _is_limit(record, deps)), None)
    tree = shared_tree(final.sql)
    asking = _Asking(deps, cancel, (final.sql, key_of(state["records"])))
    records, total = _counted(tree, final, records, limited, asking)
    missing = asking.text("unrecorded", lambda: unrecorded_query(tree, records))
    if missing and (lacking := asking.ask(missing, "How often a value is not recorded")) is not None:
        asking.warnings += unrecorded_notes(lacking)
    fetched = len(final.result.rows)
    if final.result.truncated or (limited is not None and limited.status == "applied" and (total or 0) > fetched):
        of = f" of {total}" if total is not None else "; there are more"
        asking.warnings.append(f"Truncated: {fetched} rows were fetched{of}.")
    keys = _evidence(tree, final.result, asking)
    sources, mixed = sources_of(keys, final.sql, deps)
    return Measured(
        records=records,
        total=total,
        evidence=tuple(keys[:EVIDENCE_SHOWN]),
        sources=sources,
        warnings=(*asking.warnings, *mixed),
        results=tuple(asking.results),
    )


def unmeasured(state: GraphState) -> Measured:
    """What is known of the final query without measuring it."""
    return Measured(
        records=tuple(ConventionRecord.model_validate(record) for record in state["records"]),
        warnings=("The counts without each convention and the evidence keys could not be determined.",),
    )


class _Asking:
    """The queries about one final query, one after the other; what came of them, and what could not be found out."""

    def __init__(self, deps: Dependencies, cancel: threading.Event | None, about: tuple[str, bytes | None]) -> None:
        self.deps, self._cancel, self._about = deps, cancel, about
        self.warnings: list[str] = []
        self.results: list[QueryResult] = []

    def text(self, name: str, make: Callable[[], exp.Query | None]) -> str:
        """The text of a query that is the same for equal final queries and records; empty where there is none."""

        def write() -> str:
            query = make()
            return "" if query is None else format_sql(query, pretty=False, copy=False)

        return write() if self._about[1] is None else self.deps.remembered((name, *self._about), write)

    def ask(self, sql: str, what: str) -> QueryResult | None:
        """The result; None, and a warning that names `what` was asked, where there is none."""
        deps = self.deps
        size = deps.beyond_ladder(sql)
        if size:
            read, allowed = size_text(size), size_text(deps.limits.ladder_bytes)
            self.warnings.append(
                f"Left out: {_lowered(what)}. That would read {read}, and `ladder_bytes` allows {allowed}."
            )
            return None
        outcome = deps.run(sql, self._cancel)
        match outcome:
            case QueryResult():
                self.results.append(outcome)
                return outcome
            case Rejected():
                failure = outcome.problems[0].message
            case ExecutionFailed():
                failure = outcome.message
        # Why is for the log: the query is ours, so its errors say nothing to who asked.
        log.warning("%s could not be determined: %s", what, failure)
        self.warnings.append(f"{what} could not be determined.")
        return None


def _counted(
    tree: exp.Query,
    final: RanQuery,
    records: tuple[ConventionRecord, ...],
    limited: ConventionRecord | None,
    asking: _Asking,
) -> tuple[tuple[ConventionRecord, ...], int | None]:
    """The records with the counts without each convention, and the rows without the limit.

    limited: the record of the convention about the limit. Rows are counted only where there is one.
    """
    rules, fetched = asking.deps.rules, len(final.result.rows)
    ladder = asking.text("ladder", lambda: rules.ladder(tree, asking.deps.model, records))
    if ladder and (counts := asking.ask(ladder, "The counts without each convention")) is not None:
        reading = rules.read_ladder(counts.dicts()[0], records)
        asking.warnings += [note for note in reading.notes if not note.startswith(_SAID_BY_RECORDS)]
        return reading.records, reading.rows_with if limited else None
    if limited is None:
        return records, None
    cap = limit_number(tree)
    if not final.result.truncated and (cap is None or fetched < cap):
        return records, fetched
    counting = asking.text("count", lambda: count_query(tree)) if limited.status != "stated" else ""
    if counting and (count := asking.ask(counting, "The number of rows")) is not None:
        return records, count.rows[0][0]
    return records, None


def _evidence(tree: exp.Query, result: QueryResult, asking: _Asking) -> list[str]:
    """The keys of the rows that the result is from: its own, or those of a query for them."""
    deps = asking.deps
    keys = keys_in(result, deps.model.evidence_key)
    if keys or not result.rows:
        return keys
    query = asking.text("evidence", lambda: deps.rules.evidence_query(tree, deps.model))
    found = asking.ask(query, "The evidence keys") if query else None
    return keys if found is None else keys_in(found, deps.model.evidence_key)


def _is_limit(record: ConventionRecord, deps: Dependencies) -> bool:
    return record.rule in deps.rules and deps.rules[record.rule].kind == "limit"


def measuring_queries(tree: exp.Query, records: Sequence[ConventionRecord], deps: Dependencies) -> list[exp.Query]:
    """The queries that `measure` may ask about the final query `tree`, as far as they are known before it runs."""
    limited = any(_is_limit(record, deps) for record in records)
    ladder = deps.rules.ladder(tree, deps.model, records)
    count = count_query(tree) if ladder is None and limited else None
    found = (ladder, count, unrecorded_query(tree, records), deps.rules.evidence_query(tree, deps.model))
    return [query for query in found if query is not None]


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def limit_number(tree: exp.Query) -> int | None:
    """The outermost limit of a query, where it is a plain number."""
    limit = tree.args.get("limit")
    number = limit.expression if isinstance(limit, exp.Limit) else None
    return int(number.this) if isinstance(number, exp.Literal) and not number.is_string else None


def count_query(tree: exp.Query) -> exp.Query:
    """A query that counts the rows of `tree` without its order and limit."""
    counted = copied(tree)
    for part in ("order", "limit", "offset"):
        counted.set(part, None)
    source = exp.Subquery(this=counted, alias=exp.TableAlias(this=exp.to_identifier("counted")))
    number = exp.alias_(exp.Count(this=exp.Star()), "n", copy=False)
    return exp.Select(expressions=[number]).from_(source, copy=False)


def keys_in(result: QueryResult, key: str) -> list[str]:
    """The evidence keys in a result, each once: of the column `key` and of `key_alias` in joins."""
    if not key:
        return []
    wanted = key.lower()
    places = [
        place
        for place, column in enumerate(result.columns)
        if column.name.lower() == wanted or column.name.lower().startswith(f"{wanted}_")
    ]
    found = (row[place] for place in places for row in result.rows)
    return list(dict.fromkeys(value for value in found if isinstance(value, str)))


def sources_of(keys: Iterable[str], sql: str, deps: Dependencies) -> tuple[tuple[str, ...], list[str]]:
    """The studies that rows come from, and a warning where one table's rows come from several."""
    query = deps.validate(sql)
    keys = list(keys)
    if not keys or not isinstance(query, ValidatedQuery):
        return (), []
    sources: dict[str, None] = {}
    warnings = []
    for name in query.tables:
        try:
            found = dict.fromkeys(deps.backend.sources_of(name, keys).values())
        except BudgetExceededError as error:
            warnings.append(f"The sources of the rows of {name} were not determined: {error.message}")
            continue
        sources |= found
        if len(found) > 1:
            warnings.append(f"Mixed sources: the rows of {name} come from {len(found)} studies: {'; '.join(found)}.")
    return tuple(sources), warnings
