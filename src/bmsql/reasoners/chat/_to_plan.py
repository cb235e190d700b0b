"""From a model's reply to a plan: names checked, values as they are stored, thresholds left to the rules.

A model forgets and misspells; what can be put right without guessing is put right here, and the rest
is a PlanError, which leads to SQL as text instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rapidfuzz import fuzz

from bmsql.conventions import Rule, RuleBook
from bmsql.errors import PlanError
from bmsql.reasoners.chat._replies import ConventionReply, FilterReply, PlanReply
from bmsql.semantic import SemanticModel
from bmsql.types import (
    Aggregate,
    Clarification,
    ConventionUse,
    Filter,
    Mention,
    Order,
    Plan,
    PlanJoin,
    Scalar,
    SelectItem,
    Source,
)

# A name this like another is that one, misspelt.
_LIKENESS = 88
# Columns of text that are searched for what is named in them.
_TEXT_OPERATORS = frozenset({"=", "match", "contains", "starts_with"})
_INTEGERS, _FLOATS = frozenset({"INT64"}), frozenset({"FLOAT64", "NUMERIC", "BIGNUMERIC"})
_TRUE, _FALSE = frozenset({"true", "t", "yes", "1"}), frozenset({"false", "f", "no", "0"})

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
        bare = name.strip().strip("`").rpartition(".")[2]
        return _nearest(bare, self.tables, "table")


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
        self.alias = _aliases(tables, self.model)
        self.uses = uses({alias: table for table, alias in self.alias.items()})
        self.dropped: list[Rule] = []
        # A model that names two tables without saying how they belong together means the same of each.
        self.combine = "single" if len(tables) == 1 else "join" if reply.joins else "union"

    def plan(self) -> Plan:
        reply = self.reply
        alone = reply.complete
        filters = self._filters()
        aggregate = self._aggregate()
        select = () if aggregate or (reply.group_by and not reply.select) else self._select()
        groups = tuple(self._item(name) for name in reply.group_by) if aggregate else ()
        if aggregate is None and reply.group_by:
            select = select or tuple(self._item(name) for name in reply.group_by)
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
            limit=reply.limit if reply.limit > 0 and str(reply.limit) in _numbers(self.question) else None,
            conventions=self._conventions(),
            mentions=self.mentions,
            complete=alone,
        )

    # -- names --------------------------------------------------------------------------------

    def _item(self, text: str) -> SelectItem:
        name, source = self._name(text)
        return SelectItem(column=name, source=source)

    def _name(self, text: str, table: str = "") -> tuple[str, str]:
        """A column, role or entity, and the alias of its source where only one has it."""
        parts = [part.strip("` ") for part in text.strip().split(".")]
        sources = list(self.alias)
        if len(parts) > 1 and not self._has_role(text.strip()):
            table, parts = table or ".".join(parts[:-1]), parts[-1:]
        if table:
            sources = [self._source(table)]
        name = text.strip() if self._has_role(text.strip()) else parts[-1]
        holding = [source for source in sources if self._has(source, name)]
        if not holding:
            known = [
                column for source in sources for column in (*self.model.tables[source].columns, *self._own(source))
            ]
            name = _nearest(name, known, "column")
            holding = [source for source in sources if self._has(source, name)]
        name = self._shown(holding[0], name)
        if self.combine != "join":
            return name, ""
        return name, self.alias[holding[0]]

    def _source(self, text: str) -> str:
        for table, alias in self.alias.items():
            if text == alias:
                return table
        table = self.maker.table(text)
        if table not in self.alias:
            raise PlanError(f"the plan uses {table}, which is not among its tables.")
        return table

    def _has_role(self, text: str) -> bool:
        return self.model.role(text) is not None or any(
            text in self.model.family_of(table).derived for table in self.alias
        )

    def _own(self, table: str) -> list[str]:
        """The entities and derived columns of a table's family."""
        family = self.model.tables[table].family
        return [
            *(name for name, entity in self.model.entities.items() if family in entity.match),
            *self.model.families[family].derived,
        ]

    def _has(self, table: str, name: str) -> bool:
        columns = {column.lower() for column in self.model.tables[table].columns}
        return name.lower() in columns or name in self.model.tables[table].column_by_role or name in self._own(table)

    def _shown(self, table: str, name: str) -> str:
        """The role of a plain column, which holds for all tables of a family; else the name itself."""
        if name in self.model.entities:
            recipe = self.model.entities[name].match.get(self.model.tables[table].family)
            shown = recipe.shown if recipe else ""
            return (
                shown
                if self.model.column(table, shown) and not self.reply.group_by and not self.reply.distinct
                else name
            )
        return self.model.role_of(table, name) or name

    # -- outputs ------------------------------------------------------------------------------

    def _select(self) -> tuple[SelectItem, ...]:
        items = [self._item(text) for text in self.reply.select]
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
        name, source = self._name(self.reply.of)
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
        name, source = self._name(words[0])
        return Order(column=name, source=source, descending=descending)

    # -- joins --------------------------------------------------------------------------------

    def _joins(self) -> tuple[PlanJoin, ...]:
        joins = []
        for join in self.reply.joins:
            entity = _nearest(join.on.strip(), list(self.model.entities), "entity")
            left, right = self._source(join.left), self._source(join.right)
            joins.append(PlanJoin(left=self.alias[left], right=self.alias[right], entity=entity, kind=join.kind))
        return tuple(joins)

    # -- filters ------------------------------------------------------------------------------

    def _filters(self) -> tuple[Filter, ...]:
        made = []
        for reply in self.reply.filters:
            filter_ = self._filter(reply)
            if filter_ is not None:
                made.append(filter_)
        return tuple(made)

    def _filter(self, reply: FilterReply) -> Filter | None:
        on = reply.on.strip()
        entity = on if on in self.model.entities else ""
        if entity and self._said_by_table(entity, reply):
            return None
        if reply.op == "region":
            return self._region(reply)
        name, source = self._name(on, reply.table)
        table = next(table for table, alias in self.alias.items() if not source or alias == source)
        if not entity and reply.op in _TEXT_OPERATORS and reply.values:
            # A thing named in a column that it is matched in: by its recipe, so that items stay whole.
            entity = self._matched_in(table, name, reply.values)
        if entity:
            family = self.model.tables[table].family
            if family not in self.model.entities[entity].match:
                raise PlanError(f"'{entity}' is not matched in {table}.")
            stored = [value for text in reply.values for value in self._stored(text, entity, family)]
            return Filter(
                target=entity,
                op="match",
                values=tuple(dict.fromkeys(stored)),
                source=source,
                negated=reply.negated or reply.op == "!=",
                any_of=max(0, reply.either),
                words=self._words(entity, reply.values),
            )
        if self._is_implied(name, reply):
            return None
        op = "=" if reply.op == "match" else reply.op
        values: tuple[Scalar, ...] = (
            () if op in ("null", "not_null") else tuple(self._value(text, table, name) for text in reply.values)
        )
        if op not in ("null", "not_null") and not values:
            raise PlanError(f"the filter on '{on}' has no value.")
        return Filter(
            target=name,
            op=op,
            values=values,
            source=source,
            negated=reply.negated,
            any_of=max(0, reply.either),
            words=self._quoted(reply.values),
        )

    def _said_by_table(self, entity: str, reply: FilterReply) -> bool:
        """Whether the choice of table says the filter: a table that is about one disease."""
        tables = [self._source(reply.table)] if reply.table else list(self.alias)
        return bool(tables) and all(entity in self.model.tables[table].about for table in tables)

    def _matched_in(self, table: str, name: str, values: Sequence[str]) -> str:
        family = self.model.tables[table].family
        for entity, spec in self.model.entities.items():
            recipe = spec.match.get(family)
            if recipe is None or name not in recipe.roles or spec.kind == "region":
                continue
            if any(self._mention(text, entity) for text in values) or spec.kind in ("symbol", "identifier"):
                return entity
        return ""

    def _mention(self, text: str, entity: str) -> Mention | None:
        low = text.strip().casefold()
        for mention in self.mentions:
            names = {mention.text, mention.value, *(value for values in mention.stored.values() for value in values)}
            if mention.entity == entity and low in {name.casefold() for name in names}:
                return mention
        return None

    def _stored(self, text: str, entity: str, family: str) -> tuple[str, ...]:
        """The stored values of a linked name; a name that was not linked stands for itself."""
        mention = self._mention(text, entity)
        if mention is not None and mention.method != "unlinked":
            return mention.stored.get(family) or (mention.value,)
        return (text.strip(),)

    def _region(self, reply: FilterReply) -> Filter:
        entity = next((name for name, spec in self.model.entities.items() if spec.kind == "region"), "")
        if not entity or len(reply.values) not in (3, 4):
            raise PlanError("a region takes a build, a chromosome, and the first and last base pair.")
        build = reply.values[0].lower().removeprefix("grch").removeprefix("hg").replace("19", "37")
        chromosome = reply.values[1].lower().removeprefix("chr")
        numbers = [int(text.replace(",", "")) for text in reply.values[2:] if text.replace(",", "").isdigit()]
        if len(numbers) != 2:
            raise PlanError("a region takes a first and a last base pair.")
        return Filter(
            target=entity,
            op="region",
            values=(build, int(chromosome) if chromosome.isdigit() else chromosome.upper(), *numbers),
            negated=reply.negated,
        )

    def _value(self, text: str, table: str, name: str) -> Scalar:
        """A text as the column holds it. Raises PlanError for a text that is no such value."""
        column = self.model.column(table, name) or name
        spec = next((one for key, one in self.model.tables[table].columns.items() if key == column), None)
        kind = spec.type.upper() if spec else "FLOAT64"
        bare = text.strip()
        try:
            if kind in _INTEGERS:
                number = float(bare.replace(",", ""))
                return int(number) if number.is_integer() else number
            if kind in _FLOATS:
                return float(bare.replace(",", ""))
        except ValueError as error:
            raise PlanError(f"'{text}' is no number, and {column} holds numbers.") from error
        if kind == "BOOL":
            if bare.lower() in _TRUE | _FALSE:
                return bare.lower() in _TRUE
            raise PlanError(f"'{text}' is neither true nor false, and {column} holds nothing else.")
        return text

    def _is_implied(self, role: str, reply: FilterReply) -> bool:
        """Whether a filter is a threshold that the question does not state: then a rule puts it in."""
        rules = [rule for rule in self.rules if rule.role == role and rule.kind in ("threshold", "approval")]
        if not rules or reply.op in ("null", "not_null"):
            return False
        if any(_same_number(text, said) for text in reply.values for said in _numbers(self.question)):
            return False
        if not any(_is_value(rule, text) for rule in rules for text in reply.values) and rules[0].kind != "threshold":
            return False
        self.dropped += [rule for rule in rules if any(_is_value(rule, text) for text in reply.values)][:1]
        return True

    def _words(self, entity: str, values: Sequence[str]) -> str:
        found = [mention.text for text in values if (mention := self._mention(text, entity))]
        return ", ".join(dict.fromkeys(found)) or self._quoted(values)

    def _quoted(self, values: Sequence[str]) -> str:
        low = self.question.lower()
        return ", ".join(text for text in values if text.strip() and text.strip().lower() in low)

    # -- conventions --------------------------------------------------------------------------

    def _conventions(self) -> tuple[ConventionUse, ...]:
        """What the words of the question call for; then what the model adds and they do not gainsay."""
        found = [use for alias, uses in self.uses.items() for use in self._placed(alias, uses)]
        decided = {self.rules[use.rule].role for use in found if use.rule in self.rules}
        proposed = [*self.reply.conventions, *(ConventionReply(rule=rule.name) for rule in self.dropped)]
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


