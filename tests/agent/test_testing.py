"""The scripted reasoner, as users script it."""

from __future__ import annotations

import pytest

from bmsql.errors import ReasonerError
from bmsql.reasoners import Evidence, Reasoner
from bmsql.testing import ScriptedReasoner
from bmsql.types import Draft, Plan, QueryResult, Review

EVIDENCE = Evidence(question="q", plan=Plan(), sql="SELECT 1", result=QueryResult(columns=(), rows=((), ())))


def test_value_list_function_and_exception() -> None:
    reasoner = ScriptedReasoner(
        plan=Plan(intent="count"),
        draft=["SELECT 1", Draft(sql="SELECT 2", author="plan"), ValueError("third")],
        repair=lambda question, plan, attempts: f"SELECT '{question}'",
    )
    assert isinstance(reasoner, Reasoner)
    assert [reasoner.plan("a").intent, reasoner.plan("b").intent] == ["count", "count"]
    assert reasoner.draft("a", Plan()) == Draft(sql="SELECT 1", author="model")
    assert reasoner.draft("a", Plan()) == Draft(sql="SELECT 2", author="plan")
    with pytest.raises(ValueError, match="third"):
        reasoner.draft("a", Plan())
    with pytest.raises(ReasonerError, match="3 results for 'draft', and this is call 4"):
        reasoner.draft("a", Plan())
    assert reasoner.repair("why?", Plan(), ()) == Draft(sql="SELECT 'why?'", author="model")
    assert reasoner.steps() == ["plan", "plan", "draft", "draft", "draft", "draft", "repair"]
    assert reasoner.calls[-1] == ("repair", ("why?", Plan(), ()))


def test_defaults() -> None:
    reasoner = ScriptedReasoner()
    assert reasoner.repair("q", Plan(), ()) is None
    assert reasoner.review(EVIDENCE) == Review(sufficient=True)
    assert reasoner.answer(EVIDENCE) == "2 rows."
    assert reasoner.answer(EVIDENCE.model_copy(update={"hidden": True, "total": 7})) == "7 rows."
    assert (reasoner.name, reasoner.local) == ("scripted", True)
