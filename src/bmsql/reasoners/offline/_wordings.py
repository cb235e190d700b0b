"""Small words that turn the meaning of a question round, where no plan says what they say: refused, not passed over."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from bmsql.planning import listed_items
from bmsql.reasoners.offline._chunks import Chunk, is_part
from bmsql.reasoners.offline._question import Question
from bmsql.semantic import SemanticModel
from bmsql.types import Plan

_SUPERLATIVES = frozenset(
    "most least fewest highest lowest largest smallest strongest weakest best biggest newest oldest latest".split()
)
_ORDINALS = frozenset({"second", "third", "fourth", "fifth", "2nd", "3rd", "4th", "5th"})
_ENDINGS = frozenset("withdrawn discontinued recalled ended ending finished completed started began expired".split())
_HYPOTHETICAL = frozenset({"if", "suppose", "supposing", "imagine", "assuming"})
_SPEAKER = frozenset({"i", "we", "you", "possible"})  # `if I want to know ...`
_NOT_QUITE = frozenset({"almost", "nearly"})
_SINGLY = frozenset({"exactly", "just", "only", "precisely"})
_PREPOSITIONS = frozenset({"in", "for", "by", "against", "on", "at"})
_CONDUCTED = frozenset("tested studied investigated trialled trialed examined evaluated despite although while".split())
_COUNTING = frozenset({"more", "fewer", "least", "most"})
_PURSUING = frozenset({"go", "goes", "going", "look", "looking"})  # `what goes after TNF`
_SHOWING = frozenset({"show", "list", "give", "want", "need", "return"})
_BESIDE = 2
_THERE = 4
_PRESENT = frozenset("present tested included covered contained genotyped measured available".split())
_OPEN = (">", ">=")


def worded(question: Question, plan: Plan, model: SemanticModel) -> str:
    """A wording that is refused wherever it stands, or an empty string."""
    for cue in question.chunked.english("unread"):
        if not any(rule.first <= cue.first and cue.last <= rule.last for rule in question.chunked.rules):
            return f"'{cue.text}' is not understood here; say it in other words."
    lows = question.lows
    supposed = lows[:1] and lows[0] in _HYPOTHETICAL and not _SPEAKER & set(lows[1:2])
    if supposed and {"would", "were", "had"} & set(lows):
        return "What would be, were things otherwise, is not worked out here."
    for index, low in enumerate(lows):
        follower = "".join(lows[index + 1 : index + 2])
        if low in _ORDINALS and follower in _SUPERLATIVES:
            return f"A rank of its own ('{low} {follower}') is not understood; ask for the top rows."
        near = any(0 < rule.first - index <= 3 for rule in question.chunked.rules)
        if low in _NOT_QUITE and near:
            return f"How much '{low}' is, the tables do not tell; give a range."
        if (
            low in ("before", "after")
            and not _PURSUING & set(lows[index - 1 : index])
            and any(one.first == index + 1 for one in question.chunked.mentions)
        ):
            return f"A comparison with another thing ('{low} {follower}') is not understood without a number."
        singly = index > 0 and low in ("one", "1") and lows[index - 1] in _SINGLY
        if singly and not plan.having and not any(low in one.words.lower().split() for one in plan.filters):
            return f"It is not clear what '{lows[index - 1]} {low}' restricts."
        if low == "minor" and "allele" in lows[index : index + 2] and _directed(question):
            return "Which allele is the minor one is not compared with the direction here; ask for the alleles."
    return ""


def _directed(question: Question) -> bool:
    return any({sense.name for sense in rule.senses} & question.directions for rule in question.chunked.rules)


def alone(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`significant only in A`, `acts on A alone`: that it is nowhere else is not asked of the rows."""
    told = any(join.kind == "anti" for join in plan.joins) or any(use.mode == "complement" for use in plan.conventions)
    if told:
        return ""
    starts = {one.first: one for one in question.chunked.mentions}
    ends = {one.last: one for one in question.chunked.mentions}
    for cue in question.chunked.english("only"):
        behind = question.lows[cue.last : cue.last + 1]
        named = next((starts[index] for index in range(cue.last + 1, cue.last + 3) if index in starts), None)
        if behind and behind[0] in _PREPOSITIONS and named is not None and not _shown_only(question, cue):
            return f"That there is nothing else ('{cue.text} {behind[0]} {named.text}') is not worked out here."
        before = ends.get(cue.first)
        if cue.text.lower() == "alone" and before is not None and model.entities[before.linked.entity].kind != "term":
            return f"That there is nothing else ('{before.text} alone') is not worked out here."
    return ""


