"""The steps of the ChatReasoner through the graph, with a scripted model: no model is called."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from bmsql import Agent
from bmsql.errors import ConfigurationError, CredentialsError, ModelOutputError, ModelUnavailableError
from bmsql.prompts import load_prompt, prompt_names
from bmsql.testing import ScriptedCall, ScriptedChatModel
from bmsql.types import Answer
from tests.chat_reasoner.conftest import SAYS_NOTHING, Ask

BIN1 = "Which SNPs near BIN1 are significant for Alzheimer's disease?"
AD = "AlzheimerDisease_CombinedGeneData_UUID"
PD = "ParkinsonDisease_CompleteGeneData_No23andMe"
AGREES = {"use_reading": True}
INCOMPLETE = {"complete": False, "tables": [AD]}
GOOD = f"SELECT UUID, SNP, p FROM `{AD}` WHERE 'BIN1' IN UNNEST(SPLIT(nearestGene, ';'))"


def steps_of(chat: ScriptedChatModel) -> list[str]:
    return [call.step for call in chat.calls]


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


@pytest.mark.parametrize("name", prompt_names())
def test_prompts_are_rendered_strictly(name: str) -> None:
    prompt = load_prompt(name)
    values = dict.fromkeys(prompt.variables, "{{question}} $x")
    system, user = prompt.render(values)
    assert "{{question}} $x" in user
    with pytest.raises(KeyError, match="unknown"):
        prompt.render({**values, "nothing": ""})
    values.popitem()
    with pytest.raises(KeyError, match="missing"):
        prompt.render(values)
    assert len(prompt.hash) == 12
    assert system


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


# -- streaming, tasks, cache ----------------------------------------------------------------------


def test_stream_gives_nodes_messages_sql_and_the_text_as_it_grows(scripted: Ask) -> None:
    bad = f"SELECT UUID, SNP, pvalue FROM {AD}"
    agent, _ = scripted({"plan": INCOMPLETE, "draft": bad, "repair": GOOD})
    events = list(agent.stream(BIN1))
    assert [event.kind for event in events].count("answer") == 1
    assert events[-1].kind == "answer"
    texts = [event.text for event in events if event.kind == "text"]
    assert texts
    assert texts[-1] == SAYS_NOTHING
    rejected = next(event for event in events if event.outcome == "rejected")
    assert any("pvalue" in message for message in rejected.messages)
    assert any(event.sql == bad for event in events)


async def test_a_slow_model_does_not_block_the_loop(scripted: Ask) -> None:
    agent, _ = scripted({"plan": AGREES}, model={"delay": 0.3})
    agent.ask(BIN1)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    ticking = asyncio.create_task(tick())
    answers = await agent.abatch([BIN1] * 8, concurrency=8)
    ticking.cancel()
    assert all(isinstance(answer, Answer) for answer in answers)
    assert ticks > 20


async def test_cancelling_the_task_cancels_the_call(scripted: Ask) -> None:
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def never(call: ScriptedCall) -> float:
        loop.call_soon_threadsafe(begun.set)
        return 30

    agent, chat = scripted({"plan": AGREES}, model={"delay": never})
    task = asyncio.create_task(agent.aask(BIN1))
    await asyncio.wait_for(begun.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    assert steps_of(chat) == ["plan"]


async def test_one_failed_question_loses_no_other(scripted: Ask) -> None:
    def plan(call: ScriptedCall) -> Any:
        return ModelOutputError("prose.") if "APOE" in call.prompt.rpartition("QUESTION")[2] else AGREES

    agent, _ = scripted({"plan": plan})
    results = await agent.abatch([BIN1, "SNPs near APOE in AD", BIN1], concurrency=3)
    assert [type(result) for result in results] == [Answer, ModelOutputError, Answer]


def test_one_agent_serves_threads_loops_and_tasks(scripted: Ask) -> None:
    agent, _ = scripted({"plan": AGREES})

    async def two() -> list[Answer]:
        return list(await asyncio.gather(agent.aask(BIN1), agent.aask("Which drugs target DRD2?")))

    first = agent.ask(BIN1)
    again = asyncio.run(two())
    more = asyncio.run(two())
    threaded = agent.batch([BIN1, "Which drugs target DRD2?"], concurrency=2)
    for results in (again, more, threaded):
        assert isinstance(results[0], Answer)
        assert isinstance(results[1], Answer)
        assert results[0].rows == first.rows
        assert results[1].rows
        assert results[1].rows != first.rows


def test_the_exact_cache_saves_the_calls(scripted: Ask, tmp_path: Any) -> None:
    steps = {"plan": INCOMPLETE, "draft": GOOD}
    same = {"cache": tmp_path / "replies.sqlite", "model": {"base_url": "http://one"}}
    agent, _ = scripted(steps, **same)
    first = agent.ask(BIN1)
    agent, chat = scripted(steps, **same)
    second = agent.ask(BIN1)
    assert chat.calls == []
    assert second.rows == first.rows
    assert sum(usage.calls for usage in second.usage.steps) == 0
    agent, chat = scripted(
        steps, cache=tmp_path / "replies.sqlite", model={"base_url": "http://one"}, profile="biomedsql"
    )
    agent.ask(BIN1)
    assert chat.calls


def test_callbacks_and_names_reach_each_call(scripted: Ask) -> None:
    from langchain_core.callbacks import BaseCallbackHandler

    seen: list[tuple[str, tuple[str, ...]]] = []

    class Watching(BaseCallbackHandler):
        def on_chat_model_start(self, serialized: Any, messages: Any, *, tags: Any = None, **given: Any) -> None:
            seen.append((given.get("name") or "", tuple(tags or ())))

    agent, _ = scripted({"plan": AGREES})
    agent.ask(BIN1, config={"callbacks": [Watching()], "tags": ["mine"]})
    assert [name for name, _ in seen] == ["bmsql.plan", "bmsql.answer"]
    assert all("mine" in tags for _, tags in seen)


# -- settings -------------------------------------------------------------------------------------


def test_it_is_said_aloud_once_what_the_model_is_sent(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="bmsql"):
        for _ in range(2):
            Agent(model=ScriptedChatModel(model_name="aloud")).close()
        Agent(model=ScriptedChatModel(model_name="aloud"), send_rows=False).close()
    said = [(record.levelno, record.getMessage()) for record in caplog.records if "aloud" in record.getMessage()]
    assert [level for level, _ in said] == [logging.WARNING, logging.INFO, logging.WARNING]
    assert "rows; send_rows=False keeps the rows here" in said[0][1]
    assert "no rows" in said[2][1]


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ("gpt-5", ConfigurationError, "names no provider"),
        ("nosuch:model", ConfigurationError, "nosuch"),
        ("openai:gpt-5", CredentialsError, "OPENAI_API_KEY"),
        ("google_genai:gemini", CredentialsError, "GOOGLE_API_KEY"),
        (object(), ConfigurationError, "no reasoner"),
    ],
)
def test_a_model_that_cannot_be_opened_is_one_clear_error(
    given: Any, error: type[Exception], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(error, match=says):
        Agent(model=given)


def test_a_key_alone_chooses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    with Agent() as agent:
        assert agent.dependencies.reasoner.name == "offline"
