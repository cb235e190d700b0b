"""Every path through the graph, as the nodes that were entered."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

import pytest
from langchain_core.runnables import RunnableConfig

from bmsql.errors import (
    BackendUnavailableError,
    ExecutionError,
    PlanError,
    QueryTimeoutError,
    ReasonerError,
)
from bmsql.graph import Budgets, Dependencies, ainvoke_graph, compile_graph, invoke_graph
from bmsql.testing import ScriptedReasoner
from bmsql.types import Answer, Clarification, Plan, Review
from tests.graph.fakes import ALL, PLAN, UNFILTERED, LittleBackend, dependencies

QUESTION = {"question": "Which SNPs?"}
BAD = "SELECT nothing_like_it FROM study"
GENERAL = ["plan", "generate", "validate", "execute", "inject_thresholds"]
REFINED = [*GENERAL, "validate", "execute", "refine", "answer"]
KEYED = "SELECT UUID, SNP FROM study ORDER BY SNP LIMIT 3"
AGAIN = Review(sufficient=False, reason="too few rows", change="look at gene CCC")


class Ask(Protocol):
    """Asks a graph of these dependencies; the answer, and the nodes that were entered."""

    def __call__(self, deps: Dependencies, config: RunnableConfig | None = None) -> tuple[Answer, list[str]]: ...


def stepwise(deps: Dependencies, config: RunnableConfig | None) -> Answer:
    return Answer.model_validate(compile_graph(deps).invoke(QUESTION, config)["answer"])


def in_one_step(deps: Dependencies, config: RunnableConfig | None) -> Answer:
    return invoke_graph(compile_graph(deps), QUESTION["question"], config)


def asynchronously(deps: Dependencies, config: RunnableConfig | None) -> Answer:
    return asyncio.run(ainvoke_graph(compile_graph(deps), QUESTION["question"], config))


@pytest.fixture(params=[stepwise, in_one_step, asynchronously])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Each path is the same, however many steps LangGraph takes for it."""

    def asked(deps: Dependencies, config: RunnableConfig | None = None) -> tuple[Answer, list[str]]:
        answer = request.param(deps, config)
        return answer, [entry.node for entry in answer.trace]

    return asked


def test_changed_query_is_validated_and_run_again(ask: Ask) -> None:
    answer, path = ask(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL)))
    assert path == REFINED
    assert answer.general is not None
    assert answer.refined is not None
    assert "p < 5e-8" in answer.sql
    assert [row["SNP"] for row in answer.rows] == ["rs2", "rs1", "rs6"]
    assert len(answer.general.result.rows) == 6


def test_query_that_keeps_to_the_conventions_runs_once(ask: Ask) -> None:
    backend = LittleBackend()
    answer, path = ask(dependencies(ScriptedReasoner(plan=UNFILTERED, draft=KEYED), backend))
    assert path == [*GENERAL, "refine", "answer"]
    assert answer.refined is None
    assert answer.rows == [{"UUID": f"s_{n}", "SNP": f"rs{n}"} for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (Plan(answerable=False, problem="the tables hold no ages"), "I cannot answer this: the tables hold no ages."),
        (Plan(answerable=False), "I cannot answer this: the question was not understood."),
    ],
)
def test_what_cannot_be_answered_goes_straight_to_the_answer(ask: Ask, plan: Plan, text: str) -> None:
    backend = LittleBackend()
    answer, path = ask(dependencies(ScriptedReasoner(plan=plan), backend))
    assert path == ["plan", "answer"]
    assert (answer.abstained, answer.text, answer.sql, answer.rows) == (True, text, "", [])
    assert answer.reason
    assert backend.executed == []


def test_ambiguous_question_asks_back(ask: Ask) -> None:
    clarification = Clarification(question="Which one?", alternatives=("this", "that"))
    answer, path = ask(dependencies(ScriptedReasoner(plan=Plan(clarification=clarification))))
    assert path == ["plan", "answer"]
    assert answer.abstained
    assert answer.clarification == clarification
    assert answer.text == "Which one?"


