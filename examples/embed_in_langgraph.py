"""Embed bmsql in another LangGraph pipeline.

The outer graph turns a gene into a question, lets bmsql's own graph answer it as a subgraph, and
writes a short report. Both graphs share the state keys `question` and `answer`; the outer graph has
a checkpointer, so that the whole run, the subgraph's answer included, can be stored and looked up.

python examples/embed_in_langgraph.py [GENE]
"""

from __future__ import annotations

import sys
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from bmsql import Agent, Answer


class State(TypedDict, total=False):
    """What the outer pipeline knows. `question` and `answer` are shared with bmsql."""

    gene: str
    question: str
    answer: dict[str, Any]
    report: str


def ask_about(state: State) -> State:
    """Write the question; a language model could do this as well."""
    return {"question": f"Which SNPs near {state['gene']} are significantly associated with Alzheimer's disease?"}


def was_answered(state: State) -> str:
    """An abstention is an outcome of its own, not an error."""
    return "decline" if state["answer"]["abstained"] else "report"


def report(state: State) -> State:
    """Use the answer: its text, its rows and its evidence."""
    answer = Answer.model_validate(state["answer"])
    strongest = answer.rows[0]["SNP"] if answer.rows else "none"
    applied = [record.predicate for record in answer.conventions if record.rule == "genome_wide_significance"]
    lines = [
        f"Gene: {state['gene']}",
        f"Answer: {answer.text}",
        f"Strongest SNP: {strongest}",
        f"Threshold: {', '.join(applied) or 'none'}",
        f"Evidence: {', '.join(answer.evidence[:3])}",
    ]
    return {"report": "\n".join(lines)}


def decline(state: State) -> State:
    """Say what was missing instead of guessing."""
    return {"report": f"Gene: {state['gene']}\nNot answered: {state['answer']['reason']}"}


def build(agent: Agent) -> Any:
    """The outer graph, with bmsql's compiled graph as one of its nodes."""
    graph = StateGraph(State)
    graph.add_node("ask_about", ask_about)
    graph.add_node("bmsql", agent.graph)
    graph.add_node("report", report)
    graph.add_node("decline", decline)
    graph.add_edge(START, "ask_about")
    graph.add_edge("ask_about", "bmsql")
    graph.add_conditional_edges("bmsql", was_answered, ["report", "decline"])
    graph.add_edge("report", END)
    graph.add_edge("decline", END)
    return graph.compile(checkpointer=InMemorySaver())


def main(gene: str) -> None:
    with Agent() as agent:
        pipeline = build(agent)
        config = {"configurable": {"thread_id": gene}}
        pipeline.invoke({"gene": gene}, config)
        print(pipeline.get_state(config).values["report"])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "BIN1")