def _aliases(tables: Sequence[str], model: SemanticModel) -> dict[str, str]:
    """An alias for each table: the first letter of its family, numbered where there are several."""
    letters = [model.tables[table].family[0] for table in tables]
    return {
        table: letter if letters.count(letter) == 1 else f"{letter}{letters[:place].count(letter) + 1}"
        for place, (table, letter) in enumerate(zip(tables, letters, strict=True))
    }


def _nearest(name: str, known: Sequence[str], kind: str) -> str:
    """The known name that `name` is, but for case and small slips. Raises PlanError where there is none."""
    low = name.lower()
    for one in known:
        if one.lower() == low:
            return one
    likeness, best = max(((fuzz.ratio(low, one.lower()), one) for one in known), default=(0.0, ""))
    if likeness < _LIKENESS:
        raise PlanError(f"there is no {kind} '{name}'.{f' The nearest is {best}.' if best else ''}")
    return best


def _numbers(question: str) -> list[str]:
    """The numbers of a question as Python writes them: `5 x 10^-8` is `5e-8`."""
    text = re.sub(r"\s*[x×*]\s*10\s*\^?\s*(?=[-−]?\d)", "e", question.lower()).replace("−", "-")
    return re.findall(r"\d+(?:[.,]\d+)*(?:e-?\d+)?", text)


def _same_number(one: str, other: str) -> bool:
    try:
        return float(one.replace(",", "")) == float(other.replace(",", ""))
    except ValueError:
        return False


def _is_value(rule: Rule, text: str) -> bool:
    value = rule.value
    if isinstance(value, bool):
        return text.strip().lower() in (_TRUE if value else _FALSE)
    return not isinstance(value, tuple) and _same_number(text, str(value))


def _normal(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
