"""Which conventions a part of the question implies, once its shape is known."""

from __future__ import annotations

from collections.abc import Sequence

from bmsql.conventions import RuleBook
from bmsql.reasoners.offline._part import replace_mode
from bmsql.reasoners.offline._question import Question
from bmsql.reasoners.offline._shape import Shape
from bmsql.semantic import SemanticModel
from bmsql.types import ConventionUse, Filter

# `Are there ... that raise the risk` asks for them, and so does `has X any that`; `does X raise it` is judged.
_ASKS_FOR = frozenset({"there", "any"})
_HEAD = 4
# Words of questions about what was tested or is held, rather than what was found.
_UNTHRESHOLDED = frozenset({"tested", "tests", "test", "cover", "covers", "covered", "table", "available"})


def settle(
    question: Question,
    family: str,
    shape: Shape,
    uses: Sequence[ConventionUse],
    filters: Sequence[Filter],
    model: SemanticModel,
    rules: RuleBook,
    *,
    linking: bool = False,
) -> list[ConventionUse]:
    """The uses as they are meant: one threshold a role, look-ups judged instead of filtered.

    `linking`: the rows only link others, as tests that link genes to a disease.
    """
    settled = _longest_said(_one_threshold(list(uses), rules), rules)
    settled = _assumed(settled, question, family, shape, filters, model, rules, linking)
    settled = _ranked(settled, question, family, shape, filters, model, rules)
    settled = _directions(settled, question, shape, model, rules)
    settled = _companions(_special(settled, shape, family, model, rules), rules)
    if shape.intent == "exists" and _names_one(filters, model) and not _ASKS_FOR & set(question.lows[:_HEAD]):
        settled = [replace_mode(use, "judge") if _kind(use, rules) == "direction" else use for use in settled]
    if is_lookup(family, filters, model):
        settled = [
            replace_mode(use, "judge") if use.mode in ("implied", "complement") and _kind(use, rules) != "" else use
            for use in settled
        ]
    elif shape.intent == "exists" and family_subject_named(family, filters, model):
        settled = [
            replace_mode(use, "judge") if _kind(use, rules) == "approval" and use.mode == "implied" else use
            for use in settled
        ]
    return _phases(settled, filters, rules)


def is_lookup(family: str, filters: Sequence[Filter], model: SemanticModel) -> bool:
    """Whether one named thing is looked up: then nothing is filtered away, and the answer judges."""
    spec = model.families[family]
    if not family_subject_named(family, filters, model):
        return False
    if not spec.exploded:
        return True
    terms = {one.target for one in filters if one.op == "match" and not one.negated and one.target in model.entities}
    return any(model.entities[name].kind == "term" for name in terms)


def family_subject_named(family: str, filters: Sequence[Filter], model: SemanticModel) -> bool:
    """Whether a filter names the thing that a row of the family is of."""
    subject = model.families[family].subject
    return any(one.op == "match" and not one.negated and _same_thing(one.target, subject, model) for one in filters)


def _same_thing(target: str, subject: str, model: SemanticModel) -> bool:
    return target == subject or (model.entities.get(target) is not None and model.entities[target].same_as == subject)


def _kind(use: ConventionUse, rules: RuleBook) -> str:
    kind = rules[use.rule].kind if use.rule in rules else ""
    return kind if kind in ("threshold", "direction", "approval") else ""


def _one_threshold(uses: list[ConventionUse], rules: RuleBook) -> list[ConventionUse]:
    """`nominally significant` says "significant" too: of rules on one role the special one is meant."""
    by_role: dict[str, list[ConventionUse]] = {}
    for use in uses:
        rule = rules[use.rule]
        if rule.kind == "threshold":
            by_role.setdefault(rule.role, []).append(use)
    dropped: list[ConventionUse] = []
    for same in by_role.values():
        implied = [use for use in same if use.mode == "implied"]
        if len(implied) > 1:
            # The general rule is triggered by more phrases than the special ones.
            general = max(implied, key=lambda use: len(rules[use.rule].words))
            dropped.append(general)
    return [use for use in uses if not any(use is other for other in dropped)]


