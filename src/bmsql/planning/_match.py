"""How a named thing is matched in a table, as SQL, for queries that no plan was compiled into."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from bmsql.errors import PlanError
from bmsql.planning._filters import condition
from bmsql.planning._names import Bound
from bmsql.semantic import SemanticModel
from bmsql.types import Filter, Source


def match_condition(
    model: SemanticModel, table: str, entity: str, values: Sequence[str], qualifier: str = ""
) -> exp.Expr:
    """The condition that keeps the rows of `table` in which `entity` has one of `values`.

    Values are as stored; columns carry `qualifier` where one is given. Raises PlanError where the
    entity is not matched in this table.
    """
    spec = model.tables.get(table)
    if spec is None or entity not in model.entities or spec.family not in model.entities[entity].match:
        raise PlanError(f"'{entity}' is not matched in {table}.")
    bound = Bound(Source(alias="t", table=table), spec, model.family_of(table), model, qualifier)
    return condition(bound, Filter(target=entity, op="match", values=tuple(values)), exp.table_(table))
