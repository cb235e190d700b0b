"""One scan for several queries, where the backend bills by bytes and the SQL allows it.

BigQuery bills the columns that one query names once, however often it names them. The general query, the
refined one and those that only count and measure read the same columns, so as parts of one query they are
billed as one of them is.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from sqlglot import exp

from bmsql.backends import DryRun, Metered
from bmsql.errors import BackendError, BackendUnavailableError, QueryCancelledError, SqlError
from bmsql.graph._dependencies import Dependencies
from bmsql.graph._measure import measuring_queries
from bmsql.graph._state import GraphState
from bmsql.sql import copied, format_sql, shared_tree
from bmsql.types import ExecutionFailed, Plan, QueryResult, Rejected, ValidatedQuery

log = logging.getLogger(__name__)
# Rows that one array may hold: BigQuery bounds the size of a row.
_MOST_ROWS = 20_000
# Clauses whose result the order may speak of by names that an outer query does not know.
_MERGING = ("distinct", "group", "having", "qualify")


def run_stage(
    state: GraphState, deps: Dependencies, cancel: threading.Event | None = None
) -> QueryResult | Rejected | ExecutionFailed:
    """Run the query under way; together with those that are to follow where that saves a large scan."""
    if state["stage"] == "general" and isinstance(deps.backend, Metered):
        found = _together(state, deps, cancel)
        if found is not None:
            return found
    return deps.run(state["sql"], cancel)


def _together(state: GraphState, deps: Dependencies, cancel: threading.Event | None) -> QueryResult | None:
    """The general query's result, with those of the following ones prepared; None where it is to run alone."""
    try:
        parts = _parts(state, deps)
        if len(parts) < 2:
            return None
        combined = deps.validate(
            format_sql(_combined([part for part, _ in parts], deps.limits.rows), pretty=False, copy=False)
        )
        if not isinstance(combined, ValidatedQuery):
            return None
        whole = deps.backend.dry_run(combined).bytes_processed or 0
        if whole > deps.limits.bytes_billed or whole >= sum(dry.bytes_processed or 0 for _, dry in parts):
            return None
        result = deps.backend.execute(combined, deps.limits, cancel=cancel)
    except (BackendUnavailableError, QueryCancelledError):
        raise
    except (BackendError, SqlError) as error:
        # Each by itself then: what is wrong with one of them is for its own run to tell.
        log.info("the queries are run one by one: %s", error)
        return None
    first, *others = _taken_apart(result, parts, deps.limits.rows)
    for (query, _), other in zip(parts[1:], others, strict=True):
        deps.prepared.put(query.sql, other)
    return first


def _parts(state: GraphState, deps: Dependencies) -> list[tuple[ValidatedQuery, DryRun]]:
    """The general query, the refined one and what measures it, each with its dry run; none where it is small."""
    general = deps.validate(state["sql"])
    if not isinstance(general, ValidatedQuery) or deps.limits.rows > _MOST_ROWS:
        return []
    dry = deps.backend.dry_run(general)
    if (dry.bytes_processed or 0) <= deps.limits.ladder_bytes:
        return []
    applied = deps.rules.apply_plan(shared_tree(general.sql), deps.model, Plan.model_validate(state["plan"]))
    final = deps.validate(format_sql(applied.tree, copy=False)) if applied.changed else general
    if not isinstance(final, ValidatedQuery):
        return []
    texts = [] if final is general else [final.sql]
    measuring = measuring_queries(shared_tree(final.sql), applied.records, deps)
    texts += [format_sql(query, pretty=False, copy=False) for query in measuring]
    parts = [(general, dry)]
    for text in texts:
        query = deps.validate(text)
        if isinstance(query, ValidatedQuery):
            parts.append((query, deps.backend.dry_run(query)))
    return [(query, each) for query, each in parts if _is_part(query, each)] if _is_part(general, dry) else []


