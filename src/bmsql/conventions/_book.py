"""The rule book: the rules of a profile, and what can be done with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bmsql.conventions._schema import Profile, Rule, Trigger
from bmsql.semantic import SemanticModel
from bmsql.types import ConventionRecord, ConventionUse, Plan

if TYPE_CHECKING:
    from sqlglot import exp

    from bmsql.conventions._apply import Applied
    from bmsql.conventions._ladder import Ladder


class RuleBook:
    """The rules in force under a profile. Immutable; made by `load_rules`."""

    def __init__(self, rules: Mapping[str, Rule], *, profile: Profile = "strict") -> None:
        self.profile: Profile = profile
        self._rules = {name: rule for name, rule in rules.items() if profile in rule.profiles}

    def __contains__(self, name: object) -> bool:
        return name in self._rules

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules.values())

    def __len__(self) -> int:
        return len(self._rules)

    def __getitem__(self, name: str) -> Rule:
        """The rule of this name; KeyError where there is none in this profile."""
        return self._rules[name]

    def apply(
        self,
        tree: exp.Query,
        model: SemanticModel,
        uses: Sequence[ConventionUse],
        *,
        qualified: bool | None = None,
        sources: Mapping[str, str] | None = None,
        values: Mapping[str, Sequence[str]] | None = None,
        inside: Sequence[str] = (),
    ) -> Applied:
        """Make `tree` keep to the conventions that `uses` imply; the evidence key and limit always.

        The input is left as it is, and applying twice changes nothing more. `qualified` says whether
        added columns carry their alias (None: as the query does); `sources` gives the tables of the
        plan's aliases, for queries that use others, and `values` the texts that conditions on those aliases
        name, which tell two uses of one table apart, as does `inside`: the aliases that stand in a
        subquery. Uses of rules that are not in this book are ignored.
        """
        from bmsql.conventions._apply import Application

        application = Application(
            self._rules, self.profile, tree, model, qualified=qualified, sources=sources, values=values, inside=inside
        )
        return application.run(uses)

    def apply_plan(self, tree: exp.Query, model: SemanticModel, plan: Plan) -> Applied:
        """As `apply`, with what a plan implies and what it says about its sources."""
        aliases = {source.alias: source.table for source in plan.sources}
        values = {
            source.alias: [
                text
                for filter_ in plan.filters
                if filter_.source == source.alias
                for text in filter_.values
                if isinstance(text, str)
            ]
            for source in plan.sources
        }
        inside = [join.right for join in plan.joins if join.kind != "inner"]
        return self.apply(tree, model, plan.conventions, sources=aliases, values=values, inside=inside)

    def ladder(self, tree: exp.Query, model: SemanticModel, records: Sequence[ConventionRecord]) -> exp.Query | None:
        """One query that counts the rows without each applied rule, without all, and with all.

        `tree` is the refined query and `records` what `apply` reported. A row is what a row of the
        result is (for DISTINCT and GROUP BY a distinct one; for a single COUNT, what it counts).
        None where no rule was applied. Read its one row with `read_ladder`.
        """
        from bmsql.conventions._ladder import build_ladder

        return build_ladder(self._rules, tree, model, records)

    def read_ladder(self, row: Mapping[str, Any], records: Sequence[ConventionRecord]) -> Ladder:
        """The records with their counts filled in, and notes in words, from the ladder's one row."""
        from bmsql.conventions._ladder import read_ladder

        return read_ladder(self._rules, row, records)

    def evidence_query(self, tree: exp.Query, model: SemanticModel) -> exp.Query | None:
        """For a DISTINCT, grouped or aggregate query: the evidence keys of the rows under it, capped.

        None where the query selects its keys itself, or reads nothing that has one.
        """
        from bmsql.conventions._evidence import build_evidence

        return build_evidence(tree, model)

    def triggers(self, family: str) -> Mapping[str, Trigger]:
        """By rule, the phrases of a question about `family` that imply, waive or negate it; lower case.

        Where phrases overlap in a question, the longest is meant.
        """
        return self._triggers.get(family, self._triggers[""])

    @cached_property
    def _triggers(self) -> dict[str, dict[str, Trigger]]:
        families = {family for rule in self._rules.values() for family in rule.families}
        return {
            family: {
                name: Trigger(
                    imply=_longest_first(rule.words),
                    waive=_longest_first(rule.waive),
                    complement=_longest_first(rule.complement_words),
                )
                for name, rule in self._rules.items()
                if not rule.families or family in rule.families
            }
            for family in (*families, "")
        }

    def unknown_roles(self, model: SemanticModel) -> dict[str, tuple[str, ...]]:
        """Rules whose roles the model does not define, with those roles: they can never apply to it."""
        missing = {rule.name: tuple(role for role in rule.all_roles if model.role(role) is None) for rule in self}
        return {name: roles for name, roles in missing.items() if roles}


def _longest_first(phrases: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({phrase.lower() for phrase in phrases}, key=lambda phrase: (-len(phrase), phrase)))
