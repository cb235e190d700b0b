"""The query plan turned into SQL."""

from bmsql.planning._compile import compile_plan
from bmsql.planning._match import match_condition

__all__ = ["compile_plan", "match_condition"]
