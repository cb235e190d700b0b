"""Parts, conventions and shape put together as a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace as with_changes
from functools import partial
from itertools import pairwise

from bmsql.conventions import RuleBook
from bmsql.reasoners.offline._alternatives import alternatives
from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._conventions import family_subject_named, is_lookup, settle
from bmsql.reasoners.offline._crossed import parted, rules_apart, stated
from bmsql.reasoners.offline._join import join_plan
from bmsql.reasoners.offline._named import named_text
from bmsql.reasoners.offline._outputs import Outputs
from bmsql.reasoners.offline._part import Part, PartReader
from bmsql.reasoners.offline._phases import filtering, or_approved
from bmsql.reasoners.offline._question import Question
from bmsql.reasoners.offline._recorded import absent, near, present
from bmsql.reasoners.offline._relation import Relation, relate
from bmsql.reasoners.offline._shape import Shape, shape_of
from bmsql.reasoners.offline._vague import parting
from bmsql.semantic import SemanticModel
from bmsql.types import Clarification, Filter, Plan, PlanJoin, Source

_NEAR = 4


class Composer:
    """Builds the plan of one question whose families are chosen."""

    def __init__(self, question: Question, model: SemanticModel, rules: RuleBook, tables: frozenset[str]) -> None:
        self.question = question
        self.model = model
        self.rules = rules
        self.tables = tables
        self.reader = PartReader(question, model, rules)

    def plan(self) -> Plan:
        """The plan, or an abstention or clarification where the parts do not fit together."""
        families = self.question.families
        main = self._main(families)
        shape = shape_of(self.question, main, self.model)
        if len(families) > 1:
            return join_plan(self, main, [family for family in families if family != main], shape)
        return self._single(main, shape)

    def _main(self, families: Sequence[str]) -> str:
        asked = self.question.asked()
        if len(families) == 1:
            return families[0]
        if asked is not None:
            family = self._of_the_table(asked, families) or self.question.family_of(asked)
            if family:
                return family
        totals = dict.fromkeys(families, 0.0)
        for item in self.question.weighted:
            for family in families:
                totals[family] += item.weights.get(family, 0.0)
        return max(totals, key=lambda family: totals[family])

    def _of_the_table(self, asked: Chunk, families: Sequence[str]) -> str:
        """`frequencies in the cohort table of the PD SNPs`: the table that the attribute is said to stand in."""
        for attribute in self.question.chunked.of("attribute"):
            for hint in self.question.chunked.hints:
                behind = attribute.last <= hint.first <= attribute.last + _NEAR
                before = hint.last == attribute.first or (hint.first < attribute.last and attribute.first < hint.last)
                if not (behind or before) or hint.last > asked.first:
                    continue
                for family in set(hint.names("hint")) & set(families):
                    if any(family in self.model.attributes[name].show for name in attribute.names("attribute")):
                        return family
        return ""

    # -- one family ---------------------------------------------------------------------------

    def _single(self, family: str, shape: Shape) -> Plan:
        relation = relate(self.question, family, self.model, self.tables, shape)
        if relation.problem:
            return Plan(answerable=False, problem=relation.problem)
        if relation.each and shape.intent == "count" and not shape.group:
            # `how many for A versus for B`: two counts, not one of both together.
            shape = with_changes(shape, intent="group", group=relation.each)
        part = self.part(family, family[0], relation.tables, relation.entity, shape)
        if relation.kind == "union" and shape.intent == "list":
            part = self._apart(part, relation, shape)
        if shape.intent == "count" and not shape.group and parting(self.question):
            shape = with_changes(shape, intent="group", group=group) if (group := self._told_apart(part)) else shape
        if relation.kind in ("intersect", "difference"):
            return self._related(part, relation, shape)
        return self.finish([part], shape, relation)

    def _told_apart(self, part: Part) -> str:
        """`how many are A and how many are B`: what the rows are grouped by, where a row has one value of it."""
        for one in part.filters:
            recipe = self.model.entities[one.target].match.get(part.family) if one.op == "match" else None
            values = len(one.values) > 1 and len(one.values) == len(one.words.split(", "))
            single = recipe is not None and recipe.how in ("term", "equals")
            if values and single and not one.negated and one.target != self.model.families[part.family].subject:
                return one.target
        either = [one for one in part.filters if one.any_of and one.op == "="]
        return either[0].target if len(either) > 1 and len({one.target for one in either}) == 1 else ""

    def _apart(self, part: Part, relation: Relation, shape: Shape) -> Part:
        """`near CLU in A and near SNCA in B`: each table with what is said of it; the part as it is for all else."""
        said = stated(self.question, part.filters)
        found = parted(self.question, said, self.model)
        if found is None or len(relation.values) != len(part.tables) or rules_apart(self.question, self.model):
            return part
        trailing = any(found.first.last <= one.first < found.parting for one in said)
        if not trailing and any(one.first >= found.second.last for one in said):
            return part  # what stands behind both may be said of both
        first = {one.words for one in said if one.first < found.parting}
        whole = Part(part.family, part.alias, part.tables, notes=part.notes)
        for number in range(len(part.tables)):
            chunks = [one for one in self.question.chunked.chunks if (one.first < found.parting) == (number == 0)]
            own = self.part(part.family, part.alias, part.tables, relation.entity, shape, chunks=chunks)
            source = f"{part.alias}{number + 1}"
            kept = [one for one in own.filters if not one.words or number == (one.words.split(", ")[0] not in first)]
            whole.filters += [one.model_copy(update={"source": source}) for one in kept]
            whole.uses += [one.model_copy(update={"source": source}) for one in own.uses]
        return whole

    def part(
        self,
        family: str,
        alias: str,
        tables: tuple[str, ...],
        skip: str,
        shape: Shape,
        chunks: Sequence[Chunk] | None = None,
        rules: Sequence[Chunk] | None = None,
        *,
        linking: bool = False,
        elsewhere: Callable[[Filter], bool] = lambda _: False,
    ) -> Part:
        """The filters and conventions that the question states of one family, but for those said `elsewhere`."""
        own = list(chunks if chunks is not None else self.question.chunked.chunks)
        triggers = list(rules if rules is not None else self.question.chunked.rules)
        part = Part(family, alias, tables)
        part.filters += self.reader.mentions(family, own, skip=frozenset({skip}) if skip else frozenset())
        placed, notes = self.reader.regions(family)
        part.filters += placed
        part.notes += notes
        part.filters += self.reader.conditions(family, own)
        comparisons = [pair for pair in self.reader.comparisons(family) if not elsewhere(pair[1])]
        comparisons = filtering(self.question, family, shape.intent == "exists", part.filters, comparisons, self.model)
        part.filters += [filter_ for _, filter_ in comparisons]
        part.filters += self._tests(family, own, part.filters)
        part.filters += absent(self.question, family, own, self.model)
        part.filters += present(self.question, family, own, self.model) if shape.intent == "list" else []
        part.filters += named_text(self.question, family, part.filters, self.model)
        part.filters += self._corrected(family)
        part.filters = or_approved(self.reader, family, part.filters, triggers)
        part.filters = alternatives(part.filters, self.question)
        stated = frozenset((filter_.target, filter_.op) for _, filter_ in comparisons)
        uses = self.reader.uses(family, triggers, stated)
        part.uses = settle(self.question, family, shape, uses, part.filters, self.model, self.rules, linking=linking)
        return part

    def _corrected(self, family: str) -> list[Filter]:
        """A Bonferroni correction, where the question asks for one: 0.05 over the rows of the table."""
        measure = self.model.families[family].order
        cues = self.question.chunked.english("bonferroni")
        if not cues or not measure:
            return []
        return [Filter(target=measure, op="bonferroni", values=(0.05,), words=cues[0].text)]

    def _tests(self, family: str, chunks: Sequence[Chunk], filters: Sequence[Filter]) -> list[Filter]:
        """`drugs with a boxed warning`: a true-or-false attribute filters, unless one drug is looked up."""
        if is_lookup(family, filters, self.model) or family_subject_named(family, filters, self.model):
            return []
        found = []
        for chunk in chunks:
            if any(near(chunk, cue) for cue in self.question.chunked.english("recorded_not")):
                continue
            for name in chunk.names("attribute"):
                role = self.model.attributes[name].test.get(family)
                if role:
                    value = not self.question.is_false(chunk)
                    found.append(Filter(target=role, op="=", values=(value,), words=chunk.text))
                    break
        return found

    # -- two parts of one family --------------------------------------------------------------

    def _shared(self, entity: str, family: str) -> str:
        """The entity that joins a family to itself: the one asked for, else the first that the model joins it by."""
        spec = self.model.entities.get(entity)
        if "." in entity or (spec is not None and family in spec.match):
            return entity
        return next((join.entity for join in self.model.joins if family in join.keys), "")

    def _related(self, part: Part, relation: Relation, shape: Shape) -> Plan:
        """The same family several times, joined by what is asked: in both, or in one only."""
        entity = self._shared(shape.entity or self.model.families[part.family].subject, part.family)
        if not entity:
            label = self.model.families[part.family].label
            return Plan(answerable=False, problem=f"The {label} share nothing by which they could be compared.")
        parts: list[Part] = []
        joins: list[PlanJoin] = []
        for number, value in enumerate(relation.values):
            alias = value.alias if value.alias not in {one.alias for one in parts} else f"{value.alias}{number}"
            rules = relation.rules_of(self.question, number, frozenset(self.rules.triggers(part.family)))
            said = partial(self._said_of_another, relation=relation, number=number)
            own = self.part(part.family, alias, value.tables, relation.entity, shape, rules=rules, elsewhere=said)
            own.filters = [one for one in own.filters if not said(one)]
            if value.filter is not None:
                own.filters.append(value.filter)
            if relation.kind == "difference" and number:
                own.uses = [
                    use.model_copy(update={"mode": "implied"}) if use.mode == "complement" else use for use in own.uses
                ]
            parts.append(own)
            if number:
                kind = "inner" if relation.kind == "intersect" and relation.shows else "semi"
                if relation.kind == "difference":
                    kind = "anti"
                    if relation.tested_in_both:
                        kind = "inner"
                        own.uses = [
                            use.model_copy(update={"mode": "complement"}) if use.mode == "implied" else use
                            for use in own.uses
                        ]
                joins.append(PlanJoin(left=parts[0].alias, right=own.alias, entity=entity, kind=kind))
        return self.assemble(parts, joins, with_changes(shape, entity=entity))

    def _said_of_another(self, filter_: Filter, relation: Relation, number: int) -> bool:
        """Whether a cut-off is said of another value: `p < 0.05 in Alzheimer's` is not of Parkinson's."""
        if relation.kind == "union":
            return False
        stated = [one for one in self.question.numbers.comparisons if one.kind in ("value", "phase")]
        owners = {relation.owner(one.first, one.last) for one in stated}
        owners |= {relation.owner(rule.first, rule.last) for rule in self.question.chunked.rules}
        if number not in owners and self.question.has("both"):
            return False  # `p < 1e-9 in both`
        return any(one.words == filter_.words and relation.owner(one.first, one.last) != number for one in stated)

    # -- plans --------------------------------------------------------------------------------

    def finish(self, parts: list[Part], shape: Shape, relation: Relation) -> Plan:
        """The plan of one part, over one table or the same of each."""
        part = parts[0]
        tables = part.tables
        if len(tables) > 1:
            sources = tuple(
                Source(alias=f"{part.alias}{number}", table=table) for number, table in enumerate(tables, 1)
            )
        else:
            sources = (Source(alias=part.alias, table=tables[0]),)
        outputs = Outputs(self.question, self.model, part, shape)
        changes = outputs.fields()
        uses = part.uses
        near = next((one for one in part.filters if one.op == "near"), None)
        if near is not None:
            # The rows that give the place are all of them: the conventions are for the outer query.
            uses = [use.model_copy(update={"source": source.alias}) for use in part.uses for source in sources]
            label = self.model.entities[near.target].label
            part.notes.append(f"the position of {near.words} is that of all rows that name it as their {label}")
        part.notes += self._unthresholded(part)
        plan = Plan(
            sources=sources,
            combine="union" if len(sources) > 1 else "single",
            filters=(*part.filters, *outputs.filters),
            conventions=tuple(uses),
            notes=(*part.notes, *outputs.notes),
            subject=shape.entity or self.model.families[part.family].subject,
            **changes,
        )
        if len(sources) > 1 and plan.limit is not None:
            plan = self._limited_union(plan)
        return self._labelled(plan, relation) if len(sources) > 1 else plan

    def _limited_union(self, plan: Plan) -> Plan:
        """`the top 5 for A and for B` are five of each; of both together, the order is by what is shown."""
        lows = self.question.lows
        terms = [one for one in self.question.chunked.mentions if self.model.entities[one.linked.entity].kind == "term"]
        listed = any("and" in lows[one.last : other.first] for one, other in pairwise(terms)) and "or" not in lows
        if listed or self.question.has("compare", "per") or "each" in lows:
            return plan.model_copy(update={"limit_per": "source"})
        shown = {item.column for item in plan.select}
        return plan.model_copy(update={"order": tuple(one for one in plan.order if one.column in shown)})

    def _unthresholded(self, part: Part) -> list[str]:
        """`significant pathways`: no threshold is implied for them, which the answer must say."""
        said = any(
            self._is_threshold(sense.name) and sense.mode == "imply"
            for rule in self.question.chunked.rules
            for sense in rule.senses
        )
        if not said or any(rule.kind == "threshold" and part.family in rule.families for rule in self.rules):
            return []
        family = self.model.families[part.family]
        measure = next(
            (
                name
                for name, one in self.model.attributes.items()
                if one.measure.get(part.family) == family.order and one.low
            ),
            "",
        )
        if not measure or any(one.target == family.order for one in part.filters):
            return []
        return [
            f"no threshold is implied for the {family.label}: they are ranked by {self.model.attributes[measure].label}"
        ]

    def _is_threshold(self, name: str) -> bool:
        return name in self.rules and self.rules[name].kind == "threshold"

    def _labelled(self, plan: Plan, relation: Relation) -> Plan:
        """A union says of each row which table, or which disease, it is from."""
        from bmsql.types import SelectItem

        labels = []
        for source in plan.sources:
            about = self.model.tables[source.table].about
            value = about.get(relation.entity, source.table)
            labels.append(SelectItem(value=value, source=source.alias, alias=relation.entity or "source"))
        return plan.model_copy(update={"select": (*plan.select, *labels)})

    def assemble(self, parts: list[Part], joins: list[PlanJoin], shape: Shape, notes: Sequence[str] = ()) -> Plan:
        """The plan of several parts joined to the first."""
        main = parts[0]
        outputs = Outputs(self.question, self.model, main, shape, joined=parts[1:], joins=joins)
        changes = outputs.fields()
        filters = [one.model_copy(update={"source": part.alias}) for part in parts for one in part.filters]
        filters += [one.model_copy(update={"source": main.alias}) for one in outputs.filters]
        uses = [use.model_copy(update={"source": part.alias}) for part in parts for use in part.uses]
        return Plan(
            sources=tuple(Source(alias=part.alias, table=part.tables[0]) for part in parts),
            combine="join",
            joins=tuple(joins),
            filters=tuple(filters),
            conventions=tuple(uses),
            notes=(*notes, *outputs.notes, *(note for part in parts for note in part.notes)),
            subject=shape.entity or self.model.families[main.family].subject,
            **changes,
        )

    def clarify(self, question: str, alternatives: Sequence[str]) -> Plan:
        """A question back to the user."""
        return Plan(clarification=Clarification(question=question, alternatives=tuple(alternatives)), confidence=0.5)
