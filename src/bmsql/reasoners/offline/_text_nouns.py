"""What the rows are of, in full: the noun, its conditions, what it is joined with, and its verbs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bmsql.reasoners.offline._text_context import Context
from bmsql.reasoners.offline._text_phrases import Described, described
from bmsql.reasoners.offline._text_values import article, listed, several
from bmsql.types import PlanJoin, Source

_WERE, _WAS = "were found", "was found"


@dataclass(frozen=True)
class Subject:
    """The noun of the answer with its conditions, and the verbs after it for one and for many."""

    noun_one: str
    noun_many: str
    verbs_one: str
    verbs_many: str

    def clause(self, count: str, *, plural: bool = True) -> str:
        """`9 SNPs near BIN1 are genome-wide significant for Alzheimer's disease (p < 5e-8)`."""
        noun, verbs = (self.noun_many, self.verbs_many) if plural else (self.noun_one, self.verbs_one)
        found = _WERE if plural else _WAS
        if not verbs or verbs.startswith("for "):
            return " ".join([count, noun, *([found, verbs] if verbs else [found])])
        return f"{count} {noun} {verbs}"

    def phrase(self, *, plural: bool = True) -> str:
        """`SNPs near BIN1 that are genome-wide significant for Alzheimer's disease (p < 5e-8)`."""
        noun, verbs = (self.noun_many, self.verbs_many) if plural else (self.noun_one, self.verbs_one)
        return _relative(noun, verbs)


def _relative(noun: str, verbs: str) -> str:
    if not verbs:
        return noun
    return f"{noun} {verbs}" if verbs.startswith("for ") else f"{noun} that {verbs}"


def subject_of(ctx: Context, entity: str = "", *, besides: tuple[str, ...] = ()) -> Subject:
    """The subject of the main source's rows; of `entity`, where these are its values instead."""
    main = ctx.main
    if entity and not same_thing(ctx, entity):
        spec = ctx.entity(entity)
        one, many = (spec.label, spec.plural) if spec else (ctx.label(entity), several(ctx.label(entity)))
        tied = _tied(ctx, entity)
        return Subject(f"{one} {tied}", f"{many} {tied}", "", "")
    one, many = ctx.subject()
    rest = described(ctx, main, besides=besides)
    related = [join for join in ctx.plan.joins if join.left == main.alias]
    alike = [join for join in related if is_alike(ctx, join)]
    others = [join for join in related if join not in alike]
    kept = [join for join in others if join.kind != "anti" and _keeps_to(ctx, join)]
    both = _merged([described(ctx, ctx.source(join.right)) for join in kept])
    after = [_joined(ctx, join) for join in others if both is None or join not in kept]
    if both is not None:
        after.append(f"that {both.verbs(True)}")
    rest = Described(rest.before, [*rest.after, *after], rest.tail, rest.predicates)
    nouns = rest.noun(one, many, plural=False), rest.noun(one, many, plural=True)
    if not alike:
        return Subject(*nouns, rest.verbs(False), rest.verbs(True))
    sources = [(main, False), *((ctx.source(join.right), join.kind == "anti") for join in alike)]
    return Subject(*nouns, _shared(ctx, sources, many=False), _shared(ctx, sources, many=True))


def is_alike(ctx: Context, join: PlanJoin) -> bool:
    """Whether a join is of two tables of one kind, by what their rows are of."""
    left, right = ctx.source(join.left), ctx.source(join.right)
    return ctx.family_name(left) == ctx.family_name(right) and same_thing(ctx, join.entity, left)


def _shared(ctx: Context, sources: Sequence[tuple[Source, bool]], *, many: bool) -> str:
    """What holds in each of several tables: `are significant for both A and B (p < 5e-8)`."""
    default = "are recorded" if many else "is recorded"
    rests = [described(ctx, source) for source, _ in sources]
    first = rests[0]
    merged = _merged(rests) if not any(excluded for _, excluded in sources) else None
    if merged is not None:
        return merged.verbs(many, default=default)
    parts = []
    for rest, (_, excluded) in zip(rests, sources, strict=True):
        besides = [text for text in rest.after if text not in first.after]
        verbs = rest.verbs(True if excluded else many, default="are recorded" if excluded or many else default)
        text = " ".join([verbs, *besides])
        parts.append(f"{'are' if many else 'is'} not among those that {text}" if excluded else text)
    return listed(parts)


