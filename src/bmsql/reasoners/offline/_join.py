"""Questions over several families: parts joined through the entities that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._part import Part
from bmsql.reasoners.offline._shape import Shape
from bmsql.semantic import SemanticModel
from bmsql.types import Plan, PlanJoin

if TYPE_CHECKING:
    from bmsql.reasoners.offline._compose import Composer


_VERBS = frozenset({"is", "are", "was", "were"})


def join_plan(composer: Composer, main: str, others: Sequence[str], shape: Shape) -> Plan:
    """The plan that starts from `main` and joins the other families one by one."""
    owned = _owners(composer, (main, *others), main)
    _share(composer, owned)
    parts: list[Part] = []
    joins: list[PlanJoin] = []
    pending = [main, *others]
    while pending:
        family = next(
            (name for name in pending if not parts or _link(composer, parts, name, shape.entity) is not None), None
        )
        if family is None:
            return _unconnected(composer, pending[0])
        pending.remove(family)
        made = _parts_of(composer, family, owned, shape, parts)
        if isinstance(made, Plan):
            return made
        for part in made:
            if parts:
                link = _link(composer, parts, family, shape.entity)
                if link is None:
                    return _unconnected(composer, family)
                kind = _join_kind(composer, part, owned)
                joins.append(PlanJoin(left=link[0].alias, right=part.alias, entity=link[1], kind=kind))
            parts.append(part)
    return composer.assemble(parts, joins, shape)


def _owners(composer: Composer, families: Sequence[str], main: str) -> dict[str, list[Chunk]]:
    """Each chunk of the question with the family it is said of."""
    owned: dict[str, list[Chunk]] = {family: [] for family in families}
    question = composer.question
    for chunk in (*question.chunked.chunks, *question.chunked.rules, *question.chunked.hints):
        family = question.family_of(chunk, main) if question.families_of(chunk) else main
        owned[family].append(chunk)
    return owned


def _unconnected(composer: Composer, family: str) -> Plan:
    label = composer.model.families[family].label
    return Plan(answerable=False, problem=f"No table connects the {label} with the rest.")


def _share(composer: Composer, owned: dict[str, list[Chunk]]) -> None:
    """`Parkinson's genes supported by GWAS and SMR`: a disease that is named once is meant in both studies."""
    model = composer.model
    terms = [one for one in composer.question.chunked.mentions if model.entities[one.linked.entity].kind == "term"]
    if len({one.linked.value for one in terms}) != 1:
        return
    for chunk in terms:
        entity = chunk.linked.entity
        holders = [family for family, chunks in owned.items() if chunk in chunks]
        if all(_studies(model, family, entity) for family in holders):
            for family, chunks in owned.items():
                if family not in holders and _studies(model, family, entity):
                    chunks.append(chunk)


def _studies(model: SemanticModel, family: str, entity: str) -> bool:
    recipe = model.entities[entity].match.get(family)
    return any(entity in model.tables[name].about for name in model.tables_of(family)) or (
        recipe is not None and recipe.how == "equals"
    )


def _parts_of(
    composer: Composer, family: str, owned: dict[str, list[Chunk]], shape: Shape, placed: Sequence[Part]
) -> list[Part] | Plan:
    """A part for each table of the family that is meant."""
    model, question = composer.model, composer.question
    present = [name for name in model.tables_of(family) if name in composer.tables]
    entity = next((name for table in present for name in model.tables[table].about), "")
    rules = [chunk for chunk in owned[family] if chunk in question.chunked.rules]
    if not entity:
        alias = _alias(family, placed)
        return [composer.part(family, alias, tuple(present[:1]), "", shape, owned[family], rules, linking=bool(placed))]
    named = [
        chunk.mention.value for chunk in owned[family] if chunk.mention is not None and chunk.mention.entity == entity
    ]
    values = [
        value
        for value in dict.fromkeys(named)
        if any(model.tables[name].about.get(entity) == value for name in present)
    ]
    every = list(dict.fromkeys(model.tables[name].about.get(entity, "") for name in present))
    if not values:
        values = every
        if not question.has("both") and len(values) > 1:
            labels = [_label(composer, entity, value) for value in values]
            return composer.clarify(
                f"Which {model.entities[entity].label} is meant for the {model.families[family].label}?", labels
            )
    if len(values) > 1 and not question.has("both"):
        labels = [_label(composer, entity, value) for value in values]
        return composer.clarify(
            f"Should the {model.families[family].label} hold for each of these, or for either?", labels
        )
    made: list[Part] = []
    for value in values:
        tables = tuple(name for name in present if model.tables[name].about.get(entity) == value)
        part = composer.part(family, value.lower(), tables[:1], entity, shape, owned[family], rules)
        part.about = value
        made.append(part)
    return made


def _label(composer: Composer, entity: str, value: str) -> str:
    return next((one.label or one.id for one in composer.model.entities[entity].values if one.id == value), value)


def _alias(family: str, placed: Sequence[Part]) -> str:
    taken = {part.alias for part in placed}
    alias = family[0]
    return alias if alias not in taken else family


def _link(composer: Composer, parts: Sequence[Part], family: str, asked: str = "") -> tuple[Part, str] | None:
    """The placed part that a family is joined to, and the entity they share; rather the one asked for."""
    best: tuple[float, Part, str] | None = None
    for place, part in enumerate(parts):
        for number, join in enumerate(composer.model.joins):
            if part.family not in join.keys or family not in join.keys or (part.family == family and place):
                continue
            score = _said(composer, join.entity) - number * 0.1 - place * 0.2 + (2.0 if join.entity == asked else 0.0)
            if best is None or score > best[0]:
                best = (score, part, join.entity)
    return (best[1], best[2]) if best else None


def _said(composer: Composer, entity: str) -> float:
    """How clearly the question names the entity that tables meet in."""
    score = 0.0
    for chunk in composer.question.chunked.chunks:
        if entity in chunk.names("noun"):
            score += 1.0
        elif any(composer.model.attributes[name].entity == entity for name in chunk.names("attribute")):
            score += 1.5
    return score


def _join_kind(composer: Composer, part: Part, owned: dict[str, list[Chunk]]) -> Literal["inner", "anti"]:
    """`anti` where the question says that there is none of these rows."""
    question = composer.question
    false = [one for one in part.filters if one.op == "=" and one.values[0] is False]
    if false:
        if len(part.filters) > 1:
            return "inner"
        # `drugs for X without a boxed warning` are all but those that have one: mostly, nothing is recorded.
        part.filters = [false[0].model_copy(update={"values": (True,)})]
        return "anti"
    complements = [rule for rule in question.chunked.rules if any(sense.mode == "complement" for sense in rule.senses)]
    anchors = [chunk for chunk in owned[part.family] if len(question.families_of(chunk)) == 1]
    lows = question.lows
    subject = composer.model.families[part.family].subject
    for cue in question.chunked.english("recorded_not"):
        # `genes that have no drug`
        none = lows[cue.last - 1 : cue.last] == ["no"]
        if none and any(one.first == cue.last and subject in one.names("noun") for one in question.chunked.of("noun")):
            return "anti"
    for negation in question.chunked.english("not", "but_not"):
        if any(rule.first <= negation.first < rule.last for rule in complements):
            continue
        # `without X are approved`: behind the verb, another thing is said.
        told = next((index for index in range(negation.last, len(lows)) if lows[index] in _VERBS), len(lows))
        if any(0 <= anchor.first - negation.last <= 5 and anchor.first < told for anchor in anchors):
            return "anti"
    return "inner"
