"""The systems of the paper: what each asks and shows, without the validator too, and its options."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bmsql.bench import (
    System,
)
from bmsql.bench.systems import OurSystem, SystemOptions, open_system, system_names
from bmsql.cli._main import run as command
from bmsql.errors import ConfigurationError
from bmsql.fewshot import ExampleStore
from bmsql.prompts import load_prompt, prompt_names
from bmsql.testing import ScriptedChatModel
from bmsql.types import Answer
from tests.bench.gold_model import gold_model
from tests.bench.paper import AD, CALLS, GOLD, QUESTION, Open, nodes, steps

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
