"""Servers on loopback that speak the wire formats of model providers, and do as they are told.

A test scripts what each request gets, in order: an answer of the model, or a fault of the server. No
model is behind them.
"""

from tests.servers._answers import (
    Answer,
    Cut,
    Hang,
    Html,
    Malformed,
    NoChoice,
    NullChoices,
    Refuse,
    Reset,
    Say,
    Status,
)
from tests.servers._base import ModelServer, Received
from tests.servers._gemini import GeminiServer
from tests.servers._openai import OpenAIServer

__all__ = [
    "Answer",
    "Cut",
    "GeminiServer",
    "Hang",
    "Html",
    "Malformed",
    "ModelServer",
    "NoChoice",
    "NullChoices",
    "OpenAIServer",
    "Received",
    "Refuse",
    "Reset",
    "Say",
    "Status",
]
