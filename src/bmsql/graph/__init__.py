"""The LangGraph graph that a question travels through: its state, nodes, routes and budgets.

LangGraph itself is loaded when a graph is compiled or its state type is used, not before.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from bmsql.graph._budgets import Budgets
from bmsql.graph._dependencies import Dependencies, GraphContext

if TYPE_CHECKING:
    from bmsql.graph._build import Graph, compile_graph
    from bmsql.graph._diagram import diagram
    from bmsql.graph._state import GraphInput, GraphOutput, GraphState

__all__ = [
    "Budgets",
    "Dependencies",
    "Graph",
    "GraphContext",
    "GraphInput",
    "GraphOutput",
    "GraphState",
    "compile_graph",
    "diagram",
]

_LAZY = {
    "Graph": "_build",
    "GraphInput": "_state",
    "GraphOutput": "_state",
    "GraphState": "_state",
    "compile_graph": "_build",
    "diagram": "_diagram",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"bmsql.graph.{_LAZY[name]}"), name)
    globals()[name] = value
    return value
