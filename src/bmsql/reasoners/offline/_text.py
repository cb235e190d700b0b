"""Sentences from rows: what was found, of what, under which rules; nothing that is not in them."""

from __future__ import annotations

from bmsql.conventions import RuleBook
from bmsql.reasoners._base import Evidence
from bmsql.semantic import SemanticModel


def answer_text(evidence: Evidence, model: SemanticModel, rules: RuleBook) -> str:
    """One or two sentences for the rows of a plan."""
    return f"{len(evidence.result.rows)} rows."
