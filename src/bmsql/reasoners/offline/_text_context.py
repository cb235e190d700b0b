"""What the sentences are made from: the rows by role, and the names of roles, entities and values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bmsql.conventions import RuleBook
from bmsql.reasoners._base import Evidence
from bmsql.reasoners.offline._text_values import plain, several, shown
from bmsql.semantic import Entity, Family, Recipe, SemanticModel
from bmsql.types import Filter, Plan, QueryResult, SelectItem, Source

Row = Mapping[str, Any]
# The key, in a row, of the constant that says which source of a union it is from.
LABEL = "source of the row"
COUNT = "count"


@dataclass(frozen=True)
class Context:
    """One answer in the making."""

    evidence: Evidence
    model: SemanticModel
    rules: RuleBook

    @property
    def plan(self) -> Plan:
        """The plan that the rows are of."""
        return self.evidence.plan

    @property
    def main(self) -> Source:
        """The source whose rows are answered with."""
        return self.plan.sources[0]

    def family_name(self, source: Source | None = None) -> str:
        """The family of a source; of the main one by default."""
        return self.model.tables[(source or self.main).table].family

    def family(self, source: Source | None = None) -> Family:
        """The definition of that family."""
        return self.model.families[self.family_name(source)]

    def source(self, alias: str) -> Source:
        """The source of an alias; the main one where there is none."""
        return next((one for one in self.plan.sources if one.alias == alias), self.main)

    # -- rows ---------------------------------------------------------------------------------

    @cached_property
    def rows(self) -> list[Row]:
        """The rows by role, entity, `COUNT` and `LABEL`; of another source as `alias:role`."""
        return self.by_role(self.evidence.result)

    @cached_property
    def general(self) -> list[Row]:
        """The rows found without the conventions, in the same form; empty where there are none."""
        return self.by_role(self.evidence.general) if self.evidence.general else []

    def by_role(self, result: QueryResult) -> list[Row]:
        """The rows of a result of this plan."""
        keys = self._keys(result)
        return [{key: value for key, value in zip(keys, row, strict=True) if key} for row in result.rows]

    def _keys(self, result: QueryResult) -> list[str]:
        plan, evidence_key = self.plan, self.model.evidence_key.lower()
        items = [*plan.group_by, *(item for item in plan.select if self._is_of_first(item))]
        outputs = [self._key(item) for item in items if item.value or item.column.lower() != evidence_key]
        if plan.aggregate:
            outputs.append(COUNT)
        names = [column.name for column in result.columns]
        is_key = [
            bool(evidence_key) and (name.lower() == evidence_key or name.lower().startswith(f"{evidence_key}_"))
            for name in names
        ]
        if len(names) - sum(is_key) == len(outputs):
            remaining = iter(outputs)
            return ["" if skipped else next(remaining) for skipped in is_key]
        return [self.model.role_of(self.main.table, name) for name in names]

    def _is_of_first(self, item: SelectItem) -> bool:
        """Each branch of a union selects the same, and its own label."""
        return self.plan.combine != "union" or item.source in ("", self.main.alias)

    def _key(self, item: SelectItem) -> str:
        if item.value:
            return LABEL
        source = self.source(item.source)
        recipe = self.recipe(item.column, source)
        name = recipe.shown if recipe and recipe.how not in ("item", "listed") else item.column
        return name if source is self.main else f"{source.alias}:{name}"

    def value(self, row: Row, name: str) -> Any:
        """The value of a role or an entity in a row; None where it is missing or was not selected."""
        for key in (name, self.role_of(name)):
            value = row.get(key)
            if value is not None and not self.is_missing(key, value):
                return value
        return None

    def is_missing(self, role: str, value: Any) -> bool:
        """Whether a value stands for "not recorded"."""
        spec = self.model.role(role.rpartition(":")[2])
        return value is None or (bool(spec) and any(value == one for one in spec.missing))  # type: ignore[union-attr]

    # -- names --------------------------------------------------------------------------------

    def recipe(self, entity: str, source: Source | None = None) -> Recipe | None:
        """How an entity is matched in a source."""
        spec = self.model.entities.get(entity)
        return spec.match.get(self.family_name(source)) if spec else None

    def role_of(self, name: str, source: Source | None = None) -> str:
        """The role that shows an entity; a role itself stays as it is."""
        recipe = self.recipe(name, source)
        return recipe.shown if recipe else name

    def entity_of(self, role: str, source: Source | None = None) -> str:
        """The entity that a role shows, or an empty string."""
        family = self.family_name(source)
        subject = self.family(source).subject
        matched = {name: spec.match[family] for name, spec in self.model.entities.items() if family in spec.match}
        names = [name for name, recipe in matched.items() if recipe.shown == role]
        return subject if subject in names else next(iter(names), "")

    def unit(self, role: str) -> str:
        """The unit of a role, or an empty string."""
        role = role.rpartition(":")[2]
        spec = self.model.role(role)
        family = self.model.families.get(role.partition(".")[0])
        derived = family.derived.get(role) if family else None
        return spec.unit if spec else derived.unit if derived else ""

    def label(self, name: str, source: Source | None = None) -> str:
        """What a role or an entity is called: in the family's own words, as it is asked for, or as it means."""
        entity = self.model.entities.get(name)
        if entity:
            return entity.label
        role = name.rpartition(":")[2]
        family = self.model.families.get(role.partition(".")[0])
        if family and role in family.say.labels:
            return family.say.labels[role]
        asked = self._attribute_label(role)
        if asked:
            return asked
        spec = self.model.role(role)
        derived = family.derived.get(role) if family else None
        meaning = spec.meaning if spec else derived.meaning if derived else ""
        for mark in (";", ",", ":", " ("):
            meaning = meaning.partition(mark)[0]
        if meaning:
            return meaning
        column = self.model.column((source or self.main).table, role) if role else None
        return column or role.rpartition(".")[2] or name

    def _attribute_label(self, role: str) -> str:
        """The label of the attribute that is about this role alone."""
        family = role.partition(".")[0]
        attributes = self.model.attributes.values()
        for one in attributes:
            if one.measure.get(family) == role or one.test.get(family) == role:
                return one.label
        shows = [(one.label, one.show.get(family, ())) for one in attributes]
        alone = [label for label, roles in shows if roles[-1:] == (role,) and len(roles) < 3]
        return next((label for label in alone if not label.endswith("s")), "")

    def asked_label(self, role: str) -> tuple[str, str]:
        """One and many of what a role is asked for as: its entity, where it shows one, else its label."""
        entity = self.entity_of(role)
        spec = self.model.entities.get(entity)
        family = self.family_name()
        if role in self.family().say.labels or spec is None:
            label = self.label(role)
            return label, several(label)
        for attribute in self.model.attributes.values():
            if attribute.entity == entity and role in attribute.show.get(family, ()) and attribute.label.endswith("s"):
                return spec.label, attribute.label
        return spec.label, spec.plural

    def subject(self, source: Source | None = None) -> tuple[str, str]:
        """One and many of what the rows of a source are of."""
        spec = self.model.entities.get(self.family(source).subject)
        return (spec.label, spec.plural) if spec else ("row", "rows")

    def name(self, entity: str, value: object) -> str:
        """A value of an entity as it is called: an id by its label."""
        spec = self.model.entities.get(entity)
        for one in spec.values if spec else ():
            if one.id == value:
                return plain(one.label or one.id)
        return shown(value)

    def said(self, filter_: Filter, source: Source | None = None) -> list[str]:
        """The values of a match as they are called, with what the question called them if that differs."""
        entity = self.model.entities.get(filter_.target)
        values = [str(value) for value in filter_.values]
        if entity is None:
            return [shown(value) for value in filter_.values]
        if entity.kind in ("identifier", "symbol"):
            return [self._as_asked(value, filter_) if len(values) == 1 else plain(value) for value in values]
        family = self.family_name(source)
        names = dict.fromkeys(
            self.name(mention.entity, mention.value)
            for mention in self.plan.mentions
            if self._same(mention.entity, filter_.target) and set(mention.stored.get(family, ())) & set(values)
        )
        asked = plain(filter_.words)
        if entity.kind == "name" and len(names) == 1 and asked:
            [name] = names
            return [name if asked.lower() in name.lower() or name.lower() in asked.lower() else f"{asked} ({name})"]
        return list(names) or [self.name(filter_.target, value) for value in values]

    def _as_asked(self, value: str, filter_: Filter) -> str:
        """`NECTIN2 (PVRL2)`, where the question used another name."""
        words = [word.strip() for word in filter_.words.split(",") if word.strip()]
        other = [word for word in words if word.lower() != value.lower()]
        known = {mention.text.lower() for mention in self.plan.mentions if mention.entity == filter_.target}
        if len(words) == 1 and other and other[0].lower() in known:
            return f"{plain(value)} ({plain(other[0], 20)})"
        return plain(value)

    def _same(self, one: str, other: str) -> bool:
        spec = self.model.entities.get(one)
        return one == other or bool(spec and (spec.same_as == other or spec.classifies == other))

    def entity(self, name: str) -> Entity | None:
        """The definition of an entity, or None."""
        return self.model.entities.get(name)

    # -- counts -------------------------------------------------------------------------------

    @property
    def complete(self) -> bool:
        """Whether the rows are all there are."""
        fetched, total = len(self.rows), self.evidence.total
        if self.evidence.result.truncated:
            return False
        if total is not None:
            return total <= fetched
        return self.plan.limit is None or fetched < self.plan.limit

    @property
    def total(self) -> int | None:
        """How many rows there are without a limit; None where that is not known."""
        if self.evidence.total is not None:
            return max(self.evidence.total, len(self.rows))
        return len(self.rows) if self.complete else None


def distinct(values: Iterable[Any]) -> list[Any]:
    """Values in their order, each once, without None."""
    kept: list[Any] = []
    seen: set[str] = set()
    for value in values:
        if value is not None and repr(value) not in seen:
            seen.add(repr(value))
            kept.append(value)
    return kept
