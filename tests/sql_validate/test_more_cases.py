"""`validate` against the analyser's verdicts on drafts of every kind; all of one verdict in one test."""

from __future__ import annotations

import json
import re
from typing import Any

from bmsql.sql import validate
from bmsql.types import Rejected, ValidatedQuery
from tests.sql_validate.catalogue import CATALOG, DATA

TABLES = {
    "S": "NeurodegenerativeDiseases_SMR_Genes_Full",
    "A": "AlzheimerDisease_CombinedGeneData_UUID",
    "P": "ParkinsonDisease_CompleteGeneData_No23andMe",
    "D": "DrugGeneTargets_ComprehensiveAnnotations_updated",
    "I": "DrugTargets_IndicationsAndTherapeuticUses",
    "F": "NeurodegenerativeDisease_AlleleFrequencies_UUID",
    "X": "Extra",
}
CASES: list[dict[str, Any]] = json.loads((DATA / "more.json").read_text(encoding="utf-8"))


def full(sql: str) -> str:
    """The text with the tables' full names for their letters."""
    return re.sub(r"\{([SAPDIFX])\}", lambda found: f"`{CATALOG.qualified(TABLES[found[1]])}`", sql)


def test_the_list_is_long_enough() -> None:
    invalid = [case for case in CASES if case["oracle"] is not None]
    assert len(invalid) >= 450
    assert sum(case["oracle"] is None and "stricter" not in case for case in CASES) >= 150


def test_what_the_analyser_accepts_is_kept() -> None:
    wrong = []
    for case in CASES:
        if case["oracle"] is None and "stricter" not in case:
            outcome = validate(full(case["sql"]), CATALOG)
            if not isinstance(outcome, ValidatedQuery):
                wrong.append((case["sql"], outcome.problems))
    assert not wrong


def test_what_the_analyser_refuses_is_rejected_or_repaired() -> None:
    wrong = []
    for case in CASES:
        if case["oracle"] is None and "stricter" not in case:
            continue
        outcome = validate(full(case["sql"]), CATALOG)
        if "result" in case:
            # The recorded result was accepted by the analyser.
            good = isinstance(outcome, ValidatedQuery) and outcome.sql == full(case["result"]) and outcome.fixes
        else:
            good = isinstance(outcome, Rejected) and [problem.code for problem in outcome.problems] == case["codes"]
        if not good:
            wrong.append((case["sql"], outcome))
    assert not wrong


def test_every_rejection_says_what_is_wrong() -> None:
    for case in CASES:
        outcome = validate(full(case["sql"]), CATALOG)
        if isinstance(outcome, Rejected):
            first = outcome.problems[0]
            assert first.message.endswith((".", "?")), case["sql"]
            assert first.suggestion or first.line is not None or first.snippet, case["sql"]
