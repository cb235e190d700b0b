"""How the ChatReasoner comes to its query: plan, draft, repair, review and candidates. No model is called."""

from __future__ import annotations

from typing import Any

import pytest

from bmsql import Agent
from bmsql.errors import ModelOutputError, ModelUnavailableError
from bmsql.testing import ScriptedCall
from tests.chat_reasoner.conftest import Ask
from tests.chat_reasoner.scripts import AD, AGREES, BIN1, GOOD, INCOMPLETE, PD, steps_of

# -- plan and draft -------------------------------------------------------------------------------


def test_a_reading_that_the_model_accepts_costs_two_calls(scripted: Ask) -> None:
    agent, chat = scripted({"plan": AGREES})
    answer = agent.ask(BIN1)
    assert steps_of(chat) == ["plan", "answer"]
    assert [usage.step for usage in answer.usage.steps] == ["plan", "answer"]
    assert all(usage.calls == 1 and usage.prompt_tokens > 0 for usage in answer.usage.steps)
    with Agent() as offline:
        assert answer.rows == offline.ask(BIN1).rows


def test_sql_is_asked_for_only_where_the_plan_is_not_complete(scripted: Ask) -> None:
    agent, chat = scripted({"plan": INCOMPLETE, "draft": f"Here you are:\n```sql\n{GOOD};\n```"})
    answer = agent.ask(BIN1)
    assert steps_of(chat) == ["plan", "draft", "answer"]
    prompt = chat.calls[1].prompt
    # The chosen table alone, how what is named matches, and what is put in afterwards.
    assert AD in prompt
    assert PD not in prompt
    assert "'BIN1' IN UNNEST(SPLIT(nearestGene, ';'))" in prompt
    assert "ADDED AFTERWARDS: p < 5e-8" in prompt
    assert answer.refined is not None
    assert "p < 5e-8" in answer.sql
    assert len(answer.rows) == 9


def test_a_draft_that_matches_a_gene_loosely_is_put_right(scripted: Ask) -> None:
    agent, _ = scripted({"plan": INCOMPLETE, "draft": f"SELECT UUID, SNP, p FROM {AD} WHERE nearestGene LIKE '%BIN1%'"})
    answer = agent.ask(BIN1)
    assert "'BIN1' IN UNNEST(SPLIT(nearestGene, ';'))" in answer.sql
    fixes = next(entry.detail["fixes"] for entry in answer.trace if entry.node == "validate")
    assert any("as a whole" in fix for fix in fixes)


def test_the_wrong_p_value_of_a_model_is_corrected_and_reported(scripted: Ask) -> None:
    draft = f"SELECT UUID, SNP, p FROM {AD} WHERE nearestGene = 'BIN1' AND p < 0.05"
    agent, _ = scripted({"plan": INCOMPLETE, "draft": draft})
    answer = agent.ask(BIN1)
    assert "p < 5e-8" in answer.sql
    assert "0.05" not in answer.sql
    assert [record.status for record in answer.conventions if record.rule == "genome_wide_significance"] == [
        "corrected"
    ]


def test_names_that_nothing_is_like_lead_to_sql_over_the_known_tables(scripted: Ask) -> None:
    agent, chat = scripted({"plan": {"tables": [AD], "select": ["mutation_class"]}, "draft": GOOD})
    answer = agent.ask(BIN1)
    assert steps_of(chat) == ["plan", "draft", "answer"]
    assert "mutation_class" in answer.trace[0].detail["plan"]
    assert len(answer.rows) == 9


def test_an_unanswerable_question_is_an_abstention_with_the_reason(scripted: Ask) -> None:
    agent, chat = scripted({"plan": {"answerable": False, "problem": "no table holds football"}})
    answer = agent.ask("Who won the 2018 World Cup?")
    assert answer.abstained
    assert "football" in answer.text
    assert steps_of(chat) == ["plan"]


def test_the_reading_and_the_plan_step_can_be_switched_off(scripted: Ask) -> None:
    from bmsql.reasoners.chat import ChatOptions

    agent, chat = scripted({"plan": AGREES, "draft": GOOD}, chat=ChatOptions(plans=False, linking=False))
    answer = agent.ask(BIN1)
    assert steps_of(chat) == ["draft", "answer"]
    assert "not looked up" in chat.calls[0].prompt
    assert len(answer.rows) == 9
    agent, chat = scripted({"plan": INCOMPLETE, "draft": GOOD}, chat=ChatOptions(reading=False))
    agent.ask(BIN1)
    assert "READING: none" in chat.calls[0].prompt


