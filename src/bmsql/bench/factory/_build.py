"""The question factory: templates filled, gold run, questions and their statistics."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

from bmsql.backends import Backend
from bmsql.bench._categories import sql_categories
from bmsql.bench._types import AnswerKind, Question, Split
from bmsql.bench.factory._answers import gold_answer
from bmsql.bench.factory._draw import Filled, Filler
from bmsql.bench.factory._gold import Filling
from bmsql.bench.factory._pools import Pools
from bmsql.bench.factory._run import GoldRunner, Ran
from bmsql.bench.factory._templates import Profile, Template, TemplateBook, mask
from bmsql.bench.factory._values import Values
from bmsql.errors import ConfigurationError
from bmsql.semantic import SemanticModel
from bmsql.types import Limits

_THREADS = 4
_PATIENCE = 60  # draws in a row that bring nothing new, after which a template is exhausted
_EMPTY_SHARE = 0.2
_SLOT = re.compile(r"\{(\w+)(?:\.(many))?\}")

Progress = Callable[[int], None]


@dataclass
class Built:
    """Questions, by template in the order of the book, and what was left out.

    dropped: drawn questions whose gold is not certain, by reason. unused: templates that gave none, and why.
    """

    questions: list[Question] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    unused: dict[str, str] = field(default_factory=dict)


def build_questions(
    backend: Backend,
    model: SemanticModel,
    book: TemplateBook,
    *,
    n: int,
    seed: int = 1,
    profile: Profile = "strict",
    split: Split = "",
    limits: Limits | None = None,
    logical: frozenset[str] = frozenset(),
    progress: Progress | None = None,
) -> Built:
    """At most `n` distinct questions with gold, spread over the templates of a split (all by default).

    The same arguments over the same knowledge base give the same questions. A template that runs out of
    new questions leaves its share to the others. `logical`: columns, in lower case, on which an equality is a
    threshold. `progress` is told of every question made.

    Raises ConfigurationError for a template that is wrong or does not fit the semantic model, BackendError
    where gold fails.
    """
    if book.model != model.name:
        raise ConfigurationError(
            f"the templates are for the semantic model {book.model!r}, not {model.name!r}.",
            remedy="Give templates for this knowledge base, by --templates.",
        )
    values = Values(book, model, Pools(GoldRunner(backend, limits or Limits())))
    how = _How(values, seed, profile, logical, progress or _silent)
    makers = [_Maker(template, how) for template in book.templates if not split or template.split == split]
    built = Built(unused={maker.template.id: maker.missing for maker in makers if maker.missing})
    _share_out([maker for maker in makers if not maker.missing], n)
    seen: set[str] = set()
    for maker in makers:
        for question in maker.made:
            if (text := mask(question.question)) not in seen:
                seen.add(text)
                built.questions.append(question)
        built.dropped.update(maker.dropped)
        if not maker.made and not maker.missing:
            built.unused[maker.template.id] = "nothing could be drawn for its slots"
    return built


def _share_out(makers: Sequence[_Maker], n: int) -> None:
    """Let each make its share, and those that can make more what others could not."""
    left = n
    able = list(makers)
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="bmsql-build") as pool:
        while left > 0 and able:
            quotas = _quotas([maker.template.weight for maker in able], left)
            made = list(pool.map(lambda pair: pair[0].make(pair[1]), zip(able, quotas, strict=True)))
            left -= sum(made)
            able = [maker for maker, got, quota in zip(able, made, quotas, strict=True) if got == quota]


def _quotas(weights: Sequence[float], n: int) -> list[int]:
    """`n` in whole numbers, in proportion to the weights."""
    total = sum(weights)
    whole = [int(n * weight / total) for weight in weights]
    for place in range(n - sum(whole)):
        whole[place % len(whole)] += 1
    return whole


@dataclass(frozen=True)
class _How:
    """What all makers share."""

    values: Values
    seed: int
    profile: Profile
    logical: frozenset[str]
    progress: Progress


class _Maker:
    """Makes the questions of one template, on and on."""

    def __init__(self, template: Template, how: _How) -> None:
        self.template = template
        self.made: list[Question] = []
        self.dropped: Counter[str] = Counter()
        self._how = how
        self._rng = random.Random(f"{how.seed}:{template.id}")  # noqa: S311 - to repeat, not to hide
        self._filling = Filling(how.values.book, how.values.model, template, how.profile)
        self._filler = Filler(how.values, self._filling, self._rng)
        self._texts: set[str] = set()
        self._wordings: Iterator[str] = self._in_turn()
        self._source = self._run()
        self.missing = self._filler.missing()

    def make(self, quota: int) -> int:
        """Make so many more, or as many as can be made; returns how many."""
        new = list(islice(self._source, quota))
        self.made += new
        return len(new)

    def _in_turn(self) -> Iterator[str]:
        """All wordings before one comes again, in an order drawn each time."""
        while True:
            yield from self._rng.sample(self.template.ask, len(self.template.ask))

    def _run(self) -> Iterator[Question]:
        patience = 0
        for filled in self._filler.draws():
            patience += 1
            if patience > _PATIENCE:
                return
            wording = next(self._wordings)
            text = _worded(wording, filled)
            if mask(text) in self._texts:
                continue
            question = self._question(text, filled)
            if question is not None:
                self._texts.add(mask(text))
                patience = 0
                self._how.progress(1)
                yield question

    def _question(self, text: str, filled: Filled) -> Question | None:
        template = self.template
        said = {name: drawn.say for name, drawn in filled.slots.items()}
        plain = {
            "id": f"{template.id}-{hashlib.sha256(text.encode()).hexdigest()[:10]}",
            "question": text,
            "template": template.id,
            "split": template.split,
            "profile": self._how.profile,
            "entities": said,
            "bio_categories": template.bio,
            "query_type": template.query_type,
            "source": f"bmsql templates for {self._how.values.book.model}",
        }
        if template.kind == "abstain":
            return Question(**plain, answer_kind="abstain", gold_answer=f"This cannot be answered: {template.because}.")
        sql = self._filling.gold(filled.slots, filled.tables)
        ran = self._how.values.pools.runner.run(sql)
        kind = template.kind_in(self._how.profile)
        if why := ran.uncertain or self._unwanted(ran, kind):
            self.dropped[why] += 1
            return None
        key = template.keys.get(self._how.profile, "") or (
            self._how.values.model.evidence_key if kind == "keys" else ""
        )
        if key and key not in ran.gold.columns:
            raise ConfigurationError(f"template {template.id}: gold selects no column {key!r} to compare.")
        return Question(
            **plain,
            answer_kind=kind,
            key=key,
            gold_sql=sql,
            expected=ran.gold,
            gold_answer=gold_answer(ran.gold, kind, key),
            sql_categories=sql_categories(sql, self._how.logical),
        )

    def _unwanted(self, ran: Ran, kind: AnswerKind) -> str:
        """Why a question must not be asked although its gold is certain, or an empty text."""
        rows = ran.gold.rows
        if self.template.filled and not ran.filled:
            return "fewer rows than the question asks for"
        if kind == "numbers" and rows and len(rows[0]) > 1 and any(value == 0 for row in rows for value in row):
            return "a count of zero beside others, which a grouped answer leaves out"
        # Empty results are wanted, but no template shall have hardly anything else.
        empty = sum(one.expected is not None and not one.expected.rows for one in self.made)
        if not rows and empty > _EMPTY_SHARE * (len(self.made) + 4):
            return "more empty results than wanted"
        return ""


def _worded(wording: str, filled: Filled) -> str:
    def say(name: str, many: str) -> str:
        drawn = filled.slots[name]
        return (drawn.many if many else drawn.say) or drawn.say

    text = _SLOT.sub(lambda match: say(match.group(1), match.group(2) or ""), wording)
    return text[:1].upper() + text[1:] if wording[:1].isupper() or wording.startswith("{") else text


def _silent(_: int) -> None:
    """No progress is shown."""
