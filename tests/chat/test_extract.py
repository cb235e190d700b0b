"""The JSON in what models write."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmsql.reasoners.chat import find_json
from tests.yaml_files import read_yaml

CASES = read_yaml(Path(__file__).parent / "json.yaml")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_cases(case: dict[str, Any]) -> None:
    found = find_json(case["text"])
    # Tuples of Python count as arrays.
    assert json.loads(json.dumps(found)) == case["json"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.text(), VALUES, min_size=1, max_size=4),
    st.sampled_from(["{}", "Sure: {} Bye", "```json\n{}\n```"]),
)
def test_an_object_is_found_wherever_it_stands(value: dict[str, Any], frame: str) -> None:
    assert find_json(frame.replace("{}", json.dumps(value))) == value


@settings(deadline=None)
@given(st.text(alphabet="{}[]\"\\,:'`ntF /*1", max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    assert find_json(text) is None or isinstance(find_json(text), dict | list)


@pytest.mark.parametrize(
    "text", ["{" * 20_000, "[" * 20_000, '{"a":' * 5_000, '"' * 20_000, "```\n" * 5_000, "{'" * 9_000]
)
def test_hostile_texts_take_no_time(text: str) -> None:
    began = time.process_time()
    find_json(text)
    assert time.process_time() - began < 2
