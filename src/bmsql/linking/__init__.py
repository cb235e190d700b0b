"""Linking what a question names to values that the knowledge base holds."""

from bmsql.linking._index import ValueIndex
from bmsql.linking._linker import Linker
from bmsql.linking._source import ValueSource

__all__ = ["Linker", "ValueIndex", "ValueSource"]
