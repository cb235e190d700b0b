"""Wiring: the nodes and routes of the design as one compiled LangGraph graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import get_callback_manager_for_config
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Command
from pydantic import TypeAdapter

from bmsql.graph import _nodes, _routes
from bmsql.graph._costs import node_labels
from bmsql.graph._data import pack_answer
from bmsql.graph._dependencies import Dependencies, GraphContext
from bmsql.graph._drive import Step, Work, adrive, drive
from bmsql.graph._nodes import Run
from bmsql.graph._state import ACCUMULATED, RESET, Data, GraphInput, GraphOutput, GraphState, is_fresh, merged
from bmsql.graph._turns import Turn
from bmsql.reasoners import StepContext, entered_step
from bmsql.types import Answer, StepUsage, TraceEntry

Node = Callable[[GraphState, Run], Work]
Route = Callable[[GraphState], str]
# What a node gives LangGraph: an update of the state, or that and where it leads.
Left = Data | Command[str]

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
    "answer": (_routes.after_answer, (END,)),
}

# How LangGraph hands the checkpointer of an outer graph, and a stream that shows subgraphs, to the graphs inside.
_INHERITED = ("__pregel_checkpointer", "__pregel_stream")
Graph = CompiledStateGraph[Any, Any, Any, Any]
_DETAIL, _TRACE = TypeAdapter(dict[str, Any]), TypeAdapter(tuple[TraceEntry, ...])


def compile_graph(deps: Dependencies, *, checkpointer: Any = None, name: str = "bmsql") -> Graph:
    """The compiled graph: `{"question": ...}` in, `{"question": ..., "answer": {...}}` out.

    It closes over `deps`, so it works as a node of another graph too; a `GraphContext` given as
    LangGraph's runtime context replaces dependencies for one run. `checkpointer` is LangGraph's.
    """
    graph = StateGraph(GraphState, context_schema=GraphContext, input_schema=GraphInput, output_schema=GraphOutput)
    nodes: dict[str, _TracedNode] = {}
    for node, function in NODES.items():
        route, targets = ROUTES[node]
        nodes[node] = _TracedNode(node, function, deps, route=partial(route, budgets=deps.budgets), nodes=nodes)
        graph.add_node(node, nodes[node], input_schema=GraphState, destinations=targets)
    graph.add_edge(START, "plan")
    compiled = graph.compile(checkpointer=checkpointer, name=name)
    return compiled.with_config(recursion_limit=deps.budgets.recursion_limit)


def traced_node(
    name: str,
    function: Callable[[Any, Run], Work],
    deps: Dependencies,
    *,
    first: str = "plan",
    thinker: object = None,
) -> Runnable[GraphState, Left]:
    """`function` as a LangGraph node, with and without threads, that also leaves a trace entry.

    first: the node that a question enters the graph by. thinker: what has the methods of the `Think` that the
    node yields, the reasoner of the dependencies by default. The edges of the graph say which node comes next.
    """
    return _TracedNode(name, function, deps, first=first, thinker=thinker)


class _TracedNode(Runnable[GraphState, Left]):
    """LangGraph traces each node as a run; a RunnableLambda would put a second one inside it, at a cost each time.

    The route is told with the update: for a conditional edge LangGraph copies the whole state, and makes a run,
    without threads one in a thread. route: which node comes next, from the state that this one leaves. nodes: all
    that a route may name.
    """

    def __init__(
        self,
        name: str,
        function: Callable[[Any, Run], Work],
        deps: Dependencies,
        *,
        first: str = "plan",
        thinker: object = None,
        route: Route | None = None,
        nodes: Mapping[str, _TracedNode] | None = None,
    ) -> None:
        self.name = name
        self.route, self.nodes = route, nodes
        self.function, self.deps, self.first, self.thinker = function, deps, first, thinker

    def invoke(self, input: GraphState, config: RunnableConfig | None = None, **kwargs: Any) -> Left:  # noqa: A002
        """One step, in this thread."""
        walk = _Walk(self, input, config or {})
        while not walk.done:
            visit = walk.enter()
            with entered_step(visit.context), visit.labels:
                step = drive(visit.work, visit.reasoner)
            walk.go_on(visit.leave(step))
        return walk.left()

    async def ainvoke(self, input: GraphState, config: RunnableConfig | None = None, **kwargs: Any) -> Left:  # noqa: A002
        """One step, without blocking the event loop."""
        walk = _Walk(self, input, config or {})
        with Turn() as turn:
            while not walk.done:
                visit = walk.enter()
                with entered_step(visit.context), visit.labels:
                    step = await adrive(visit.work, visit.reasoner, turn)
                walk.go_on(visit.leave(step))
        return walk.left()

    def tells(self, context: GraphContext) -> bool:
        """Whether the reasoner's model has callbacks of its own, which are told the node that it is called in."""
        return bool(getattr(context.resolve(self.deps).reasoner, "has_callbacks", False))

    def visit(self, state: GraphState, config: RunnableConfig, runtime: Runtime[Any]) -> _Visit:
        """Enter this node."""
        return _Visit(self, state, config, runtime)


