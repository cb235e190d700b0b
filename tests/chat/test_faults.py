"""Each fault of a server, over each wire: the right answer, or the one right error, and in time."""

from __future__ import annotations

import asyncio
import email.utils
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel

from bmsql.errors import (
    BmsqlError,
    CredentialsError,
    ModelOutputError,
    ModelRefusedError,
    ModelRequestError,
    ModelUnavailableError,
)
from bmsql.reasoners.chat import ChatClient, Message, Reply, Request, Way
from bmsql.testing import ScriptedChatModel
from tests.chat.conftest import connect
from tests.servers import (
    Answer,
    Cut,
    Hang,
    Html,
    Malformed,
    ModelServer,
    NoChoice,
    NullChoices,
    Received,
    Refuse,
    Reset,
    Say,
    Status,
    Stop,
)

# Every fault over both wires takes its time; `tests/chat/test_ways.py` has one of each kind.
pytestmark = pytest.mark.all


class Gene(BaseModel):
    """A gene and where it lies."""

    symbol: str
    chromosome: int = 0


TEXT = "BIN1 lies on chromosome 2."
OBJECT = {"symbol": "BIN1", "chromosome": 2}
# Stands for what the model says when all is well: the text, or the object where a schema is asked for.
GOOD = Say("")


@dataclass(frozen=True)
class Case:
    """What the server does, and what must come of it: the good value where no error is named."""

    fault: str
    script: list[Answer]
    error: type[BmsqlError] | None = None
    says: str = ""
    requests: int = 2
    at_least: float = 0.0
    at_most: float = 6.0
    # Seconds for one try; only where a fault is that it takes too long.
    timeout: float = 6.0
    # Where a stream says nothing, and it is asked again without.
    streamed_requests: int = 0
    # For one kind of request or one provider only.
    only: str = ""


CASES = [
    Case("none", [GOOD], requests=1),
    Case("429 with Retry-After", [Status(429, headers={"Retry-After": "0.3"}), GOOD], at_least=0.3),
    Case("429 with retry-after-ms", [Status(429, headers={"retry-after-ms": "200"}), GOOD], at_least=0.2),
    Case("429 without", [Status(429), Status(429), GOOD], requests=3),
    Case(
        "429 with Retry-After past the deadline",
        [Status(429, headers={"Retry-After": "60"})],
        ModelUnavailableError,
        "asks to wait 60 s, and \\d s are left",
        requests=1,
        at_most=3.0,
    ),
    Case("429 for ever", [Status(429, headers={"Retry-After": "0.01"})], ModelUnavailableError, "rate limit", 3),
    Case(
        "429 for want of quota",
        [Status(429, "You exceeded your current quota, check your billing details", kind="insufficient_quota")],
        ModelUnavailableError,
        "no quota left",
        requests=1,
    ),
    Case("500 then good", [Status(500), GOOD]),
    Case("503 with Retry-After", [Status(503, headers={"Retry-After": "0.2"}), GOOD], at_least=0.2),
    Case("500 for ever", [Status(500)], ModelUnavailableError, "server error", requests=3),
    Case("hang then good", [Hang(2), GOOD], at_least=0.4, timeout=0.4),
    Case("hang for ever", [Hang(2)], ModelUnavailableError, "timeout", requests=3, at_least=0.9, timeout=0.3),
    Case("reset then good", [Reset(), GOOD]),
    Case("reset for ever", [Reset()], ModelUnavailableError, "no connection", requests=3),
    Case("JSON that ends too early", [Cut(), GOOD]),
    Case("HTML", [Html()], ModelUnavailableError, "no reply of its protocol", requests=3, streamed_requests=6),
    Case("no choice then good", [NoChoice(), GOOD]),
    Case("null choices then good", [NullChoices(), GOOD]),
    Case("JSON that is no reply", [Malformed([1, 2]), GOOD]),
    Case("empty text then good", [Say("", usage=(1, 0, 0, 0)), GOOD]),
    Case("empty text twice", [Say("   ")], ModelOutputError, "empty reply"),
    Case("refusal", [Refuse()], ModelRefusedError, "declined", requests=1),
    Case("cut off at the limit", [Say("BIN1 lies on", cut=True)], ModelOutputError, "cut off", requests=1),
    Case("401", [Status(401, "wrong key")], CredentialsError, "wrong key", requests=1),
    Case("403", [Status(403, "not yours")], CredentialsError, "not yours", requests=1),
    Case("400 for a key", [Status(400, "API key not valid.")], CredentialsError, "not valid", requests=1),
    Case("404", [Status(404, "no such model")], ModelRequestError, "no such model", requests=1),
    Case("400", [Status(400, "something odd")], ModelRequestError, "something odd", requests=1),
    Case(
        "400 for the length",
        [Status(400, "maximum context length is 10 tokens", kind="context_length_exceeded")],
        ModelRequestError,
        "too long",
        requests=1,
    ),
    Case("400 on temperature", [Status(400, "temperature is not supported with this model"), GOOD]),
    Case("prose around JSON", [Say(f"Sure:\n```json\n{str(OBJECT)[:-1]},}}\n```\nBye")], requests=1, only="schema"),
    Case("prose without JSON", [Say("I think it is BIN1."), GOOD], only="schema"),
    Case("prose twice", [Say("I think it is BIN1.")], ModelOutputError, "no JSON object", only="schema"),
    Case("wrong schema then good", [Say({"chromosome": 2}), GOOD], only="schema"),
    Case("wrong schema twice", [Say({"chromosome": 2})], ModelOutputError, "symbol: Field required", only="schema"),
    Case(
        "400 on the format",
        [Status(400, "response_format / responseJsonSchema is not supported"), GOOD],
        only="schema",
    ),
    Case(
        "400 on the format, then on tools",
        [Status(400, "json_schema is unknown"), Status(400, "tools are unknown"), GOOD],
        requests=3,
        only="schema",
    ),
]
QUESTION = (Message(role="system", content="You know genes."), Message(role="user", content="Where is BIN1?"))


