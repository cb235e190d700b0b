"""What a question's prompts show, beside the question: tables, values, readings, counts, attempts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

from bmsql.conventions import RuleBook
from bmsql.errors import PlanError
from bmsql.reasoners._base import Attempt, Evidence
from bmsql.reasoners.chat._options import ChatOptions
from bmsql.reasoners.chat._schema_text import added_text, linked_text, matched_text, rules_text, schema_text
from bmsql.reasoners.chat._to_plan import PlanMaker
from bmsql.reasoners.chat._usage import estimate_tokens
from bmsql.semantic import SemanticModel
from bmsql.types import Catalog, Mention, Plan, Problem, SelectItem, Source

_MOST_TABLES = 4


class Shown:
    """Renders for one knowledge base. Stateless; safe in threads."""

    def __init__(
        self, model: SemanticModel, rules: RuleBook, catalog: Catalog, tables: tuple[str, ...], options: ChatOptions
    ) -> None:
        self.model, self.rules, self.catalog = model, rules, catalog
        self.tables, self.options = tables, options
        self._schema = lru_cache(maxsize=64)(lambda names, full: schema_text(model, names, full=full))
        self._rules_of = lru_cache(maxsize=64)(lambda families: rules_text(rules, model, families))

    # -- the plan prompt ----------------------------------------------------------------------

    def static(self, reading: Plan) -> dict[str, str]:
        """Tables and rules: the same for every question, unless the tables are too many to show."""
        tables = self.tables if self._all_fit else self._likely(reading)
        families = tuple(dict.fromkeys(self.model.tables[name].family for name in tables))
        return {"schema": self._schema(tables, False), "rules": self._rules_of(families)}

    @cached_property
    def _all_fit(self) -> bool:
        return estimate_tokens(self._schema(self.tables, False)) <= self.options.schema_tokens

    def _likely(self, reading: Plan) -> tuple[str, ...]:
        """The tables that the question speaks of, by its reading and what it names, within the budget."""
        scores = dict.fromkeys(self.tables, 0.0)
        for source in reading.sources:
            scores[source.table] = scores.get(source.table, 0.0) + 10
        for name in self.tables:
            table = self.model.tables[name]
            for mention in reading.mentions:
                scores[name] += 2 * bool(mention.stored.get(table.family))
                scores[name] += 3 * (table.about.get(mention.entity) == mention.value)
            scores[name] += self.model.families[table.family].weight
        chosen: list[str] = []
        for name in sorted(self.tables, key=lambda one: -scores[one]):
            wider = (*chosen, name)
            if chosen and estimate_tokens(self._schema(wider, False)) > self.options.schema_tokens:
                continue
            chosen.append(name)
        return tuple(name for name in self.tables if name in chosen)

    def reading(self, plan: Plan) -> str:
        """The deterministic reading in the terms of a plan reply."""
        if not self.options.reading:
            return "none"
        if plan.clarification is not None:
            return f"ambiguous: {'; '.join(plan.clarification.alternatives)}"
        if not plan.answerable:
            return f"none: {plan.problem}"
        return json.dumps(self._reply_terms(plan), ensure_ascii=False, separators=(",", ":"))

    def _reply_terms(self, plan: Plan) -> dict[str, Any]:
        table_of = {source.alias: source.table for source in plan.sources}

        def item(column: str, source: str = "") -> str:
            table = table_of.get(source, plan.sources[0].table)
            name = self.model.column(table, column) or column.rpartition(".")[2]
            return f"{table}.{name}" if source and len(table_of) > 1 else name

        def named(items: Sequence[SelectItem]) -> list[str]:
            return [item(one.column, one.source) for one in items if one.column]

        terms: dict[str, Any] = {
            "intent": plan.intent,
            "tables": [source.table for source in plan.sources],
            "combine": plan.combine if plan.combine != "single" else "",
            "joins": [
                {"left": table_of[join.left], "right": table_of[join.right], "on": join.entity, "kind": join.kind}
                for join in plan.joins
            ],
            "select": named(plan.select),
            "distinct": plan.distinct,
            "filters": [
                {
                    "on": item(one.target, one.source),
                    "op": one.op,
                    "values": list(one.values),
                    "negated": one.negated,
                    "either": one.any_of,
                }
                for one in plan.filters
            ],
            "group_by": named(plan.group_by),
            "function": plan.aggregate.function if plan.aggregate else "",
            "of": item(plan.aggregate.column, plan.aggregate.source)
            if plan.aggregate and plan.aggregate.column
            else "",
            "having": [f"{plan.aggregate.alias} {one.op} {one.values[0]}" for one in plan.having if plan.aggregate],
            "order_by": [f"{item(one.column, one.source)}{' desc' if one.descending else ''}" for one in plan.order],
            "limit": plan.limit or 0,
            "limit_per": plan.limit_per,
            "conventions": [f"{use.rule} {use.mode}" for use in plan.conventions],
        }
        filters = [{key: value for key, value in one.items() if value} for one in terms["filters"]]
        return {key: value for key, value in {**terms, "filters": filters}.items() if value}

    def unplanned(
        self, reading: Plan, mentions: tuple[Mention, ...], names: Sequence[str] = (), maker: PlanMaker | None = None
    ) -> Plan:
        """A plan that only says which tables are read: its query is written as text."""
        tables = []
        for name in names:
            try:
                tables.append(maker.table(name) if maker else name)
            except PlanError:
                continue
        tables = tables or [source.table for source in reading.sources] or list(self._likely(reading)[:_MOST_TABLES])
        return Plan(
            sources=tuple(
                Source(alias=f"t{number}", table=table) for number, table in enumerate(dict.fromkeys(tables), 1)
            ),
            combine="single" if len(tables) == 1 else "union",
            mentions=mentions,
            conventions=tuple(use.model_copy(update={"source": ""}) for use in reading.conventions),
            complete=False,
        )

    # -- the draft prompt ---------------------------------------------------------------------

    def tables_of(self, plan: Plan) -> str:
        """The tables of a plan with all their columns, and the prefix that their names have."""
        names = tuple(dict.fromkeys(source.table for source in plan.sources if source.table in self.model.tables))
        prefix = ".".join(part for part in (self.catalog.project, self.catalog.dataset) if part)
        return self._schema(names or self.tables, True) + (f"\nDataset: {prefix}" if prefix else "")

    def added(self, plan: Plan) -> str:
        """The conditions that are put in by rule."""
        return added_text(plan.conventions, self.rules, self.model)

    def partial(self, plan: Plan) -> str:
        """What an incomplete plan says already."""
        if not plan.sources or not (plan.filters or plan.select or plan.aggregate):
            return ""
        return f"PLAN SO FAR: {json.dumps(self._reply_terms(plan), ensure_ascii=False, separators=(',', ':'))}"

    def linked(self, mentions: Sequence[Mention], plan: Plan | None = None) -> str:
        """What the question names and how it is stored; with a plan, how its tables match it."""
        if not self.options.linking:
            return "not looked up"
        if plan is None or not plan.sources:
            return linked_text(mentions)
        tables = dict.fromkeys(source.table for source in plan.sources if source.table in self.model.tables)
        return matched_text(mentions, self.model, tuple(tables))

    # -- repair and answer --------------------------------------------------------------------

    @staticmethod
    def attempt(number: int, attempt: Attempt) -> str:
        """A query that failed, with the messages."""
        messages = [_problem(problem) for problem in attempt.problems] + ([attempt.error] if attempt.error else [])
        return f"{number}. {attempt.sql or '(no query)'}\n   {' '.join(messages)}"

    def applied(self, evidence: Evidence) -> str:
        """The conventions, what they did and the counts without them."""
        told = []
        for record in evidence.conventions:
            if record.rule in self.rules and self.rules[record.rule].kind in ("key", "limit"):
                continue
            counts = f", {record.rows_without} rows without it" if record.rows_without is not None else ""
            told.append(f"{record.predicate or record.rule}: {record.status}{counts}")
        return f"CONVENTIONS: {'; '.join(told)}" if told else ""

    @staticmethod
    def counts(evidence: Evidence) -> str:
        """How many rows there are, and what limits them."""
        told = [f"{evidence.total} rows in all"] if evidence.total is not None else []
        return f"NOTED: {'; '.join([*told, *evidence.warnings])}" if told or evidence.warnings else ""


def _problem(problem: Problem) -> str:
    place = f"line {problem.line}, column {problem.column}: " if problem.line is not None else ""
    return f"{place}{problem.message} {problem.suggestion}".strip()
