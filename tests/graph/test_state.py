"""What the graph keeps: plain data that a checkpointer can store, and nothing of an earlier question."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.memory import MemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from bmsql.errors import ConfigurationError, ExecutionError, QueryCancelledError
from bmsql.graph import Budgets, GraphContext, compile_graph, diagram
from bmsql.graph._build import NODES, ROUTES
from bmsql.graph._state import RESET, GraphState, accumulate, failures, fresh_pass, fresh_state, merged
from bmsql.reasoners import Evidence, Reasoner
from bmsql.testing import ScriptedReasoner
from bmsql.types import Answer, ColumnInfo, Limits, Plan, QueryResult, Review, ValidatedQuery
from tests.graph.fakes import ALL, PLAN, UNFILTERED, LittleBackend, dependencies, model

QUESTION = {"question": "Which SNPs?"}
HOSTILE = (
    decimal.Decimal("1.50"),
    dt.date(2024, 2, 29),
    dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=dt.UTC),
    dt.time(1, 2, 3),
    b"\x00\xff",
    float("nan"),
    float("inf"),
    0.0,
    2**60,
    ["a", None],
    {"k": [1.5]},
    None,
    "</td><script>",
)


class HostileBackend(LittleBackend):
    """Gives one row with every kind of value a database has."""

    def execute(self, query: ValidatedQuery, limits: Limits, **rest: Any) -> QueryResult:
        columns = tuple(ColumnInfo(name=f"c{n}", type="STRING") for n in range(len(HOSTILE)))
        return QueryResult(columns=columns, rows=(HOSTILE,))


def answer_of(out: dict[str, Any]) -> Answer:
    return Answer.model_validate(out["answer"])


def test_state_is_stored_and_read_back_by_a_strict_checkpointer() -> None:
    saver = MemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    graph = compile_graph(
        dependencies(ScriptedReasoner(plan=UNFILTERED, draft="SELECT SNP FROM study"), HostileBackend()),
        checkpointer=saver,
    )
    config = {"configurable": {"thread_id": "one"}}
    answer = answer_of(graph.invoke(QUESTION, config))
    stored = answer_of(graph.get_state(config).values)
    assert stored.to_dict() == answer.to_dict()
    row = stored.general.result.rows[0] if stored.general else ()
    assert [type(value) for value in row] == [type(value) for value in HOSTILE]
    json.dumps(stored.to_dict(), allow_nan=False)


def test_run_resumes_from_a_checkpoint_in_another_process() -> None:
    """The validated query is no part of the state: another graph over the same checkpoints checks it anew."""
    saver = MemorySaver()
    config = {"configurable": {"thread_id": "one"}}
    first = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL)), checkpointer=saver)
    first.invoke(QUESTION, config, interrupt_after=["validate"])
    assert first.get_state(config).next == ("execute",)
    second = compile_graph(dependencies(ScriptedReasoner(answer="Resumed.")), checkpointer=saver)
    answer = answer_of(second.invoke(None, config))
    assert answer.text == "Resumed."
    assert [row["SNP"] for row in answer.rows] == ["rs2", "rs1", "rs6"]


def test_an_edited_query_is_taken_up_where_the_run_was_stopped() -> None:
    graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL)), checkpointer=MemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}}
    graph.invoke(QUESTION, config, interrupt_after=["validate"])
    edited = ALL.replace("ORDER", "WHERE gene = 'AAA' ORDER")
    graph.update_state(config, Command(update={"sql": edited}, goto="execute"))
    assert graph.get_state(config).next == ("execute",)
    answer = answer_of(graph.invoke(None, config))
    assert [row["SNP"] for row in answer.rows] == ["rs2", "rs1"]


def test_second_question_on_a_thread_starts_afresh() -> None:
    reasoner = ScriptedReasoner(
        plan=[PLAN, Plan(answerable=False, problem="no")], draft="SELECT wrong FROM study", repair=[ALL]
    )
    graph = compile_graph(dependencies(reasoner), checkpointer=MemorySaver())
    config = {"configurable": {"thread_id": "one"}}
    first = answer_of(graph.invoke(QUESTION, config))
    second = answer_of(graph.invoke({"question": "Who won?"}, config))
    assert len(first.trace) > 5
    assert [entry.node for entry in second.trace] == ["plan", "answer"]
    assert (second.abstained, second.rows, second.conventions, second.usage.queries) == (True, [], (), 0)


def test_question_after_a_crash_starts_afresh() -> None:
    from bmsql.errors import ReasonerError

    reasoner = ScriptedReasoner(plan=PLAN, draft=[ReasonerError("no reply"), ALL])
    graph = compile_graph(dependencies(reasoner), checkpointer=MemorySaver())
    config = {"configurable": {"thread_id": "one"}}
    with pytest.raises(ReasonerError):
        graph.invoke(QUESTION, config)
    answer = answer_of(graph.invoke({"question": "And which others?"}, config))
    assert [entry.node for entry in answer.trace].count("plan") == 1
    assert not answer.abstained


def test_subgraph_of_another_graph() -> None:
    class Outer(TypedDict, total=False):
        question: str
        answer: dict[str, Any]
        shout: str

    outer = StateGraph(Outer, context_schema=dict)
    outer.add_node("bmsql", compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL))))
    outer.add_node("shout", lambda state: {"shout": state["answer"]["text"].upper()})
    outer.add_edge(START, "bmsql")
    outer.add_edge("bmsql", "shout")
    outer.add_edge("shout", END)
    graph = outer.compile(checkpointer=MemorySaver())
    # The outer graph's own context is none of ours.
    out = graph.invoke(QUESTION, {"configurable": {"thread_id": "1"}}, context={"reasoner": "other"})
    assert out["shout"] == "3 ROWS."
    assert set(out) == {"question", "answer", "shout"}


def test_only_the_documented_keys_go_in_and_out() -> None:
    graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL)))
    assert set(graph.invoke(QUESTION)) == {"question", "answer"}
    assert set(graph.get_input_jsonschema()["properties"]) == {"question"}
    assert set(graph.get_output_jsonschema()["properties"]) == {"question", "answer"}


def test_context_replaces_dependencies_for_one_run() -> None:
    graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL, answer="First.")))
    other = GraphContext(
        reasoner=ScriptedReasoner(plan=UNFILTERED, draft="SELECT SNP FROM study", answer="Other.", name="other"),
        backend=LittleBackend(),
        model=model().model_copy(update={"default_limit": 5}),
        limits=Limits(rows=2),
    )
    answer = answer_of(graph.invoke(QUESTION, context=other))
    assert (answer.text, answer.reasoner, len(answer.rows)) == ("Other.", "other", 2)
    assert "LIMIT 5" in answer.sql
    assert answer.truncated
    assert answer.total == 6
    assert "Truncated: 2 rows were fetched of 6." in answer.warnings
    assert answer_of(graph.invoke(QUESTION)).text == "First."


def test_cancel_event_ends_the_run() -> None:
    cancel = threading.Event()
    reasoner = ScriptedReasoner(plan=PLAN, draft=lambda question, plan: (cancel.set(), ALL)[1])
    with pytest.raises(QueryCancelledError):
        compile_graph(dependencies(reasoner)).invoke(QUESTION, context=GraphContext(cancel=cancel))


def test_many_threads_on_one_graph_do_not_mix() -> None:
    reasoner = ScriptedReasoner(
        plan=UNFILTERED,
        draft=lambda question, plan: f"SELECT UUID, SNP, '{question}' AS q FROM study LIMIT 3",
        answer=lambda evidence: evidence.question,
    )
    graph = compile_graph(dependencies(reasoner))
    questions = [f"question {n}" for n in range(48)]
    with ThreadPoolExecutor(16) as pool:
        outs = list(pool.map(lambda q: graph.invoke({"question": q}), questions))
    for question, out in zip(questions, outs, strict=True):
        answer = answer_of(out)
        assert (answer.question, answer.text) == (question, question)
        assert {row["q"] for row in answer.rows} == {question}
        assert len(answer.trace) == 7


@pytest.mark.parametrize(("local", "shown"), [(True, 3), (False, 0)])
def test_rows_are_kept_from_a_reasoner_that_sends_them_elsewhere(local: bool, shown: int) -> None:
    seen: list[Evidence] = []
    reasoner = ScriptedReasoner(
        plan=PLAN,
        draft=ALL,
        local=local,
        review=lambda evidence: (seen.append(evidence), Review(sufficient=True))[1],
        answer=lambda evidence: (seen.append(evidence), "Said.")[1],
    )
    answer = answer_of(compile_graph(dependencies(reasoner, send_rows=False)).invoke(QUESTION))
    assert [len(evidence.result.rows) for evidence in seen] == [shown, shown]
    assert all((evidence.general is None) is not local for evidence in seen)
    assert len(answer.rows) == 3


def test_counts_evidence_sources_and_warnings() -> None:
    answer = answer_of(compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL))).invoke(QUESTION))
    record = next(record for record in answer.conventions if record.rule == "genome_wide_significance")
    assert (record.rows_without, record.rows_with, answer.total) == (6, 4, 4)
    assert answer.evidence == ("s_2", "s_1", "s_6")
    assert answer.sources == ("study one", "study two")
    joined = " ".join(answer.warnings)
    for part in ("Truncated: 3 rows were fetched of 4.", "1 of 6, counted apart", "Mixed sources: the rows of study"):
        assert part in joined
    assert answer.usage.queries == 3
    assert answer.usage.seconds > 0


@pytest.mark.parametrize(
    "draft", ["SELECT COUNT(DISTINCT SNP) AS n FROM study", "SELECT DISTINCT gene FROM study ORDER BY gene"]
)
def test_evidence_of_counts_and_distinct_values_is_a_second_query(draft: str) -> None:
    backend = LittleBackend()
    answer = answer_of(compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=draft), backend)).invoke(QUESTION))
    assert len(answer.evidence) == 3  # as many as the model's default limit
    assert set(answer.evidence) < {"s_1", "s_2", "s_3", "s_6"}
    assert answer.sources
    assert not any("Truncated" in warning for warning in answer.warnings)


def test_count_that_cannot_be_made_is_a_warning_and_not_a_failure() -> None:
    backend = LittleBackend([None, None, ExecutionError("too slow")])
    answer = answer_of(compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL), backend)).invoke(QUESTION))
    assert not answer.abstained
    assert all(record.rows_without is None for record in answer.conventions)
    assert answer.total == 4  # counted by itself
    assert "The counts without each convention could not be determined." in answer.warnings


def test_list_cut_by_the_default_limit_says_of_how_many() -> None:
    draft = "SELECT UUID, SNP FROM study ORDER BY SNP"
    answer = answer_of(compile_graph(dependencies(ScriptedReasoner(plan=UNFILTERED, draft=draft))).invoke(QUESTION))
    assert (len(answer.rows), answer.total) == (3, 6)
    assert "Truncated: 3 rows were fetched of 6." in answer.warnings
    stated = f"{draft} LIMIT 2"
    answer = answer_of(compile_graph(dependencies(ScriptedReasoner(plan=UNFILTERED, draft=stated))).invoke(QUESTION))
    assert len(answer.rows) == 2
    assert not any("Truncated" in warning for warning in answer.warnings)


def test_trace_has_times_and_the_draft_as_written() -> None:
    draft = "```sql\nselect SNP, p from study\n```"
    answer = answer_of(compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=draft))).invoke(QUESTION))
    generate = next(entry for entry in answer.trace if entry.node == "generate")
    assert generate.detail == {"sql": draft, "author": "model"}
    assert [entry.started for entry in answer.trace] == sorted(entry.started for entry in answer.trace)
    assert all(entry.seconds >= 0 and entry.outcome for entry in answer.trace)
    assert "```" not in answer.sql


def test_diagram_shows_every_node_and_route_of_the_compiled_graph() -> None:
    graph = compile_graph(dependencies(ScriptedReasoner()))
    lines = {line.strip() for line in diagram(graph).splitlines()}
    for node, (_, targets) in ROUTES.items():
        for target in targets:
            assert f"{node} --> {target}" in lines or f"{node} -.-> {target}" in lines
    assert len([line for line in lines if "->" in line]) == sum(len(t) for _, t in ROUTES.values()) + 1
    assert set(graph.get_graph().nodes) == {*NODES, "__start__", "__end__"}


def test_accumulate_and_fresh_state() -> None:
    assert accumulate(None, [{"a": 1}]) == [{"a": 1}]
    assert accumulate([{"a": 1}], [{"b": 2}]) == [{"a": 1}, {"b": 2}]
    assert accumulate([{"a": 1}], [RESET, {"b": 2}]) == [{"b": 2}]
    keys = {*fresh_state("q"), "question", "plan", "outcome", "trace", "remaining_steps"}
    assert keys == set(GraphState.__annotations__)
    assert set(fresh_pass()) < set(fresh_state("q"))
    state: GraphState = {"passes": 2, "attempts": [{"pass": 1}, {"pass": 2}]}
    assert failures(state) == [{"pass": 2}]


def test_merged_is_what_langgraph_makes_of_an_update() -> None:
    state: GraphState = {"sql": "a", "stage": "general", "attempts": [{"pass": 1}]}
    update = {"sql": "b", "attempts": [{"pass": 2}], "trace": [RESET, {"node": "plan"}]}
    after = merged(state, update)
    assert after == {
        "sql": "b",
        "stage": "general",
        "attempts": [{"pass": 1}, {"pass": 2}],
        "trace": [{"node": "plan"}],
    }
    assert state["attempts"] == [{"pass": 1}]


def test_budgets_have_bounds() -> None:
    for wrong in ({"repairs": -1}, {"passes": 0}, {"passes": 11}, {"repairs": 21}):
        with pytest.raises(ValueError, match="Input should be"):
            Budgets(**wrong)
    assert Budgets().recursion_limit > 20


def test_scripted_reasoner_is_a_reasoner() -> None:
    assert isinstance(ScriptedReasoner(), Reasoner)
    with pytest.raises(ConfigurationError):
        ScriptedReasoner(plan=ConfigurationError("x")).plan("q")
