"""The systems that are compared, each opened by its name from the same parts."""

from bmsql.bench.systems._answers import AnswersSystem, GivenAnswer, read_answers
from bmsql.bench.systems._graph_system import GraphSystem
from bmsql.bench.systems._open import SystemKind, SystemOptions, open_system, system_names, system_summaries
from bmsql.bench.systems._ours import PARTS, OurSystem

__all__ = [
    "PARTS",
    "AnswersSystem",
    "GivenAnswer",
    "GraphSystem",
    "OurSystem",
    "SystemKind",
    "SystemOptions",
    "open_system",
    "read_answers",
    "system_names",
    "system_summaries",
]
