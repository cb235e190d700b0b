"""A question read into a plan: families, parts, conventions, shape, then the plan itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from bmsql.conventions import RuleBook
from bmsql.reasoners.offline._chunks import Chunk
from bmsql.reasoners.offline._compose import Composer
from bmsql.reasoners.offline._doubts import doubt
from bmsql.reasoners.offline._families import Families, Fit, Weighted
from bmsql.reasoners.offline._named import described, searches_text
from bmsql.reasoners.offline._question import Question, open_question
from bmsql.reasoners.offline._refuse import refuse
from bmsql.reasoners.offline._regions import band
from bmsql.reasoners.offline._shape import shape_of
from bmsql.reasoners.offline._studies import Studies
from bmsql.reasoners.offline._tokens import asked, clean
from bmsql.reasoners.offline._vocabulary import Vocabulary
from bmsql.reasoners.offline._wordings import overruled
from bmsql.semantic import SemanticModel
from bmsql.types import ConventionUse, LinkQuestion, Mention, Plan

_TEXT_REACH = 4
_LONGEST = 300
_REMEMBERED = 256
_KINDS = frozenset("gene genes protein proteins receptor receptors enzyme enzymes symbol symbols (".split())
_VARIANTS = frozenset("variant variants snp snps polymorphism mutation allele substitution change (".split())
# `G2019S`, `p.Arg47His`: what a variant does to a protein, which no table holds, beside its identifier.
_PROTEIN_CHANGE = re.compile(r"(?:[A-Z]|[A-Z][a-z]{2})\d{1,4}(?:[A-Z]|[A-Z][a-z]{2})")
_HEADING = 4
_HEADED = frozenset("question questions query check task request exercise problem idea topic quiz analysis".split())


class Reader:
    """Reads questions over one semantic model, rule book and knowledge base. Thread-safe."""

    def __init__(self, model: SemanticModel, rules: RuleBook, link: LinkQuestion, tables: frozenset[str]) -> None:
        self.model = model
        self.rules = rules
        self.link = link
        self.tables = tables
        families = {family for family in model.families if any(name in tables for name in model.tables_of(family))}
        triggers: dict[str, dict[str, list[str]]] = {}
        for family in families:
            for name, trigger in rules.triggers(family).items():
                modes = triggers.setdefault(name, {"imply": [], "waive": [], "complement": []})
                modes["imply"] += trigger.imply
                modes["waive"] += trigger.waive
                modes["complement"] += trigger.complement
        self.vocabulary = Vocabulary(model, triggers)
        self.rule_families = {rule.name: rule.families for rule in rules if rule.role}
        self.limits: dict[str, tuple[str, str]] = {
            rule.name: (rule.role, rule.op) for rule in rules if rule.kind == "threshold" and rule.op
        }
        self.thresholds = frozenset(rule.name for rule in rules if rule.kind == "threshold")
        self.directions = frozenset(rule.name for rule in rules if rule.kind == "direction")
        self.studies = Studies(model, tables)
        self.families = Families(model, self.rule_families, self.thresholds, tables)
        # A question is planned, asked, asked again in a further pass, or by another system: always read alike.
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._read)

    def read(self, question: str) -> Plan:
        """The plan for a question; never raises for what it does not understand."""
        return self._remembered(question)

    def _read(self, question: str) -> Plan:
        text = asked(clean(question))
        heading = _heading(text)
        mentions = tuple(one for one in self.link(text) if one.start >= heading or one.method != "unlinked")
        mentions, studied = self.studies.name(text, mentions)
        opened = open_question(text, mentions, self.model, self.vocabulary)
        if len(opened.lows) > _LONGEST:
            return _abstain(f"The question has more than {_LONGEST} words; ask for one thing at a time.", mentions)
        problem = refuse(opened, self.model, self.vocabulary)
        if problem:
            return _abstain(problem, mentions)
        opened.weighted = [self._in_trials(opened, item) for item in self.families.weigh(opened.chunked)]
        fits = self.families.choose(opened.weighted)
        strong = [item for item in opened.weighted if item.strongest > 1.1]
        if not fits or not strong:
            return _abstain("Nothing in the question names something that the tables hold.", mentions)
        opened.fit = fits[0]
        opened.directions = self.directions
        if not studied <= set(opened.fit.families):
            labels = " and ".join(self.model.families[family].label for family in sorted(studied))
            return _abstain(f"The study that is named is one of {labels}, which cannot tell this.", mentions)
        problem = self._missing(opened) or self._not_understood(opened)
        if problem:
            return _abstain(problem, mentions, tuple(token.text for token in opened.chunked.unknown))
        plan = Composer(opened, self.model, self.rules, self.tables).plan()
        if plan.answerable and plan.clarification is None:
            problem = doubt(opened, plan, self.model) or overruled(plan, self.limits)
            if problem:
                return _abstain(problem, mentions)
        return plan.model_copy(update={"mentions": mentions})

    def conventions(self, question: str, tables: Mapping[str, str]) -> dict[str, tuple[ConventionUse, ...]]:
        """By alias of the given tables, the conventions that the words of a question call for.

        For plans made elsewhere: which tables are read is given, and not read out of the question.
        """
        text = asked(clean(question))
        opened = open_question(text, self.link(text), self.model, self.vocabulary)
        if len(opened.lows) > _LONGEST:
            return {}
        opened.weighted = self.families.weigh(opened.chunked)
        families = tuple(dict.fromkeys(self.model.tables[table].family for table in tables.values()))
        opened.fit = Fit(families, 0.0, ())
        composer = Composer(opened, self.model, self.rules, self.tables)
        main = families[0]
        shape = shape_of(opened, main, self.model)
        uses = {
            family: tuple(
                composer.part(family, family[0], self.model.tables_of(family), "", shape, linking=family != main).uses
            )
            for family in families
        }
        return {alias: uses[self.model.tables[table].family] for alias, table in tables.items()}

    def _in_trials(self, question: Question, item: Weighted) -> Weighted:
        """`phase 3 for Alzheimer's` is told only where a phase belongs to a disease."""
        mention = item.chunk.mention
        phases = [one for one in question.numbers.comparisons if one.kind == "phase"] if mention else []
        if not any(0 < item.chunk.first - one.last <= 1 for one in phases):
            return item
        phase = {family for one in self.model.attributes.values() if one.numbers == "phase" for family in one.measure}
        weights = {family: weight for family, weight in item.weights.items() if family in phase}
        return Weighted(item.chunk, weights) if weights else item

    def _things(self) -> str:
        """What questions can name, by the model's own labels."""
        kinds = ("symbol", "identifier", "name", "term")
        labels = [
            entity.plural for entity in self.model.entities.values() if entity.kind in kinds and not entity.same_as
        ]
        return f"{', '.join(labels[:4])} or a measure" if labels else "what a column holds"

    def _missing(self, question: Question) -> str:
        """What the question names that no table of the chosen families holds."""
        families = question.fit.families if question.fit else ()
        unlinked = [chunk.linked for chunk in question.chunked.mentions if chunk.linked.method == "unlinked"]
        if unlinked:
            mention = unlinked[0]
            near = f" Did you mean {' or '.join(mention.alternatives[:3])}?" if mention.alternatives else ""
            return f"'{mention.text}' is not a {self.model.entities[mention.entity].label} that the data hold.{near}"
        for chunk in question.chunked.mentions:
            problem = self._absent(chunk, families)
            if problem:
                return problem
        problem = self._not_studied(question) or self._other_sense(question)
        if problem:
            return problem
        if question.fit and question.fit.left_out:
            chunk = question.fit.left_out[0]
            return f"'{chunk.text}' cannot be answered together with the rest of the question: no table holds both."
        found = band(question.text)
        if found and not question.regions:
            return (
                f"Cytogenetic bands such as {found} are not in the data; name a gene, or a region with its positions."
            )
        return ""

    def _not_studied(self, question: Question) -> str:
        """`significant variants for X`, where the study of variants has not X, and no other study is named."""
        asked, chosen = question.asked(), set(question.families)
        if asked is None or any(chosen & set(hint.names("hint")) for hint in question.chunked.hints):
            return ""
        if any(_overlap(rule, asked) and self._families_of_rule(rule) & chosen for rule in question.chunked.rules):
            return ""  # `signals`, which other tests have as well
        if any(set(self.model.entities[one.linked.entity].match) <= chosen for one in question.chunked.mentions):
            return ""  # a tissue or a kind of QTL names the study
        if any(self.model.families[name].subject in asked.names("noun") for name in chosen):
            return ""
        nouns = asked.names("noun")
        if len(nouns) > 1 and any(chosen & set(self.model.entities[noun].match) for noun in nouns):
            return ""  # `genes`, which is a column of gene sets as well
        for name, family in self.model.families.items():
            if family.subject not in nouns or name in chosen:
                continue
            tables = [self.model.tables[table] for table in self.model.tables_of(name)]
            for chunk in question.chunked.mentions:
                entity = chunk.linked.entity
                studied = {table.about[entity] for table in tables if entity in table.about}
                if studied and chunk.linked.value not in studied:
                    missing = self.model.entities[entity].missing
                    return f"The {family.label} do not cover {chunk.text}. {missing}".strip()
        return ""

    def _other_sense(self, question: Question) -> str:
        """`genes associated with X`, where only drugs are known of X: association is about other tables."""
        asked = question.asked()
        if asked is None or not asked.names("noun"):
            return ""
        families = [self.model.families[family] for family in question.families]
        if {family.subject for family in families} & set(asked.names("noun")):
            return ""
        tests = {role for one in self.model.attributes.values() if one.low for role in one.measure.values()}
        if any(family.order in tests for family in families):
            return ""  # rows of tests tell associations, under whatever name
        chosen = set(question.families)
        told = [rule for rule in question.chunked.rules if self._families_of_rule(rule) & chosen]
        everything = {chunk.first for chunk in question.chunked.english("all")}
        for rule in question.chunked.rules:
            if rule.first in everything:
                continue  # `all indications` are those without any condition
            elsewhere = self._families_of_rule(rule) - chosen
            thresholds = {sense.name for sense in rule.senses} <= self.thresholds
            if thresholds and elsewhere and rule not in told and not any(_overlap(rule, other) for other in told):
                labels = " and ".join(self.model.families[family].label for family in question.families)
                return f"'{rule.text}' is not something that the {labels} tell."
        return ""

    def _families_of_rule(self, rule: Chunk) -> set[str]:
        return {family for sense in rule.senses for family in self.rule_families.get(sense.name, ())}

    def _absent(self, chunk: Chunk, families: tuple[str, ...]) -> str:
        mention = chunk.linked
        entity = self.model.entities[mention.entity]
        if any(value.id == mention.value for value in entity.values) and any(
            family in entity.match for family in families
        ):
            return ""  # a thing the model knows: that there is no row of it is an answer
        if entity.kind not in ("term", "name"):
            return ""
        about = {
            table.family for table in self.model.tables.values() if table.about.get(mention.entity) == mention.value
        }
        has_about = {table.family for table in self.model.tables.values() if mention.entity in table.about}
        concerned = [family for family in families if family in entity.match or family in has_about]
        covered = {
            table.family
            for table in self.model.tables.values()
            if mention.value in table.covers.get(mention.entity, ())
        }
        if any(mention.stored.get(family) or family in about for family in concerned) or covered & set(families):
            return ""
        if not concerned and families:
            return f"The {self.model.families[families[0]].label} say nothing about {mention.text}."
        label = self.model.families[concerned[0]].label if concerned else self.model.title
        return f"{mention.text} is not in the {label}. {entity.missing}".strip()

    def _not_understood(self, question: Question) -> str:
        lows = question.lows
        asked = next((index for index, low in enumerate(lows) if low in ("which", "what", "whose")), None)
        following = question.chunked.tokens[asked + 1] if asked is not None and asked + 1 < len(lows) else None
        if following is not None and following.low in self.vocabulary.people:
            return f"The tables hold nothing on {following.text}."
        unknown = question.chunked.unknown
        if not unknown:
            return ""
        relevant = [
            token
            for token in unknown
            if token.start >= _heading(question.text)
            and _in_main_clause(question, token.start)
            and not _describes(question, token.start)
            and not _is_text(question, token.start, self.model)
        ]
        asked = next((index for index, low in enumerate(question.lows) if low in ("which", "what", "whose")), None)
        behind = question.chunked.tokens[asked + 1 : asked + 2] if asked is not None else []
        for token in behind:
            if token in unknown and not _is_text(question, token.start, self.model):
                return f"Not understood: '{token.text}'. No table holds such things."
        if not relevant:
            return ""
        words = ", ".join(f"'{token.text}'" for token in relevant[:5])
        return f"Not understood: {words}. The tables may not hold this; try naming {self._things()}."


