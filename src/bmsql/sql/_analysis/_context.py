"""What an analysis gathers: problems, repairs and the tables read."""

from __future__ import annotations

from sqlglot import exp

from bmsql.sql._policy import Policy
from bmsql.sql._source import Edit, Source, problem_at
from bmsql.sql._tree import span
from bmsql.types import Catalog, Fix, Problem


class Context:
    """The text under analysis, and everything found in it."""

    def __init__(self, source: Source, catalog: Catalog, policy: Policy) -> None:
        self.source = source
        self.catalog = catalog
        self.policy = policy
        self._problems: dict[Problem, None] = {}
        self.fixes: list[Fix] = []
        self._edits: dict[Edit, None] = {}
        self.tables: dict[str, None] = {}

    @property
    def problems(self) -> list[Problem]:
        """The problems found so far, in order."""
        return list(self._problems)

    @property
    def edits(self) -> list[Edit]:
        """The repairs of the text, in order."""
        return list(self._edits)

    def forget_problems(self, kept: int) -> None:
        """Take back all problems but the first `kept`."""
        self._problems = dict.fromkeys(self.problems[:kept])

    def problem(self, code: str, message: str, start: int, end: int, suggestion: str = "") -> None:
        """Record a problem at a place in the text, once."""
        found = problem_at(self.source.text, code, message, start, end, suggestion)
        self._problems[found] = None

    def problem_at(self, node: exp.Expr, code: str, message: str, suggestion: str = "") -> None:
        """Record a problem at a node."""
        self.problem(code, message, *span(node, self.source), suggestion)

    def edit(self, edit: Edit, code: str, message: str, before: str) -> None:
        """Record a repair."""
        if edit not in self._edits:
            self._edits[edit] = None
            self.fixes.append(Fix(code=code, message=message, before=before, after=edit.replacement))
