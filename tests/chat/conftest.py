"""Real integrations of providers, pointed at scripted servers on loopback, and a linker. No model is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel

from bmsql.backends import cache_directory, open_backend
from bmsql.linking import Linker, ValueIndex
from bmsql.reasoners.chat import forget_models
from bmsql.semantic import load_semantic_model
from tests.servers import GeminiServer, ModelServer, OpenAIServer, Status

SERVERS: dict[str, type[ModelServer]] = {"openai": OpenAIServer, "gemini": GeminiServer}


def connect(provider: str, url: str, **options: Any) -> BaseChatModel:
    """The provider's own LangChain class with the server as its address, as a user makes it."""
    if provider == "openai":
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(model="scripted", base_url=f"{url}/v1", api_key="x", **options)
    from langchain_google_genai import ChatGoogleGenerativeAI

    return ChatGoogleGenerativeAI(model="scripted", base_url=url, api_key="x", **options)


@pytest.fixture(autouse=True)
def _strangers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is remembered of a model from another test, and a wait between tries is short."""
    monkeypatch.setattr("bmsql.reasoners.chat._retry.FIRST", 0.05)
    forget_models()
    yield
    forget_models()


@pytest.fixture(params=sorted(SERVERS))
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def _servers() -> Iterator[dict[str, ModelServer]]:
    """One server for each provider: making a client reads all certificates, which takes longer than a test."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(server(Status(500))) for name, server in SERVERS.items()}


@pytest.fixture(scope="session")
def _models(_servers: dict[str, ModelServer]) -> dict[str, BaseChatModel]:
    return {name: connect(name, server.url) for name, server in _servers.items()}


@pytest.fixture
def serve(provider: str, _servers: dict[str, ModelServer]) -> Callable[..., ModelServer]:
    """Give the provider's server a script, and forget what it received."""

    def start(script: Any) -> ModelServer:
        server = _servers[provider]
        server.restart(script)
        return server

    return start


@pytest.fixture
def model(provider: str, _models: dict[str, BaseChatModel]) -> BaseChatModel:
    """A model of the provider, connected to its server, with the retries of its own that it has by default."""
    return _models[provider]


@pytest.fixture(scope="session")
def linker() -> Linker:
    model = load_semantic_model()
    with open_backend() as backend:
        return Linker(model, ValueIndex.load_or_build(backend, model, cache_directory()))
