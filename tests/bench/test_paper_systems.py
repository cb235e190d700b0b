"""The systems of the paper: what each asks and shows, and that no reply of a model loses a question."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from bmsql.backends import cache_directory
from bmsql.bench import (
    RunFolder,
    Score,
    Selection,
    System,
    prepare_run,
    read_questions,
    read_scores,
    reading_for,
    run_questions,
    score_run,
)
from bmsql.bench.systems import GraphSystem, OurSystem, SystemOptions, open_system, system_names
from bmsql.cli._main import run as command
from bmsql.errors import ConfigurationError, ModelUnavailableError, QueryCancelledError
from bmsql.fewshot import ExampleStore
from bmsql.linking import Linker, ValueIndex
from bmsql.prompts import load_prompt, prompt_names
from bmsql.reasoners.chat import ChatClient, ChatReasoner
from bmsql.testing import ScriptedChatModel
from bmsql.types import Answer
from tests.bench.gold_model import INVALID, gold_model, without_conditions

AD = "AlzheimerDisease_CombinedGeneData_UUID"
QUESTION = "What is the p-value of rs75932628 in the Alzheimer's GWAS?"
GOLD = f"SELECT UUID, SNP, p FROM {AD} WHERE SNP = 'rs75932628'"
DATA = Path(__file__).parent.parent / "data" / "questions"

ONE_QUERY = ("draft", "answer")
CALLS = {
    **{name: ONE_QUERY for name in system_names() if name.partition(":")[0] in {"single", "index"}},
    "dail-sql": ("preliminary", "draft", "answer"),
    "react": ("react", "react"),
    "bmsql-paper": ("columns", "draft", "refine", "answer", "sufficient"),
}
Open = Callable[..., GraphSystem]


@pytest.fixture(scope="session")
def open_one(ours: OurSystem) -> Open:
    """Opens a system with a scripted model, over one backend and one index of stored values."""
    deps = ours.dependencies
    linker = Linker(deps.model, ValueIndex.load_or_build(deps.backend, deps.model, cache_directory()))
    shared = ExampleStore(deps.model, link=linker.link)

    def make(name: str, model: ScriptedChatModel, *, examples: Path | None = None, **options: Any) -> GraphSystem:
        store = ExampleStore(deps.model, examples, link=linker.link) if examples else shared
        catalog = deps.backend.catalog()
        reasoner = ChatReasoner(
            ChatClient(model, seconds=5), deps.model, deps.rules, catalog, linker.link, examples=store
        )
        system = open_system(name, SystemOptions(model=reasoner, backend=deps.backend, **options))
        assert isinstance(system, GraphSystem)
        return system

    return make


def nodes(answer: Answer) -> list[str]:
    return [entry.node for entry in answer.trace]


def steps(model: ScriptedChatModel) -> list[str]:
    return [call.step for call in model.calls]


# -- calls ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CALLS)
def test_each_makes_the_calls_that_the_paper_describes(name: str, open_one: Open) -> None:
    model = gold_model({QUESTION: GOLD})
    system = open_one(name, model)
    assert isinstance(system, System)
    assert (system.name, system.model) == (name, "scripted:model")
    answer = system.ask(QUESTION)
    assert steps(model) == list(CALLS[name])
    assert (answer.abstained, answer.text, len(answer.rows)) == (False, "See the rows.", 1)
    assert "rs75932628" in answer.sql
    assert answer.refined is None
    # Tokens are counted for each step, and all prompts are on record.
    counted = {step.step: step.calls for step in answer.usage.steps}
    assert counted == dict(Counter(CALLS[name]))
    assert all(step.prompt_tokens for step in answer.usage.steps)
    assert answer.usage.queries == 1
    labels = {one["prompt"] for entry in answer.trace for one in entry.detail.get("model", [])}
    assert labels == set(system.settings["prompts"]) or name == "bmsql-paper"
    assert labels <= set(system.settings["prompts"])
    again = asyncio.run(system.aask(QUESTION))
    assert (again.sql, nodes(again)) == (answer.sql, nodes(answer))


@pytest.mark.parametrize("name", [name for name in system_names() if name.startswith("ours")])
def test_ours_with_each_part_left_out(name: str, open_one: Open) -> None:
    model = gold_model({QUESTION: GOLD})
    system = open_one(name, model)
    part = name.partition(":no-")[2]
    assert system.name == (f"ours, no {part}" if part else "ours")
    answer = system.ask(QUESTION)
    assert [row["SNP"] for row in answer.rows] == ["rs75932628"]
    # Without plans SQL is asked for at once.
    assert ("plan" in steps(model)) == (part != "plans")
    whole = open_one("ours", gold_model({QUESTION: GOLD}))
    assert (system.settings == whole.settings) == (not part)
    if part == "linking":
        assert "LINKED: not looked up" in next(call.prompt for call in model.calls if call.step == "draft")


# -- prompts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rows", "shots", "thresholds"),
    [
        ("single", 0, 0, False),
        ("single:3-rows", 3, 0, False),
        ("single:5-rows", 5, 0, False),
        ("single:1-shot", 0, 1, False),
        ("single:3-shot", 0, 3, False),
        ("single:5-shot", 0, 5, False),
        ("single:stat-instruct", 0, 0, True),
        ("single:combo", 3, 3, True),
    ],
)
def test_a_variant_shows_what_it_says(name: str, rows: int, shots: int, thresholds: bool, open_one: Open) -> None:
    model = gold_model({QUESTION: GOLD})
    open_one(name, model).ask(QUESTION)
    prompt = model.calls[0].prompt
    assert prompt.count("\nSQL: SELECT") == shots
    assert ("5e-8" in prompt.partition("CONVENTIONS")[2]) == thresholds
    sampled = prompt.partition("FIRST ROWS OF EACH TABLE\n")[2].partition("\nEXAMPLES")[0]
    block = sampled.partition(f"`{AD}`\n")[2].partition("\n`")[0].splitlines()
    assert [line.split(" | ")[0] for line in block[:1]] == (["UUID"] if rows else [])
    keys = [line.split(" | ")[0] for line in block[1:]]
    assert (len(keys), keys) == (rows, sorted(keys))
    assert all(len(cell) <= 40 for line in block[1:] for cell in line.split(" | "))
    assert prompt.rstrip().endswith(QUESTION)


def test_prompts_are_the_same_each_time(open_one: Open) -> None:
    models = [gold_model({QUESTION: GOLD}) for _ in range(2)]
    systems = [open_one("single:combo", model) for model in models]
    for system in systems:
        system.ask(QUESTION)
    assert models[0].calls[0].prompt == models[1].calls[0].prompt
    assert systems[0].settings == systems[1].settings


def test_rows_are_not_sampled_where_none_may_be_sent(open_one: Open) -> None:
    with pytest.raises(ConfigurationError, match="no rows may be sent"):
        open_one("single:3-rows", gold_model({}), send_rows=False)
    model = gold_model({QUESTION: GOLD})
    answer = open_one("single", model, send_rows=False).ask(QUESTION)
    assert len(answer.rows) == 1
    assert "1 rows were found; they are not shown to you" in model.calls[-1].prompt
    assert answer.rows[0]["UUID"] not in model.calls[-1].prompt


def test_an_index_shows_the_nearest_tables_only(open_one: Open) -> None:
    model = gold_model({QUESTION: GOLD})
    answer = open_one("index", model).ask(QUESTION)
    shown = answer.trace[0].detail["tables"]
    assert len(shown) == 2
    assert AD in shown
    prompt = model.calls[0].prompt
    held = [name for name in open_one("index", model).dependencies.model.tables if f"`{name}`" in prompt]
    assert set(held) == set(shown)
    wider = open_one("index", gold_model({QUESTION: GOLD}), own={"tables": "4"}).ask(QUESTION)
    assert wider.trace[0].detail["tables"][:2] == shown
    assert len(wider.trace[0].detail["tables"]) == 4


class Letters:
    """An embedding of the first letter, for want of a model."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [float(text.lower().startswith(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]


