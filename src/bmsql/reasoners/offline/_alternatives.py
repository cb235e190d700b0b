"""Conditions of which either is enough: `odds ratio above 1.2 or below 0.8`, `discontinued or revoked`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from bmsql.reasoners.offline._question import Question
from bmsql.semantic import SemanticModel
from bmsql.types import Filter, Plan

# Words that may stand beside the "or": `p < 1e-20 or p > 0.05`, `under 0.7 or with a MAF above 0.2`.
_WIDEST = 4
_JOINING = frozenset({"and", "or", ",", "versus", "vs", "on", "in"})
_RANGES = ("<", "<=", ">", ">=", "=", "between")


class _Placed(NamedTuple):
    """Where in the question a filter is stated: its tokens, and its number among the filters."""

    first: int
    last: int
    number: int


def alternatives(filters: Sequence[Filter], question: Question) -> list[Filter]:
    """The filters, with those of which one is enough marked as alternatives."""
    valued_ones = sum(one.op == "=" for one in filters)
    if "or" not in question.lows and valued_ones < 2:
        return [*filters]
    groups: dict[int, int] = {}
    for left, right in pairwise(_placed(filters, question)):
        one, other = filters[left.number], filters[right.number]
        between = question.lows[left.last : right.first]
        either = _has_or(question, left.last, right.first) and _may_be_either(one, other, question)
        # No row has two values in one column: `approved in 1997 and 1998` asks for both years' rows.
        valued = (one.target, one.op) == (other.target, other.op) and one.op == "=" and set(between) <= _JOINING
        if left.number == right.number or one.negated or other.negated or not (either or valued):
            continue
        group = groups.get(left.number, left.number + 1)
        groups[left.number] = groups[right.number] = group
    return [
        one.model_copy(update={"any_of": groups[number]}) if number in groups else one
        for number, one in enumerate(filters)
    ]


def unjoined(question: Question, plan: Plan, model: SemanticModel) -> str:
    """An "or" between conditions that the plan nevertheless asks for together."""
    if "or" not in question.lows:
        return ""
    implied = {use.rule for use in plan.conventions if use.mode == "implied"}
    placed = _placed(plan.filters, question)
    rules = [
        rule
        for rule in question.chunked.rules
        if implied & set(rule.names("rule"))
        and not any(rule.first < one.last and one.first < rule.last for one in placed)
    ]
    filters = [*plan.filters, *(Filter(target=rule.text, op="not_null", words=rule.text) for rule in rules)]
    placed += [_Placed(rule.first, rule.last, len(plan.filters) + place) for place, rule in enumerate(rules)]
    for left, right in pairwise(sorted(placed)):
        one, other = filters[left.number], filters[right.number]
        same = one.words == other.words or (one.any_of and one.any_of == other.any_of)
        # `approved or in phase 3`: one filter that has the values of both.
        same = same or any(each.op == "=" and len(each.values) > 1 for each in (one, other))
        if not same and _has_or(question, left.last, right.first):
            return f"It is not clear what the 'or' between '{one.words}' and '{other.words}' joins; ask for each alone."
    return ""


def contradiction(question: Question, plan: Plan, model: SemanticModel) -> str:
    """Two ranges of one column that no row meets: said of different things, or not understood."""
    for number, one in enumerate(plan.filters):
        for other in plan.filters[number + 1 :]:
            same = (one.target, one.source) == (other.target, other.source)
            if same and not _meet(one, other):
                return f"It is not clear what '{one.words}' and '{other.words}' each restrict."
    return ""


def absent_and_present(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`nominal (p < 0.05) in B but not genome-wide there`: one wants a row of B, the other that there is none."""
    for join in plan.joins:
        uses = (
            [use for use in plan.conventions if use.source == join.right and use.words] if join.kind == "anti" else []
        )
        stated = next((use for use in uses if use.mode == "stated"), None)
        implied = next((use for use in uses if use.mode == "implied"), None)
        if stated is not None and implied is not None:
            return f"It is not clear what '{stated.words}' and '{implied.words}' each restrict."
    return ""


def _may_be_either(one: Filter, other: Filter, question: Question) -> bool:
    """Names are alternatives to places alone, and so are places: `p < 1e-9 on chromosome 4 or p > 0.05` is unclear."""
    regions = {region.text for region, _ in question.regions}
    places = [each.words in regions for each in (one, other)]
    if "match" in (one.op, other.op):
        return any(places)
    return all(places) or not any(places)


def _has_or(question: Question, first: int, last: int) -> bool:
    """Whether an "or" of its own, and little else, stands between two places; `OR` is an odds ratio."""
    between = range(first, last)
    if not 0 < len(between) <= _WIDEST or "and" in question.lows[first:last]:
        return False
    phrases = [chunk for chunk in question.chunked.chunks if chunk.last - chunk.first > 1]  # `raise or lower`
    return any(
        question.chunked.tokens[index].text == "or" and not any(one.first <= index < one.last for one in phrases)
        for index in between
    )


def _placed(filters: Sequence[Filter], question: Question) -> list[_Placed]:
    """The filters in the order of the question; a filter of several values has several places."""
    numbers = {one.words: (one.first, one.last) for one in question.numbers.comparisons}
    found = []
    for number, one in enumerate(filters):
        for words in one.words.split(", ") if one.op == "match" else (one.words,):
            span = numbers.get(words) or span_of(words, question)
            if span is not None:
                found.append(_Placed(*span, number))
    return sorted(found)


def span_of(words: str, question: Question) -> tuple[int, int] | None:
    """The tokens `[first, last)` of some words as they stand in the question."""
    found = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", question.text) if words else None
    if found is None:
        return None
    start, end = found.span()
    inside = [index for index, token in enumerate(question.chunked.tokens) if start <= token.start < end]
    return (inside[0], inside[-1] + 1) if inside else None


def _meet(one: Filter, other: Filter) -> bool:
    """Whether a value can lie in the ranges of both."""
    ranges = (one, other)
    if any(each.op not in _RANGES or each.negated or each.any_of or len(each.values) > 2 for each in ranges):
        return True
    if any(not isinstance(value, int | float) for each in ranges for value in each.values):
        return True
    bounds = [_bounds(each) for each in ranges]
    if any(each.op == "=" and len(each.values) > 1 for each in ranges):
        return True
    low, high = max(low for low, _ in bounds), min(high for _, high in bounds)
    open_ended = any(each.op in ("<", ">") for each in ranges)
    return low < high or (low == high and not open_ended)


def _bounds(one: Filter) -> tuple[float, float]:
    values = [float(value) for value in one.values]
    if one.op in ("<", "<="):
        return float("-inf"), values[0]
    if one.op in (">", ">="):
        return values[0], float("inf")
    return values[0], values[-1]
