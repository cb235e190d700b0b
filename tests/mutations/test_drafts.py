"""Careless drafts of others take the product's way: a share in each run, all of them with `all`."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from benchmarks.mutations import TABLES, Course, Gold

from bmsql import Agent
from tests.yaml_files import read_yaml

CASES: list[dict[str, Any]] = read_yaml(Path(__file__).with_name("drafts.yaml"))
EACH = 5


@pytest.fixture(scope="module")
def course() -> Course:
    return Course(Agent())


def _full(sql: str) -> str:
    return re.sub(r"\{([A-Z]+)\}", lambda found: f"`bmsql.biomedsql.{TABLES[found[1]]}`", sql)


def _gold(number: int) -> Gold:
    case = CASES[number]
    return Gold(f"draft {number}", case["q"], _full(case["gold"]), case["key"], held_out=False)


def _verdicts(course: Course, chosen: list[tuple[int, str]]) -> Counter[str]:
    found = {(number, draft): course.damaged(_gold(number), _full(draft)) for number, draft in chosen}
    wrong = [(CASES[number]["q"], draft, found[number, draft].sql) for number, draft in chosen]
    wrong = [told for told, key in zip(wrong, chosen, strict=True) if found[key].verdict == "wrong"]
    assert not wrong
    return Counter(outcome.verdict for outcome in found.values())


def _drafts() -> list[tuple[int, str]]:
    return [(number, draft) for number, case in enumerate(CASES) for draft in case["drafts"]]


def test_the_list_is_long_enough() -> None:
    assert len(_drafts()) >= 150


def test_a_share_of_the_drafts_ends_right_or_rejected(course: Course) -> None:
    verdicts = _verdicts(course, _drafts()[::EACH])
    assert verdicts["rejected"] / verdicts.total() < 0.25, verdicts


@pytest.mark.all
def test_every_draft_ends_right_or_rejected(course: Course) -> None:
    verdicts = _verdicts(course, _drafts())
    assert verdicts["rejected"] / verdicts.total() < 0.15, verdicts
    # The gold queries themselves are left right.
    assert {course.undamaged(_gold(number)).verdict for number in range(len(CASES))} == {"same"}