def test_an_index_by_embeddings_that_were_handed_in(open_one: Open) -> None:
    system = open_one("index", gold_model({"P?": GOLD}), embeddings=Letters())
    shown = system.ask("P?").trace[0].detail["tables"]
    assert all(name.startswith("P") for name in shown)


def test_dail_takes_the_nearest_examples_and_may_hold_out_a_template(open_one: Open, tmp_path: Path) -> None:
    file = tmp_path / "examples.jsonl"
    store = ExampleStore(open_one("single", gold_model({})).dependencies.model, file)
    for number in range(4):
        sql = f"SELECT UUID, p FROM {AD} WHERE SNP = 'rs{number}'"
        store.add(f"What is the p-value of rs{number} in the Alzheimer's GWAS?", sql, template=f"T{number // 2}")
    model = gold_model({QUESTION: GOLD})
    chosen = _selected(open_one("dail-sql", model, examples=file).ask(QUESTION))
    assert len(chosen) == 3
    assert all("What is the p-value of rs" in question for question in chosen)
    prompts = {call.step: call.prompt for call in model.calls}
    assert ("EXAMPLES" in prompts["preliminary"], "EXAMPLES" in prompts["draft"]) == (False, True)
    held = open_one("dail-sql", gold_model({QUESTION: GOLD}), examples=file, own={"hold-out": "yes"})
    left = _selected(held.ask(QUESTION, config={"metadata": {"template": "T1"}}))
    assert not {"rs2", "rs3"} & {word for question in left for word in question.split()}
    assert {"rs0", "rs1"} <= {word for question in left for word in question.split()}
    fewer = gold_model({QUESTION: GOLD})
    open_one("dail-sql", fewer, own={"preliminary": "no"}).ask(QUESTION)
    assert steps(fewer) == ["draft", "answer"]


