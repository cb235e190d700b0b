"""The shape of the answer: a list, a look-up, a count, a ranking or groups, and of what."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._question import Question
from bmsql.reasoners.offline._rankings import (
    attribute_of_numbers,
    counted_measure,
    is_plural,
    ranking,
    ranks_groups,
)
from bmsql.semantic import SemanticModel
from bmsql.types import Intent

_YES_NO = frozenset({"is", "are", "does", "do", "did", "has", "have", "was", "were", "can", "any"})
_ROW_WORDS = frozenset({"entry", "entries", "row", "rows", "record", "records", "results"})
_QUESTION_WORDS = frozenset({"which", "what", "list", "show", "give", "find", "name"})
_ONE = (["was"], ["is"], ["one"], ["has"])
# How far, in words, a noun may stand behind what counts it, and a question word into the question.
_COUNT_REACH = 6
_AVERAGE_REACH = 3
_HEAD = 12


@dataclass(frozen=True)
class Shape:
    """What is asked.

    entity: the entity (or role) of the rows or groups asked for; attributes: what else is asked of
    them; counted: the entity that is counted; measure: the attribute that ranks or is averaged;
    best: ranked by significance ("top", "strongest"); each: the best of each value of this.
    """

    intent: Intent
    entity: str = ""
    attributes: tuple[str, ...] = ()
    counted: str = ""
    count_rows: bool = False
    group: str = ""
    measure: str = ""
    aggregate: str = ""
    descending: bool = False
    limit: int | None = None
    best: bool = False
    each: str = ""


def shape_of(question: Question, family: str, model: SemanticModel) -> Shape:
    """The shape of a question whose rows come from `family`."""
    reader = _ShapeReader(question, family, model)
    finders = (
        reader.averaged,
        reader.looked_up_count,
        reader.groups_of_so_many,
        reader.ranked_by_measure,
        reader.ranked_groups,
        reader.counted,
        reader.best_of_each,
        reader.best,
    )
    return next((shape for find in finders if (shape := find())), reader.listed())


class _ShapeReader:
    """Tries one shape after the other; each method is one shape, or None."""

    def __init__(self, question: Question, family: str, model: SemanticModel) -> None:
        self.question = question
        self.family = family
        self.model = model
        self.asked = question.asked()
        self.entity = entity_of(self.asked, family, model) if self.asked else ""
        if self.entity and self._is_given():
            self.entity = model.families[family].subject
        self.singular = self._is_singular()
        self.attributes = asked_attributes(question, family, model)
        self.limit = question.numbers.limit
        self.counts = any(not self._is_bound(chunk) for chunk in question.chunked.english("count"))
        self.counts = self.counts and not self._counts_tests()
        self.group = self._group()
        self.ranking = ranking(question, family, model)

    def averaged(self) -> Shape | None:
        measure = self._averaged_measure()
        if not measure:
            return None
        intent: Intent = "group" if self.group else "count"
        return Shape(intent, self.entity, self.attributes, measure=measure, aggregate="avg", group=self.group)

    def _averaged_measure(self) -> str:
        """The measure nearest behind the "average"; never what the rows are grouped by."""
        measures = {
            name: one
            for name, one in self.model.attributes.items()
            if self.family in one.measure and one.measure[self.family] != self.group
        }
        for cue in self.question.chunked.english("average"):
            for chunk in self.question.chunked.of("attribute"):
                named = next((name for name in chunk.names("attribute") if name in measures), "")
                if named and 0 <= chunk.first - cue.last <= _AVERAGE_REACH:
                    return named
        return next((name for name in self.attributes if name in measures), "") if self.question.has("average") else ""

    def looked_up_count(self) -> Shape | None:
        """`How many targets has X`: the row of X holds the number."""
        if not self.counts or not self.attributes or not self._names_subject():
            return None
        subject = self.model.families[self.family].subject
        if self.model.families[self.family].exploded and self._counted("")[0] not in ("", subject):
            return None  # `how many indications has X` counts distinct ones
        return Shape("list", self.entity, self.attributes)

    def groups_of_so_many(self) -> Shape | None:
        """`chromosomes with at least 30 SNPs`."""
        for one in self.question.numbers.comparisons:
            if one.kind != "count" or one.noun is None or self.counts:
                continue
            if counted_measure(self.question, one.last, self.family, self.model):
                continue
            counted = entity_of(one.noun, self.family, self.model)
            if self.entity and counted and self.entity != counted:
                return Shape(
                    "group",
                    self.entity,
                    counted=counted,
                    count_rows=not self._is_matched(counted),
                    group=self.group or self.entity,
                )
        return None

    def ranked_by_measure(self) -> Shape | None:
        found = self.ranking
        if found is None or (self.group and not self.counts) or self._names_subject():
            return None
        if self.question.has("most", "fewest") and not found.own:
            return None
        if self.counts and not self._ranks_first():
            return None
        return Shape(
            "rank",
            self.entity,
            self.attributes,
            measure=found.attribute,
            descending=found.descending,
            limit=self._limit() or (1 if found.one else None),
        )

    def ranked_groups(self) -> Shape | None:
        if not self._is_matched(self.entity) or not ranks_groups(self.question, self.entity, self.family, self.model):
            return None
        counted, count_rows = self._counted(self.entity)
        if counted == self.entity and not count_rows:
            return None
        spec = self.model.families[self.family]
        if count_rows and self.entity == spec.subject and not spec.exploded:
            return None  # each has one row: what "most" is of was not understood
        return Shape(
            "rank",
            self.entity,
            counted=counted,
            count_rows=count_rows,
            group=self.entity,
            descending=not self.question.has("fewest"),
            limit=self._limit(),
        )

    def counted(self) -> Shape | None:
        if not self.counts:
            return None
        group = self.group
        signs = self.question.has("negative") and self.question.has("positive")
        if signs or self.question.has("direction") or self._names_both_directions():
            sign = attribute_of_numbers("sign", self.family, self.model)
            group = self.model.attributes[sign].measure[self.family] if sign else group
        counted, count_rows = self._counted(group)
        return Shape("group" if group else "count", self.entity, counted=counted, count_rows=count_rows, group=group)

    def _names_both_directions(self) -> bool:
        """`risk-increasing vs risk-decreasing, how many of each`."""
        named = [{one.name for one in rule.senses} & self.question.directions for rule in self.question.chunked.rules]
        return any(one and other and one.isdisjoint(other) for one, other in combinations(named, 2))

    def best_of_each(self) -> Shape | None:
        best = self.question.has("best")
        if not self.group or not (best or self.ranking):
            return None
        ranked = self.ranking
        measure = ranked.attribute if ranked and ranked.attribute != self.group else ""
        return Shape(
            "rank",
            self.entity,
            self.attributes,
            measure=measure,
            descending=bool(measure) and ranked is not None and ranked.descending,
            limit=self.limit or 1,
            best=best,
            each=self.group,
        )

    def best(self) -> Shape | None:
        best = self.question.has("best")
        if not best and not self.limit:
            return None
        limit = self.limit or (1 if self.singular and best else None)
        return Shape("rank", self.entity, self.attributes, limit=limit, best=best)

    def listed(self) -> Shape:
        if self.group and self._is_per_group():
            counted, count_rows = self._counted(self.group)
            return Shape("group", self.entity, counted=counted, count_rows=count_rows, group=self.group)
        lows = self.question.lows
        yes_no = bool(lows) and lows[0] in _YES_NO
        return Shape("exists" if yes_no else "list", self.entity, self.attributes, group=self.group)

    def _is_per_group(self) -> bool:
        """`drugs per year`: how many, as the things stand right before the "per"."""
        cues = [chunk for chunk in self.question.chunked.english("per") if chunk.text.lower() == "per"]
        nouns = [chunk for chunk in self.question.chunked.of("noun") if not chunk.mention and is_plural(chunk)]
        return any(noun.last == cue.first for cue in cues for noun in nouns)

    # -- what the shapes are made of ----------------------------------------------------------

    def _is_matched(self, entity: str) -> bool:
        """Whether an entity, or a role, stands in columns of the family; some only name its rows."""
        spec = self.model.entities.get(entity)
        return "." in entity or (spec is not None and self.family in spec.match)

    def _limit(self) -> int | None:
        return self.limit or (1 if self.singular else None)

    def _is_bound(self, chunk: Chunk) -> bool:
        """`have more than one target` compares with a number; `which has more targets` counts."""
        return any(one.first < chunk.last and chunk.first < one.last for one in self.question.numbers.comparisons)

    def _counts_tests(self) -> bool:
        """In a correction "for the number of tests", nothing is counted."""
        counts = self.question.chunked.english("count")
        return self.question.has("bonferroni") and not any(chunk.first <= 1 for chunk in counts)

    def _ranks_first(self) -> bool:
        ranks = self.question.chunked.english("smallest", "largest", "best", "most")
        counts = self.question.chunked.english("count")
        return bool(ranks) and bool(counts) and ranks[0].first < counts[0].first

    def _names_subject(self) -> bool:
        """Whether the question names the subject of the family's rows."""
        spec = self.model.families[self.family]
        return any(
            chunk.mention is not None
            and (
                chunk.mention.entity == spec.subject
                or self.model.entities[chunk.mention.entity].same_as == spec.subject
            )
            for chunk in self.question.chunked.mentions
        )

    def _is_singular(self) -> bool:
        """Whether one thing is asked for; "which was ..." asks for one, whatever the plural before it."""
        lows = self.question.lows
        if "single" in lows or any(low == "which" and lows[at + 1 : at + 2] in _ONE for at, low in enumerate(lows)):
            return True
        return self._opens_with_one() or (self.asked is not None and not is_plural(self.asked))

    def _opens_with_one(self) -> bool:
        """`Largest standard error among ...`: one value, whatever the plural behind it."""
        chunks = self.question.chunked.chunks
        for cue, what in pairwise(chunks):
            if cue.is_english("largest", "smallest"):
                measured = any(self.family in self.model.attributes[name].measure for name in what.names("attribute"))
                return measured and what.first == cue.last and not is_plural(what)
            if cue.mention or cue.names("noun") or cue.is_english("count"):
                return False
        return False

    def _is_given(self) -> bool:
        """Whether what seems to be asked is already named, so that its rows are asked for instead.

        `drugs hitting S1PR1` names the gene; `which genes ... of SNCA` still asks for genes.
        """
        if self.entity == self.model.families[self.family].subject or "." in self.entity:
            return False
        named = any(chunk.mention and chunk.mention.entity == self.entity for chunk in self.question.chunked.mentions)
        head = next((at for at, low in enumerate(self.question.lows[:_HEAD]) if low in _QUESTION_WORDS), -1)
        asked = self.asked
        return named and not (asked is not None and bool(asked.names("noun")) and asked.first <= head + 1)

    def _group(self) -> str:
        """What rows are grouped by: `per chromosome`, `for each disease`, `by route`."""
        for chunk in self.question.chunked.english("per"):
            by = chunk.text.lower() == "by"
            for other in self.question.chunked.chunks:
                if not 0 <= other.first - chunk.last <= 1:
                    continue
                entity = entity_of(other, self.family, self.model)
                if is_measured(other, self.family, self.model):
                    continue  # `effect per standard error` is a ratio
                if entity and not (by and (other.mention or not self.question.has("count"))):
                    return entity
        return ""

    def _counted(self, other_than: str) -> tuple[str, bool]:
        """The entity that is counted, or that rows themselves are."""
        compared = {id(one.attribute) for one in self.question.numbers.comparisons if one.attribute}
        for cue in self.question.chunked.english("count", "most", "fewest", "best"):
            for chunk in self.question.chunked.chunks:
                # "How many nominally significant (p < 0.05) SNPs": the p-values are not what is counted.
                if id(chunk) in compared or self.question.is_compared(chunk):
                    continue
                if not 0 <= chunk.first - cue.last <= _COUNT_REACH:
                    continue
                entity = entity_of(chunk, self.family, self.model)
                if entity and entity != other_than:
                    known = "." in entity or self.family in self.model.entities[entity].match
                    return (entity, False) if known else ("", True)
                if chunk.names("neutral") and chunk.text.lower() in _ROW_WORDS:
                    return "", True
        subject = self.model.families[self.family].subject
        if subject and subject != other_than and self.family in self.model.entities[subject].match:
            return subject, False
        return "", True


