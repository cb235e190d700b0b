"""The agent's options: arguments, environment variables, files; wrong ones are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bmsql import Agent, ConfigurationError, Limits
from bmsql.conventions import load_rules
from bmsql.errors import (
    BackendUnavailableError,
    SemanticModelError,
)
from bmsql.testing import ScriptedReasoner
from tests.agent.fakes import QUESTION, little
from tests.graph.fakes import MODEL, LittleBackend, model

# -- options --------------------------------------------------------------------------------------


def test_environment_is_read_when_the_agent_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_text(MODEL)
    for name, value in {
        "BMSQL_SEMANTIC_MODEL": str(file),
        "BMSQL_PROFILE": "biomedsql",
        "BMSQL_MAX_PASSES": "4",
        "BMSQL_LIMIT_ROWS": "7",
        "BMSQL_LIMIT_SECONDS": "2.5",
        "BMSQL_SEND_ROWS": "no",
    }.items():
        monkeypatch.setenv(name, value)
    agent = Agent(model=ScriptedReasoner(), backend=LittleBackend())
    deps = agent.dependencies
    assert (deps.model.name, deps.rules.profile, deps.budgets.passes) == ("little", "biomedsql", 4)
    assert (deps.limits, deps.send_rows) == (Limits(rows=7, seconds=2.5), False)
    assert agent.origin["profile"] == "BMSQL_PROFILE"
    explicit = Agent(
        model=ScriptedReasoner(),
        backend=LittleBackend(),
        profile="strict",
        max_passes=2,
        limits={"rows": 9},
        send_rows=True,
    )
    deps = explicit.dependencies
    assert (deps.rules.profile, deps.budgets.passes, deps.limits, deps.send_rows) == (
        "strict",
        2,
        Limits(rows=9, seconds=2.5),
        True,
    )


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("BMSQL_PROFILE", "lax", "strict, biomedsql"),
        ("BMSQL_MAX_PASSES", "many", "whole number"),
        ("BMSQL_MAX_PASSES", "0", "1 to 10"),
        ("BMSQL_LIMIT_ROWS", "-1", "positive"),
        ("BMSQL_LIMIT_SECONDS", "soon", "positive"),
        ("BMSQL_LIMIT_SECONDS", "inf", "bounds"),
        ("BMSQL_LIMIT_SECONDS", "nan", "bounds"),
        ("BMSQL_LIMIT_ROWS", "1" + "0" * 30, "bounds"),
        ("BMSQL_SEND_ROWS", "perhaps", "true"),
        ("BMSQL_MODEL", "gpt-5", "provider:name"),
        ("BMSQL_MODEL", "openai:gpt-5", "OPENAI_API_KEY"),
        ("BMSQL_CANDIDATES", "0", "from 1"),
    ],
)
def test_wrong_variables_are_named(monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str) -> None:
    monkeypatch.setenv(variable, value)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    options: dict[str, Any] = {} if variable == "BMSQL_MODEL" else {"model": ScriptedReasoner()}
    with pytest.raises(ConfigurationError) as raised:
        Agent(backend=LittleBackend(), semantic_model=model(), **options)
    assert variable in raised.value.message
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"profile": "lax"}, "profile="),
        ({"max_passes": 0}, "max_passes="),
        ({"max_passes": True}, "max_passes="),
        ({"limits": {"rows": 0}}, "limits['rows']"),
        ({"limits": {"seconds": float("inf")}}, "limits['seconds']"),
        ({"limits": {"seconds": 1e300}}, "limits['seconds']"),
        ({"limits": {"rows": 10**30}}, "limits['rows']"),
        ({"limits": {"memory_mb": 10**15}}, "limits['memory_mb']"),
        ({"limits": {"bytes_billed": 10**30}}, "limits['bytes_billed']"),
        ({"send_rows": "maybe"}, "send_rows="),
        ({"send_rows": 3}, "send_rows="),
        ({"semantic_model": ""}, "semantic_model="),
        ({"rules": " "}, "rules="),
        ({"limits": {"pages": 1}}, "limits['pages']"),
        ({"limits": 5}, "limits="),
        ({"model": 5}, "model="),
        ({"model": "gpt-5"}, "'gpt-5'"),
        ({"semantic_model": 5}, "semantic_model="),
        ({"rules": 5}, "rules="),
        ({"backend": 5}, "backend"),
        ({"backend": "postgres://x"}, "backend"),
        ({"rules": load_rules(profile="biomedsql"), "profile": "strict"}, "profile="),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], said: str) -> None:
    options = {"model": ScriptedReasoner(), "backend": LittleBackend(), "semantic_model": model(), **options}
    with pytest.raises(ConfigurationError) as raised:
        Agent(**options)
    assert said in raised.value.message
    assert raised.value.remedy


@pytest.mark.parametrize("value", ["postgres://x", "duckdb:///no/such/file.duckdb"])
def test_a_wrong_backend_variable_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("BMSQL_BACKEND", value)
    with pytest.raises((ConfigurationError, BackendUnavailableError), match=r"^BMSQL_BACKEND is") as raised:
        Agent(model=ScriptedReasoner(), semantic_model=model())
    assert raised.value.remedy


def test_a_key_alone_chooses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.setenv(name, "x")
    agent = Agent()
    assert agent.dependencies.reasoner.name == "offline"
    assert agent.dependencies.backend.name == "embedded"


def test_wrong_semantic_model_file(tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_text("name: x\nfamilies: {}\ntables: []\n")
    with pytest.raises(SemanticModelError) as raised:
        Agent(model=ScriptedReasoner(), backend=LittleBackend(), semantic_model=file)
    assert (raised.value.file, raised.value.line) == (str(file), 3)


def test_model_of_another_database_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="none of the tables") as raised:
        Agent(model=ScriptedReasoner(), backend=LittleBackend())
    assert "bmsql schema --from" in raised.value.remedy


def test_optional_table_takes_its_columns_from_the_catalogue() -> None:
    text = MODEL.replace(
        "    family: gwas\n    columns:", "    family: gwas\n    optional: true\n    columns: {}\n    x:", 1
    )
    text = text[: text.index("    x:")] + "entities: {}\n"
    from bmsql.semantic import parse_semantic_model

    agent = little(semantic_model=parse_semantic_model(text))
    assert list(agent.dependencies.model.tables["study"].columns) == ["UUID", "SNP", "p", "gene"]


def test_rules_by_file(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("rules:\n  genome_wide_significance:\n    value: 1e-8\n")
    for rules in (file, str(file), [file], load_rules(file)):
        assert "p < 1e-8" in little(rules=rules).ask(QUESTION).sql


def test_offline_reasoner_sees_rows_whatever_send_rows_says() -> None:
    question = "Is rs850738 significant in Alzheimer's disease?"
    texts = {Agent(send_rows=send_rows).ask(question).text for send_rows in (True, False)}
    assert len(texts) == 1