def _is_part(query: ValidatedQuery, dry: DryRun) -> bool:
    """Whether its rows can be an array of structs: each column has a name of its own."""
    names = [column.name.lower() for column in dry.columns]
    unnamed = any(name.startswith("f0_") or not name for name in names)
    return not unnamed and len(set(names)) == len(names) and _as_structs(shared_tree(query.sql), 1) is not None


def _combined(queries: Sequence[ValidatedQuery], rows: int) -> exp.Select:
    arrays = []
    for number, query in enumerate(queries):
        structs = _as_structs(shared_tree(query.sql), rows + 1)
        if structs is None:
            raise ValueError("not a query that can be a part")
        arrays.append(exp.alias_(exp.Array(expressions=[structs], bracket_notation=False), f"part_{number}"))
    return exp.select(*arrays)


def _as_structs(tree: exp.Query, most: int) -> exp.Select | None:
    """A query whose rows are structs, at most so many, in the order of the rows; None where that cannot be said."""
    if not isinstance(tree, exp.Select | exp.SetOperation) or tree.args.get("kind") or not _is_plain_limit(tree):
        return None
    made: exp.Query = copied(tree)
    keys = _outer_order(tree)
    if keys is not None:
        outer = exp.Select(expressions=[exp.Star()])
        for clause in ("order", "limit", "offset"):
            if made.args.get(clause):
                outer.set(clause, made.args[clause].pop())
        if keys:
            outer.set("order", exp.Order(expressions=keys))
        part = exp.Subquery(this=made, alias=exp.TableAlias(this=exp.to_identifier("part")))
        made = outer.from_(part)
    elif isinstance(made, exp.SetOperation) or any(made.args.get(clause) for clause in _MERGING):
        return None
    limit = made.args.get("limit")
    if limit is None or int(limit.expression.this) > most:
        made = made.limit(most)
    made.set("kind", "STRUCT")
    return made if isinstance(made, exp.Select) else None


def _is_plain_limit(query: exp.Query) -> bool:
    limit = query.args.get("limit")
    if limit is None:
        return True
    number = limit.expression if isinstance(limit, exp.Limit) else None
    return isinstance(number, exp.Literal) and not number.is_string


def _outer_order(query: exp.Select | exp.SetOperation) -> list[exp.Expr] | None:
    """The keys of ORDER BY as columns of the result; None where one is no such column."""
    order, names = query.args.get("order"), query.named_selects
    keys: list[exp.Expr] = []
    for item in order.expressions if order is not None else ():
        moved = copied(item)
        key = moved.this if isinstance(moved, exp.Ordered) else moved
        if isinstance(key, exp.Literal) and not key.is_string and 0 < int(key.this) <= len(names):
            name = names[int(key.this) - 1]
        elif isinstance(key, exp.Column) and key.name in names and _is_output(query, key):
            name = key.name
        else:
            return None
        key.replace(exp.column(exp.to_identifier(name, quoted=True)))
        keys.append(moved)
    return keys


def _is_output(query: exp.Query, key: exp.Column) -> bool:
    """Whether a column in ORDER BY is the output of its name: an alias is, and a source's column that is shown."""
    return not key.table or any(shown == key for shown in query.expressions)


def _taken_apart(result: QueryResult, parts: Sequence[tuple[ValidatedQuery, DryRun]], limit: int) -> list[QueryResult]:
    """The result of each part; what the job took and cost is the first one's."""
    found = []
    for number, (_, dry) in enumerate(parts):
        rows = tuple(tuple(struct.values()) for struct in result.rows[0][number])
        found.append(
            QueryResult(
                columns=dry.columns,
                rows=rows[:limit],
                truncated=len(rows) > limit,
                seconds=0.0 if number else result.seconds,
                bytes_processed=0 if number else result.bytes_processed,
                bytes_billed=0 if number else result.bytes_billed,
                cost=0.0 if number else result.cost,
            )
        )
    return found
