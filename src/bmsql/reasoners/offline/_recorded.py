"""What is recorded of a row, and what is not: `without a recorded year`, `which drugs have patents`."""

from __future__ import annotations

from collections.abc import Sequence

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._question import Question
from bmsql.reasoners.offline._rankings import counted_measure
from bmsql.semantic import SemanticModel
from bmsql.types import Filter

_NEAR = 4
# Where a verb may stand at the earliest, behind a question word and a noun.
_FIRST_VERB = 2
# What these open lacks what follows them: `chromosomes with no SNP` are not without chromosomes.
_BEFORE = frozenset({"with", "without", "has", "have", "lack", "lacks", "lacking", "no"})

_OF_ITSELF = frozenset({"approval", "approvals"})
_OF_RECORDS = ("record", "known", "missing")


def absent(question: Question, family: str, chunks: Sequence[Chunk], model: SemanticModel) -> list[Filter]:
    """`without a recorded year`, `no frequency recorded`: the attribute is NULL."""
    found = []
    nouns = [one for one in question.chunked.of("noun") if not one.names("attribute")]
    for cue in question.chunked.english("recorded_not"):
        beside = [
            (abs(chunk.first - cue.last) if chunk.first >= cue.last else cue.first - chunk.last, chunk)
            for chunk in chunks
            if chunk.names("attribute") and (chunk.first >= cue.last or cue.text.lower().split()[0] not in _BEFORE)
        ]
        for gap, chunk in sorted(beside, key=lambda pair: pair[0]):
            if gap > _NEAR or any(cue.last <= noun.first and noun.last <= chunk.first for noun in nouns):
                break  # `no drug targets it` is about drugs
            words = f"{cue.text} {chunk.text}"
            measure = counted_measure(question, chunk.first, family, model)
            if measure and chunk.first >= cue.last:
                # `no targets`: the number of them is recorded, and is 0.
                role = model.attributes[measure].measure[family]
                found.append(Filter(target=role, op="=", values=(0,), words=words))
                break
            tested = next(
                (one for name in chunk.names("attribute") if (one := model.attributes[name].test.get(family))), ""
            )
            said = question.lows[min(cue.first, chunk.first) : max(cue.last, chunk.last) + 1]
            if tested and not any(part in word for part in _OF_RECORDS for word in said):
                # `with no boxed warning` is false; that nothing is known of it is another thing.
                found.append(Filter(target=tested, op="=", values=(False,), words=words))
                break
            if chunk.text.lower() in _OF_ITSELF:
                break  # `no approval for X` is about being approved
            roles = [_recorded(name, family, model) for name in chunk.names("attribute")]
            if any(roles):
                found.append(Filter(target=next(filter(None, roles)), op="null", words=words))
                break
    return found


def present(question: Question, family: str, chunks: Sequence[Chunk], model: SemanticModel) -> list[Filter]:
    """`which drugs have patents`: those for which one is recorded."""
    lows = question.lows
    if lows[:1] not in (["which"], ["what"]):
        return []
    for chunk in chunks:
        senses = [one for one in chunk.senses if one.kind == "attribute" and one.mode != "cue"]
        verb = chunk.first - 2 if lows[chunk.first - 1 : chunk.first] in (["a"], ["an"], ["any"]) else chunk.first - 1
        if not senses or chunk.mention or verb < _FIRST_VERB or lows[verb] not in ("have", "has"):
            continue
        last = chunk.last == len(lows) or question.chunked.tokens[chunk.last].kind == "stop"
        role = _recorded(senses[0].name, family, model)
        if last and role and not model.attributes[senses[0].name].test:
            words = question.text[question.chunked.tokens[verb].start : chunk.end]
            return [Filter(target=role, op="not_null", words=words)]
    return []


def _recorded(name: str, family: str, model: SemanticModel) -> str:
    """The role that holds an attribute in a family; never the name of what the row is of."""
    attribute = model.attributes[name]
    subject = model.entities.get(model.families[family].subject)
    entity = model.entities.get(attribute.entity)
    recipes = [spec.match.get(family) if spec else None for spec in (entity, subject)]
    held, named = (recipe.shown if recipe else "" for recipe in recipes)
    shown = [role for role in attribute.show.get(family, ()) if role != named]
    return attribute.test.get(family) or attribute.measure.get(family) or held or next(iter(shown), "")


def near(one: Chunk, other: Chunk) -> bool:
    """Whether two chunks stand within a few words of each other."""
    return max(one.first - other.last, other.first - one.last) <= _NEAR
