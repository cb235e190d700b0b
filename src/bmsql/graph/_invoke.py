"""One question through a compiled graph."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Literal

from bmsql.graph._dependencies import GraphContext

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from bmsql.graph._build import Graph
    from bmsql.types import Answer

# The first version gathers the update of each node too, only to look for interrupts in it.
_VERSION: Literal["v2"] = "v2"


def invoke_graph(
    graph: Graph, question: str, config: RunnableConfig | None = None, cancel: threading.Event | None = None
) -> Answer:
    """The answer of a graph; setting `cancel` stops it."""
    context = _context(graph, cancel)
    out = graph.invoke({"question": question}, config, context=context, version=_VERSION)
    return context.answer_in(out.value["answer"])


async def ainvoke_graph(graph: Graph, question: str, config: RunnableConfig | None = None) -> Answer:
    """As `invoke_graph`, without blocking the event loop; cancelling the task stops the running query."""
    cancel = threading.Event()
    context = _context(graph, cancel)
    try:
        out = await graph.ainvoke({"question": question}, config, context=context, version=_VERSION)
    except asyncio.CancelledError:
        cancel.set()
        raise
    return context.answer_in(out.value["answer"])


def _context(graph: Graph, cancel: threading.Event | None) -> GraphContext:
    context = GraphContext(cancel=cancel)
    # Only the answer is asked for: nobody is shown the state in between, unless it is stored or stopped at.
    context.in_one_step = not (graph.checkpointer or graph.interrupt_before_nodes or graph.interrupt_after_nodes)
    return context
