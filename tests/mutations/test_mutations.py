"""Damaged gold queries take the product's way: a sample in each run, the whole benchmark with `all`."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence

import pytest
from benchmarks.mutations import Course, Gold, Mutant, Outcome, load_gold, mutants_of

from bmsql import Agent

SEED = 1
EACH = 4
MOST_TRIED = 40
REPAIRED = ("threshold", "evidence key", "limit", "dialect")
# The reasoner does not read every question; a plan that is wrong cannot correct a draft.
UNREAD = 0.04


@pytest.fixture(scope="module")
def course() -> Course:
    return Course(Agent())


@pytest.fixture(scope="module")
def golds() -> list[Gold]:
    return load_gold()


def _readable(course: Course, golds: Sequence[Gold]) -> list[Gold]:
    """The questions that the reasoner reads as their gold queries do: those are let through undamaged."""
    return [gold for gold in golds if course.undamaged(gold).verdict == "same"]


def _by_kind(course: Course, mutants: Sequence[Mutant]) -> dict[str, list[tuple[Mutant, Outcome]]]:
    found: dict[str, list[tuple[Mutant, Outcome]]] = defaultdict(list)
    for mutant in mutants:
        outcome = course.damaged(mutant.gold, mutant.sql)
        if outcome.verdict != "same":
            found[mutant.kind].append((mutant, outcome))
    return found


def _share(outcomes: Sequence[tuple[Mutant, Outcome]], *verdicts: str) -> float:
    good = sum(outcome.verdict in verdicts and outcome.usable for _, outcome in outcomes)
    return good / len(outcomes)


def _told(outcomes: Sequence[tuple[Mutant, Outcome]], *verdicts: str) -> str:
    return "\n".join(
        f"{mutant.damage} {outcome.verdict} {mutant.gold.id}: {mutant.sql}\n  {outcome.message or outcome.sql}"
        for mutant, outcome in outcomes
        if outcome.verdict not in verdicts
    )


def test_a_sample_of_damaged_queries(course: Course, golds: list[Gold]) -> None:
    draw = random.Random(SEED)
    development = [gold for gold in golds if not gold.held_out]
    by_kind: dict[str, list[Mutant]] = defaultdict(list)
    for gold in _readable(course, draw.sample(development, 50)):
        for mutant in mutants_of(gold, SEED):
            by_kind[mutant.kind].append(mutant)
    found: dict[str, list[tuple[Mutant, Outcome]]] = {}
    for kind, of_it in by_kind.items():
        # Damage that makes no difference on the facts does not count; few thresholds of them do.
        for mutant in draw.sample(of_it, min(MOST_TRIED, len(of_it))):
            if len(found.get(kind, ())) < EACH:
                found.setdefault(kind, []).extend(_by_kind(course, [mutant])[kind])
    assert set(found) >= {"threshold", "dialect", "column", "syntax", "table", "aggregate"}
    for kind, outcomes in found.items():
        wanted = ("repaired",) if kind in REPAIRED else ("repaired", "rejected")
        bad = [pair for pair in outcomes if pair[1].verdict not in wanted or not pair[1].usable]
        assert len(bad) <= 1, _told(outcomes, *wanted)


def test_mutants_are_the_same_for_the_same_seed(golds: list[Gold]) -> None:
    assert [mutants_of(gold, 7) for gold in golds[:5]] == [mutants_of(gold, 7) for gold in golds[:5]]
    assert 0.2 < sum(gold.held_out for gold in golds) / len(golds) < 0.4


@pytest.mark.all
def test_all_kinds_of_damage(course: Course, golds: list[Gold]) -> None:
    undamaged = Counter(course.undamaged(gold).verdict for gold in golds)
    assert undamaged["wrong"] == 0, undamaged
    assert undamaged["same"] / len(golds) > 1 - UNREAD, undamaged

    by_damage: dict[tuple[str, str], list[Mutant]] = defaultdict(list)
    for gold in _readable(course, golds):
        for mutant in mutants_of(gold, SEED):
            by_damage[mutant.kind, mutant.damage].append(mutant)
    mutants = []
    for (kind, damage), of_it in by_damage.items():
        # Kinds of one or three damages would otherwise rest on a handful.
        most = 40 if kind in {"evidence key", "limit"} else 14
        mutants += random.Random(f"{SEED} {damage}").sample(of_it, min(most, len(of_it)))
    found = _by_kind(course, mutants)
    assert sum(map(len, found.values())) >= 1000
    for kind, outcomes in found.items():
        if kind in REPAIRED:
            assert _share(outcomes, "repaired") >= 0.98, _told(outcomes, "repaired")
        else:
            least = 1.0 if kind in {"column", "syntax"} else 0.9
            assert _share(outcomes, "repaired", "rejected") >= least, _told(outcomes, "repaired", "rejected")
