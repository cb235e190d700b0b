"""A question that nobody looks on at is one step for LangGraph; whoever looks on sees each node as a step."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.tracers.context import collect_runs
from langgraph.checkpoint.memory import InMemorySaver

from bmsql.graph import GraphContext, ainvoke_graph, compile_graph, invoke_graph
from bmsql.reasoners import current_step
from bmsql.testing import ScriptedReasoner
from bmsql.types import Answer, Plan
from tests.graph.fakes import ALL, PLAN, LittleBackend, dependencies

NODES = ["plan", "generate", "validate", "execute", "inject_thresholds", "validate", "execute", "refine", "answer"]


class Steps(ScriptedReasoner):
    """Notes the step of LangGraph in which it plans and in which it answers."""

    def __init__(self) -> None:
        super().__init__(plan=PLAN, draft=ALL)
        self.steps: list[int] = []

    def plan(self, question: str, *, feedback: str = "") -> Plan:
        self._note()
        return super().plan(question, feedback=feedback)

    def answer(self, evidence: Any) -> str:
        self._note()
        return super().answer(evidence)

    def _note(self) -> None:
        step = current_step()
        assert step is not None
        self.steps.append(step.config["metadata"]["langgraph_step"])


class Names(BaseCallbackHandler):
    """The names of the runs that were begun."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        self.begun.append(kwargs["name"])


def asked(config: RunnableConfig | None = None, **options: Any) -> tuple[list[int], Answer]:
    reasoner = Steps()
    graph = compile_graph(dependencies(reasoner), **options)
    return reasoner.steps, invoke_graph(graph, "Which SNPs?", config)


def test_a_question_is_one_step() -> None:
    steps, answer = asked()
    assert steps == [1, 1]
    assert [entry.node for entry in answer.trace] == NODES


async def test_a_question_is_one_step_without_threads_too() -> None:
    reasoner = Steps()
    answer = await ainvoke_graph(compile_graph(dependencies(reasoner)), "Which SNPs?")
    assert reasoner.steps == [1, 1]
    assert [entry.node for entry in answer.trace] == NODES


def test_callbacks_see_each_node() -> None:
    names = Names()
    steps, _ = asked({"callbacks": [names]})
    assert steps == [1, 9]
    assert names.begun == ["bmsql", *NODES]


def test_a_tracer_of_all_runs_sees_each_node() -> None:
    with collect_runs() as runs:
        steps, _ = asked()
    assert steps == [1, 9]
    assert [run.name for run in runs.traced_runs] == ["bmsql"]


def test_a_checkpointer_stores_each_step() -> None:
    saver, config = InMemorySaver(), RunnableConfig(configurable={"thread_id": "one"})
    steps, _ = asked(config, checkpointer=saver)
    assert steps == [1, 9]
    assert len(list(saver.list(config))) == len(NODES) + 2


@pytest.mark.parametrize("mode", ["updates", "values", "debug", "custom"])
def test_a_stream_shows_each_node(mode: Any) -> None:
    reasoner = Steps()
    graph = compile_graph(dependencies(reasoner))
    list(graph.stream({"question": "Which SNPs?"}, stream_mode=mode, context=GraphContext()))
    assert reasoner.steps == [1, 9]


def test_a_graph_that_stops_before_a_node_stops_there() -> None:
    backend = LittleBackend()
    graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL), backend), checkpointer=InMemorySaver())
    graph.interrupt_before_nodes = ["execute"]
    with pytest.raises(ValueError, match="Answer"):
        invoke_graph(graph, "Which SNPs?", {"configurable": {"thread_id": "one"}})
    assert backend.executed == []
