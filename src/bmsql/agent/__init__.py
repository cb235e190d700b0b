"""The agent: one object that asks, plans and checks."""

from bmsql.agent._agent import Agent
from bmsql.agent._check import CheckReport
from bmsql.agent._events import StreamEvent
from bmsql.agent._open import open_rules
from bmsql.agent._settings import Settings, read_settings

__all__ = ["Agent", "CheckReport", "Settings", "StreamEvent", "open_rules", "read_settings"]
