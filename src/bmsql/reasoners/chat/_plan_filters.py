"""Filters as a model writes them: values as they are stored, and thresholds left to the rules."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bmsql.conventions import Rule, RuleBook
from bmsql.errors import PlanError
from bmsql.reasoners.chat._plan_names import Names
from bmsql.reasoners.chat._replies import FilterReply
from bmsql.types import Filter, Mention, Scalar

# Columns of text that are searched for what is named in them.
_TEXT_OPERATORS = frozenset({"=", "match", "contains", "starts_with"})
_INTEGERS, _FLOATS = frozenset({"INT64"}), frozenset({"FLOAT64", "NUMERIC", "BIGNUMERIC"})
_TRUE, _FALSE = frozenset({"true", "t", "yes", "1"}), frozenset({"false", "f", "no", "0"})


class Filters:
    """Makes the filters of one plan. `dropped` gets the rules that were written as filters."""

    def __init__(self, names: Names, rules: RuleBook, question: str, mentions: tuple[Mention, ...]) -> None:
        self.names, self.model, self.rules = names, names.model, rules
        self.question, self.mentions = question, mentions
        self.dropped: list[Rule] = []

    def all(self, replies: Sequence[FilterReply]) -> tuple[Filter, ...]:
        """The filters of a reply; those that a table or a rule says are left out."""
        made = []
        for reply in replies:
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
        name, source = self.names.name(on, reply.table)
        table = next(table for table, alias in self.names.alias.items() if not source or alias == source)
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
        tables = [self.names.source(reply.table)] if reply.table else list(self.names.alias)
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
        if any(_same_number(text, said) for text in reply.values for said in numbers_of(self.question)):
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


def numbers_of(question: str) -> list[str]:
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
