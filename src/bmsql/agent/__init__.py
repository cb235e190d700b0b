"""The agent: one object that asks, plans and checks."""

from bmsql.agent._agent import Agent
from bmsql.agent._check import CheckReport
from bmsql.agent._events import StreamEvent
from bmsql.agent._open import fitted, open_model, open_named_backend, open_rules
from bmsql.agent._question import checked_question
from bmsql.agent._settings import VARIABLES, Settings, read_settings, unknown_variables

__all__ = [
    "VARIABLES",
    "Agent",
    "CheckReport",
    "Settings",
    "StreamEvent",
    "checked_question",
    "fitted",
    "open_model",
    "open_named_backend",
    "open_rules",
    "read_settings",
    "unknown_variables",
]
