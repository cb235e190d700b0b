"""What every compared system offers: the interface of `Agent`, and nothing that the runner must know besides."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from bmsql.types import Answer

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from bmsql.graph import Dependencies

# The runner passes these in `config["metadata"]`, for systems that leave out a question's own template.
QUESTION_ID = "question_id"
TEMPLATE = "template"


@runtime_checkable
class System(Protocol):
    """A compared system: questions in, answers out; used from several threads at once.

    It is built from the same backend, chat model, validator switch and accounting as the others.
    `config["metadata"]` carries the question's id and template (`QUESTION_ID`, `TEMPLATE`).

    The answer says in `general` and `refined` what was run (`refined` is None where there is one query
    only), in `trace` which steps were taken. A step that ran a query has the node name `execute` and the outcome
    `ran`, `rejected` or `failed`; one that only checked it `validate` with `valid` or `rejected`; a step that
    wrote SQL has the outcome `drafted` and the text in `detail["sql"]`. Where no query could be run, the answer is an
    abstention.
    """

    @property
    def name(self) -> str:
        """How the system is named in reports, with the options that set it apart: `ours, no conventions`."""

    @property
    def model(self) -> str:
        """The chat model, as `provider:name`, or `offline`; prices go by it."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What decides its answers, besides the question and the parts that all systems share, as plain data.

        Its options, and the versions and hashes of its prompts. A run is resumed only with the same.
        """

    @property
    def dependencies(self) -> Dependencies:
        """The backend, semantic model, conventions and limits that it works with; gold runs on the same backend."""

    def ask(
        self, question: str, *, config: RunnableConfig | None = None, cancel: threading.Event | None = None
    ) -> Answer:
        """The answer to a question. Raises BmsqlError when there can be none."""

    async def aask(self, question: str, *, config: RunnableConfig | None = None) -> Answer:
        """As `ask`, without blocking the event loop."""

    def close(self) -> None:
        """Close what it opened."""
