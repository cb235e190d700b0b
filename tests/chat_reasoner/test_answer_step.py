"""How the ChatReasoner words its answer: what may be in it, and what a prompt may hold. No model is called."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bmsql.errors import CredentialsError, ModelOutputError, ModelUnavailableError
from bmsql.prompts import load_prompt
from tests.chat_reasoner.conftest import Ask
from tests.chat_reasoner.scripts import AD, AGREES, BIN1, GOOD, INCOMPLETE, steps_of

# -- answer ---------------------------------------------------------------------------------------


def test_an_invented_number_is_named_and_written_again(scripted: Ask) -> None:
    right = "9 SNPs near BIN1 are genome-wide significant (p < 5e-8), led by rs6733839."
    agent, chat = scripted({"plan": AGREES, "answer": ["42 SNPs near BIN1 are significant.", right]})
    answer = agent.ask(BIN1)
    assert answer.text == right
    assert "42" in chat.calls[-1].prompt.partition("IT SAID WHAT IS NOT THERE")[2]
    assert not any("without the model" in warning for warning in answer.warnings)


def test_a_text_that_stays_wrong_is_replaced_by_a_summary(scripted: Ask) -> None:
    agent, _ = scripted({"plan": AGREES, "answer": "rs999999999 near FAKE1 is the strongest of 42."})
    answer = agent.ask(BIN1)
    assert "rs999999999" not in answer.text
    assert "rs6733839" in answer.text
    assert any("made without the model" in warning for warning in answer.warnings)


@pytest.mark.parametrize("address", ["http://evil.example/?q=rs6733839", "![x](https://evil.example/a.png)"])
def test_an_address_that_is_nowhere_is_no_answer(scripted: Ask, address: str) -> None:
    agent, _ = scripted({"plan": AGREES, "answer": f"There are 9 SNPs, see {address}"})
    answer = agent.ask(BIN1)
    assert "evil" not in answer.text
    assert any("without the model" in warning for warning in answer.warnings)


@pytest.mark.parametrize(
    "error", [ModelUnavailableError("down."), ModelOutputError("prose."), CredentialsError("revoked.")]
)
def test_a_model_that_fails_at_the_answer_costs_no_rows(scripted: Ask, error: Exception) -> None:
    agent, _ = scripted({"plan": AGREES, "answer": error})
    answer = agent.ask(BIN1)
    assert len(answer.rows) == 9
    assert "BIN1" in answer.text
    assert any("made without the model" in warning for warning in answer.warnings)


def test_rows_are_kept_back_when_the_user_says_so(scripted: Ask) -> None:
    agent, chat = scripted({"plan": AGREES}, send_rows=False)
    answer = agent.ask(BIN1)
    assert "rs6733839" not in chat.calls[-1].prompt
    assert "9 rows" in chat.calls[-1].prompt
    assert len(answer.rows) == 9


def test_no_cell_reaches_a_prompt_of_a_tie_a_repair_or_a_warning_where_rows_are_kept_back(scripted: Ask) -> None:
    apoe = f"SELECT UUID, SNP, p FROM `{AD}` WHERE 'APOE' IN UNNEST(SPLIT(nearestGene, ';'))"
    steps = {"plan": INCOMPLETE, "draft": [apoe, f"{apoe} AND b > 0"], "choose": {"number": 2}}
    agent, chat = scripted(steps, candidates=2, send_rows=False)
    answer = agent.ask("Which SNPs near APOE are significant for Alzheimer's disease?")
    assert steps_of(chat) == ["plan", "draft", "draft", "choose", "answer"]
    assert "b > 0" in answer.sql
    cells = {str(cell) for row in answer.rows for name, cell in row.items() if name in ("UUID", "p")}
    assert len(answer.sources) > 1
    for call in chat.calls[3:]:
        assert not [cell for cell in (*cells, *answer.sources) if cell in call.prompt]
    # The user is told all the same.
    assert any("Mixed sources" in warning for warning in answer.warnings)
    agent, chat = scripted(
        {"plan": INCOMPLETE, "draft": f"SELECT UUID, PARSE_DATE('%Y', SNP) AS year FROM `{AD}`", "repair": GOOD},
        send_rows=False,
    )
    answer = agent.ask(BIN1)
    told = chat.calls[2].prompt.partition("TRIED")[2]
    assert steps_of(chat)[2] == "repair"
    assert "Could not parse string" in told
    assert "rs" not in told.partition("Could not parse")[2].partition("specifier")[0]
    assert any("rs" in entry.detail.get("error", "") for entry in answer.trace)


def test_what_was_asked_is_in_the_trace_with_version_and_hash(scripted: Ask) -> None:
    agent, _ = scripted({"plan": AGREES})
    answer = agent.ask(BIN1)
    asked = {one["step"]: one["prompt"] for entry in answer.trace for one in entry.detail.get("model", [])}
    assert asked == {name: load_prompt(name).label for name in ("plan", "answer")}


HALF = "\ud83d"


@pytest.mark.parametrize(
    "steps",
    [
        {"plan": {"answerable": False, "problem": f"x {HALF}"}},
        {"plan": json.dumps({"answerable": False, "problem": f"x {HALF}"})},
        {"plan": INCOMPLETE, "draft": f"SELECT '{HALF}' AS x FROM `{AD}`"},
        {"plan": AGREES, "answer": f"The rows are given below {HALF}."},
    ],
)
def test_half_a_character_in_a_reply_breaks_nothing(scripted: Ask, steps: dict[str, Any]) -> None:
    agent, _ = scripted(steps, model={"usage": False})
    *events, last = agent.stream(BIN1)
    assert last.answer is not None
    assert HALF not in last.answer.model_dump_json()
    assert not any(HALF in event.text for event in events)