def _merged(rests: Sequence[Described]) -> Described | None:
    """One description of several that differ only in what they are for; None where they differ in more."""
    if len(rests) < 2:
        return None
    first = rests[0]
    told = {
        (tuple((one.rule.name, one.failing) for one in rest.predicates), tuple(rest.after), tuple(rest.before))
        for rest in rests
    }
    if len(told) > 1 or any(len(rest.tail) != 1 or not rest.tail[0].startswith("for ") for rest in rests):
        return None
    topics = [rest.tail[0].removeprefix("for ") for rest in rests]
    tail = f"for {'both ' if len(topics) == 2 else 'all of '}{listed(topics)}"
    return Described(first.before, first.after, [tail], first.predicates)


def phrase_of(ctx: Context, source: Source, *, plural: bool = True, rest: Described | None = None) -> str:
    """The rows of a source in full, as they stand after "with" or "near"."""
    one, many = ctx.subject(source)
    rest = rest or described(ctx, source)
    joined = [_joined(ctx, join) for join in ctx.plan.joins if join.left == source.alias and source is not ctx.main]
    whole = Described(rest.before, [*rest.after, *joined], rest.tail, rest.predicates)
    return _relative(whole.noun(one, many, plural=plural), whole.verbs(plural))


def _tied(ctx: Context, entity: str) -> str:
    """How the values of an entity are tied to the rows: `with SMR tests that are significant`."""
    joins = [join for join in ctx.plan.joins if join.left == ctx.main.alias and join.entity == entity]
    inner = [join for join in joins if join.kind != "anti"]
    same = [join for join in inner if ctx.family_name(ctx.source(join.right)) == ctx.family_name()]
    merged = _merged([described(ctx, source) for source in [ctx.main, *(ctx.source(join.right) for join in same)]])
    if merged is None:
        same = []
    parts = [_linked(ctx, ctx.main, entity, phrase_of(ctx, ctx.main, rest=merged))]
    others = [join for join in ctx.plan.joins if join.left == ctx.main.alias and join not in same]
    for join in others:
        text = _linked(ctx, ctx.source(join.right), join.entity, phrase_of(ctx, ctx.source(join.right)))
        if join.entity != entity:
            text = _joined(ctx, join)
        parts.append(f"but not {text}" if join.kind == "anti" else f"and {text}")
    return ", ".join(parts)


def _joined(ctx: Context, join: PlanJoin) -> str:
    """What a joined source says of the rows on the left: `targeting a gene with ...`."""
    left, right = ctx.source(join.left), ctx.source(join.right)
    own = same_thing(ctx, join.entity, left)
    if same_thing(ctx, join.entity, right):
        if own and _keeps_to(ctx, join):
            text = f"that {described(ctx, right).verbs(True)}"
        elif own:
            text = _linked(ctx, right, join.entity, phrase_of(ctx, right))
        else:
            text = _of_left(ctx, left, join.entity, article(phrase_of(ctx, right, plural=False)))
    else:
        text = _linked(ctx, right, join.entity, phrase_of(ctx, right))
        if not own:
            text = _of_left(ctx, left, join.entity, f"{article(ctx.label(join.entity))} {text}")
    return f"excluding those {text}" if join.kind == "anti" else text


def _keeps_to(ctx: Context, join: PlanJoin) -> bool:
    """Whether a joined table of the same things adds conventions to them and nothing else."""
    right = ctx.source(join.right)
    if not (same_thing(ctx, join.entity) and same_thing(ctx, join.entity, right)):
        return False
    rest = described(ctx, right)
    further = any(other.left == right.alias for other in ctx.plan.joins)
    return bool(rest.predicates) and not rest.after and not rest.before and not further


def _of_left(ctx: Context, left: Source, entity: str, text: str) -> str:
    return ctx.family(left).say.filters.get(entity, "with {}").replace("{}", text)


def _linked(ctx: Context, source: Source, entity: str, text: str) -> str:
    return ctx.family(source).say.linked.get(entity, "with {}").replace("{}", text)


def same_thing(ctx: Context, entity: str, source: Source | None = None) -> bool:
    """Whether an entity is what the rows of a source are of, or another word for it."""
    source = source or ctx.main
    subject = ctx.family(source).subject
    spec = ctx.entity(entity)
    if entity == subject or (spec is not None and spec.same_as == subject):
        return True
    one, other = ctx.role_of(entity, source), ctx.role_of(subject, source)
    return one == other and "." in one
