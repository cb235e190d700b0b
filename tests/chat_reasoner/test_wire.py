"""Whole questions over the real wire formats; servers on loopback stand behind the integrations, and no model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from bmsql import Agent
from bmsql.errors import CredentialsError, ModelUnavailableError
from bmsql.reasoners.chat import forget_models
from tests.servers import Answer, Cut, GeminiServer, ModelServer, NoChoice, OpenAIServer, Received, Refuse, Say, Status

BIN1 = "Which SNPs near BIN1 are significant for Alzheimer's disease?"
AD = "AlzheimerDisease_CombinedGeneData_UUID"
TEXT = "9 SNPs near BIN1 are genome-wide significant (p < 5e-8); rs6733839 is the strongest."
DRAFT = f"```sql\nSELECT UUID, SNP, p FROM `{AD}` WHERE 'BIN1' IN UNNEST(SPLIT(nearestGene, ';'))\n```"
PLAN = json.dumps({"complete": False, "tables": [AD], "intent": "list"})


def step(received: Received) -> str:
    said = json.dumps(received.body)
    return "plan" if "query plans" in said else "draft" if "one BigQuery SELECT" in said else "answer"


def says(received: Received) -> Answer:
    return Say({"plan": PLAN, "draft": DRAFT, "answer": TEXT}[step(received)])


def openai(url: str) -> BaseChatModel:
    return ChatOpenAI(model="gpt-test", base_url=f"{url}/v1", api_key=SecretStr("x"), timeout=10)


def gemini(url: str) -> BaseChatModel:
    return ChatGoogleGenerativeAI(model="gemini-test", base_url=url, google_api_key=SecretStr("x"), timeout=10)


WIRES: list[Any] = [pytest.param(OpenAIServer, openai, id="openai"), pytest.param(GeminiServer, gemini, id="gemini")]


@pytest.fixture(autouse=True)
def unlearned() -> None:
    forget_models()


@pytest.mark.parametrize(("kind", "connect"), WIRES)
def test_a_question_is_answered(kind: type[ModelServer], connect: Any) -> None:
    with kind(says) as server, Agent(model=connect(server.url)) as agent:
        answer = agent.ask(BIN1)
        assert answer.text == TEXT
        assert len(answer.rows) == 9
        assert [step(received) for received in server.received] == ["plan", "draft", "answer"]
        assert all(usage.prompt_tokens and not usage.estimated for usage in answer.usage.steps)
        texts = [event.text for event in agent.stream(BIN1) if event.kind == "text"]
        assert texts[-1] == TEXT


@pytest.mark.all
@pytest.mark.parametrize(("kind", "connect"), WIRES)
@pytest.mark.parametrize("due", ["plan", "draft", "answer"])
@pytest.mark.parametrize("fault", [Status(429, headers={"Retry-After": "0.1"}), Status(500), NoChoice(), Cut()])
async def test_a_fault_in_any_step_passes(kind: type[ModelServer], connect: Any, due: str, fault: Answer) -> None:
    faults = [fault]

    def script(received: Received) -> Answer:
        return faults.pop() if faults and step(received) == due else says(received)

    with kind(script) as server, Agent(model=connect(server.url)) as agent:
        answer = await agent.aask(BIN1)
        assert len(answer.rows) == 9
        assert not faults


def test_a_refused_answer_costs_no_rows() -> None:
    def script(received: Received) -> Answer:
        return Refuse("I cannot help with that.") if step(received) == "answer" else says(received)

    with OpenAIServer(script) as server, Agent(model=openai(server.url)) as agent:
        answer = agent.ask(BIN1)
        assert len(answer.rows) == 9


def test_a_wrong_key_fails_at_once() -> None:
    with OpenAIServer(Status(401)) as server, Agent(model=openai(server.url)) as agent:
        with pytest.raises(CredentialsError):
            agent.ask(BIN1)
        assert len(server.received) == 1


def test_the_time_of_a_question_is_bounded_over_all_its_steps() -> None:
    with (
        OpenAIServer(Status(503)) as server,
        Agent(model=openai(server.url), limits={"model_seconds": 1.5}) as agent,
        pytest.raises(ModelUnavailableError),
    ):
        agent.ask(BIN1)
