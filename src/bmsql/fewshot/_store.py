"""Examples kept and found: those of the semantic model, and those that the user approved."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rapidfuzz import fuzz

from bmsql.errors import ConfigurationError, SqlError
from bmsql.fewshot._example import Example, model_examples, portable, skeleton_similarity, with_skeleton
from bmsql.fewshot._file import append_example, read_examples, unreadable
from bmsql.fewshot._index import Embeddings, LexicalIndex, VectorIndex
from bmsql.fewshot._mask import mask_question
from bmsql.fewshot._skeleton import skeleton
from bmsql.semantic import SemanticModel
from bmsql.types import Frozen, LinkQuestion, Mention

HoldOut = str | Callable[[Example], bool]
"""What is left out: the examples of a template, or those for which a function is true."""

ALIKE = 0.85
"""Skeletons from here on count as the same kind of query."""
_TIES = 30
"""How many candidates beyond those wanted are compared as they were written."""


class Scored(Frozen):
    """An example with how near it is: `similarity` of the questions, `structure` of the queries (0 to 1)."""

    example: Example
    similarity: float
    structure: float | None = None


class ExampleStore:
    """The examples of a semantic model and of a file, and the nearest of them to a question.

    `path` is a file of JSON lines that the user owns, read again when it changes; `link` finds what a question
    names, such as `Linker(...).link` (without it only numbers are masked); `embed` is a LangChain `Embeddings`,
    which takes the place of the lexical index. May be used from several threads.
    """

    def __init__(
        self,
        model: SemanticModel,
        path: str | os.PathLike[str] | None = None,
        *,
        link: LinkQuestion | None = None,
        embed: Embeddings | None = None,
    ) -> None:
        self._model = model
        self.path = Path(path) if path is not None else None
        self._link = link
        self._embed = embed
        self._vectors: dict[str, list[float]] = {}
        self._lock = threading.Lock()
        self._own = model_examples(model)
        self._stamp: tuple[int, int, int] | None = None
        self._examples: list[Example] = []
        self._index: LexicalIndex | VectorIndex | None = None

    @property
    def examples(self) -> tuple[Example, ...]:
        """All examples, masked; the user's take the place of the model's with the same question."""
        return tuple(self._loaded()[0])

    def add(self, question: str, sql: str, *, mentions: Sequence[Mention] | None = None, template: str = "") -> Example:
        """Keep a question with its SQL in the file; of the same question the later one counts.

        `mentions` are what the question names, found by `link` where they are not given. Raises
        ConfigurationError where the store has no file or it cannot be written, SqlSyntaxError or
        ForbiddenSqlError where `sql` is not one SELECT in the BigQuery dialect.
        """
        if self.path is None:
            raise ConfigurationError(
                "there is no file to keep examples in.", remedy="Name one when the store is made, as its `path`."
            )
        if not question.strip():
            raise ConfigurationError("an example needs a question.", remedy="Give the question that the SQL answers.")
        found = self._mentions(question) if mentions is None else mentions
        text = portable(sql, self._model)
        example = Example(
            question=" ".join(question.split()),
            sql=text,
            masked=mask_question(question, found),
            skeleton=skeleton(text),
            source=str(self.path),
            template=template,
        )
        if example not in self._loaded()[0]:
            append_example(self.path, example)
        return example

    def nearest(
        self,
        question: str,
        mentions: Sequence[Mention] | None = None,
        *,
        draft_sql: str | None = None,
        k: int = 3,
        hold_out: HoldOut | None = None,
    ) -> list[Scored]:
        """The `k` examples nearest to a question, the nearest first; equals in the order of the file.

        Questions are compared with what they name masked. With `draft_sql`, a first attempt at the query,
        examples whose query is built like it come before all others, as in DAIL-SQL; text that does not parse
        is left out of account. `hold_out` is for honest measurements: the id of the question's template leaves
        out all examples of that template, and of those without one the examples with the same masked question or
        the same skeleton as the draft (an empty text only these); or a function that says which to leave out.
        """
        examples, index = self._loaded()
        masked = mask_question(question, self._mentions(question) if mentions is None else mentions)
        drafted = _skeleton_or_none(draft_sql)
        left_out = _left_out(hold_out, masked, drafted)
        kept = [number for number, one in enumerate(examples) if left_out is None or not left_out(one)]
        similar = index.similarities(masked)
        built = _structures(drafted, (examples[number].skeleton for number in kept)) if drafted else {}

        def distance(number: int) -> tuple[bool, float]:
            structure = built.get(examples[number].skeleton, 0.0)
            return bool(built) and structure < ALIKE, -round(similar[number] + structure, 9)

        # Of equals, the one that names the same things comes first; then the order of the file.
        near = sorted(kept, key=distance)[: k + _TIES]
        near.sort(key=lambda number: (*distance(number), -_sameness(question, examples[number].question)))
        return [
            Scored(
                example=examples[number],
                similarity=_share(similar[number]),
                structure=built.get(examples[number].skeleton),
            )
            for number in near[:k]
        ]

    def _mentions(self, question: str) -> Sequence[Mention]:
        return self._link(question) if self._link else ()

    def _loaded(self) -> tuple[list[Example], LexicalIndex | VectorIndex]:
        """The examples and their index, read anew where the file has changed."""
        with self._lock:
            stamp = self._file_stamp()
            if self._index is None or stamp != self._stamp:
                own = {one.key: one for one in self._own}
                added = read_examples(self.path) if self.path is not None else []
                merged = {**own, **{one.key: one for one in added}}
                examples = [self._complete(one) for one in merged.values()]
                # The next reading has no need to mask or parse the same again.
                self._own = [one for one in examples if one.source == "model"] or self._own
                texts = [one.masked for one in examples]
                self._index = VectorIndex(texts, self._embed, self._vectors) if self._embed else LexicalIndex(texts)
                self._examples, self._stamp = examples, stamp
            return self._examples, self._index

    def _complete(self, example: Example) -> Example:
        masked = example.masked or mask_question(example.question, self._mentions(example.question))
        return with_skeleton(example.model_copy(update={"masked": masked}))

    def _file_stamp(self) -> tuple[int, int, int] | None:
        if self.path is None:
            return None
        try:
            found = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as e:
            raise unreadable(self.path, e) from e
        return found.st_mtime_ns, found.st_size, found.st_ino


def same_template(example: Example) -> Callable[[Example], bool]:
    """Whether another example is of the same template as this one: for `hold_out`, where the gold query is known.

    By the template's name where both have one; else where the masked question or the skeleton is the same.
    """

    def is_same(other: Example) -> bool:
        if example.template and other.template:
            return example.template == other.template
        return bool(
            (example.masked and example.masked == other.masked)
            or (example.skeleton and example.skeleton == other.skeleton)
        )

    return is_same


def _left_out(hold_out: HoldOut | None, masked: str, drafted: str | None) -> Callable[[Example], bool] | None:
    if hold_out is None or callable(hold_out):
        return hold_out
    return same_template(Example(question=masked, sql="", masked=masked, skeleton=drafted or "", template=hold_out))


def _skeleton_or_none(sql: str | None) -> str | None:
    """The skeleton of a draft; a draft that does not parse has none, which is what the repair step is for."""
    if not sql:
        return None
    try:
        return skeleton(sql)
    except SqlError:
        return None


def _structures(drafted: str, skeletons: Iterable[str]) -> dict[str, float]:
    """How alike each skeleton is to that of the draft."""
    return {one: skeleton_similarity(drafted, one) for one in dict.fromkeys(skeletons)}


def _sameness(one: str, other: str) -> float:
    """How alike two questions are as they were written."""
    return round(float(fuzz.token_set_ratio(one.lower(), other.lower())), 6)


def _share(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 6)
