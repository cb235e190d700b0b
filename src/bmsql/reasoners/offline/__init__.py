"""The offline reasoner and its parts."""

from bmsql.reasoners.offline._reasoner import OfflineReasoner
from bmsql.reasoners.offline._text import answer_text
from bmsql.reasoners.offline._text_values import plain, shown

__all__ = ["OfflineReasoner", "answer_text", "plain", "shown"]
