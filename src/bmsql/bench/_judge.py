"""Answers judged by a chat model, on the scale of the paper: -1 for an abstention, else 0 to 3 in half points.

RQR is the share of answers with at least 2, SR that of abstentions among abstentions and lower scores. A judge that
gives no usable verdict is a failure of the judge, counted apart, never a score.
"""

from __future__ import annotations

import hashlib
import string
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, Field, field_validator

from bmsql.bench._store import Journal, Store
from bmsql.bench._types import Failure, Gold, Question, Record
from bmsql.data import safe_yaml
from bmsql.errors import ConfigurationError, ReasonerError
from bmsql.types import Frozen, StepUsage

if TYPE_CHECKING:
    from bmsql.bench._folder import RunFolder

ABSTAINED, GOOD = -1.0, 2.0
_DEDUCTIONS = (0.0, 0.5, 1.0)
_ROWS_SHOWN, _CHARACTERS_SHOWN = 20, 4000
_NO_ROWS = "The right result is empty: there are no such rows."


class Verdict(BaseModel):
    """The judge's verdict on one answer."""

    reason: str = Field(description="one sentence")
    abstained: bool = Field(description="true when no result is stated at all")
    match: int = Field(ge=0, le=3, description="agreement with the reference, 0 to 3; 0 when abstained")
    deduction: float = Field(description="0, 0.5 or 1, for what the question did not ask for")

    @field_validator("deduction")
    @classmethod
    def _step(cls, value: float) -> float:
        if value not in _DEDUCTIONS:
            raise ValueError("use 0, 0.5 or 1")
        return value

    @property
    def score(self) -> float:
        """The score on the paper's scale."""
        return ABSTAINED if self.abstained else max(0.0, self.match - self.deduction)


class Judgement(Frozen):
    """What the judge made of one answer; either a score or a failure.

    by: the judge's model, empty where no model had to be asked (an abstention, or no answer at all). prompt:
    version and hash.
    """

    question_id: str
    score: float | None = Field(default=None, ge=-1, le=3)
    reason: str = ""
    failure: Failure | None = None
    by: str = ""
    prompt: str = ""
    usage: StepUsage | None = None


class Chat(Protocol):
    """What a judge needs of a chat model; `bmsql.reasoners.chat.ChatClient` is one."""

    name: str

    def complete(self, request: Any, *, cancel: threading.Event | None = None) -> Any:
        """The reply to a request."""


@dataclass(frozen=True)
class JudgePrompt:
    """The judge's prompt: data, strictly filled in."""

    version: int
    system: str
    user: str

    @property
    def identity(self) -> str:
        """Version and hash, as recorded with each judgement."""
        digest = hashlib.sha256(f"{self.system}\0{self.user}".encode()).hexdigest()[:12]
        return f"judge v{self.version} {digest}"

    def fill(self, question: Question, answer: str) -> str:
        """The user's part for one answer."""
        return string.Template(self.user).substitute(
            question=question.question, reference=reference(question), answer=answer.strip()
        )


@cache
def judge_prompt() -> JudgePrompt:
    """The shipped prompt."""
    text = (files("bmsql.bench") / "data" / "judge.yaml").read_text(encoding="utf-8")
    return JudgePrompt(**safe_yaml(text))


def reference(question: Question) -> str:
    """What the answer is held against: the right answer in words where there is one, and gold's rows."""
    parts = [question.gold_answer] if question.gold_answer else []
    if question.expected is not None:
        parts.append(_rows(question.expected) if question.expected.rows else _NO_ROWS)
    return "\n\n".join(parts)