def _names_one(filters: Sequence[Filter], model: SemanticModel) -> bool:
    """Whether a filter names one thing by its symbol, name or identifier."""
    kinds = ("symbol", "name", "identifier")
    return any(one.op == "match" and model.entities[one.target].kind in kinds for one in filters)


def _special(
    uses: list[ConventionUse], shape: Shape, family: str, model: SemanticModel, rules: RuleBook
) -> list[ConventionUse]:
    """`a significant GWAS p-value`, `significant by p_GWAS`: the rule on the p-value that is spoken of."""
    implied = [use for use in uses if use.mode == "implied" and _kind(use, rules) == "threshold"]
    measured = {model.attributes[name].measure.get(family, "") for name in shape.attributes}
    special = next(
        (rule for rule in rules if rule.kind == "threshold" and rule.role in measured and rule.role and rule.words),
        None,
    )
    if special is None or not implied or special.role == model.families[family].order:
        return uses
    if any(special.name in others for use in implied for others in rules[use.rule].companions.values()):
        return uses
    kept = [use for use in uses if use not in implied or use.rule == special.name]
    if not any(use.rule == special.name for use in kept):
        kept.append(implied[0].model_copy(update={"rule": special.name}))
    return kept


def _longest_said(uses: list[ConventionUse], rules: RuleBook) -> list[ConventionUse]:
    """`significant by the GWAS p-value` is one rule, not also that of the `significant` in it."""
    implied = [use for use in uses if use.mode == "implied" and _kind(use, rules) == "threshold"]
    inside = [
        one
        for one in implied
        for other in implied
        if one.words and one.words.lower() != other.words.lower() and one.words.lower() in other.words.lower()
    ]
    return [use for use in uses if not any(use is one for one in inside)]


def _companions(uses: list[ConventionUse], rules: RuleBook) -> list[ConventionUse]:
    """Waiving a rule waives what comes with it: `significant or not` asks for no HEIDI test either."""
    waived = {
        other
        for use in uses
        if use.mode == "waived"
        for names in rules[use.rule].companions.values()
        for other in names
    }
    return [replace_mode(use, "waived") if use.rule in waived and use.mode == "implied" else use for use in uses]


def _assumed(
    uses: list[ConventionUse],
    question: Question,
    family: str,
    shape: Shape,
    filters: Sequence[Filter],
    model: SemanticModel,
    rules: RuleBook,
    linking: bool,
) -> list[ConventionUse]:
    """`PSP SMR genes` are the significant ones: what a family implies where nothing else is said."""
    spec = model.families[family]
    name = spec.assume
    if not name or name not in rules or is_lookup(family, filters, model):
        return uses
    rule = rules[name]
    beside = {rules[other].role for names in rule.companions.values() for other in names if other in rules}
    settled = [use for use in uses if rules[use.rule].kind == "threshold" and use.mode != "implied"]
    # Waiving only what comes beside the rule, as in `ignoring HEIDI`, leaves the rule as it is.
    settled = [use for use in settled if not (use.mode == "waived" and rules[use.rule].role in beside)]
    if any(rules[use.rule].role in {rule.role, *beside} for use in settled):
        return uses
    if any(
        rules[use.rule].kind == "threshold" and (use.mode == "implied" or rules[use.rule].role == rule.role)
        for use in uses
    ):
        return uses
    tests = {one.measure.get(family) for one in model.attributes.values() if one.low}
    said = [one for one in filters if one.op != "match" and one.target not in _places(family, model)]
    if any(one.target in tests or not _signs(one) for one in said):
        return uses
    rows = not linking and (shape.entity in ("", spec.subject) or (shape.intent == "count" and not shape.counted))
    if rows or question.has("all") or _speaks_of_tests(question, family):
        return uses
    return [*uses, ConventionUse(rule=name, mode="implied", words="")]


def _signs(one: Filter) -> bool:
    """Whether a filter asks for a sign alone: `genes with a negative b_SMR` are still the significant ones."""
    return one.op in ("<", ">") and one.values == (0,)


