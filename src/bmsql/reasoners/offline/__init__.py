"""The offline reasoner and its parts."""

from bmsql.reasoners.offline._reasoner import OfflineReasoner

__all__ = ["OfflineReasoner"]