def _selected(answer: Answer) -> list[str]:
    return next(list(entry.detail["examples"]) for entry in answer.trace if entry.node == "select")


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


# -- faults ---------------------------------------------------------------------------------------

FAULTS: dict[str, tuple[Any, str]] = {
    "prose": ("I would look at the table of variants first.", "failed"),
    "invalid": (INVALID, "failed"),
    "unsafe": (f"DROP TABLE {AD}", "failed"),
    "empty": ("", "ModelOutputError"),
    "refusal": (AIMessage("", response_metadata={"finish_reason": "content_filter"}), "ModelRefusedError"),
    "down": (ModelUnavailableError("The model is down.", remedy="Wait."), "ModelUnavailableError"),
}
_SHAPES = ("single", "index", "dail-sql", "react", "bmsql-paper")


@pytest.mark.all
@pytest.mark.parametrize("fault", FAULTS)
def test_no_fault_of_a_model_loses_a_question(fault: str, open_one: Open, file: Path, tmp_path: Path) -> None:
    reply, outcome = FAULTS[fault]
    for name in _SHAPES if fault in {"prose", "down"} else ("single", "react"):
        prose = isinstance(reply, str) and reply and name == "react"
        model = ScriptedChatModel(
            replies={"action": "execute", "sql": reply} if prose else reply, steps={"columns": {"tables": []}}
        )
        folder = RunFolder(tmp_path / name)
        system = open_one(name, model, without=("validator",) if fault == "unsafe" else ())
        prepare_run(folder, system, file)
        progress = run_questions(system, folder)
        assert (progress.asked, progress.done) == (5, 5)
        with folder.records() as records:
            found = [records[identifier] for identifier in records.ids()]
        assert {record.error.type if record.error else "failed" for record in found} == {outcome}, name
        assert all(record.result is None for record in found)
        assert all(record.sql_failed for record in found) == (outcome == "failed")


@pytest.mark.parametrize("name", _SHAPES)
def test_a_question_that_was_cancelled_asks_nothing(name: str, open_one: Open) -> None:
    model, cancel = gold_model({QUESTION: GOLD}), threading.Event()
    cancel.set()
    with pytest.raises(QueryCancelledError):
        open_one(name, model).ask(QUESTION, cancel=cancel)
    assert model.calls == []


# -- the validator --------------------------------------------------------------------------------


def test_without_the_validator_nothing_is_repaired_and_the_guard_stays(open_one: Open) -> None:
    nearly = GOLD.replace(AD, AD.lower())
    whole = open_one("single", ScriptedChatModel(steps={"draft": nearly, "answer": "One."})).ask(QUESTION)
    assert len(whole.rows) == 1
    bare = open_one("single", ScriptedChatModel(steps={"draft": nearly}), without=("validator",))
    assert bare.name == "single, no validator"
    assert bare.ask(QUESTION).abstained
    plain = open_one("single", gold_model({QUESTION: GOLD}), without=("validator",)).ask(QUESTION)
    assert len(plain.rows) == 1
    for sql in (f"DELETE FROM {AD} WHERE TRUE", f"{GOLD}; DROP TABLE {AD}", "SELECT * FROM `other.set.table`"):
        refused = open_one("single", ScriptedChatModel(steps={"draft": sql}), without=("validator",)).ask(QUESTION)
        assert [entry.outcome for entry in refused.trace if entry.node == "execute"] == ["rejected"]


