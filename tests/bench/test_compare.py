"""Results held against gold: cases worked out by hand, and what holds for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmsql.bench import Cell, Match, Rows, compare
from tests.yaml_files import read_yaml

CASES = read_yaml(Path(__file__).parent / "compare.yaml")
cell = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.sampled_from([0.0, 1e-300, 5e-8, 0.25, "NaN"]),
    st.sampled_from(["a", "b", "c"]),
)
# A busy machine is no fault of the code.
unhurried = settings(deadline=None, max_examples=60)
kinds = st.sampled_from(["keys", "values", "numbers"])


def rows_of(width: int) -> st.SearchStrategy[Rows]:
    return st.lists(st.tuples(*([cell] * width)), max_size=6).map(tuple)


def names(width: int) -> tuple[str, ...]:
    return tuple("KLMNOP"[:width])


def matched(kind: Any, gold: Rows, found: Rows, columns: tuple[str, ...] = ("K", "L", "M")) -> Match:
    return compare(kind, "K", (("K", "L"), gold), (columns, found))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_worked_cases(case: dict[str, Any]) -> None:
    gold, found = ((case[side][0], tuple(tuple(row) for row in case[side][1])) for side in ("gold", "found"))
    match = compare(case.get("kind", "keys"), case.get("key", ""), gold, found)
    assert match.jac == pytest.approx(case["jac"])
    flags = {"both_empty": case.get("both_empty", False), "missing_key": case.get("missing_key", False)}
    assert match == Match(ex=case["ex"], jac=match.jac, **flags)


def test_gold_without_its_key_is_no_gold() -> None:
    with pytest.raises(ValueError, match="no column 'UUID'"):
        compare("keys", "UUID", (["SNP"], (("rs1",),)), (["UUID"], (("a",),)))


@unhurried
@given(kinds, rows_of(2), rows_of(3))
def test_equal_sets_have_a_jaccard_of_one_and_no_others_have(kind: Any, gold: Rows, found: Rows) -> None:
    match = matched(kind, gold, found)
    assert match.ex == (match.jac == 1.0)
    assert 0.0 <= match.jac <= 1.0
    assert match.ex or not match.both_empty


@unhurried
@given(kinds, rows_of(2))
def test_gold_agrees_with_itself(kind: Any, gold: Rows) -> None:
    assert matched(kind, gold, gold, ("K", "L")).ex


@unhurried
@given(kinds, rows_of(2), rows_of(3), st.randoms(use_true_random=False))
def test_row_order_never_matters(kind: Any, gold: Rows, found: Rows, random: Any) -> None:
    shuffled, other = list(found), list(gold)
    random.shuffle(shuffled)
    random.shuffle(other)
    assert matched(kind, tuple(other), tuple(shuffled)) == matched(kind, gold, found)


@unhurried
@given(kinds, rows_of(2), rows_of(3), st.permutations([0, 1, 2]))
def test_column_order_never_matters(kind: Any, gold: Rows, found: Rows, order: list[int]) -> None:
    moved = tuple(tuple(row[index] for index in order) for row in found)
    columns = tuple("KLM"[index] for index in order)
    assert matched(kind, gold, moved, columns) == matched(kind, gold, found)


@unhurried
@given(kinds, rows_of(2), rows_of(3))
def test_duplicates_never_matter(kind: Any, gold: Rows, found: Rows) -> None:
    assert matched(kind, gold + gold, found + found) == matched(kind, gold, found)


@unhurried
@given(kinds, rows_of(2), rows_of(3), st.lists(cell, min_size=6, max_size=6))
def test_another_column_never_makes_it_worse(kind: Any, gold: Rows, found: Rows, extra: list[Cell]) -> None:
    # Rows are made different first: a column that tells equal rows apart makes more rows of them.
    apart = tuple((*row, f"row {number}") for number, row in enumerate(found))
    wider = tuple((*row, value) for row, value in zip(apart, extra, strict=False))
    before, after = matched(kind, gold, apart, names(4)), matched(kind, gold, wider, names(5))
    assert after.jac >= before.jac or before.both_empty
    assert after.ex or not before.ex or before.both_empty
