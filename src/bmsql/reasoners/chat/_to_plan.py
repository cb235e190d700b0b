"""From a model's reply to a plan: names checked, values as they are stored, thresholds left to the rules.

A model forgets and misspells; what can be put right without guessing is put right here, and the rest
is a PlanError, which leads to SQL as text instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal

from bmsql.conventions import RuleBook
from bmsql.errors import PlanError
from bmsql.reasoners.chat._plan_filters import Filters, numbers_of
from bmsql.reasoners.chat._plan_names import Names, aliases, nearest, table_like
from bmsql.reasoners.chat._replies import ConventionReply, PlanReply
from bmsql.semantic import SemanticModel
from bmsql.types import (
    Aggregate,
    Clarification,
    ConventionUse,
    Mention,
    Order,
    Plan,
    PlanJoin,
    SelectItem,
    Source,
)

# Numbers that questions write as words.
_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()

Uses = Callable[[dict[str, str]], dict[str, tuple[ConventionUse, ...]]]


class PlanMaker:
    """Makes plans of replies over one semantic model and rule book. Stateless; safe in threads."""

    def __init__(self, model: SemanticModel, rules: RuleBook, tables: Sequence[str]) -> None:
        self.model = model
        self.rules = rules
        self.tables = tuple(tables)

    def make(self, reply: PlanReply, question: str, mentions: tuple[Mention, ...], uses: Uses) -> Plan:
        """The plan of a reply.

        `uses` gives the conventions that the words of the question call for, by alias, for tables by
        alias. Raises PlanError for names that nothing is like, and replies that lack what a plan needs.
        """
        if len(reply.readings) > 1:
            asked = Clarification(question="Which of these do you mean?", alternatives=tuple(reply.readings))
            return Plan(clarification=asked, mentions=mentions)
        if not reply.answerable:
            return Plan(answerable=False, problem=reply.problem or "no table holds what is asked", mentions=mentions)
        return _Making(self, reply, question, mentions, uses).plan()

    def table(self, name: str) -> str:
        """The table of a name as a model writes it. Raises PlanError where there is none like it."""
        return table_like(name, self.tables)


class _Making:
    """One plan in the making."""

    def __init__(
        self, maker: PlanMaker, reply: PlanReply, question: str, mentions: tuple[Mention, ...], uses: Uses
    ) -> None:
        self.maker, self.model, self.rules = maker, maker.model, maker.rules
        self.reply, self.question, self.mentions = reply, question, mentions
        tables = list(dict.fromkeys(maker.table(name) for name in reply.tables))
        if not tables:
            raise PlanError("the plan names no table.")
        self.alias = aliases(tables, self.model)
        self.uses = uses({alias: table for table, alias in self.alias.items()})
        # A model that names two tables without saying how they belong together means the same of each.
        self.combine: Literal["single", "union", "join"] = (
            "single" if len(tables) == 1 else "join" if reply.joins else "union"
        )
        by_items = bool(reply.group_by) or reply.distinct
        self.names = Names(self.model, maker.tables, self.alias, joined=self.combine == "join", by_items=by_items)
        self.filters = Filters(self.names, self.rules, question, mentions)

    def plan(self) -> Plan:
        reply = self.reply
        filters = self.filters.all(reply.filters)
        aggregate = self._aggregate()
        select = () if aggregate or (reply.group_by and not reply.select) else self._select()
        groups = tuple(self.names.item(name) for name in reply.group_by) if aggregate else ()
        if aggregate is None and reply.group_by:
            select = select or tuple(self.names.item(name) for name in reply.group_by)
        return Plan(
            intent=reply.intent,
            subject=self.model.family_of(next(iter(self.alias))).subject,
            sources=tuple(Source(alias=alias, table=table) for table, alias in self.alias.items()),
            combine=self.combine,
            select=(*select, *self._constants(bool(aggregate))),
            distinct=(reply.distinct or bool(reply.group_by)) and aggregate is None,
            filters=filters,
            joins=self._joins() if self.combine == "join" else (),
            group_by=groups,
            aggregate=aggregate,
            order=tuple(order for text in reply.order_by if (order := self._order(text, aggregate))),
            limit=self._limit(),
            conventions=self._conventions(),
            mentions=self.mentions,
            complete=reply.complete,
        )

    def _limit(self) -> int | None:
        """A limit that the question gives; or the first one, where it asks for the first by something."""
        limit = self.reply.limit
        if limit < 1:
            return None
        words = re.findall(r"\w+", self.question.lower())
        said = [*numbers_of(self.question), *(str(_WORDS.index(word) + 1) for word in words if word in _WORDS)]
        return limit if str(limit) in said or (limit == 1 and self.reply.order_by) else None

    # -- outputs ------------------------------------------------------------------------------

    def _select(self) -> tuple[SelectItem, ...]:
        items = [self.names.item(text) for text in self.reply.select]
        if not items:
            table = next(iter(self.alias))
            shown = self.model.family_of(table).show
            items = [SelectItem(column=role, source=self._alias_in_join(table)) for role in shown]
        return tuple(dict.fromkeys(items))

    def _alias_in_join(self, table: str) -> str:
        return self.alias[table] if self.combine == "join" else ""

    def _constants(self, computed: bool) -> tuple[SelectItem, ...]:
        """In a union, what tells the rows of one table from those of another."""
        if self.combine != "union" or computed:
            return ()
        entities = [set(self.model.tables[table].about) for table in self.alias]
        shared = next(iter(sorted(set.intersection(*entities))), "")
        if not shared:
            return ()
        return tuple(
            SelectItem(source=alias, alias=shared, value=self.model.tables[table].about[shared])
            for table, alias in self.alias.items()
        )

    def _aggregate(self) -> Aggregate | None:
        function = self.reply.function
        if not function:
            return Aggregate() if self.reply.intent == "count" and not self.reply.select else None
        if not self.reply.of.strip("* "):
            if function in ("count", "count_distinct"):
                return Aggregate()
            raise PlanError(f"the plan computes {function} of nothing.")
        name, source = self.names.name(self.reply.of)
        if self.reply.of.strip() in self.model.entities:
            name = self.reply.of.strip()
        return Aggregate(function=function, column=name, source=source)

    def _order(self, text: str, aggregate: Aggregate | None) -> Order | None:
        words = text.split()
        if not words:
            return None
        descending = len(words) > 1 and words[-1].lower().startswith("desc")
        if aggregate is not None and words[0].lower() in {aggregate.alias, aggregate.function, "count"}:
            return Order(column=aggregate.alias, descending=descending)
        if aggregate is not None and not self.reply.group_by:
            return None
        name, source = self.names.name(words[0])
        return Order(column=name, source=source, descending=descending)

    # -- joins --------------------------------------------------------------------------------

    def _joins(self) -> tuple[PlanJoin, ...]:
        joins = []
        for join in self.reply.joins:
            entity = nearest(join.on.strip(), list(self.model.entities), "entity")
            left, right = self.names.source(join.left), self.names.source(join.right)
            joins.append(PlanJoin(left=self.alias[left], right=self.alias[right], entity=entity, kind=join.kind))
        return tuple(joins)

    # -- conventions --------------------------------------------------------------------------

    def _conventions(self) -> tuple[ConventionUse, ...]:
        """What the words of the question call for; then what the model adds and they do not gainsay."""
        found = [use for alias, uses in self.uses.items() for use in self._placed(alias, uses)]
        decided = {self.rules[use.rule].role for use in found if use.rule in self.rules}
        proposed = [*self.reply.conventions, *(ConventionReply(rule=rule.name) for rule in self.filters.dropped)]
        for reply in proposed:
            if reply.rule not in self.rules or self.rules[reply.rule].role in decided:
                continue
            rule = self.rules[reply.rule]
            said = bool(reply.words.strip()) and _normal(reply.words) in _normal(self.question)
            if reply.mode != "implied" and not said:
                continue
            found += [
                ConventionUse(
                    rule=rule.name,
                    mode=reply.mode,
                    source=alias if self.combine == "join" else "",
                    words=reply.words if said else "",
                )
                for table, alias in self.alias.items()
                if self.model.tables[table].family in rule.families
            ]
        return tuple(dict.fromkeys(found))

    def _placed(self, alias: str, uses: Sequence[ConventionUse]) -> list[ConventionUse]:
        source = alias if self.combine == "join" else ""
        return [use.model_copy(update={"source": source}) for use in uses]


def _normal(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
