"""The OfflineReasoner: no model, no network; it understands a question or says why it does not."""

from __future__ import annotations

from collections.abc import Mapping

from bmsql.conventions import RuleBook
from bmsql.planning import compile_plan
from bmsql.reasoners._base import Attempt, Evidence
from bmsql.reasoners.offline._reader import Reader
from bmsql.reasoners.offline._text import answer_text
from bmsql.semantic import SemanticModel
from bmsql.sql import one_line
from bmsql.types import Catalog, ConventionUse, Draft, LinkQuestion, Plan, Review


class OfflineReasoner:
    """Maps a question onto the semantic model, and builds SQL from the plan with sqlglot.

    Deterministic and stateless; safe in threads. `link` finds the stored values that a question
    mentions (see `bmsql.linking.Linker`).
    """

    def __init__(self, model: SemanticModel, rules: RuleBook, catalog: Catalog, link: LinkQuestion) -> None:
        self._model = model
        self._rules = rules
        self._catalog = catalog
        tables = frozenset(name for name in model.tables if name in catalog.by_name)
        self._reader = Reader(model, rules, link, tables)

    @property
    def name(self) -> str:
        """`offline`."""
        return "offline"

    @property
    def local(self) -> bool:
        """True: nothing leaves the machine."""
        return True

    def plan(self, question: str, *, feedback: str = "") -> Plan:
        """The plan for a question; not answerable, with the problem, where it is not understood."""
        return self._reader.read(question)

    def conventions(self, question: str, tables: Mapping[str, str]) -> dict[str, tuple[ConventionUse, ...]]:
        """By alias of the given tables, the conventions that the words of a question call for."""
        return self._reader.conventions(question, tables)

    def draft(self, question: str, plan: Plan) -> Draft:
        """The general query of the plan. Raises PlanError where it cannot be compiled."""
        tree = compile_plan(plan, self._model, self._catalog)
        return Draft(sql=one_line(tree, copy=False), author="plan")

    def repair(self, question: str, plan: Plan, attempts: tuple[Attempt, ...]) -> Draft | None:
        """None: the compiler is deterministic, so that trying again would give the same query."""
        return None

    def review(self, evidence: Evidence) -> Review:
        """Always sufficient: another reading of the same question would be the same."""
        return Review(sufficient=True, reason="the plan is deterministic")

    def answer(self, evidence: Evidence) -> str:
        """One or two sentences made from the rows, the counts and the rules."""
        text = answer_text(evidence, self._model, self._rules)
        # "None was found" says too much where most values are not recorded.
        missing = next((one for one in evidence.warnings if one.startswith("Not recorded:")), "")
        return f"{text} {missing}" if missing and missing not in text else text
