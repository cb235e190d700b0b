"""The LangGraph graph that a question travels through: its state, nodes, routes and budgets.

LangGraph itself is loaded when a graph is compiled or its state type is used, not before.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from bmsql.graph._budgets import Budgets
from bmsql.graph._costs import running_total
from bmsql.graph._data import load_run, pack, pack_result, problem_text
from bmsql.graph._dependencies import Dependencies, GraphContext

if TYPE_CHECKING:
    from bmsql.graph._build import Graph, compile_graph, traced_node
    from bmsql.graph._diagram import diagram
    from bmsql.graph._drive import Step, Think, Wait, Work
    from bmsql.graph._invoke import ainvoke_graph, invoke_graph
    from bmsql.graph._nodes import Run, usage_with
    from bmsql.graph._state import GraphInput, GraphOutput, GraphState, failures, fresh_pass, fresh_state

__all__ = [
    "Budgets",
    "Dependencies",
    "Graph",
    "GraphContext",
    "GraphInput",
    "GraphOutput",
    "GraphState",
    "Run",
    "Step",
    "Think",
    "Wait",
    "Work",
    "ainvoke_graph",
    "compile_graph",
    "diagram",
    "failures",
    "fresh_pass",
    "fresh_state",
    "invoke_graph",
    "load_run",
    "pack",
    "pack_result",
    "problem_text",
    "running_total",
    "traced_node",
    "usage_with",
]

_LAZY = {
    "Graph": "_build",
    "GraphInput": "_state",
    "GraphOutput": "_state",
    "GraphState": "_state",
    "Run": "_nodes",
    "Step": "_drive",
    "Think": "_drive",
    "Wait": "_drive",
    "Work": "_drive",
    "ainvoke_graph": "_invoke",
    "compile_graph": "_build",
    "diagram": "_diagram",
    "failures": "_state",
    "fresh_pass": "_state",
    "fresh_state": "_state",
    "invoke_graph": "_invoke",
    "traced_node": "_build",
    "usage_with": "_nodes",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"bmsql.graph.{_LAZY[name]}"), name)
    globals()[name] = value
    return value
