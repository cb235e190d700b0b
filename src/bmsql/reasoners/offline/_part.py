"""One source of the plan: the filters and conventions that the question states of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bmsql.conventions import Rule, RuleBook
from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._comparisons import Comparison
from bmsql.reasoners.offline._question import Question
from bmsql.reasoners.offline._rankings import attribute_of_numbers, counted_measure
from bmsql.semantic import SemanticModel
from bmsql.types import ConventionUse, Filter, Mention

_STRONG_WAIVER_WORDS = 2


@dataclass
class Part:
    """A family under an alias, with the tables it may read and what is asked of its rows."""

    family: str
    alias: str
    tables: tuple[str, ...]
    filters: list[Filter] = field(default_factory=list)
    uses: list[ConventionUse] = field(default_factory=list)
    about: str = ""
    notes: list[str] = field(default_factory=list)

    def filtered_entities(self) -> set[str]:
        """Entities that a filter of this part names."""
        return {one.target for one in self.filters if one.op == "match"}


class PartReader:
    """Reads the filters and conventions of one family out of a question."""

    def __init__(self, question: Question, model: SemanticModel, rules: RuleBook) -> None:
        self.question = question
        self.model = model
        self.rules = rules

    # -- filters ------------------------------------------------------------------------------

    def mentions(self, family: str, chunks: Sequence[Chunk], *, skip: frozenset[str] = frozenset()) -> list[Filter]:
        """Filters for the linked mentions; several values of one entity are alternatives."""
        grouped: dict[tuple[str, bool], list[tuple[str, ...]]] = {}
        words: dict[tuple[str, bool], list[str]] = {}
        for chunk in chunks:
            mention = chunk.mention
            if mention is None or mention.entity in skip or family not in self.model.entities[mention.entity].match:
                continue
            if self._is_asked(chunk, family, chunks) or self._names_region(chunk):
                continue
            if self.question.is_judged(chunk, self.model.families[family].subject):
                continue
            key = (mention.entity, self.question.negated(chunk))
            grouped.setdefault(key, []).append(self._values(mention, family))
            words.setdefault(key, []).append(chunk.text)
        filters = []
        for (entity, negated), values in grouped.items():
            flat = tuple(dict.fromkeys(value for group in values for value in group))
            recipe = self.model.entities[entity].match[family]
            if len(values) > 1 and self.question.has("both") and recipe.how in ("item", "listed"):
                filters += [
                    Filter(target=entity, op="match", values=group, negated=negated, words=word)
                    for group, word in zip(values, words[entity, negated], strict=True)
                ]
                continue
            if self.question.distance and self._is_placed(entity, family):
                around = Filter(
                    target=entity,
                    op="near",
                    values=(self.question.distance, *flat),
                    words=", ".join(words[entity, negated]),
                )
                filters.append(around)
                if entity == self.model.families[family].subject:
                    # What lies near a thing is something else.
                    itself = Filter(target=entity, op="match", values=flat, negated=True, words=around.words)
                    filters.append(itself)
                continue
            filters.append(
                Filter(target=entity, op="match", values=flat, negated=negated, words=", ".join(words[entity, negated]))
            )
        return filters

    def _names_region(self, chunk: Chunk) -> bool:
        """`the MAPT region chr17:43,400,000-44,900,000`: the region is given, the name only describes it."""
        return any(
            region.first is not None
            and 0 <= place.first - chunk.last <= 3
            and "or" not in self.question.lows[chunk.last : place.first]
            for region, place in self.question.regions
        )

    def _is_placed(self, entity: str, family: str) -> bool:
        """Whether a distance is meant from this entity: a gene, in a family with positions."""
        kinds = {spec.kind for spec in self.model.entities.values() if family in spec.match}
        return self.model.entities[entity].kind in ("symbol", "identifier") and "region" in kinds

    def _values(self, mention: Mention, family: str) -> tuple[str, ...]:
        """The stored values; else the name in words where text is matched, as codes stand in no text."""
        entity = self.model.entities[mention.entity]
        if not mention.stored.get(family) and entity.match[family].how in ("term", "contains"):
            label = next((value.label for value in entity.values if value.id == mention.value), "")
            if label:
                return (label.lower(),)
        return stored_values(mention, family)

    def _is_asked(self, chunk: Chunk, family: str, chunks: Sequence[Chunk]) -> bool:
        """`Which proteins does X bind`: a kind of thing right behind the question word, of a named one."""
        mention = chunk.linked
        if not self.model.entities[mention.entity].classifies or not chunk.first:
            return False
        subject = self.model.families[family].subject
        named = any(other.mention and other.mention.entity == subject for other in chunks)
        return named and self.question.lows[chunk.first - 1] in ("which", "what")

    def regions(self, family: str) -> tuple[list[Filter], list[str]]:
        """Filters for chromosomes and regions, and what the answer must say about the build."""
        filters, notes = [], []
        for region, chunk in self.question.regions:
            if self.question.fit and len(self.question.fit.families) > 1 and self.question.family_of(chunk) != family:
                continue
            entity = chunk.senses[0].name
            recipe = self.model.entities[entity].match.get(family)
            if recipe is None:
                continue
            build = self._build(tuple(recipe.builds))
            chromosome_role, position_role = recipe.builds[build]
            negated = self.question.negated(chunk)
            if region.first is None or region.last is None or not position_role:
                values = region.chromosomes
                filters.append(
                    Filter(target=chromosome_role, op="!=" if negated else "=", values=values, words=region.text)
                )
                continue
            span = (build, region.chromosomes[0], region.first, region.last)
            filters.append(Filter(target=entity, op="region", values=span, negated=negated, words=region.text))
            if not self.question.has("build_37", "build_38") and len(recipe.builds) > 1:
                others = " or ".join(f"GRCh{other}" for other in recipe.builds if other != build)
                notes.append(f"positions were read as GRCh{build}, as no build was named (say so for {others})")
        return filters, notes

    def _build(self, builds: tuple[str, ...]) -> str:
        wanted = "37" if self.question.has("build_37") else "38" if self.question.has("build_38") else ""
        return (
            wanted
            if wanted in builds and not (self.question.has("build_37") and self.question.has("build_38"))
            else builds[0]
        )

    def conditions(self, family: str, chunks: Sequence[Chunk]) -> list[Filter]:
        """Filters for words that are a condition by themselves."""
        filters: list[Filter] = []
        for chunk in chunks:
            if any(hint.first <= chunk.first and chunk.last < hint.last for hint in self.question.chunked.hints):
                continue  # part of a table's name
            if self.question.lows[max(0, chunk.first - 2) : chunk.first] in (["and", "its"], ["and", "their"]):
                continue  # `ustekinumab and its biosimilars` asks for both
            for name in chunk.names("condition"):
                where = self.model.conditions[name].where.get(family)
                if where is None:
                    continue
                role, op, value = where
                negated = self.question.negated(chunk)
                own = Filter(target=role, op=op, values=(value,), negated=negated, words=chunk.text)
                _add_condition(filters, own)
                break
        return filters

    def comparisons(self, family: str) -> list[tuple[Comparison, Filter]]:
        """Filters for numbers compared with an attribute of this family."""
        found = []
        for one in self.question.numbers.comparisons:
            role = self._compared(family, one)
            if role is None:
                continue
            given = self._in_unit(role, one)
            values = tuple(int(value) if float(value).is_integer() and abs(value) < 2**53 else value for value in given)
            filter_ = Filter(target=role, op=one.op, values=values, negated=one.negated, words=one.words)
            found.append((one, filter_))
        return found

    def _in_unit(self, role: str, one: Comparison) -> tuple[float, ...]:
        """The values as the column has them: `85 %` is 85 in a column of percent, 0.85 in one of proportions."""
        spec = self.model.role(role)
        if one.percent and spec is not None and spec.unit == "percent":
            return tuple(round(value * 100, 12) for value in one.values)
        return one.values

    def _compared(self, family: str, one: Comparison) -> str | None:
        """The role that a number is compared with; texts and truth values are compared with none."""
        role = self._role_compared(family, one)
        types = {
            column.type
            for name in self.model.tables_of(family)
            for column in self.model.tables[name].columns.values()
            if column.role == role
        }
        return None if types & {"STRING", "BOOL"} else role

    def _role_compared(self, family: str, one: Comparison) -> str | None:
        if one.kind == "count":
            measure = counted_measure(self.question, one.last, family, self.model)
            return self.model.attributes[measure].measure[family] if measure else None
        if one.kind == "phase":
            return self._measure_of("phase", family)
        if one.attribute is not None:
            if self._belongs_elsewhere(family, one.attribute):
                return None
            for name in one.attribute.names("attribute"):
                role = self.model.attributes[name].measure.get(family)
                if role:
                    return role
        if one.kind == "year":
            return self._measure_of("year", family)
        measure = counted_measure(self.question, one.last, family, self.model)
        if measure:
            return self.model.attributes[measure].measure[family]
        if one.attribute is None and 0 <= one.values[0] < 1e-3:
            order = self.model.families[family].order
            return (
                order
                if any(one.low and one.measure.get(family) == order for one in self.model.attributes.values())
                else None
            )
        return None

    def _measure_of(self, kind: str, family: str) -> str | None:
        name = attribute_of_numbers(kind, family, self.model)
        return self.model.attributes[name].measure[family] if name else None

    def _belongs_elsewhere(self, family: str, chunk: Chunk) -> bool:
        fit = self.question.fit
        return fit is not None and len(fit.families) > 1 and self.question.family_of(chunk) != family

    # -- conventions --------------------------------------------------------------------------

    def uses(self, family: str, chunks: Sequence[Chunk], stated: frozenset[tuple[str, str]]) -> list[ConventionUse]:
        """How the question stands to each rule of this family. `stated`: own cut-offs, as role and operator."""
        triggers = self.rules.triggers(family)
        modes: dict[str, dict[str, str]] = {}
        for chunk in chunks:
            for sense in chunk.senses:
                if sense.kind == "rule" and sense.name in triggers:
                    mode = sense.mode
                    if mode == "waive" and len(chunk.text.split()) < _STRONG_WAIVER_WORDS:
                        mode = "weak_waive"
                    modes.setdefault(sense.name, {}).setdefault(mode, chunk.text)
        uses = []
        for name, found in modes.items():
            rule = self.rules[name]
            if rule.kind == "threshold" and _states(rule, stated) and "complement" not in found:
                uses.append(ConventionUse(rule=name, mode="stated", words=next(iter(found.values()))))
            elif "complement" in found:
                uses.append(ConventionUse(rule=name, mode="complement", words=found["complement"]))
            elif "waive" in found:
                uses.append(ConventionUse(rule=name, mode="waived", words=found["waive"]))
            elif "imply" in found:
                uses.append(ConventionUse(rule=name, mode="implied", words=found["imply"]))
            elif "weak_waive" in found:
                uses.append(ConventionUse(rule=name, mode="waived", words=found["weak_waive"]))
        # A cut-off of the user's own stands, also where the rule comes only with another one.
        rules = self.rules if stated else ()
        own = [rule for rule in rules if rule.kind == "threshold" and rule.name in triggers and _states(rule, stated)]
        uses += [ConventionUse(rule=rule.name, mode="stated") for rule in own if rule.name not in modes]
        return uses


def _states(rule: Rule, stated: frozenset[tuple[str, str]]) -> bool:
    """Whether a cut-off on the rule's column replaces it; `p > 1e-20` does not say what is significant."""
    opposite = (">", ">=") if rule.op in ("<", "<=") else ("<", "<=") if rule.op in (">", ">=") else ()
    return any(role == rule.role and op not in opposite for role, op in stated)


def _add_condition(filters: list[Filter], own: Filter) -> None:
    """`cell types and tissues`: two conditions on one column are alternatives."""
    for place, one in enumerate(filters):
        if (one.target, one.op, one.negated) == (own.target, own.op, own.negated):
            words = f"{one.words}, {own.words}"
            values = tuple(dict.fromkeys((*one.values, *own.values)))
            filters[place] = one.model_copy(update={"values": values, "words": words})
            return
    filters.append(own)


def stored_values(mention: Mention, family: str) -> tuple[str, ...]:
    """The values to look for in a family; the canonical one where none is stored."""
    return mention.stored.get(family) or (mention.value,)


def replace_mode(use: ConventionUse, mode: str) -> ConventionUse:
    """A use with another mode."""
    return use.model_copy(update={"mode": mode})
