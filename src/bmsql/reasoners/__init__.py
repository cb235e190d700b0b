"""Reasoners: what thinks between the deterministic parts."""

from bmsql.reasoners._base import Attempt, Evidence, Reasoner
from bmsql.reasoners._context import StepContext, current_step, entered_step
from bmsql.reasoners._open import ChatSettings, open_reasoner

__all__ = [
    "Attempt",
    "ChatSettings",
    "Evidence",
    "OfflineReasoner",
    "Reasoner",
    "StepContext",
    "current_step",
    "entered_step",
    "open_reasoner",
]


def __getattr__(name: str) -> object:
    # Lazy: the offline reasoner brings sqlglot, which a user of another reasoner may not need yet.
    if name == "OfflineReasoner":
        from bmsql.reasoners.offline import OfflineReasoner

        return OfflineReasoner
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
