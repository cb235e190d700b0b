"""Wiring: the nodes and routes of the design as one compiled LangGraph graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from bmsql.graph import _nodes, _routes
from bmsql.graph._costs import node_labels
from bmsql.graph._dependencies import Dependencies, GraphContext
from bmsql.graph._nodes import Run, Step
from bmsql.graph._state import RESET, Data, GraphInput, GraphOutput, GraphState
from bmsql.types import Answer, TraceEntry

Node = Callable[[GraphState, Run], Step]

NODES: dict[str, Node] = {
    "plan": _nodes.plan,
    "generate": _nodes.generate,
    "validate": _nodes.validate,
    "execute": _nodes.execute,
    "inject_thresholds": _nodes.inject_thresholds,
    "refine": _nodes.refine,
    "answer": _nodes.answer,
}

ROUTES: dict[str, tuple[Callable[..., str], tuple[str, ...]]] = {
    "plan": (_routes.after_plan, ("generate", "answer")),
    "generate": (_routes.after_generate, ("validate", "generate", "answer")),
    "validate": (_routes.after_validate, ("execute", "generate", "answer")),
    "execute": (_routes.after_execute, ("inject_thresholds", "refine", "generate", "answer")),
    "inject_thresholds": (_routes.after_inject, ("validate", "refine", "answer")),
    "refine": (_routes.after_refine, ("answer", "plan")),
}

Graph = CompiledStateGraph[Any, Any, Any, Any]


def compile_graph(deps: Dependencies, *, checkpointer: Any = None, name: str = "bmsql") -> Graph:
    """The compiled graph: `{"question": ...}` in, `{"question": ..., "answer": {...}}` out.

    It closes over `deps`, so it works as a node of another graph too; a `GraphContext` given as
    LangGraph's runtime context replaces dependencies for one run. `checkpointer` is LangGraph's.
    """
    graph = StateGraph(GraphState, context_schema=GraphContext, input_schema=GraphInput, output_schema=GraphOutput)
    for node, function in NODES.items():
        graph.add_node(node, _entered(node, function, deps), input_schema=GraphState)
    graph.add_edge(START, "plan")
    for node, (route, targets) in ROUTES.items():
        graph.add_conditional_edges(node, partial(route, budgets=deps.budgets), list(targets))
    graph.add_edge("answer", END)
    compiled = graph.compile(checkpointer=checkpointer, name=name)
    return compiled.with_config(recursion_limit=deps.budgets.recursion_limit)


def _entered(name: str, function: Node, deps: Dependencies) -> Callable[..., Data]:
    """`function` as a LangGraph node that also leaves a trace entry."""

    def node(state: GraphState, runtime: Runtime[Any]) -> Data:
        # An outer graph passes its own context on, whatever its type.
        context = runtime.context if isinstance(runtime.context, GraphContext) else None
        run = Run(context.resolve(deps), context.cancel) if context else Run(deps)
        entered, clock = time.time(), time.perf_counter()
        with node_labels(name, state["question"], context):
            step = function(state, run)
        seconds = time.perf_counter() - clock
        # A question begins when its plan node is entered; only that node sets the time.
        fresh = "began" in step.update
        began = entered if fresh else state["began"]
        entry = TraceEntry(
            node=name,
            started=round(max(0.0, entered - began), 6),
            seconds=round(seconds, 6),
            outcome=step.outcome,
            detail=step.detail,
        )
        update = {**step.update, "outcome": step.outcome, "trace": [entry.model_dump()]}
        if isinstance(made := update.get("answer"), Answer):
            update["answer"] = _finished(made, state, entry, time.time() - began)
        if fresh:
            update |= {"began": began, "trace": [RESET, *update["trace"]]}
        return update

    node.__name__ = name
    node.__doc__ = function.__doc__
    return node


def _finished(answer: Answer, state: GraphState, last: TraceEntry, seconds: float) -> Data:
    """The answer as plain data, with the whole trace and the total time."""
    trace = (*(TraceEntry.model_validate(entry) for entry in state.get("trace", [])), last)
    usage = answer.usage.model_copy(update={"seconds": round(seconds, 6)})
    return answer.model_copy(update={"trace": trace, "usage": usage}).model_dump()
