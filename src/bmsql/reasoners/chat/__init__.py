"""A language model as reasoner, and what keeps its answers honest."""

from bmsql.reasoners.chat._finding import Finding
from bmsql.reasoners.chat._grounding import NameFinder, check_text
from bmsql.reasoners.chat._rows import LEAST_TOKENS, render_result, render_rows
from bmsql.reasoners.chat._summary import plain_summary

__all__ = [
    "LEAST_TOKENS",
    "Finding",
    "NameFinder",
    "check_text",
    "plain_summary",
    "render_result",
    "render_rows",
]
