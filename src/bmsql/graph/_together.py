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
from bmsql.sql import format_sql, parse
from bmsql.types import ExecutionFailed, Plan, QueryResult, Rejected, ValidatedQuery

log = logging.getLogger(__name__)


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
        combined = deps.validate(format_sql(_combined([part for part, _ in parts], deps.limits.rows), pretty=False))
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
    if not isinstance(general, ValidatedQuery):
        return []
    dry = deps.backend.dry_run(general)
    if (dry.bytes_processed or 0) <= deps.limits.ladder_bytes:
        return []
    applied = deps.rules.apply_plan(parse(general.sql), deps.model, Plan.model_validate(state["plan"]))
    final = deps.validate(format_sql(applied.tree)) if applied.changed else general
    if not isinstance(final, ValidatedQuery):
        return []
    texts = [] if final is general else [final.sql]
    texts += [format_sql(query, pretty=False) for query in measuring_queries(parse(final.sql), applied.records, deps)]
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
    return not unnamed and len(set(names)) == len(names) and _as_structs(parse(query.sql), 1) is not None


def _combined(queries: Sequence[ValidatedQuery], rows: int) -> exp.Select:
    arrays = []
    for number, query in enumerate(queries):
        structs = _as_structs(parse(query.sql), rows + 1)
        if structs is None:
            raise ValueError("not a query that can be a part")
        arrays.append(exp.alias_(exp.Array(expressions=[structs], bracket_notation=False), f"part_{number}"))
    return exp.select(*arrays)


def _as_structs(tree: exp.Query, most: int) -> exp.Query | None:
    """A query whose rows are structs, at most so many, in the order of the rows; None where that cannot be said."""
    if not isinstance(tree, exp.Select) or tree.args.get("kind"):
        return None
    made = tree.copy()
    if not _order_by_name(made):
        return None
    if made.args.get("distinct"):
        # Structs are not made distinct: the rows are, and are then put in order and cut.
        outer = {key: made.args[key].pop() for key in ("order", "limit", "offset") if made.args.get(key)}
        made = exp.select("*").from_(exp.Subquery(this=made, alias=exp.TableAlias(this=exp.to_identifier("part"))))
        for key, clause in outer.items():
            made.set(key, clause)
    limit = made.args.get("limit")
    stated = limit.expression if isinstance(limit, exp.Limit) else None
    if limit is not None and not (isinstance(stated, exp.Literal) and not stated.is_string):
        return None
    if stated is None or int(stated.this) > most:
        made = made.limit(most)
    made.set("kind", "STRUCT")
    return made


def _order_by_name(select: exp.Select) -> bool:
    """Write numbers of columns in ORDER BY as their names; whether the order can then be moved outside."""
    order, names = select.args.get("order"), select.named_selects
    for item in order.expressions if order is not None else ():
        key = item.this if isinstance(item, exp.Ordered) else item
        if isinstance(key, exp.Literal) and not key.is_string:
            key.replace(exp.column(exp.to_identifier(names[int(key.this) - 1], quoted=True)))
        elif select.args.get("distinct") and not (isinstance(key, exp.Column) and key.name in names):
            return False
    return True


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
