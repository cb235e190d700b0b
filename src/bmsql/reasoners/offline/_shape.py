"""The shape of the answer: a list, a look-up, a count, a ranking or groups, and of what."""

from __future__ import annotations

from dataclasses import dataclass

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._question import Question
from bmsql.semantic import SemanticModel
from bmsql.types import Intent

_PLURAL_ENDINGS = ("s", "data")
_SUPERLATIVES = ("most ", "fewest ", "largest ", "biggest ", "smallest ")


@dataclass(frozen=True)
class Shape:
    """What is asked.

    entity: the entity of the rows or groups asked for; attribute: an attribute asked for;
    counted: the entity that is counted; measure: the attribute that ranks; descending, limit:
    of a ranking; best: ranked by significance ("top", "strongest").
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
    singular: bool = False
    each: str = ""
    asked: Chunk | None = None


def shape_of(question: Question, family: str, model: SemanticModel) -> Shape:
    """The shape of a question whose rows come from `family`."""
    asked = question.asked()
    entity = _entity(asked, family, model) if asked else ""
    singular = bool(asked) and _is_singular(asked, model)
    attributes = asked_attributes(question, family, model)
    if entity and _is_given(question, family, model, entity, asked):
        entity = model.families[family].subject
    singular = singular or "single" in question.lows or _which_one(question)
    limit = question.numbers.limit
    counts, group = question.has("count"), _group(question, family, model)
    if question.has("bonferroni") and not any(chunk.first <= 1 for chunk in question.chunked.english("count")):
        counts = False  # the number of tests is what is corrected for
    superlative = _superlative(question, family, model)
    most = question.chunked.english("most", "fewest")
    if question.has("average"):
        measure = next((name for name in attributes if family in model.attributes[name].measure), "")
        if measure:
            return Shape("count", entity, attributes, measure=measure, aggregate="avg", asked=asked, group=group)
    if counts and family_subject_named_in(question, family, model) and any(
        family in model.attributes[name].show for name in attributes
    ):
        return Shape("list", entity, attributes, singular=singular, asked=asked)
    having = next((one for one in question.numbers.comparisons if one.kind == "count" and one.noun is not None), None)
    if having is not None and counted_measure(question, having.last, family, model):
        having = None
    if having is not None and having.noun is not None and not counts:
        group = group or entity
        counted = _entity(having.noun, family, model)
        if entity and counted and entity != counted:
            return Shape("group", entity, counted=counted, group=group, singular=singular, asked=asked)
    if superlative and superlative[0] and (not most or superlative[2]) and not (group and not counts):
        measure, descending, _ = superlative
        own_limit = limit or (1 if singular else None)
        if not counts or _first_is_rank(question):
            return Shape(
                "rank", entity, attributes, measure=measure, descending=descending, limit=own_limit, singular=singular, asked=asked
            )
    ranks_groups = most and not superlative or _ranks_by_number(question) or _most_significant_of(question, family, model, entity)
    if ranks_groups and entity:
        counted, count_rows = _counted(question, family, model, entity)
        if counted != entity or count_rows:
            return Shape(
                "rank", entity, counted=counted, count_rows=count_rows, group=entity,
                descending=not question.has("fewest"), limit=limit or (1 if singular else None), singular=singular, asked=asked,
            )  # fmt: skip
    direction = next((role for role in _groupings(family, model) if role.endswith(".direction")), "")
    if counts and direction and question.has("direction"):
        counted, count_rows = _counted(question, family, model, "")
        return Shape("group", entity, counted=counted, count_rows=count_rows, group=direction, asked=asked)
    if counts and (group or _starts_counting(question)):
        counted, count_rows = _counted(question, family, model, "")
        return Shape("group" if group else "count", entity, counted=counted, count_rows=count_rows, group=group, asked=asked)
    if group and counts:
        counted, count_rows = _counted(question, family, model, "")
        return Shape("group", entity, counted=counted, count_rows=count_rows, group=group, asked=asked)
    best = bool(question.chunked.english("best"))
    if group and (best or superlative) and not counts:
        measure, descending = (superlative[0], superlative[1]) if superlative and superlative[0] != group else ("", False)
        return Shape(
            "rank", entity, attributes, measure=measure, descending=descending, limit=limit or 1, best=best, each=group, asked=asked
        )
    if best or limit:
        return Shape(
            "rank", entity, attributes, limit=limit or (1 if singular and best else None), best=best, singular=singular, asked=asked
        )
    yes_no = bool(question.lows) and question.lows[0] in ("is", "are", "does", "do", "did", "has", "have", "was", "were", "can", "any")
    return Shape("exists" if yes_no else "list", entity, attributes, singular=singular, asked=asked, group=group)


def asked_attributes(question: Question, family: str, model: SemanticModel) -> tuple[str, ...]:
    """Attributes of this family that are asked for rather than compared with a number."""
    compared = {id(one.attribute) for one in question.numbers.comparisons if one.attribute}
    names = []
    for chunk in question.chunked.chunks:
        if id(chunk) in compared or question.is_compared(chunk):
            continue
        for name in chunk.names("attribute"):
            if family in model.attributes[name].show and name not in names:
                names.append(name)
                break
    return tuple(names)


def _entity(chunk: Chunk, family: str, model: SemanticModel) -> str:
    """The entity a chunk names in a family, or the role that it groups rows by."""
    if chunk.mention is not None:
        classified = model.entities[chunk.mention.entity].classifies
        return classified if classified and family in model.entities[classified].match else ""
    for name in chunk.names("noun"):
        if family in model.entities[name].match or model.families[family].subject == name:
            return name
    for name in chunk.names("attribute"):
        if family in model.attributes[name].show and model.attributes[name].entity:
            return model.attributes[name].entity
    for name in chunk.names("attribute"):
        if family in model.attributes[name].measure:
            return model.attributes[name].measure[family]
    return ""


def _is_singular(chunk: Chunk, model: SemanticModel) -> bool:
    text = chunk.text.lower()
    return not text.endswith(_PLURAL_ENDINGS) or text.endswith(("ss", "sis"))


def _groupings(family: str, model: SemanticModel) -> list[str]:
    return [attribute.measure[family] for attribute in model.attributes.values() if attribute.groups and family in attribute.measure]


def _starts_counting(question: Question) -> bool:
    counts = question.chunked.english("count")
    return bool(counts)


def _first_is_rank(question: Question) -> bool:
    ranks = question.chunked.english("smallest", "largest", "best", "most")
    counts = question.chunked.english("count")
    return bool(ranks) and bool(counts) and ranks[0].first < counts[0].first


def _superlative(question: Question, family: str, model: SemanticModel) -> tuple[str, bool, bool] | None:
    """The attribute that ranks, whether descending, and whether "most" belongs to its own words."""
    for chunk in question.chunked.chunks:
        for name in chunk.names("attribute"):
            if model.attributes[name].measure.get(family) and not chunk.mention and chunk.text.lower().startswith(_SUPERLATIVES):
                return name, chunk.text.lower().startswith(("most", "largest", "biggest")), True
    for chunk in question.chunked.english("most", "fewest"):
        measure = counted_measure(question, chunk.last, family, model)
        if measure:
            return measure, chunk.is_english("most"), True
    for chunk in question.chunked.english("smallest", "largest", "most", "fewest"):
        for other in question.chunked.chunks:
            gap = other.first - chunk.last
            for name in other.names("attribute"):
                attribute = model.attributes[name]
                if attribute.groups and (chunk.is_english("most", "fewest") or not 0 <= gap <= 1):
                    continue
                if attribute.measure.get(family) and -4 <= gap <= 4 and other is not chunk:
                    return name, chunk.is_english("largest", "most"), chunk.is_english("most", "fewest")
    by = _ranked_by(question, family, model)
    if by:
        return by, not model.attributes[by].low, False
    ordinal = _first_or_last(question, family, model)
    if ordinal:
        return ordinal
    word = next(iter(question.chunked.english("smallest", "largest")), None)
    if word is None or any(one.kind == "year" for one in question.numbers.comparisons):
        return None
    text = word.text.lower()
    if text in ("earliest", "oldest", "first approved", "approved first", "latest", "newest", "most recent", "most recently", "most recently approved"):
        attribute = model.attributes.get("approval")
        if attribute and family in attribute.measure:
            return "approval", word.is_english("largest"), False
    return None


def counted_measure(question: Question, first: int, family: str, model: SemanticModel) -> str:
    """`the most trade names`, `more than 15 linked targets`: the attribute that holds this number."""
    if question.vocabulary is None:
        return ""
    lows = question.lows
    for skip in range(3):
        for length in (3, 2, 1):
            words = lows[first + skip : first + skip + length]
            if len(words) < length:
                continue
            found = question.vocabulary.main.match(["number", "of", *words], 0)
            if found is None or found[0] != length + 2:
                continue
            for sense in found[1]:
                if sense.kind == "attribute" and family in model.attributes[sense.name].measure:
                    return sense.name
    return ""


def family_subject_named_in(question: Question, family: str, model: SemanticModel) -> bool:
    """Whether a question about one-row subjects names the subject, so that a count is looked up."""
    spec = model.families[family]
    return not spec.exploded and any(
        chunk.mention is not None
        and (chunk.mention.entity == spec.subject or model.entities[chunk.mention.entity].same_as == spec.subject)
        for chunk in question.chunked.mentions
    )


def _most_significant_of(question: Question, family: str, model: SemanticModel, entity: str) -> bool:
    """`Which chromosome harbours the most significant SNPs`: most SNPs, as another thing is asked for."""
    if not entity or entity == model.families[family].subject:
        return False
    for chunk in question.chunked.english("best"):
        if chunk.text.lower().startswith("most significant"):
            following = next((other for other in question.chunked.chunks if 0 <= other.first - chunk.last <= 2 and other.names("noun")), None)
            if following is not None and model.families[family].subject in following.names("noun"):
                return following.text.lower().endswith("s")
    return False


def _first_or_last(question: Question, family: str, model: SemanticModel) -> tuple[str, bool, bool] | None:
    """`the first antibody to be approved`: ranked by the year, where approval is spoken of."""
    attribute = model.attributes.get("approval")
    if attribute is None or family not in attribute.measure or not any("approv" in rule.text.lower() for rule in question.chunked.rules):
        return None
    things = {chunk.first for chunk in question.chunked.chunks if chunk.names("noun") or chunk.mention}
    for index, low in enumerate(question.lows):
        if low in ("first", "earliest", "last", "latest") and things & {index + 1, index + 2} and "approv" not in question.lows[index + 1]:
            return "approval", low in ("last", "latest"), False
    return None


def _ranked_by(question: Question, family: str, model: SemanticModel) -> str:
    """`top 3 drugs by number of linked diseases`: the measure behind `by`."""
    if not question.has("best", "rank", "largest", "smallest") and question.numbers.limit is None:
        return ""
    for chunk in question.chunked.chunks:
        if chunk.first and question.lows[chunk.first - 1] == "by" and not chunk.mention:
            for name in chunk.names("attribute"):
                if model.attributes[name].measure.get(family):
                    return name
    return ""


def _which_one(question: Question) -> bool:
    """`Of these drugs, which was approved first?` asks for one, whatever the plural before it."""
    lows = question.lows
    return any(low == "which" and lows[index + 1 : index + 2] in (["was"], ["is"], ["one"], ["has"]) for index, low in enumerate(lows))


def _is_given(question: Question, family: str, model: SemanticModel, entity: str, asked: Chunk | None) -> bool:
    """Whether what seems to be asked is already named, so that its rows are asked for instead.

    `drugs hitting S1PR1` names the gene; `which genes ... of SNCA` still asks for genes.
    """
    if entity == model.families[family].subject or "." in entity:
        return False
    named = any(chunk.mention and chunk.mention.entity == entity for chunk in question.chunked.mentions)
    behind = asked is not None and bool(asked.names("noun")) and asked.first <= _question_word(question) + 1
    return named and not behind


def _question_word(question: Question) -> int:
    for index, low in enumerate(question.lows[:12]):
        if low in ("which", "what", "list", "show", "give", "find", "name"):
            return index
    return -1


def _ranks_by_number(question: Question) -> bool:
    counts = question.chunked.english("count")
    return any(
        chunk.text.lower() in ("number of", "count of") and "by" in question.lows[max(0, chunk.first - 2) : chunk.first]
        for chunk in counts
    )


def _group(question: Question, family: str, model: SemanticModel) -> str:
    """What rows are grouped by: `per chromosome`, `for each disease`, `by route`."""
    for chunk in question.chunked.english("per"):
        text = chunk.text.lower()
        for other in question.chunked.chunks:
            if 0 <= other.first - chunk.last <= 1:
                entity = _entity(other, family, model)
                if not entity or (other.mention and text == "by"):
                    continue
                if text == "by" and not question.has("count"):
                    continue
                return entity
    return ""


def _counted(question: Question, family: str, model: SemanticModel, other_than: str) -> tuple[str, bool]:
    """The entity that is counted, or that rows themselves are."""
    cues = question.chunked.english("count", "most", "fewest", "best")
    for cue in cues:
        for chunk in question.chunked.chunks:
            if chunk.first < cue.last or chunk.first - cue.last > 6:
                continue
            entity = _entity(chunk, family, model)
            if entity and entity != other_than:
                known = "." in entity or family in model.entities[entity].match
                return (entity, False) if known else ("", True)
            if chunk.names("neutral") and chunk.text.lower() in ("entries", "rows", "records", "results", "entry", "row", "record"):
                return "", True
    subject = model.families[family].subject
    if subject and subject != other_than and family in model.entities[subject].match:
        return subject, False
    return "", True
