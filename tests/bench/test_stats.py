"""Intervals and agreement, against figures worked out by hand or published."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmsql.bench import Estimate, cohens_kappa, cramers_v, krippendorff_alpha, wilson_interval
from bmsql.bench._stats import Mean, Share


def share(hits: int, n: int) -> Estimate:
    made = Share()
    for number in range(n):
        made.add(number < hits)
    return made.estimate()


def test_share_of_the_papers_size() -> None:
    # 62.6 % of 546: 1.96 * sqrt(0.6264 * 0.3736 / 545) = 4.06 points, the paper's "about 4".
    found = share(342, 546)
    assert (found.n, found.value) == (546, pytest.approx(342 / 546))
    assert found.margin == pytest.approx(0.0406, abs=5e-5)


def test_share_by_hand() -> None:
    # Three of four: s^2 = 0.75 * 0.25 * 4 / 3 = 0.25, standard error 0.25, margin 0.49.
    found = share(3, 4)
    assert (found.value, found.low, found.high) == (0.75, pytest.approx(0.26), pytest.approx(1.24))
    assert share(0, 0) == Estimate(n=0)
    assert share(1, 1).low is None


def test_wilson_by_hand() -> None:
    # Ten of ten: the lower bound is n / (n + z^2).
    low, high = wilson_interval(10, 10)
    assert (low, high) == (pytest.approx(10 / (10 + 1.96**2)), pytest.approx(1.0))
    assert wilson_interval(0, 10) == pytest.approx((0.0, 1.96**2 / (10 + 1.96**2)), abs=1e-12)


def test_mean_by_hand() -> None:
    made = Mean()
    for value in (1.0, 2.0, 3.0, 6.0):
        made.add(value)
    found = made.estimate()
    # Mean 3, s^2 = (4 + 1 + 0 + 9) / 3.
    assert (found.value, found.margin) == (pytest.approx(3.0), pytest.approx(1.96 * math.sqrt(14 / 3 / 4)))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_running_mean_is_the_mean(values: list[float]) -> None:
    made = Mean()
    for value in values:
        made.add(value)
    assert made.estimate().value == pytest.approx(statistics.fmean(values), abs=1e-6)
    margin = 1.96 * statistics.stdev(values) / math.sqrt(len(values))
    assert made.estimate().margin == pytest.approx(margin, rel=1e-6, abs=1e-6)


def test_cramers_v_by_hand() -> None:
    assert cramers_v({(True, 3): 5, (False, 0): 5}) == pytest.approx(1.0)
    assert cramers_v({(True, 3): 2, (True, 0): 2, (False, 3): 2, (False, 0): 2}) == pytest.approx(0.0)
    # chi2 of [[10, 20], [30, 40]] is 0.7937, so V = sqrt(0.7937 / 100).
    assert cramers_v({(0, 0): 10, (0, 1): 20, (1, 0): 30, (1, 1): 40}) == pytest.approx(0.0891, abs=5e-5)
    assert cramers_v({(True, 3): 4, (True, 2): 4}) is None
    assert cramers_v({}) is None


def test_cohens_kappa_by_hand() -> None:
    # The textbook's 50 proposals: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no; observed 0.7, by chance 0.5.
    pairs = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    assert cohens_kappa(pairs) == pytest.approx(0.4)
    assert cohens_kappa([(True, True)] * 3) is None
    assert cohens_kappa([]) is None


def test_krippendorffs_alpha_by_hand() -> None:
    # Krippendorff's example of four observers and twelve units (2011), interval data: 0.849.
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[float(value) for value in unit if value is not None] for unit in zip(*observers, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.849, abs=5e-4)
    assert krippendorff_alpha([(1.0, 1.0), (2.0, 2.0)]) == pytest.approx(1.0)
    assert krippendorff_alpha([(1.0, 1.0)]) is None
    assert krippendorff_alpha([]) is None