class _Walk:
    """The nodes that one step of LangGraph visits: one; or, where nobody looks on, that and all that follow.

    Each step costs LangGraph time. Who looks on, by callbacks, a stream or a checkpointer, sees each node as a step.
    """

    def __init__(self, node: _TracedNode, state: GraphState, config: RunnableConfig) -> None:
        self.done = False
        self._node, self._state, self._config, self._runtime = node, state, config, get_runtime()
        context: Any = self._runtime.context
        asked = isinstance(context, GraphContext) and context.takes_one_step()
        self._nodes = node.nodes if asked and not (_looks_on(config) or node.tells(context)) else None
        self._update: Data = {}
        self._goto = ""

    def enter(self) -> _Visit:
        """Visit the node that is due."""
        return self._node.visit(self._state, self._config, self._runtime)

    def go_on(self, update: Data) -> None:
        """To the next node, if this step visits it too."""
        self._update |= update
        route = self._node.route
        if route is None:
            self.done = True
            return
        self._state = merged(self._state, update)
        self._goto = route(self._state)
        if self._nodes is None or self._goto == END:
            self.done = True
            return
        self._node = self._nodes[self._goto]
        # As LangGraph counts them, and an outer graph limits them.
        self._state["remaining_steps"] -= 1

    def left(self) -> Left:
        """What all visited nodes leave."""
        if not self._goto:
            return self._update
        if self._nodes is not None:
            self._update |= {key: [RESET, *self._state[key]] for key in ACCUMULATED if key in self._update}
        return Command(update=self._update, goto=self._goto)


def _looks_on(config: RunnableConfig) -> bool:
    """Whether anybody is shown the steps: an outer graph's stream or checkpointer, or who is told of the runs.

    By callbacks of the question, or for all questions, as a tracer is.
    """
    inherited = config.get("configurable", {})
    return any(map(inherited.get, _INHERITED)) or bool(get_callback_manager_for_config(config).handlers)


class _Visit:
    """One visit of a node: what it may use, and what is recorded of it."""

    __slots__ = ("clock", "context", "entered", "given", "labels", "name", "reasoner", "run", "state", "work")

    def __init__(self, node: _TracedNode, state: GraphState, config: RunnableConfig, runtime: Runtime[Any]) -> None:
        # An outer graph passes its own context on, whatever its type.
        given = runtime.context if isinstance(runtime.context, GraphContext) else None
        self.name, self.state, self.given = str(node.name), state, given
        self.run = Run(given.resolve(node.deps), given.cancel, given.plans) if given else Run(node.deps)
        fresh = self.name == node.first and is_fresh(state)
        # Of a question that was put off and taken up again, only the model's own time counts.
        steps = [] if fresh else state["usage"]["steps"]
        spent = sum(step["seconds"] for step in steps)
        self.context = StepContext(
            seconds=max(0.0, self.run.deps.limits.model_seconds - spent),
            cancel=self.run.cancel,
            on_text=partial(_write_text, runtime.stream_writer) if given and given.stream_text else None,
            config=config,
            passes_left=self.run.deps.budgets.passes - (1 if fresh else state["passes"]),
        )
        self.labels = node_labels(self.name, state["question"], given)
        self.reasoner = node.thinker or self.run.deps.reasoner
        self.work = node.function(state, self.run)
        self.entered, self.clock = time.time(), time.perf_counter()

    def leave(self, step: Step) -> Data:
        """The update of the state, with the trace entry and what the reasoner reported."""
        seconds = time.perf_counter() - self.clock
        # A question begins when its plan node is entered; only that node sets the time.
        fresh = "began" in step.update
        began = self.entered if fresh else self.state["began"]
        detail = {**step.detail, **self.context.detail}
        entry = {
            "node": self.name,
            "started": round(max(0.0, self.entered - began), 6),
            "seconds": round(seconds, 6),
            "outcome": step.outcome,
            # A reasoner may have put models into it.
            "detail": _DETAIL.dump_python(detail),
        }
        update = {**step.update, "outcome": step.outcome, "trace": [entry]}
        if self.context.usage:
            usage = update.get("usage") or self.state["usage"]
            taken = [reported.model_dump() for reported in self.context.usage]
            update["usage"] = {**usage, "steps": [*usage["steps"], *taken]}
        if self.context.notes:
            update["warnings"] = [*update.get("warnings", self.state.get("warnings", [])), *self.context.notes]
        if isinstance(made := update.get("answer"), Answer):
            update["answer"] = self._finished(made, update["trace"], time.time() - began)
        if fresh:
            update |= {"began": began, "trace": [RESET, *update["trace"]]}
        return update

    def _finished(self, answer: Answer, last: list[Data], seconds: float) -> Data:
        """The answer as plain data, with the whole trace, the last step's reports and the total time.

        Who started the run is given it as it is.
        """
        usage = answer.usage.model_copy(
            update={"seconds": round(seconds, 6), "steps": by_step([*answer.usage.steps, *self.context.usage])}
        )
        trace = (*self.state.get("trace", []), *last)
        warnings = tuple(dict.fromkeys([*answer.warnings, *self.context.notes]))
        finished = answer.model_copy(update={"usage": usage, "warnings": warnings})
        data = pack_answer(finished) | {"trace": trace}
        if self.given is not None:
            self.given.finish(data, finished.model_copy(update={"trace": _TRACE.validate_python(trace)}))
        return data


def by_step(reported: Iterable[StepUsage]) -> tuple[StepUsage, ...]:
    """The usage of each step summed, in the order of their first calls."""
    sums: dict[str, StepUsage] = {}
    for usage in reported:
        sums[usage.step] = sums[usage.step].plus(usage) if usage.step in sums else usage
    return tuple(sums.values())


def _write_text(write: Callable[[Any], None], piece: str) -> None:
    write({"text": piece})
