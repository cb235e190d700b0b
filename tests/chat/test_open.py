"""Models from the strings that users write, and the errors that help them."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

import pytest

from bmsql.errors import ConfigurationError, CredentialsError, MissingDependencyError
from bmsql.reasoners.chat import ChatClient, Message, Request, open_chat_model
from tests.servers import GeminiServer, OpenAIServer, Say

REFUSED: list[tuple[str, Mapping[str, str], type[ConfigurationError], str]] = [
    ("gpt-4o", {}, ConfigurationError, "names no provider"),
    ("", {}, ConfigurationError, "names no provider"),
    ("openai:", {}, ConfigurationError, "names no provider"),
    (":name", {}, ConfigurationError, "names no provider"),
    ("nonsense:name", {}, ConfigurationError, "no provider 'nonsense'"),
    ("openai:name", {}, CredentialsError, "Set OPENAI_API_KEY"),
    ("google_genai:name", {}, CredentialsError, "Set GOOGLE_API_KEY"),
    ("azure_openai:name", {}, CredentialsError, "Set AZURE_OPENAI_API_KEY"),
    ("azure_openai:name", {"AZURE_OPENAI_API_KEY": "k"}, ConfigurationError, "Set OPENAI_API_VERSION"),
    ("anthropic:name", {}, MissingDependencyError, "langchain-anthropic"),
    ("ollama:name:7b", {}, MissingDependencyError, "langchain-ollama"),
]


@pytest.mark.parametrize(("model", "environment", "error", "says"), REFUSED)
def test_what_cannot_be_opened(
    model: str,
    environment: Mapping[str, str],
    error: type[ConfigurationError],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if error is MissingDependencyError and importlib.util.find_spec(says.replace("-", "_")):
        pytest.skip("it is installed here")
    with pytest.raises(error) as raised:
        open_chat_model(model, timeout=5)
    assert type(raised.value) is error
    assert says in str(raised.value)
    assert raised.value.remedy


@pytest.mark.parametrize(
    ("model", "module", "extra"),
    [
        ("openai:name", "langchain", "bmsql[openai]"),
        ("openai:name", "langchain_openai", "bmsql[openai]"),
        ("azure_openai:name", "langchain_openai", "bmsql[openai]"),
        ("google_genai:name", "langchain_google_genai", "bmsql[google]"),
    ],
)
def test_a_missing_package_names_its_extra(
    model: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == module else find(name, *rest))
    with pytest.raises(MissingDependencyError) as raised:
        open_chat_model(model, timeout=5)
    assert extra in raised.value.remedy


@pytest.mark.parametrize("other", [3, None, object, ["openai:name"]])
def test_what_is_no_model(other: Any) -> None:
    with pytest.raises(ConfigurationError, match="not a LangChain chat model"):
        open_chat_model(other, timeout=5)


def test_an_instance_is_taken_as_it_is() -> None:
    from langchain_core.language_models import FakeListChatModel

    model = FakeListChatModel(responses=["a"])
    assert open_chat_model(model, timeout=5) is model


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_a_server_of_ones_own_by_its_variable_needs_no_key(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(Say("from the server")) as server:
        monkeypatch.setenv(variable, f"{server.url}/v1")
        client = ChatClient(open_chat_model("openai:llama3.2:3b", timeout=5))
        assert client.complete(Request("answer", (Message(role="user", content="Hi"),))).value == "from the server"
    assert client.name == "openai:llama3.2:3b"
    assert client.identity.server.startswith(server.url)
    assert server.received[0].body["model"] == "llama3.2:3b"


def test_azure_by_its_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(Say("from the server")) as server:
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "k")
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url)
        monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
        client = ChatClient(open_chat_model("azure_openai:mine", timeout=5))
        assert client.complete(Request("answer", (Message(role="user", content="Hi"),))).value == "from the server"
    assert "/deployments/mine/chat/completions" in server.received[0].path


def test_gemini_retries_nothing_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    model: Any = open_chat_model("google_genai:gemini-x", timeout=7)
    assert (model.max_retries, model.timeout) == (1, 7)
    with GeminiServer(Say("yes")) as server:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        client = ChatClient(open_chat_model("google_genai:gemini-x", timeout=7))
        assert client.complete(Request("answer", (Message(role="user", content="Hi"),))).value == "yes"
    assert client.name == "google_genai:gemini-x"