def _shown_only(question: Question, cue: Chunk) -> bool:
    """`show only those in A`."""
    return bool(_SHOWING & set(question.lows[max(0, cue.first - 2) : cue.first]))


def both_ways(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`not significant in A but significant in B`, where the plan has only one of the two."""
    terms = [one.linked for one in question.chunked.mentions if model.entities[one.linked.entity].kind == "term"]
    if len({one.value for one in terms}) < 2:
        return ""
    modes: dict[str, set[str]] = {}
    for use in plan.conventions:
        modes.setdefault(use.rule, set()).add(use.mode)
    said: dict[str, dict[str, list[Chunk]]] = {}
    for rule in question.chunked.rules:
        for sense in rule.senses:
            said.setdefault(sense.name, {}).setdefault(sense.mode, []).append(rule)
    for name, by_mode in said.items():
        for negative in by_mode.get("complement", ()):
            apart = [
                one
                for mode, rules in by_mode.items()
                for one in rules
                if mode != "complement"
                and (one.last <= negative.first or negative.last <= one.first)
                and not any(is_part(one, other) for other in question.chunked.rules)
            ]
            if apart and "complement" in modes.get(name, ()) and "implied" not in modes[name]:
                return f"It is not clear what '{negative.text}' and '{apart[0].text}' each restrict."
    return ""


def two_cut_offs(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`nominally significant in A but genome-wide in B`, `p < 1e-10 in A and < 1e-8 in B`: of one thing, both."""
    if plan.combine != "union":
        return ""
    nouns = [one for one in question.chunked.of("noun") if not one.mention and plan.subject in one.names("noun")]
    own = {one.target: one for one in plan.filters if one.source and one.op in ("<", "<=", *_OPEN)}
    for one in plan.filters:
        other = own.get(one.target)
        if other is not None and one.source and other.source != one.source and len(nouns) == 1:
            return f"It is not clear whether '{one.words}' and '{other.words}' hold of the same; ask for each alone."
    used = {use.rule for use in plan.conventions if use.mode in ("implied", "complement")}
    rules = [one for one in question.chunked.rules if not any(is_part(one, other) for other in question.chunked.rules)]
    for left, right in pairwise(rules):
        apart = {sense.name for sense in left.senses}.isdisjoint(sense.name for sense in right.senses)
        kept = [bool(used & {sense.name for sense in one.senses if sense.mode == "imply"}) for one in (left, right)]
        if (
            apart
            and sum(kept) == 1
            and left.last <= right.first
            and {"but", "yet"} & set(question.lows[left.last : right.first])
        ):
            return f"It is not clear what '{left.text}' and '{right.text}' each restrict."
    return ""


def also_there(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`significant in A and also present in B`, where the plan asks significance of both."""
    if plan.combine != "join" or len(plan.sources) < 2:
        return ""
    implied = {use.source: use.words for use in plan.conventions if use.mode == "implied"}
    for one in question.chunked.mentions:
        before = question.lows[max(0, one.first - _THERE) : one.first]
        said = next((low for low in before if low in _PRESENT), "")
        if said and len(set(implied.values())) == 1 < len(implied) and model.entities[one.linked.entity].kind == "term":
            return f"It is not clear whether '{said}' asks for more than a row; ask for those tested in both."
    return ""


def negated_absence(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`genes of A but not of B`, joined as rows that there are none of: a "not" within a "not"."""
    for join in plan.joins:
        inside = [one for one in plan.filters if one.source == join.right and one.negated and one.words]
        if join.kind == "anti" and inside:
            return f"It is not clear what is left without '{inside[0].words}'; ask for each part on its own."
    return ""


def complement_with_number(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`not approved before 2010`, `not significant at p < 0.05`: the "not" is said of the number."""
    if not any(use.mode == "complement" for use in plan.conventions):
        return ""
    low = {role for one in model.attributes.values() if one.low for role in one.measure.values()}
    targets = {one.words: one for one in plan.filters}
    for rule in question.chunked.rules:
        if not any(sense.mode == "complement" for sense in rule.senses):
            continue
        behind = [one for one in question.numbers.comparisons if 0 <= one.first - rule.last <= _BESIDE]
        for one in behind:
            filter_ = targets.get(one.words)
            below = filter_ is not None and filter_.target in low and filter_.op in ("<", "<=")
            if filter_ is not None and (one.kind == "year" or below):
                return f"It is not clear whether '{rule.text}' is said of '{one.words}'; ask for either alone."
    return ""


def dated(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`withdrawn in 2004`: the years that are recorded are those of approvals."""
    for one in question.numbers.comparisons:
        if one.kind == "year" and any(each.words == one.words for each in plan.filters):
            before = [low for low in question.lows[max(0, one.first - 3) : one.first] if low in _ENDINGS]
            if before:
                return f"When something was '{before[0]}' is not recorded."
    return ""


def conducted(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`approved for A and tested in B`: of one drug, two records."""
    terms = [one for one in question.chunked.mentions if model.entities[one.linked.entity].kind == "term"]
    if plan.combine == "join" and any(join.kind != "anti" for join in plan.joins):
        return ""
    for left, right in pairwise(terms):
        verb = next((low for low in question.lows[left.last : right.first] if low in _CONDUCTED), "")
        other = left.linked.value != right.linked.value and left.linked.entity == right.linked.entity
        if verb and other:
            return f"It is not clear how '{left.text}' and '{verb} ... {right.text}' go together; ask for each alone."
    return ""


def traits(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`higher expression protects`, answered by tables other than those that the word names."""
    chosen = {model.tables[source.table].family for source in plan.sources}
    for chunk in question.chunked.hints if _directed(question) else ():
        named = {name for name in chunk.names("hint") if name in model.families}
        if named and not named & chosen:
            labels = " and ".join(model.families[family].label for family in sorted(named))
            return f"What '{chunk.text}' does is told by the {labels} alone; name them in the question."
    return ""


def misplaced(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`chromosomes with more than 20 SNPs`, read as those above 20; `at least 10 SNPs` of a table of tests."""
    recipes = [recipe for one in model.entities.values() for recipe in one.match.values()]
    places = {chromosome for recipe in recipes for chromosome, _ in recipe.builds.values()}
    for one in plan.filters:
        if one.target in places and one.op in ("<", "<=", *_OPEN) and _COUNTING & set(one.words.lower().split()):
            return f"It is not clear what '{one.words}' counts."
    source = plan.sources[0] if len(plan.sources) == 1 else None
    if source is None:
        return ""
    family = model.tables[source.table].family
    for name in listed_items(plan, source.alias) | {plan.subject}:
        entity = model.entities.get(name)
        joined = any(join.entity == name and family in join.keys for join in model.joins)
        if entity is not None and plan.having and family not in entity.match and not joined:
            return f"How many there are of each {entity.label} is not counted here."
    return ""


def correction(question: Question, plan: Plan, model: SemanticModel) -> str:
    """`AD, actually PD, SNPs`: only the second is meant."""
    lows = question.lows
    for left, right in pairwise(question.chunked.mentions):
        between = lows[left.last : right.first]
        if left.linked.entity == right.linked.entity and {"actually", "sorry", "rather"} & set(between):
            return f"It is not clear whether '{left.text}' is still meant; ask for '{right.text}' alone."
    return ""


def overruled(plan: Plan, limits: Mapping[str, tuple[str, str]]) -> str:
    """`significant in A have p > 0.05 in B`: a rule would take the place of what is asked.

    limits: the role and the operator of each rule on a p-value.
    """
    for one in plan.filters:
        uses = [use for use in plan.conventions if use.mode == "implied" and use.source in ("", one.source)]
        for use in uses:
            if one.words and one.op in _OPEN and limits.get(use.rule) in ((one.target, "<"), (one.target, "<=")):
                return f"It is not clear what '{one.words}' and '{use.words}' each restrict."
    return ""


CHECKS = (
    worded, alone, both_ways, two_cut_offs, also_there, negated_absence, complement_with_number, dated, conducted,
    traits, misplaced, correction,
)  # fmt: skip