def asked_attributes(question: Question, family: str, model: SemanticModel) -> tuple[str, ...]:
    """Attributes of this family that are asked for rather than compared with a number."""
    compared = {id(one.attribute) for one in question.numbers.comparisons if one.attribute}
    named: dict[str, bool] = {}
    for chunk in question.chunked.chunks:
        if id(chunk) in compared or question.is_compared(chunk):
            continue
        senses = [one for one in chunk.senses if one.kind == "attribute" and family in model.attributes[one.name].show]
        if senses:
            named[senses[0].name] = named.get(senses[0].name, False) or senses[0].mode != "cue"
    # Everyday words, as in "what is the ...", ask for something only where nothing else does.
    said = tuple(name for name, plainly in named.items() if plainly)
    return said or tuple(named)


def is_measured(chunk: Chunk, family: str, model: SemanticModel) -> bool:
    """Whether a chunk names a measure on a scale, whose values make no groups."""
    attributes = [model.attributes[name] for name in chunk.names("attribute")]
    measured = [one for one in attributes if family in one.measure]
    return bool(measured) and not chunk.names("noun") and not any(one.groups or one.entity for one in attributes)


def entity_of(chunk: Chunk, family: str, model: SemanticModel) -> str:
    """The entity a chunk names in a family, or the role that it groups rows by."""
    if chunk.mention is not None:
        classified = model.entities[chunk.mention.entity].classifies
        return classified if classified and family in model.entities[classified].match else ""
    for name in chunk.names("noun"):
        if family in model.entities[name].match or model.families[family].subject == name:
            return name
    attributes = [model.attributes[name] for name in chunk.names("attribute")]
    entity = next((one.entity for one in attributes if family in one.show and one.entity), "")
    return entity or next((one.measure[family] for one in attributes if family in one.measure), "")