# -- scores ---------------------------------------------------------------------------------------


def scored(system: System, file: Path, folder: RunFolder, **selection: Any) -> list[Score]:
    prepare_run(folder, system, file, Selection(**selection))
    run_questions(system, folder)
    score_run(folder, processes=1)
    return list(read_scores(folder))


def gold_of(system: System, file: Path) -> dict[str, str]:
    return {question.question: question.gold_sql for question in read_questions(file, reading_for(system.dependencies))}


@pytest.mark.parametrize("name", _SHAPES)
def test_gold_drafts_are_all_right_and_damaged_ones_are_not(
    name: str, ours: OurSystem, open_one: Open, file: Path, tmp_path: Path
) -> None:
    gold = gold_of(ours, file)
    whole = scored(open_one(name, gold_model(gold)), file, RunFolder(tmp_path / "gold"))
    assert [score.outcome for score in whole] == ["right"] * 5
    worse = scored(open_one(name, gold_model(gold, without_conditions)), file, RunFolder(tmp_path / "damaged"))
    assert sum(score.outcome == "right" for score in worse) <= 2


@pytest.mark.all
@pytest.mark.parametrize("name", CALLS)
def test_gold_drafts_of_more_questions(name: str, ours: OurSystem, open_one: Open, tmp_path: Path) -> None:
    file = DATA / "heldout_one.yaml"
    gold = gold_of(ours, file)
    whole = scored(open_one(name, gold_model(gold)), file, RunFolder(tmp_path / "gold"), sample=40)
    assert {score.outcome for score in whole} == {"right"}
    worse = scored(
        open_one(name, gold_model(gold, without_conditions)), file, RunFolder(tmp_path / "damaged"), sample=40
    )
    assert sum(score.outcome == "right" for score in worse) < 20


# -- names and options ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("single", {"without": ("linking",)}, "no part 'linking' to leave out. The parts are: validator."),
        ("single", {"own": {"hold-out": "yes"}}, "the system 'single' has no option 'hold-out'"),
        ("single:3-shot", {"own": {"hold-out": "maybe"}}, "the option 'hold-out' is 'maybe'. Use yes or no."),
        ("index", {"own": {"tables": "0"}}, "the option 'tables' is '0'. Use a whole number from 1."),
        ("dail-sql", {"own": {"examples": "x.yaml"}}, "a ready ChatReasoner has its own examples and options."),
        ("single:5-shot", {"own": {"shots": "9"}}, "Its options are: examples, hold-out."),
        ("singel", {}, "there is no system 'singel'. Did you mean 'single'?"),
    ],
)
def test_wrong_options(name: str, options: dict[str, Any], message: str, open_one: Open) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_one(name, gold_model({}), **options)
    assert message in str(caught.value)


def test_a_chat_model_is_needed(ours: OurSystem) -> None:
    options = SystemOptions(backend=ours.dependencies.backend, model=ours.dependencies.reasoner)
    with pytest.raises(ConfigurationError, match="asks a chat model, which 'offline' is not"):
        open_system("react", options)
    with pytest.raises(ConfigurationError, match="'offline' has no part 'plans' to leave out"):
        open_system("ours:no-plans", options)


def test_the_systems_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["bench", "systems"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]]
    assert listed == list(system_names())


@pytest.mark.parametrize("name", prompt_names("bmsql.bench.systems"))
def test_prompts_name_what_they_need_and_no_table(name: str, ours: OurSystem) -> None:
    prompt = load_prompt(name, "bmsql.bench.systems")
    text = f"{prompt.system}\n{prompt.user}"
    assert "question" in prompt.variables
    for table in ours.dependencies.model.tables.values():
        assert not any(f"`{column}`" in text for column in table.columns)
    with pytest.raises(KeyError, match="missing"):
        prompt.render({})
