"""The systems of the paper that take several steps: ReAct, and BMSQL as published."""

from __future__ import annotations

from typing import Any

import pytest

from bmsql.testing import ScriptedChatModel
from bmsql.types import Answer
from tests.bench.gold_model import INVALID
from tests.bench.paper import AD, CALLS, GOLD, QUESTION, Open, nodes, steps

# -- ReAct ----------------------------------------------------------------------------------------


def react(open_one: Open, *replies: Any, **options: Any) -> tuple[Answer, ScriptedChatModel]:
    model = ScriptedChatModel(steps={"react": list(replies)}, **options)
    return open_one("react", model).ask(QUESTION), model


VERIFY_BAD = {"thought": "a", "action": "verify", "sql": INVALID}
VERIFY = {"thought": "b", "action": "verify", "sql": GOLD}
EXECUTE = {"thought": "c", "action": " Execute", "sql": f"```sql\n{GOLD}\n```"}
ANSWER = {"thought": "d", "action": "answer", "answer": "2.6e-20."}


@pytest.mark.parametrize("methods", [("json_schema",), ("function_calling",), ()])
def test_react_observes_what_its_actions_gave(methods: tuple[str, ...], open_one: Open) -> None:
    answer, model = react(open_one, VERIFY_BAD, VERIFY, EXECUTE, ANSWER, methods=methods)
    assert nodes(answer) == ["prepare", "think", "validate", "think", "validate", "think", "execute", "think", "finish"]
    # What was verified and is then run is one draft.
    drafted = [entry.detail["sql"] for entry in answer.trace if entry.outcome == "drafted"]
    assert drafted == [INVALID, GOLD]
    prompt = model.calls[-1].prompt
    assert "There is no table nowhere" in prompt or "nowhere" in prompt.partition("OBSERVATION:")[2]
    assert "OBSERVATION: The query is valid." in prompt
    assert answer.rows[0]["UUID"] in prompt
    assert "Steps left, this one included: 2" in prompt
    assert answer.text == "2.6e-20."


def test_react_ends_after_five_steps(open_one: Open) -> None:
    answer, model = react(open_one, *[EXECUTE] * 9)
    assert len(model.calls) == 5
    assert answer.text == "No answer was given within 5 steps."
    assert len(answer.rows) == 1
    answer, model = react(open_one, *[{"thought": "", "action": "verify"}] * 9)
    assert len(model.calls) == 5
    assert (answer.abstained, answer.reason) == (True, "no answer was given within 5 steps")
    assert "There was no query in `sql`." in model.calls[-1].prompt


def test_an_answer_without_a_query_is_an_abstention(open_one: Open) -> None:
    answer, _ = react(open_one, ANSWER)
    assert (answer.abstained, answer.text) == (True, "2.6e-20.")
    assert "without having run a query" in answer.reason


# -- BMSQL as published ---------------------------------------------------------------------------

ALL = f"SELECT UUID, SNP, p FROM {AD} LIMIT 100"
SOME = ALL.replace(" LIMIT", " WHERE 'BIN1' IN UNNEST(SPLIT(nearestGene, ';')) AND p < 5e-8 LIMIT")


def published(open_one: Open, passes: int = 1, **scripts: Any) -> tuple[Answer, ScriptedChatModel]:
    base = {"columns": {"tables": [{"table": AD, "columns": ["SNP"]}]}, "sufficient": {"sufficient": True}}
    scripted = {**base, "draft": ALL, "refine": SOME, "answer": "Nine.", **scripts}
    model = ScriptedChatModel(steps=scripted)
    return open_one("bmsql-paper", model, max_passes=passes).ask(QUESTION), model


def test_the_published_agent_answers_from_two_queries(open_one: Open) -> None:
    answer, model = published(open_one)
    assert answer.general is not None
    assert answer.refined is not None
    assert len(answer.general.result.rows) > len(answer.refined.result.rows) == 9
    assert "5e-8" in answer.sql
    assert steps(model) == list(CALLS["bmsql-paper"])
    prompts = {call.step: call.prompt for call in model.calls}
    assert f"`{AD}`: SNP" in prompts["draft"]
    # Only the refined query is told the thresholds.
    assert ["5e-8" in prompts[step] for step in ("columns", "draft", "refine")] == [False, False, True]
    assert "GENERAL QUERY" in prompts["answer"]
    assert "Nine." in prompts["sufficient"]


def test_a_refined_query_that_fails_leaves_the_general_rows(open_one: Open) -> None:
    answer, model = published(open_one, refine=INVALID)
    assert answer.refined is None
    assert answer.result is not None
    assert any("The refined query failed: " in warning for warning in answer.warnings)
    assert steps(model) == list(CALLS["bmsql-paper"])


def test_at_most_three_repairs_each_told_the_errors(open_one: Open) -> None:
    answer, model = published(open_one, draft=INVALID, repair=[INVALID, f"{INVALID} LIMIT 1", ALL])
    assert steps(model) == ["columns", "draft", "repair", "repair", "repair", "refine", "answer", "sufficient"]
    assert model.calls[4].prompt.count("nowhere") >= 3
    assert len(answer.rows) == 9
    answer, model = published(open_one, draft=INVALID, repair=INVALID)
    assert steps(model) == ["columns", "draft", "repair", "repair", "repair"]
    assert answer.abstained
    assert "the query failed: " in answer.reason


def test_passes_go_on_until_an_answer_suffices(open_one: Open) -> None:
    whole = list(CALLS["bmsql-paper"])
    short = {"sufficient": False, "change": "Ask for chromosome 2."}
    answer, model = published(open_one, passes=3, sufficient=[short, short, {"sufficient": True}])
    assert steps(model) == whole * 3
    assert "DID NOT SUFFICE: Ask for chromosome 2." in model.calls[len(whole)].prompt
    answer, model = published(open_one, passes=2, sufficient=short)
    assert steps(model) == whole * 2
    assert len(answer.rows) == 9
    # A further pass that fails does not cost the rows of the one before.
    answer, model = published(open_one, passes=2, sufficient=short, draft=[ALL, "NONE"])
    assert steps(model) == [*whole, "columns", "draft"]
    assert (answer.text, len(answer.rows)) == ("Nine.", 9)
