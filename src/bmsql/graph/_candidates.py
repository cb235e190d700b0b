"""Several drafts of one question: the one whose executed result most of them agree with is taken."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

from bmsql.graph._dependencies import Dependencies
from bmsql.types import Draft, Plan, QueryResult, Rejected


class Election(NamedTuple):
    """What the drafts came to.

    leaders: one draft of each result that most agree with, in the order they came; results: theirs,
    None where none of the drafts could be run. votes: how many drafts there were for each result. ran:
    all results, for what they cost.
    """

    leaders: tuple[Draft, ...]
    results: tuple[QueryResult | None, ...]
    votes: list[int]
    ran: tuple[QueryResult, ...] = ()

    @property
    def is_tied(self) -> bool:
        """Whether several results have as many drafts behind them."""
        return len(self.leaders) > 1


def rows_of(
    draft: Draft, plan: Plan, question: str, deps: Dependencies, cancel: threading.Event | None = None
) -> QueryResult | None:
    """What a draft gives; None where it is not valid or cannot be run."""
    checked = deps.checked(draft.sql, None if draft.author == "plan" else plan, question=question)
    result = None if isinstance(checked, Rejected) else deps.run(checked.sql, cancel)
    return result if isinstance(result, QueryResult) else None


def elect(drafts: Sequence[Draft], results: Sequence[QueryResult | None]) -> Election:
    """Group drafts by their rows.

    Order of rows and of columns, and names of columns, make no difference. Where no draft could be
    run, the first one leads, so that its errors reach the repair.
    """
    groups: dict[object, tuple[Draft, QueryResult, int]] = {}
    ran: list[QueryResult] = []
    for draft, result in zip(drafts, results, strict=True):
        if result is None:
            continue
        ran.append(result)
        key = _fingerprint(result)
        first, rows, votes = groups.get(key, (draft, result, 0))
        groups[key] = (first, rows, votes + 1)
    if not groups:
        return Election((drafts[0],), (None,), [0])
    most = max(votes for _, _, votes in groups.values())
    leading = [(draft, result) for draft, result, votes in groups.values() if votes == most]
    return Election(
        tuple(draft for draft, _ in leading),
        tuple(result for _, result in leading),
        sorted((votes for _, _, votes in groups.values()), reverse=True),
        tuple(ran),
    )


def _fingerprint(result: QueryResult) -> object:
    """What two results have in common that hold the same values, however arranged."""
    return frozenset(tuple(sorted(map(repr, row))) for row in result.rows)