def judge_run(
    folder: RunFolder,
    chat: Chat,
    *,
    concurrency: int = 4,
    on_judged: Callable[[int, int], None] | None = None,
) -> list[Failure]:
    """Judge the answers of a run that this judge has not judged yet with this prompt, and store the judgements.

    What failed before is tried again. Returns the failures. Raises ConfigurationError or CredentialsError, which would
    fail every answer.
    """
    if concurrency < 1:
        raise ConfigurationError(f"the concurrency is {concurrency}.", remedy="Use a whole number from 1.")
    failures: list[Failure] = []
    with folder.locked(), folder.questions() as questions, folder.records() as records:
        judged = _judged(folder.judgements_file, chat.name)
        todo = [name for name in records.ids() if name not in judged and name in questions]
        with Journal(folder.judgements_file) as journal:
            pairs = ((questions[name], records[name]) for name in todo)
            for done, judgement in enumerate(_in_parallel(pairs, chat, concurrency), 1):
                journal.append(judgement)
                if judgement.failure is not None:
                    failures.append(judgement.failure)
                if on_judged is not None:
                    on_judged(done, len(todo))
    return failures


def judge_answer(question: Question, record: Record, chat: Chat, cancel: threading.Event | None = None) -> Judgement:
    """The judgement on one answer. Raises whatever would fail every answer."""
    prompt = judge_prompt()
    if record.abstained:
        return Judgement(question_id=question.id, score=ABSTAINED, reason="abstained", prompt=prompt.identity)
    if record.error is not None or not record.text.strip():
        return Judgement(question_id=question.id, score=0.0, reason="no answer", prompt=prompt.identity)
    from bmsql.reasoners.chat import Message, Request

    messages = (
        Message(role="system", content=prompt.system),
        Message(role="user", content=prompt.fill(question, record.text)),
    )
    common = {"question_id": question.id, "by": chat.name, "prompt": prompt.identity}
    try:
        reply = chat.complete(Request(step="judge", messages=messages, schema=Verdict, temperature=0.0), cancel=cancel)
    except ReasonerError as error:
        return Judgement(**common, failure=Failure(type=type(error).__name__, message=error.message))
    verdict: Verdict = reply.value
    return Judgement(**common, score=verdict.score, reason=verdict.reason, usage=reply.usage)


def _in_parallel(pairs: Iterable[tuple[Question, Record]], chat: Chat, concurrency: int) -> Iterator[Judgement]:
    """The judgements, in the order of the answers; few of the answers are held at a time."""
    cancel = threading.Event()
    with ThreadPoolExecutor(concurrency, thread_name_prefix="bmsql-judge") as pool:
        waiting: list[Any] = []
        try:
            for question, record in pairs:
                if question.unanswerable:
                    continue
                waiting.append(pool.submit(judge_answer, question, record, chat, cancel))
                if len(waiting) >= 2 * concurrency:
                    yield waiting.pop(0).result()
            while waiting:
                yield waiting.pop(0).result()
        except BaseException:
            cancel.set()
            for future in waiting:
                future.cancel()
            raise


def _judged(path: Path, by: str) -> set[str]:
    """The questions that need no second judgement."""
    if not path.exists():
        return set()
    current = judge_prompt().identity
    with Store(path, Judgement, "question_id") as store:
        return {
            judgement.question_id
            for judgement in store
            if judgement.failure is None and judgement.prompt == current and judgement.by in {by, ""}
        }


def _rows(gold: Gold) -> str:
    lines = [" | ".join(gold.columns)]
    lines += [" | ".join("" if value is None else str(value) for value in row) for row in gold.rows[:_ROWS_SHOWN]]
    hidden = len(gold.rows) - _ROWS_SHOWN
    count = f"{len(gold.rows)} row{'' if len(gold.rows) == 1 else 's'}{' or more' if gold.truncated else ''}"
    text = "\n".join(lines)[:_CHARACTERS_SHOWN]
    return f"The right result has {count}{', of which the first are' if hidden > 0 else ''}:\n{text}"


def open_judge(model: str, *, timeout: float = 60.0) -> Chat:
    """The judge that `model` names, as `provider:name`.

    Raises ConfigurationError, MissingDependencyError or CredentialsError.
    """
    from bmsql.reasoners.chat import ChatClient, open_chat_model

    client: Chat = ChatClient(open_chat_model(model, timeout=timeout), timeout=timeout)
    return client
