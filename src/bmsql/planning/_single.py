"""One filter of a plan as the condition on one table."""

from __future__ import annotations

from sqlglot import exp

from bmsql.planning._filters import condition
from bmsql.planning._names import Bound
from bmsql.semantic import SemanticModel
from bmsql.types import Filter, Source


def filter_condition(filter_: Filter, table: str, model: SemanticModel, qualifier: str = "") -> exp.Expr:
    """What `filter_` asks of the rows of `table`, its columns written with `qualifier`.

    Raises PlanError where the table does not hold what the filter is about.
    """
    spec = model.tables[table]
    bound = Bound(Source(alias=qualifier or table, table=table), spec, model.families[spec.family], model, qualifier)
    return condition(bound, filter_, exp.to_table(table))
