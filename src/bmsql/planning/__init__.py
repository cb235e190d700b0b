"""The query plan turned into SQL."""

from bmsql.planning._compile import compile_plan

__all__ = ["compile_plan"]
