"""Sentences for real plans and rows, word for word; and that they say no number of their own."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bmsql.reasoners._base import Evidence
from bmsql.reasoners.offline._text import answer_text
from bmsql.reasoners.offline._text_values import number
from bmsql.types import ColumnInfo, ConventionRecord, Plan, QueryResult
from tests.offline_text.build import model, rules, stored

CASES = stored("answers.yaml")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w])")


def evidence(case: dict[str, Any]) -> Evidence:
    return Evidence(
        question=case["question"],
        plan=Plan.model_validate(case["plan"]),
        sql="SELECT",
        result=_result(case["result"]),
        general=_result(case["general"]) if "general" in case else None,
        conventions=tuple(ConventionRecord.model_validate(one) for one in case.get("conventions", [])),
        total=case.get("total"),
        warnings=tuple(case.get("warnings", [])),
    )


def _result(data: dict[str, Any]) -> QueryResult:
    columns = tuple(ColumnInfo(name=name, type="STRING") for name in data["columns"])
    return QueryResult(columns=columns, rows=tuple(tuple(row) for row in data["rows"]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["question"][:50])
def test_text(case: dict[str, Any]) -> None:
    assert answer_text(evidence(case), model(), rules()) == case["text"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["question"][:50])
def test_numbers_come_from_the_data(case: dict[str, Any]) -> None:
    """Each number is in the rows, the counts, the rules or the question; or is made of one of them."""
    known = set(_texts(case))
    for said in NUMBER.findall(answer_text(evidence(case), model(), rules())):
        assert said in known, f"{said} is in neither the rows nor the counts"


@given(data=st.data())
def test_any_rows_under_any_intent(data: st.DataObject) -> None:
    """Whatever comes back, the sentences hold together: values missing, of another type, or cut off."""
    case = data.draw(st.sampled_from(CASES))
    whole = evidence(case)
    cells = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=80)
    row = st.tuples(*[cells] * len(whole.result.columns))
    drawn = data.draw(st.lists(row, max_size=4))
    intent = data.draw(st.sampled_from(["list", "lookup", "exists", "count", "rank", "group", "compare"]))
    changed = whole.model_copy(
        update={
            "plan": whole.plan.model_copy(update={"intent": intent}),
            "result": whole.result.model_copy(update={"rows": tuple(drawn), "truncated": data.draw(st.booleans())}),
            "total": data.draw(st.none() | st.integers(min_value=0, max_value=10**6)),
        }
    )
    text = answer_text(changed, model(), rules())
    assert text
    assert text == " ".join(text.split())


def _texts(case: dict[str, Any]) -> Iterator[str]:
    yield from ("1e-308", str(len(case["result"]["rows"])))
    yield from NUMBER.findall(str(case["question"]))
    yield from NUMBER.findall(str([rule.model_dump() for rule in rules()]))
    for rule in rules():
        if isinstance(rule.value, float):
            yield number(rule.value)
    for value in _leaves(case):
        if isinstance(value, bool):
            continue
        if isinstance(value, int | float):
            yield number(value)
            # An odds ratio from its logarithm, and the other allele's frequency.
            yield number(round(1 - value, 12))
            yield number(math.exp(value)) if abs(value) < 100 else ""
        elif isinstance(value, str):
            yield from NUMBER.findall(value)
    # How many distinct names there are, and how many of them are not named.
    yield from (str(count) for count in range(len(case["result"]["rows"]) + 1))
    total = case.get("total") or 0
    yield from (str(total - shown) for shown in range(1, 11))


def _leaves(data: Any) -> Iterator[Any]:
    if isinstance(data, dict):
        for key, value in data.items():
            if key != "text" or "question" not in data:
                yield from _leaves(value)
    elif isinstance(data, list):
        for value in data:
            yield from _leaves(value)
    else:
        yield data