# -- repair ---------------------------------------------------------------------------------------


def test_a_repair_is_told_the_exact_messages_and_everything_tried(scripted: Ask) -> None:
    bad = f"SELECT UUID, SNP, pvalue FROM {AD}"
    worse = f"SELECT UUID, SNP, p_val FROM {AD}"
    agent, chat = scripted({"plan": INCOMPLETE, "draft": bad, "repair": [worse, GOOD]})
    answer = agent.ask(BIN1)
    assert steps_of(chat) == ["plan", "draft", "repair", "repair", "answer"]
    first, second = (call.prompt for call in chat.calls[2:4])
    problems = [entry.detail["problems"][0] for entry in answer.trace if entry.outcome == "rejected"]
    assert len(problems) == 2
    assert problems[0] in first
    assert bad in second
    assert worse in second
    assert problems[1] in second
    assert len(answer.rows) == 9


def test_a_repair_never_repeats_a_query(scripted: Ask) -> None:
    bad = f"SELECT UUID, SNP, pvalue FROM {AD}"
    again = f"select uuid,  snp, pvalue\nfrom {AD} -- again"
    agent, chat = scripted({"plan": INCOMPLETE, "draft": bad, "repair": again})
    answer = agent.ask(BIN1)
    # It is told once that it repeated itself; then the pass ends.
    assert steps_of(chat) == ["plan", "draft", "repair", "repair"]
    assert "tried already" in chat.calls[3].prompt
    assert answer.abstained
    assert "pvalue" in answer.reason


@pytest.mark.parametrize("reply", ["NONE", "none.", "```sql\nNONE\n```"])
def test_a_model_that_gives_up_leaves_the_error_that_it_could_not_repair(scripted: Ask, reply: str) -> None:
    agent, chat = scripted({"plan": INCOMPLETE, "draft": f"SELECT UUID, SNP, pvalue FROM {AD}", "repair": reply})
    answer = agent.ask(BIN1)
    assert steps_of(chat) == ["plan", "draft", "repair"]
    assert "pvalue" in answer.reason


# -- review and passes ----------------------------------------------------------------------------


def test_nothing_is_reviewed_where_nothing_is_off(scripted: Ask) -> None:
    agent, chat = scripted({"plan": AGREES, "review": {"sufficient": False, "change": "x"}}, max_passes=3)
    agent.ask(BIN1)
    assert "review" not in steps_of(chat)


@pytest.mark.parametrize(
    "steps",
    [
        {"plan": {"tables": [AD], "select": ["SNP"]}},
        {"plan": INCOMPLETE, "draft": f"SELECT UUID, SNP FROM `{AD}` WHERE 'APOE' IN UNNEST(SPLIT(nearestGene, ';'))"},
    ],
)
def test_what_the_query_leaves_out_of_the_question_is_reviewed_and_said(scripted: Ask, steps: dict[str, Any]) -> None:
    review = {"sufficient": False, "reason": "BIN1 is missing", "change": "filter by BIN1"}
    agent, chat = scripted({**steps, "review": review}, max_passes=1)
    warnings = agent.ask(BIN1).warnings
    assert "The question names BIN1, and the query does not." in warnings
    agent, chat = scripted({**steps, "plan": [steps["plan"], AGREES], "review": review}, max_passes=2)
    answer = agent.ask(BIN1)
    assert "the query does not" in next(call for call in chat.calls if call.step == "review").prompt
    assert len(answer.rows) == 9
    assert not any("and the query does not" in warning for warning in answer.warnings)


NONE = "No SNP was found."
EMPTY = f"SELECT UUID, SNP, p FROM `{AD}` WHERE 'BIN1' IN UNNEST(SPLIT(nearestGene, ';')) AND b > 100"


