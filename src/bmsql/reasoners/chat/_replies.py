"""What a chat model is asked to fill in: flat, short, and the same for every provider."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from bmsql.types import Intent

Mode = Literal["implied", "complement", "stated", "waived"]
PlanOperator = Literal[
    "match", "=", "!=", "<", "<=", ">", ">=", "between", "contains", "starts_with", "null", "not_null", "region"
]


class _Reply(BaseModel):
    # Small models add fields of their own; what is not asked for is not read.
    model_config = ConfigDict(extra="ignore")

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The bare schema: titles, docstrings and defaults cost tokens, and the prompt explains the fields."""
        made = handler(schema)
        bare = handler.resolve_ref_schema(made)
        # The title of the whole is its name on the wire.
        bare.pop("description", None)
        for spec in bare.get("properties", {}).values():
            for name in ("title", "description", "default"):
                spec.pop(name, None)
        return made


class JoinReply(_Reply):
    """Two tables and the entity they share."""

    left: str
    right: str
    on: str
    kind: Literal["inner", "semi", "anti"] = "inner"


class FilterReply(_Reply):
    """One condition. Values are texts, whatever the column holds: that suits every provider's schema."""

    on: str
    op: PlanOperator = "="
    values: list[str] = []
    table: str = ""
    negated: bool = False
    either: int = 0


class ConventionReply(_Reply):
    """How the question stands to a rule, with its words for it."""

    rule: str
    mode: Mode = "implied"
    words: str = ""


class PlanReply(_Reply):
    """A query plan as a model writes it; names are checked when it becomes a `Plan`."""

    use_reading: bool = False
    answerable: bool = True
    problem: str = ""
    readings: list[str] = []
    intent: Intent = "list"
    tables: list[str] = []
    combine: Literal["single", "union", "join"] = "single"
    joins: list[JoinReply] = []
    select: list[str] = []
    distinct: bool = False
    filters: list[FilterReply] = []
    group_by: list[str] = []
    function: Literal["", "count", "count_distinct", "min", "max", "avg", "sum"] = ""
    of: str = ""
    order_by: list[str] = []
    limit: int = 0
    conventions: list[ConventionReply] = []
    complete: bool = True


class ReviewReply(_Reply):
    """Whether the rows suffice."""

    sufficient: bool
    reason: str = ""
    change: str = ""


class ChoiceReply(_Reply):
    """The number of a query, from 1."""

    number: int