def test_rejected_draft_is_repaired_with_the_exact_problems(ask: Ask) -> None:
    reasoner = ScriptedReasoner(plan=PLAN, draft=BAD, repair=[ALL])
    answer, path = ask(dependencies(reasoner))
    assert path == ["plan", "generate", "validate", *REFINED[1:]]
    assert not answer.abstained
    attempts = next(arguments[2] for step, arguments in reasoner.calls if step == "repair")
    assert [attempt.sql for attempt in attempts] == [BAD]
    assert "nothing_like_it" in attempts[0].problems[0].message
    drafts = [entry.detail["sql"] for entry in answer.trace if entry.node == "generate"]
    assert drafts == [BAD, ALL]


def test_database_error_is_repaired_with_the_database_message(ask: Ask) -> None:
    reasoner = ScriptedReasoner(plan=PLAN, draft=ALL, repair=["SELECT SNP FROM study ORDER BY p"])
    backend = LittleBackend([ExecutionError("Resources exceeded", remedy="Ask for less.")])
    answer, path = ask(dependencies(reasoner, backend))
    assert path == ["plan", "generate", "validate", "execute", *REFINED[1:]]
    assert not answer.abstained
    attempts = next(arguments[2] for step, arguments in reasoner.calls if step == "repair")
    assert attempts[0].sql == ALL
    assert attempts[0].error == "Resources exceeded Ask for less."


def test_failing_refined_query_is_never_answered_from_the_general_one(ask: Ask) -> None:
    backend = LittleBackend([None, QueryTimeoutError("The query took more than 1 s.")])
    answer, path = ask(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL), backend))
    assert path[-3:] == ["execute", "generate", "answer"]
    assert answer.abstained
    assert answer.rows == []
    assert "took more than 1 s" in answer.reason


@pytest.mark.parametrize("repairs", [0, 1, 3])
def test_repairs_end_with_their_budget(ask: Ask, repairs: int) -> None:
    drafts = [f"SELECT wrong_{n} FROM study" for n in range(10)]
    reasoner = ScriptedReasoner(plan=PLAN, draft=drafts[0], repair=drafts[1:])
    answer, path = ask(dependencies(reasoner, budgets=Budgets(repairs=repairs)))
    assert path.count("validate") == repairs + 1
    assert answer.abstained
    assert f"wrong_{repairs}" in answer.reason


def test_query_already_seen_is_not_tried_again(ask: Ask) -> None:
    reasoner = ScriptedReasoner(plan=PLAN, draft=BAD, repair=["SELECT other FROM study", BAD])
    answer, path = ask(dependencies(reasoner, budgets=Budgets(repairs=20)))
    assert path.count("validate") == 2
    assert answer.abstained
    assert answer.trace[-2].outcome == "exhausted"


def test_nothing_new_to_try_is_an_abstention_with_the_last_error(ask: Ask) -> None:
    answer, path = ask(dependencies(ScriptedReasoner(plan=PLAN, draft="DROP TABLE study")))
    assert path == ["plan", "generate", "validate", "generate", "answer"]
    assert answer.abstained
    assert answer.reason.startswith("the query failed, at last with:")


def test_plan_that_does_not_compile_is_repaired(ask: Ask) -> None:
    reasoner = ScriptedReasoner(plan=PLAN, draft=PlanError("no such role", remedy="Use p."), repair=[ALL])
    answer, path = ask(dependencies(reasoner))
    assert path == ["plan", "generate", *REFINED[1:]]
    assert not answer.abstained
    reasoner = ScriptedReasoner(plan=PLAN, draft=PlanError("no such role", remedy="Use p."))
    answer, path = ask(dependencies(reasoner))
    assert answer.reason == "the query failed, at last with: no such role Use p."


@pytest.mark.parametrize("error", [ReasonerError("no reply"), BackendUnavailableError("gone")])
def test_errors_that_no_other_query_cures_are_raised(ask: Ask, error: Any) -> None:
    if isinstance(error, ReasonerError):
        deps = dependencies(ScriptedReasoner(plan=error))
    else:
        deps = dependencies(ScriptedReasoner(plan=PLAN, draft=ALL), LittleBackend([error]))
    with pytest.raises(type(error)):
        ask(deps)


