"""The agent: one object that asks, plans and checks."""

from bmsql.agent._agent import Agent
from bmsql.agent._check import CheckReport
from bmsql.agent._events import StreamEvent
from bmsql.agent._open import open_rules
from bmsql.agent._question import checked_question
from bmsql.agent._settings import Settings, read_settings

__all__ = ["Agent", "CheckReport", "Settings", "StreamEvent", "checked_question", "open_rules", "read_settings"]
