"""What the tests of replies share: a question, its schema, and what a server received."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from bmsql.reasoners.chat import ChatClient, Message, Reply, Request, Way
from tests.servers import Received

WHERE = (Message(role="system", content="You know genes."), Message(role="user", content="Where is BIN1?"))
OBJECT = {"symbol": "BIN1", "chromosome": 2}


class Gene(BaseModel):
    """A gene and where it lies."""

    symbol: str
    chromosome: int = 0


def ask(client: ChatClient, schema: type[BaseModel] | None = Gene, **options: Any) -> Reply[Any]:
    return client.complete(Request("draft", WHERE, schema, **options))


def way_of(received: Received) -> Way:
    """How a request over either wire asks for its schema."""
    body = received.body
    config = body.get("generationConfig", {})
    if "responseJsonSchema" in config or body.get("response_format", {}).get("type") == "json_schema":
        return Way.NATIVE
    if body.get("tools"):
        return Way.TOOL
    return Way.JSON if body.get("response_format") else Way.TEXT


def text_of(received: Received) -> str:
    return str(received.body)