def _speaks_of_tests(question: Question, family: str) -> bool:
    """Whether what was tested or is held is asked about, in this family: `the drug table` is another."""
    for index, low in enumerate(question.lows):
        if low not in _UNTHRESHOLDED:
            continue
        named = [chunk for chunk in question.chunked.chunks if chunk.last == index and question.families_of(chunk)]
        if not named or any(family in question.families_of(chunk) for chunk in named):
            return True
    return False


def _places(family: str, model: SemanticModel) -> set[str]:
    """Roles and entities that only say where, on which nothing about significance is stated."""
    found: set[str] = set()
    for name, entity in model.entities.items():
        recipe = entity.match.get(family)
        if recipe and recipe.builds:
            found |= {name, *(role for pair in recipe.builds.values() for role in pair)}
    return found


def _ranked(
    uses: list[ConventionUse],
    question: Question,
    family: str,
    shape: Shape,
    filters: Sequence[Filter],
    model: SemanticModel,
    rules: RuleBook,
) -> list[ConventionUse]:
    """Top 10 SNPs, or SNPs that raise risk, are significant ones, even where the word is not said."""
    order = model.families[family].order
    directed = any(use.mode == "implied" and _kind(use, rules) == "direction" for use in uses)
    if not (shape.best or directed) or not order or any(one.target == order for one in filters):
        return uses
    if any(rules[use.rule].role == order for use in uses):
        return uses
    candidates = [rule for rule in rules if rule.kind == "threshold" and rule.role == order and rule.words]
    if not candidates:
        return uses
    general = max(candidates, key=lambda rule: len(rule.words))
    beside = {other for names in general.companions.values() for other in names}
    if any(use.mode == "implied" and _kind(use, rules) == "threshold" and use.rule not in beside for use in uses):
        # "Top SNPs with a significant GWAS p-value": which significance is meant has been said.
        return uses
    words = question.chunked.english("best")[0].text if question.has("best") else ""
    return [*uses, ConventionUse(rule=general.name, mode="implied", words=words)]


def _directions(
    uses: list[ConventionUse], question: Question, shape: Shape, model: SemanticModel, rules: RuleBook
) -> list[ConventionUse]:
    """A direction that is asked about, rather than asked for, is judged in the answer."""
    if question.has("less_of"):
        uses = [_opposite(use, rules) if rules[use.rule].of == "trait" else use for use in uses]
    directions = [use for use in uses if _kind(use, rules) == "direction"]
    both = question.has("direction") or len({use.rule for use in directions}) > 1
    # The sign of a trait's effect says nothing about the allele that is asked for.
    asks_alleles = rules.profile == "strict" and any(model.attributes[name].judged for name in shape.attributes)
    if not both and not (asks_alleles and any(rules[use.rule].of == "trait" for use in directions)):
        return uses
    return [replace_mode(use, "judge") if use in directions else use for use in uses]


def _opposite(use: ConventionUse, rules: RuleBook) -> ConventionUse:
    """`lower expression raises risk` is what `higher expression lowers risk` says."""
    rule = rules[use.rule]
    other = next(
        (one for one in rules if one.kind == "direction" and one.role == rule.role and one.name != rule.name), rule
    )
    return use.model_copy(update={"rule": other.name})


def _phases(uses: list[ConventionUse], filters: Sequence[Filter], rules: RuleBook) -> list[ConventionUse]:
    """A phase that the user states replaces the approval rule on the same column."""
    stated = {one.target for one in filters if one.op != "match"}
    kept = [
        replace_mode(use, "stated")
        if use.mode == "implied" and _kind(use, rules) == "approval" and rules[use.rule].role in stated
        else use
        for use in uses
    ]
    for rule in rules:
        if rule.kind == "lookup":
            role = next((role for role in rule.all_roles if role in stated), "")
            if role and not any(use.rule == rule.name for use in kept):
                kept.append(ConventionUse(rule=rule.name, mode="stated", value=role))
    return [
        use for use in kept if not (rules[use.rule].kind == "lookup" and not stated & set(rules[use.rule].all_roles))
    ]