def test_an_empty_result_is_reviewed_and_planned_anew_with_the_change(scripted: Ask) -> None:
    agent, chat = scripted(
        {
            "plan": [INCOMPLETE, {**INCOMPLETE, "intent": "lookup"}],
            "draft": [EMPTY, GOOD],
            "review": {"sufficient": False, "reason": "b is never that large", "change": "leave the effect out"},
        },
        max_passes=2,
    )
    answer = agent.ask(BIN1)
    assert steps_of(chat) == ["plan", "draft", "review", "plan", "draft", "answer"]
    assert "the result is empty" in chat.calls[2].prompt
    assert "leave the effect out" in chat.calls[3].prompt
    assert len(answer.rows) == 9


def test_no_pass_is_left_no_review_is_paid_for(scripted: Ask) -> None:
    agent, chat = scripted({"plan": INCOMPLETE, "draft": EMPTY, "answer": NONE})
    agent.ask(BIN1)
    assert steps_of(chat) == ["plan", "draft", "answer"]


def test_a_pass_that_tries_nothing_new_ends_with_the_result_before(scripted: Ask) -> None:
    agent, chat = scripted(
        {
            "plan": [INCOMPLETE, {**INCOMPLETE, "intent": "lookup"}],
            "draft": EMPTY,
            "review": {"sufficient": False, "reason": "r", "change": "c"},
            "answer": NONE,
        },
        max_passes=3,
    )
    answer = agent.ask(BIN1)
    assert steps_of(chat) == ["plan", "draft", "review", "plan", "draft", "answer"]
    assert not answer.abstained
    assert answer.rows == []


def test_a_model_that_is_gone_in_the_second_pass_costs_nothing_of_the_first(scripted: Ask) -> None:
    down = ModelUnavailableError("the server is gone.")

    def plan(call: ScriptedCall) -> Any:
        return down if "DID NOT SUFFICE" in call.prompt else INCOMPLETE

    agent, _ = scripted(
        {"plan": plan, "draft": EMPTY, "review": {"sufficient": False, "reason": "r", "change": "c"}}, max_passes=2
    )
    answer = agent.ask(BIN1)
    assert not answer.abstained
    assert answer.general is not None


# -- candidates -----------------------------------------------------------------------------------


def test_the_result_that_most_candidates_agree_with_is_taken(scripted: Ask) -> None:
    other = f"SELECT UUID, SNP, p FROM `{AD}` WHERE SNP = 'rs429358'"
    same = GOOD.replace("SELECT UUID, SNP, p", "SELECT p, SNP, UUID")
    agent, chat = scripted({"plan": INCOMPLETE, "draft": [other, GOOD, same]}, candidates=3)
    answer = agent.ask(BIN1)
    assert steps_of(chat) == ["plan", "draft", "draft", "draft", "answer"]
    assert len(answer.rows) == 9
    assert next(entry for entry in answer.trace if entry.node == "generate").detail["candidates"] == [2, 1]


def test_the_model_decides_only_a_tie(scripted: Ask) -> None:
    other = f"SELECT UUID, SNP, p FROM `{AD}` WHERE 'BIN1' IN UNNEST(SPLIT(nearestGene, ';')) AND b > 0"
    steps = {"plan": INCOMPLETE, "draft": [GOOD, other], "choose": {"number": 1}}
    agent, chat = scripted(steps, candidates=2)
    answer = agent.ask(BIN1)
    assert steps_of(chat) == ["plan", "draft", "draft", "choose", "answer"]
    assert f"2. {other}" in chat.calls[3].prompt
    assert answer.general is not None
    assert "b > 0" not in answer.general.sql


def test_a_sample_that_fails_costs_no_other(scripted: Ask) -> None:
    samples = [ModelOutputError("prose."), GOOD, ModelOutputError("prose.")]
    agent, chat = scripted({"plan": INCOMPLETE, "draft": samples}, candidates=3)
    assert len(agent.ask(BIN1).rows) == 9
    agent, chat = scripted({"plan": INCOMPLETE, "draft": [GOOD, ModelUnavailableError("down.")]}, candidates=3)
    assert len(agent.ask(BIN1).rows) == 9
    assert steps_of(chat) == ["plan", "draft", "draft", "answer"]
    agent, chat = scripted({"plan": INCOMPLETE, "draft": ModelOutputError("prose.")}, candidates=2)
    with pytest.raises(ModelOutputError, match="prose"):
        agent.ask(BIN1)