def _overlap(one: Chunk, other: Chunk) -> bool:
    return one.first < other.last and other.first < one.last


def _is_text(question: Question, place: int, model: SemanticModel) -> bool:
    """Whether a word is text to look for in names: `gene sets about mast cells`."""
    families = question.fit.families if question.fit else ()
    if len(families) != 1 or not searches_text(families[0], model):
        return False
    index = next(number for number, token in enumerate(question.chunked.tokens) if token.start >= place)
    first, last = described(question, families[0], model)
    if first <= index < last:
        return True
    return any(-_TEXT_REACH <= index - cue.last < _TEXT_REACH for cue in question.chunked.english("name_contains"))


def _describes(question: Question, place: int) -> bool:
    """Whether an unknown word only describes a symbol behind it: `the glucocorticoid receptor gene NR3C1`."""
    index = next(number for number, token in enumerate(question.chunked.tokens) if token.start >= place)
    kinds = {
        chunk.first: question.model.entities[chunk.linked.entity].kind
        for chunk in question.chunked.mentions
        if chunk.linked.method != "unlinked"
    }
    if _PROTEIN_CHANGE.fullmatch(question.chunked.tokens[index].text):
        return "identifier" in kinds.values()
    lows = question.lows
    for gap in range(1, _TEXT_REACH + 1):
        kind = kinds.get(index + gap)
        if kind in ("symbol", "identifier"):
            # Only with the kind of thing said, as a bare verb may stand before a name too.
            return bool((_KINDS if kind == "symbol" else _VARIANTS) & set(lows[index : index + gap]))
    return False


def _heading(text: str) -> int:
    """Where a heading such as `Repurposing question:` ends, which says what is asked, not of what; else 0."""
    words, colon, _ = text.partition(": ")
    parts = words.split()
    is_one = colon and 0 < len(parts) <= _HEADING and parts[-1].lower() in _HEADED
    return len(words) if is_one else 0


def _in_main_clause(question: Question, place: int) -> bool:
    """Whether a word stands in a clause that names something; a preamble does not."""
    text = question.text
    start, end = 0, len(text)
    for index, character in enumerate(text):
        if (character in ".!?;" and (index + 1 == len(text) or text[index + 1] == " ")) or text[
            index : index + 3
        ] == " - ":
            if index < place:
                start = index + 1
            elif index >= place:
                end = index
                break
    strong = [item for item in question.weighted if item.strongest > 1.1]
    return any(start <= item.chunk.start < end for item in strong)


def _abstain(problem: str, mentions: tuple[Mention, ...], words: tuple[str, ...] = ()) -> Plan:
    return Plan(answerable=False, problem=problem, mentions=mentions, not_understood=words, confidence=0.0)