def test_insufficient_rows_lead_to_another_plan(ask: Ask) -> None:
    reasoner = ScriptedReasoner(
        plan=[PLAN, UNFILTERED], draft=[ALL, KEYED], review=[AGAIN, Review(sufficient=True)], answer="Done."
    )
    answer, path = ask(dependencies(reasoner, budgets=Budgets(passes=3)))
    assert path == [*REFINED[:-1], *GENERAL, "refine", "answer"]
    assert reasoner.calls[0][1] == ("Which SNPs?", "")
    assert next(arguments for step, arguments in reasoner.calls[1:] if step == "plan")[1] == AGAIN.change
    assert answer.sql.split() == KEYED.replace("study", "`lab.main.study`").split()
    assert answer.plan == UNFILTERED


def test_passes_end_with_their_budget(ask: Ask) -> None:
    plans = [PLAN, UNFILTERED, PLAN, UNFILTERED]
    reasoner = ScriptedReasoner(plan=plans, draft=ALL, review=AGAIN)
    answer, path = ask(dependencies(reasoner, budgets=Budgets(passes=2)))
    assert path.count("plan") == 2
    assert not answer.abstained
    assert "The rows may not suffice: too few rows" in answer.warnings


def test_pass_ends_early_when_the_plan_is_the_same(ask: Ask) -> None:
    reasoner = ScriptedReasoner(plan=PLAN, draft=ALL, review=AGAIN)
    answer, path = ask(dependencies(reasoner, budgets=Budgets(passes=5)))
    assert path == [*REFINED[:-1], "plan", "answer"]
    assert [row["SNP"] for row in answer.rows] == ["rs2", "rs1", "rs6"]


@pytest.mark.parametrize("second", [BAD, Plan(answerable=False, problem="no")])
def test_pass_without_result_falls_back_on_the_one_before(ask: Ask, second: Any) -> None:
    reasoner = ScriptedReasoner(
        plan=[PLAN, second if isinstance(second, Plan) else UNFILTERED],
        draft=[ALL, second if isinstance(second, str) else ALL],
        review=AGAIN,
    )
    answer, _ = ask(dependencies(reasoner, budgets=Budgets(passes=2)))
    assert not answer.abstained
    assert answer.plan == PLAN
    assert [row["SNP"] for row in answer.rows] == ["rs2", "rs1", "rs6"]
    assert answer.evidence == ("s_2", "s_1", "s_6")


@pytest.mark.parametrize(("repairs", "passes"), [(0, 1), (3, 1), (5, 4), (20, 10)])
def test_recursion_limit_is_never_what_stops_it(ask: Ask, repairs: int, passes: int) -> None:
    """The longest path there is: every repair of every pass is used, and fails on the refined query."""
    count = (repairs + 1) * passes
    drafts = [f"SELECT SNP, p, {n} AS n FROM study" for n in range(count)]
    firsts = drafts[:: repairs + 1]
    others = [draft for draft in drafts if draft not in firsts]
    plans = [PLAN.model_copy(update={"limit": n + 1}) for n in range(passes)]
    late: list[Any] = []
    for number in range(count):
        last = (number + 1) % (repairs + 1) == 0
        late += [None, None if last else ExecutionError("late")]
        late += [None] if last else []
    reasoner = ScriptedReasoner(plan=plans, draft=firsts, repair=others, review=AGAIN)
    budgets = Budgets(repairs=repairs, passes=passes)
    answer, path = ask(dependencies(reasoner, LittleBackend(late), budgets=budgets))
    assert path.count("generate") == count
    assert path.count("plan") == passes
    assert not answer.abstained
    assert len(path) <= budgets.recursion_limit


def test_outer_recursion_limit_ends_in_an_abstention(ask: Ask) -> None:
    drafts = [f"SELECT wrong_{n} FROM study" for n in range(20)]
    deps = dependencies(ScriptedReasoner(plan=PLAN, draft=drafts[0], repair=drafts[1:]), budgets=Budgets(repairs=15))
    answer, path = ask(deps, {"recursion_limit": 10})
    assert answer.abstained
    assert len(path) == 9
