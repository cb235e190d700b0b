"""Agents over a little study, with scripted reasoners."""

from __future__ import annotations

from typing import Any

from bmsql import Agent
from bmsql.errors import (
    ReasonerError,
)
from bmsql.testing import ScriptedReasoner
from bmsql.types import Plan
from tests.graph.fakes import ALL, PLAN, LittleBackend, model

QUESTION = "Which SNPs are significant?"


def little(reasoner: ScriptedReasoner | None = None, **options: Any) -> Agent:
    scripted = reasoner or ScriptedReasoner(plan=PLAN, draft=ALL)
    options = {"backend": LittleBackend(), "semantic_model": model(), **options}
    return Agent(model=scripted, **options)


def echo(**more: Any) -> ScriptedReasoner:
    """Answers each question with itself, and fails on those that say so."""

    def draft(question: str, plan: Plan) -> str:
        if "fail" in question:
            raise ReasonerError(f"no reply to {question}")
        return f"SELECT UUID, SNP, '{question}' AS q FROM study LIMIT 3"

    return ScriptedReasoner(plan=Plan(), draft=draft, answer=lambda evidence: evidence.question, **more)