def script_of(case: Case, schema: bool) -> Callable[[Received], Answer]:
    """The script of a case, whose last answer is repeated."""
    answers = iter(case.script)
    good = Say(OBJECT if schema else TEXT)

    def answer(request: Received) -> Answer:
        found = next(answers, case.script[-1])
        return good if found is GOOD else found

    return answer


def ask(client: ChatClient, request: Request, mode: str) -> Reply[Any]:
    """Ask in one of the four modes."""
    on_text = [].append if mode.endswith("stream") else None
    if mode.startswith("async"):
        return asyncio.run(client.acomplete(request, on_text=on_text))
    return client.complete(request, on_text=on_text)


def check(case: Case, mode: str, schema: bool, model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    server = serve(script_of(case, schema))
    client = ChatClient(model, seconds=8, timeout=case.timeout, attempts=3)
    request = Request("draft", QUESTION, Gene if schema else None, temperature=0.0)
    began = time.monotonic()
    if case.error is None:
        reply = ask(client, request, mode)
        assert reply.value == (Gene(symbol="BIN1", chromosome=2) if schema else TEXT)
    else:
        with pytest.raises(case.error, match=case.says) as raised:
            ask(client, request, mode)
        assert raised.value.remedy
        assert type(raised.value) is case.error
    took = time.monotonic() - began
    more = case.streamed_requests if mode.endswith("stream") else 0
    if case.error is ModelRefusedError and mode.endswith("stream") and client.name.startswith("openai"):
        # Its integration loses a refusal that comes in a stream, so it is asked again without.
        more = 2
    assert len(server.received) == (more or case.requests)
    assert case.at_least <= took <= case.at_most


def applies(case: Case, schema: bool) -> bool:
    return schema or case.only != "schema"


TEXT_CASES = [case for case in CASES if applies(case, schema=False)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.fault)
def test_faults_of_a_schema(case: Case, model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    check(case, "sync", schema=True, model=model, serve=serve)


@pytest.mark.parametrize("case", TEXT_CASES, ids=lambda case: case.fault)
def test_faults_of_a_streamed_text(case: Case, model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    check(case, "async stream", schema=False, model=model, serve=serve)


@pytest.mark.all
@pytest.mark.parametrize("mode", ["sync", "async", "sync stream"])
@pytest.mark.parametrize("case", TEXT_CASES, ids=lambda case: case.fault)
def test_faults_of_a_text(case: Case, mode: str, model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    check(case, mode, schema=False, model=model, serve=serve)


@pytest.mark.all
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.fault)
def test_faults_of_a_schema_asynchronously(case: Case, model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    check(case, "async", schema=True, model=model, serve=serve)


def test_retry_after_as_a_date(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    # A date has whole seconds: one that is 2 s ahead is at least 1 s ahead.
    when = email.utils.formatdate(time.time() + 2, usegmt=True)
    serve([Status(429, headers={"Retry-After": when}), Say(TEXT)])
    began = time.monotonic()
    assert ChatClient(model).complete(Request("answer", QUESTION)).value == TEXT
    assert 0.9 <= time.monotonic() - began <= 10


def test_retries_of_the_users_own_instance_are_not_added_to_ours(
    provider: str, serve: Callable[..., ModelServer]
) -> None:
    server = serve(Status(500))
    model: Any = connect(provider, server.url, max_retries=5)
    with pytest.raises(ModelUnavailableError):
        ChatClient(model, attempts=2).complete(Request("answer", QUESTION))
    assert len(server.received) == 2
    # Theirs is as it was.
    assert model.max_retries == 5


def test_no_server_at_all(provider: str) -> None:
    client = ChatClient(connect(provider, "http://127.0.0.1:9"), attempts=2)
    with pytest.raises(ModelUnavailableError, match="no connection"):
        client.complete(Request("answer", QUESTION))
    with pytest.raises(ModelUnavailableError, match="no connection"):
        asyncio.run(client.acomplete(Request("answer", QUESTION)))


SAID_IN_A_BODY = {"message": "Rate limit reached", "code": 429}


class ThrottlingError(Exception):
    """As Amazon's SDK reports it."""

    response = {"Error": {"Code": "ThrottlingException"}, "ResponseMetadata": {"HTTPStatusCode": 400}}  # noqa: RUF012


class OverloadedError(Exception):
    """As Anthropic's SDK reports it."""

    status_code = 529


class APIError(Exception):
    """As OpenAI's SDK reports an error in the middle of a stream."""


class ReadTimeout(Exception):  # noqa: N818
    """As HTTP libraries report it."""


@pytest.mark.parametrize(
    ("raised", "error", "tries"),
    [
        (ValueError(SAID_IN_A_BODY), ModelUnavailableError, 3),
        (ThrottlingError("An error occurred (ThrottlingException): slow down"), ModelUnavailableError, 3),
        (OverloadedError("busy"), ModelUnavailableError, 3),
        (APIError("had an error"), ModelUnavailableError, 3),
        (ReadTimeout("read"), ModelUnavailableError, 3),
        (ConnectionResetError("gone"), ModelUnavailableError, 3),
        (TimeoutError(), ModelUnavailableError, 3),
        (RuntimeError("Event loop is closed"), ModelUnavailableError, 3),
        (IndexError("list index out of range"), ModelUnavailableError, 3),
        (RuntimeError("of a kind nobody knows"), ModelUnavailableError, 1),
        (PermissionError("no"), ModelUnavailableError, 3),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_faults_of_other_providers(raised: Exception, error: type[BmsqlError], tries: int) -> None:
    model = ScriptedChatModel(replies=raised)
    with pytest.raises(error) as caught:
        ChatClient(model, attempts=3).complete(Request("answer", QUESTION))
    assert len(model.calls) == tries
    assert caught.value.__cause__ is raised


def test_a_server_that_breaks_over_the_format(
    provider: str, model: BaseChatModel, serve: Callable[..., ModelServer]
) -> None:
    server = serve([Status(500, "json_schema: unsupported"), Status(500, "json_schema: unsupported"), Say(OBJECT)])
    assert ChatClient(model, attempts=2).complete(Request("draft", QUESTION, Gene)).value == Gene(**OBJECT)
    assert len(server.received) == 3


def test_a_cut_off_reply_does_not_cost_the_best_way(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    """Its server heeds the schema; the reply just ends too early, and says that it ends well."""
    serve([Say('{"symbol": "BI'), Say(OBJECT)])
    client = ChatClient(model)
    assert client.complete(Request("draft", QUESTION, Gene)).way is Way.NATIVE
    assert client.complete(Request("draft", QUESTION, Gene)).way is Way.NATIVE


@pytest.mark.parametrize("mode", ["sync stream", "async stream"])
def test_a_stream_that_just_ends_is_no_reply(
    model: BaseChatModel, serve: Callable[..., ModelServer], mode: str
) -> None:
    server = serve([Stop(), Say(TEXT)])
    assert ask(ChatClient(model), Request("answer", QUESTION), mode).value == TEXT
    assert len(server.received) == 2
