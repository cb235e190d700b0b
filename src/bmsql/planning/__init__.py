"""The query plan turned into SQL."""

from bmsql.planning._compile import compile_plan
from bmsql.planning._filters import condition, literal
from bmsql.planning._listed import listed_items
from bmsql.planning._match import match_condition
from bmsql.planning._names import Bound

__all__ = ["Bound", "compile_plan", "condition", "listed_items", "literal", "match_condition"]
