"""What a plan selects, counts, groups and sorts by, from the shape of the question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bmsql.reasoners.offline._conventions import family_subject_named
from bmsql.reasoners.offline._part import Part
from bmsql.reasoners.offline._question import Question
from bmsql.reasoners.offline._rankings import counted_measure
from bmsql.reasoners.offline._shape import Shape
from bmsql.semantic import SemanticModel
from bmsql.types import Aggregate, Filter, Intent, Order, PlanJoin, SelectItem

_OWNED = (["its"], ["their"])
_KEYLIKE = ("symbol", "name", "identifier")


class Outputs:
    """The outputs of one plan. `filters` and `notes` are what they add to the plan."""

    def __init__(
        self,
        question: Question,
        model: SemanticModel,
        part: Part,
        shape: Shape,
        joined: Sequence[Part] = (),
        joins: Sequence[PlanJoin] = (),
    ) -> None:
        self.question = question
        self.model = model
        self.part = part
        self.shape = shape
        self.joined = joined
        self.joins = joins
        self.family = model.families[part.family]
        self.source = part.alias if joined else ""
        self.filters: list[Filter] = []
        self.notes: list[str] = []

    def fields(self) -> dict[str, Any]:
        """The fields of the plan that say what comes out of it."""
        match self.shape.intent:
            case "count":
                return self._count()
            case "group":
                return self._groups()
            case "rank" if self.shape.group:
                return self._groups()
            case "rank":
                return self._ranked()
            case _:
                return self._listed()

    # -- counts and groups --------------------------------------------------------------------

    def _aggregate(self) -> Aggregate:
        shape = self.shape
        if shape.aggregate and shape.measure:
            role = self.model.attributes[shape.measure].measure[self.part.family]
            return Aggregate(
                function=shape.aggregate, column=role, source=self.source, alias=f"{shape.aggregate}_{_short(role)}"
            )
        if shape.count_rows or not shape.counted:
            return Aggregate(function="count")
        return Aggregate(function="count_distinct", column=shape.counted, source=self.source)

    def _count(self) -> dict[str, Any]:
        return {"intent": "count", "aggregate": self._aggregate()}

    def _groups(self) -> dict[str, Any]:
        key = self.shape.group or self.shape.entity
        groups = (SelectItem(column=key, source=self.source),)
        self._leave_out_missing(key, unknown=self.shape.intent == "rank")
        having = tuple(
            Filter(target="n", op=one.op, values=tuple(int(value) for value in one.values), words=one.words)
            for one in self.question.numbers.comparisons
            if one.kind == "count" and not counted_measure(self.question, one.last, self.part.family, self.model)
        )
        ranked = self.shape.intent == "rank"
        aggregate = self._aggregate()
        # Ties stand in the order of the groups: the same answer each time.
        order = [
            Order(column=aggregate.alias, descending=self.shape.descending if ranked else True),
            Order(column=key, source=self.source),
        ]
        if not ranked and _is_number(self.part, key, self.model):
            order = [Order(column=key, source=self.source)]
        return {
            "intent": "rank" if ranked else "group",
            "group_by": groups,
            "aggregate": aggregate,
            "having": having,
            "order": tuple(order),
            "limit": self.shape.limit,
        }

    def _leave_out_missing(self, key: str, *, unknown: bool = True) -> None:
        """What stands for "not recorded" is no value; `unknown`: neither is NULL, which groups count apart."""
        column = self._plain(key)
        if column is None:
            return
        role = self.model.role(column)
        if unknown:
            self.filters.append(Filter(target=column, op="not_null"))
        if role is not None:
            self.filters += [Filter(target=column, op="!=", values=(value,)) for value in role.missing]

    def _plain(self, key: str) -> str | None:
        """The role behind an entity or role name, where it is one plain column."""
        if "." in key:
            return key
        entity = self.model.entities.get(key)
        recipe = entity.match.get(self.part.family) if entity else None
        return recipe.shown if recipe and recipe.how not in ("item", "listed") else None

    # -- rankings and lists -------------------------------------------------------------------

    def _ranked(self) -> dict[str, Any]:
        shape = self.shape
        if shape.measure:
            role = self.model.attributes[shape.measure].measure[self.part.family]
            descending = shape.descending
        else:
            role, descending = self.family.order, self.family.descending
            if self.question.has("smallest", "largest") and not shape.best:
                descending = self.question.has("largest")
        fields = self._listed()
        if shape.measure and not descending:
            self._leave_out_missing(role)
        if role and not self._has(fields["select"], role):
            fields["select"] = (*fields["select"], SelectItem(column=role, source=self.source))
        order: tuple[Order, ...] = (Order(column=role, source=self.source, descending=descending),) if role else ()
        key = self.model.evidence_key
        if order and shape.limit and key and not fields["distinct"]:
            order = (*order, Order(column=key, source=self.source))  # ties are cut the same way each time
        if shape.each:
            self._leave_out_missing(shape.each)
            select = fields["select"]
            if not self._has(select, shape.each):
                fields["select"] = (*select, SelectItem(column=shape.each, source=self.source))
        return {**fields, "intent": "rank", "order": order, "limit": shape.limit, "limit_per": shape.each}

    def _listed(self) -> dict[str, Any]:
        shape = self.shape
        distinct = self._is_distinct()
        select = self._distinct_items() if distinct else self._row_items()
        if self.joined:
            if distinct and self._joined_by_name():
                select, distinct = self._row_items(), False
            select = self._with_links(select, distinct)
            distinct = True
        order: tuple[Order, ...] = ()
        if not distinct and self.family.order and self._has(select, self.family.order):
            order = (Order(column=self.family.order, source=self.source, descending=self.family.descending),)
        elif distinct and select:
            order = (Order(column=select[0].column, source=select[0].source),)
        intent: Intent = shape.intent if shape.intent in ("exists", "rank") else "list"
        if not distinct and family_subject_named(self.part.family, self.part.filters, self.model) and intent == "list":
            intent = "lookup"
        return {"intent": intent, "select": tuple(select), "distinct": distinct, "order": order, "limit": shape.limit}

    def _is_distinct(self) -> bool:
        """Whether the question enumerates values, rather than asking for rows."""
        shape, family = self.shape, self.family
        entity = shape.entity
        if not entity or (shape.intent == "rank" and not family.exploded):
            return False
        if family_subject_named(self.part.family, self.part.filters, self.model):
            return False
        asked = self.question.asked()
        if asked is not None and self.question.lows[max(0, asked.first - 1) : asked.first] in _OWNED:
            return False  # `for every drug, what are its targets`: of each row
        same = entity == family.subject or self._is_subject(entity)
        if same:
            return family.exploded
        named = self.part.filtered_entities()
        subject_kind = self.model.entities[family.subject].kind if family.subject in self.model.entities else ""
        if subject_kind not in _KEYLIKE and any(self.model.entities[name].kind in _KEYLIKE for name in named):
            return False
        if "." in entity:
            return True
        if len(shape.attributes) > 1 and not family.exploded:
            return False
        identifier = self.model.entities[entity].kind == "identifier"
        return not identifier

    def _joined_by_name(self) -> bool:
        """`the tissues where lisinopril's targets are significant` are rows, as a named thing is looked up."""
        subject = self.model.entities.get(self.family.subject)
        named = {name for part in self.joined for name in part.filtered_entities()}
        if self.family.subject in named:
            return True
        if subject is None or subject.kind in _KEYLIKE:
            return False
        return any(self.model.entities[name].kind in _KEYLIKE for name in named)

    def _is_subject(self, entity: str) -> bool:
        """Another word for the subject, such as drugs in a table of products."""
        spec = self.model.entities.get(entity)
        subject = self.model.entities.get(self.family.subject)
        if spec is None or subject is None:
            return False
        one, other = spec.match.get(self.part.family), subject.match.get(self.part.family)
        return one is not None and other is not None and one.shown == other.shown

    def _distinct_items(self) -> list[SelectItem]:
        entity = self.shape.entity
        self._leave_out_missing(entity)
        return [SelectItem(column=entity, source=self.source)]

    def _row_items(self) -> list[SelectItem]:
        roles: list[str] = []
        subject = self.model.entities.get(self.family.subject)
        recipe = subject.match.get(self.part.family) if subject else None
        if recipe and recipe.shown:
            roles.append(recipe.shown)
        entity = self.model.entities.get(self.shape.entity)
        asked = entity.match.get(self.part.family) if entity else None
        if asked and asked.shown:
            roles.append(asked.shown)
        for name in self.shape.attributes:
            roles += self.model.attributes[name].show.get(self.part.family, ())
        roles += self.family.show
        for one in self.part.filters:
            if "." in one.target:
                roles.append(one.target)
        present = self.model.tables[self.part.tables[0]].column_by_role
        known = [role for role in dict.fromkeys(roles) if role in present or role in self.family.derived]
        return [SelectItem(column=role, source=self.source) for role in known]

    def _with_links(self, select: list[SelectItem], distinct: bool) -> list[SelectItem]:
        """Beside what is asked, the things that the joined rows were joined by, and their key columns."""
        key = self.model.evidence_key
        items = list(select)
        if not distinct and key:
            items.insert(0, SelectItem(column=key, source=self.source))
        aliases = {self.part.alias: self.part, **{part.alias: part for part in self.joined}}
        for join in self.joins:
            if join.kind != "inner":
                continue
            left = aliases[join.left]
            if not any(item.column == join.entity and item.source == left.alias for item in items):
                shown = self._shown(left, join.entity)
                asked = {item.column for item in items if item.source == left.alias and not self._is_list(left, shown)}
                if shown not in asked | {self._shown(left, name) for name in asked}:
                    items.append(SelectItem(column=join.entity, source=left.alias))
            if aliases[join.right].family == self.part.family and join.entity == self.family.subject:
                measure = self.model.families[self.part.family].order
                items += [
                    SelectItem(column=measure, source=part.alias)
                    for part in (left, aliases[join.right])
                    if not self._has(items, measure, part.alias)
                ]
        return items

    def _is_list(self, part: Part, role: str) -> bool:
        """Whether a column holds several values of an entity, of which the join met one."""
        recipes = [spec.match.get(part.family) for spec in self.model.entities.values()]
        return any(recipe and recipe.how in ("item", "listed") and recipe.shown == role for recipe in recipes)

    def _shown(self, part: Part, entity: str) -> str:
        spec = self.model.entities.get(entity)
        recipe = spec.match.get(part.family) if spec else None
        return recipe.shown if recipe else entity

    @staticmethod
    def _has(select: Sequence[SelectItem], role: str, source: str | None = None) -> bool:
        return any(item.column == role and (source is None or item.source == source) for item in select)


def _short(role: str) -> str:
    return role.rpartition(".")[2]


def _is_number(part: Part, key: str, model: SemanticModel) -> bool:
    if "." not in key:
        return False
    table = model.tables[part.tables[0]]
    column = table.column_by_role.get(key)
    return column is not None and table.columns[column].type in ("INT64", "FLOAT64")
