"""A question that nobody looks on at is one step for LangGraph; whoever looks on sees each node as a step."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.tracers.context import collect_runs
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from bmsql import Agent
from bmsql.errors import ReasonerError
from bmsql.graph import GraphContext, ainvoke_graph, compile_graph, invoke_graph
from bmsql.reasoners import current_step
from bmsql.testing import ScriptedChatModel, ScriptedReasoner
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


class Outer(TypedDict, total=False):
    question: str
    text: str


def outer_graph(reasoner: ScriptedReasoner, backend: LittleBackend | None = None, **options: Any) -> Any:
    """A graph whose only node asks another one, as an agent is asked in somebody's pipeline."""
    inner = compile_graph(dependencies(reasoner, backend))
    graph = StateGraph(Outer)
    graph.add_node("ask", lambda state: {"text": invoke_graph(inner, state["question"]).text})
    graph.add_edge(START, "ask")
    return graph.compile(**options)


def test_a_stream_of_an_outer_graph_shows_each_node() -> None:
    graph = outer_graph(ScriptedReasoner(plan=PLAN, draft=ALL))
    streamed = graph.stream({"question": "Which SNPs?"}, stream_mode="updates", subgraphs=True)
    assert [name for _, update in streamed for name in update] == [*NODES, "ask"]


def test_a_checkpointer_of_an_outer_graph_spares_what_was_done() -> None:
    backend = LittleBackend()
    reasoner = ScriptedReasoner(plan=PLAN, draft=ALL, answer=[ReasonerError("no reply"), "Done."])
    graph = outer_graph(reasoner, backend, checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "one"}}
    with pytest.raises(ReasonerError):
        graph.invoke({"question": "Which SNPs?"}, thread)
    ran = len(backend.executed)
    assert graph.invoke(None, thread)["text"] == "Done."
    assert len(backend.executed) == ran


def test_a_graph_asked_by_a_reasoner_has_its_own_dependencies_and_steps() -> None:
    inner = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL, answer="INNER")))
    seen: list[Any] = []

    class Asking(ScriptedReasoner):
        def answer(self, evidence: Any) -> str:
            seen.append(inner.invoke({"question": "Which?"})["answer"]["text"])
            seen.append(len(list(inner.stream({"question": "Which?"}, stream_mode="updates"))))
            return "OUTER"

    assert invoke_graph(compile_graph(dependencies(Asking(plan=PLAN, draft=ALL))), "Which SNPs?").text == "OUTER"
    assert seen == ["INNER", len(NODES)]


def test_callbacks_of_the_model_itself_are_told_the_node() -> None:
    nodes: list[str] = []

    class Told(BaseCallbackHandler):
        def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
            nodes.append(kwargs["metadata"]["langgraph_node"])

    steps = {"plan": {"use_reading": True}, "answer": "The rows are given below."}
    for callbacks, expected in (([Told()], ["plan", "answer"]), (None, [])):
        nodes.clear()
        with Agent(model=ScriptedChatModel(steps=steps, callbacks=callbacks)) as agent:
            agent.ask("Which SNPs near BIN1 are significant for Alzheimer's disease?")
        assert nodes == expected
