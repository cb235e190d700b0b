"""What a chat model is asked to fill in: flat, short, and the same for every provider."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from bmsql.types import Intent

# Defaults that say nothing: the fields beside them still tell what is asked.
_NEUTRAL = frozenset({"list", "single"})
_NOTHING = frozenset({"none", "null", "no", "n/a", "-"})
Mode = Literal["implied", "complement", "stated", "waived"]
PlanOperator = Literal[
    "match", "=", "!=", "<", "<=", ">", ">=", "between", "contains", "starts_with", "null", "not_null", "region"
]


class _Reply(BaseModel):
    # Small models add fields of their own; what is not asked for is not read.
    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, given: Any) -> Any:
        """The fields in the forms that are asked for: models without strict decoding often write others.

        Null stands for what a field is without it, one item for a list of it, and a number for its text.
        """
        if not isinstance(given, dict):
            return given
        meant: dict[str, Any] = {}
        for name, field in cls.model_fields.items():
            value = given.get(name)
            if value is None or (value == "" and field.annotation is int):
                continue
            if get_origin(field.annotation) is list:
                items = value if isinstance(value, list) else [value]
                (kind,) = get_args(field.annotation)
                value = [_text(item) if kind is str else item for item in items if item is not None]
            elif field.annotation is str:
                value = _text(value)
            elif get_origin(field.annotation) is Literal:
                value = _word(value, get_args(field.annotation), field.default)
            meant[name] = value
        return meant

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


# Other words for operators.
_SYNONYMS = {"==": "=", "in": "=", "eq": "=", "<>": "!=", "ne": "!=",
             "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "is null": "null", "is not null": "not_null",
             "is_null": "null", "is_not_null": "not_null", "startswith": "starts_with"}  # fmt: skip


def _text(value: Any) -> Any:
    """A number or a truth value as a text; what else is no text stays as it is, and is refused."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, int | float) else value


def _word(value: Any, known: tuple[str, ...], default: Any) -> Any:
    """The one of the known words that is meant.

    An unknown one stands for the default where the default says nothing; operators and functions decide too much.
    """
    if not isinstance(value, str):
        return value
    low = " ".join(value.lower().split())
    low = _SYNONYMS.get(low, low) if "=" in known else low
    if low in known:
        return low
    if low in _NOTHING and "" in known:
        return ""
    return default if default in _NEUTRAL else value


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
