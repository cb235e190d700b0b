"""The query plan turned into SQL."""

from bmsql.planning._compile import compile_plan
from bmsql.planning._single import filter_condition

__all__ = ["compile_plan", "filter_condition"]
