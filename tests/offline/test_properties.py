"""Any text gets a plan; and whatever is said to be answerable compiles to valid SQL."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bmsql import Agent
from bmsql.errors import QuestionError
from bmsql.planning import compile_plan
from bmsql.sql import validate
from bmsql.types import Plan, ValidatedQuery
from tests.offline.scoring import load

QUESTIONS = Path(__file__).resolve().parents[1] / "data" / "questions"
SETTINGS = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])


@cache
def pieces() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Questions of the development files, and all words in them."""
    files = sorted(QUESTIONS.glob("development_*.yaml"))
    questions = tuple(question.q for path in files for question in load(path))
    return questions, tuple(sorted({word for question in questions for word in question.split()}))


def check(agent: Agent, question: str) -> Plan | None:
    """The plan of a text, or None where it is no question; fails for a plan that makes no valid query."""
    try:
        plan = agent.plan(question)
    except QuestionError:
        return None
    if not plan.answerable:
        assert plan.problem
    elif plan.clarification is not None:
        assert plan.clarification.question
        assert len(plan.clarification.alternatives) > 1
    else:
        deps = agent.dependencies
        catalog = deps.backend.catalog()
        sql = compile_plan(plan, deps.model, catalog).sql(dialect="bigquery")
        checked = validate(sql, catalog)
        assert isinstance(checked, ValidatedQuery), (sql, checked)
    return plan


@SETTINGS
@given(text=st.text(max_size=200))
@example(text="")
@example(text="\0")
@example(text="?" * 100)
@example(text="((((((((((((((((((((")
@example(text="chr99:1-2")
@example(text="chr4:999999999999999999999999-1")
@example(text="10^-99999 1e999999 phase 99999999999999999999")
@example(text="p < 1e-99999999")
@example(text="p < 10^-400 SNPs for AD")
@example(text="rs" + "9" * 500)
@example(text="top 0 SNPs for AD")
@example(text="top 99999999999 SNPs for AD")
@example(text="'; DROP TABLE x; --")
@example(text="\u202eAD SNPs\u0000\u200b near \ufeffBIN1")
@example(text="SNPs near BIN1 within 99999999999999 Mb")
@example(text="AD SNPs within ..,, kb of BIN1")
@example(text="PD SNPs on chr4:,-,")
@example(text="AD SNPs with p < 1..2")
def test_any_text_gets_a_plan(agent: Agent, text: str) -> None:
    plan = check(agent, text)
    assert (plan is None) == (not text.replace("\0", " ").strip())


@settings(SETTINGS, max_examples=150)
@given(data=st.data())
def test_any_mixture_of_words_gets_a_plan(agent: Agent, data: st.DataObject) -> None:
    _, words = pieces()
    number = st.one_of(
        st.integers(-5, 10**12).map(str), st.floats(0, 1).map(str), st.sampled_from(("5e-8", "10^-6", "3%"))
    )
    drawn = data.draw(
        st.lists(st.one_of(st.sampled_from(words), st.sampled_from(words), number), min_size=1, max_size=14)
    )
    check(agent, " ".join(drawn))


@settings(SETTINGS, max_examples=100)
@given(data=st.data())
def test_any_two_halves_of_questions_get_a_plan(agent: Agent, data: st.DataObject) -> None:
    questions, _ = pieces()
    first, second = (data.draw(st.sampled_from(questions)).split() for _ in range(2))
    cut, rest = data.draw(st.integers(0, len(first))), data.draw(st.integers(0, len(second)))
    check(agent, " ".join((*first[:cut], *second[rest:])))


@settings(SETTINGS, max_examples=60)
@given(data=st.data())
def test_typing_errors_break_nothing(agent: Agent, data: st.DataObject) -> None:
    questions, _ = pieces()
    question = data.draw(st.sampled_from(questions))
    place = data.draw(st.integers(0, len(question) - 1))
    change = data.draw(st.sampled_from(("drop", "double", "swap", "upper")))
    letter, after = question[place], question[place + 1 :]
    changed = {
        "drop": after,
        "double": letter + letter + after,
        "swap": after[:1] + letter + after[1:],
        "upper": letter.upper() + after,
    }
    check(agent, question[:place] + changed[change])


@pytest.mark.parametrize("question", ["Which SNPs near BIN1 are significant for AD?", "Which drugs target DRD2?"])
def test_case_and_spaces_change_nothing(agent: Agent, question: str) -> None:
    plain = check(agent, question)
    assert plain is not None
    for other in (
        f"  {question}\n",
        question.replace(" ", "  "),
        question.rstrip("?"),
        question.replace(" ", "\u00a0"),
    ):
        plan = check(agent, other)
        assert plan is not None
        assert (plan.sources, plan.filters, plan.conventions) == (plain.sources, plain.filters, plain.conventions)
