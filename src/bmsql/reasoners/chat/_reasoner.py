"""The ChatReasoner: a language model thinks, and what can be decided without it is."""

from __future__ import annotations

from collections.abc import Sequence

from bmsql.conventions import RuleBook
from bmsql.fewshot import ExampleStore
from bmsql.reasoners._base import Attempt, Evidence
from bmsql.reasoners.chat._client import ChatClient
from bmsql.reasoners.chat._drive import athink, think
from bmsql.reasoners.chat._options import ChatOptions
from bmsql.reasoners.chat._steps import Steps
from bmsql.reasoners.offline import OfflineReasoner
from bmsql.semantic import SemanticModel
from bmsql.types import Catalog, Draft, LinkQuestion, Plan, QueryResult, Review


class ChatReasoner:
    """A `Reasoner` over any LangChain chat model, with coroutines for each step.

    client: the model; link: finds the stored values that a text mentions, such as `Linker(...).link`;
    examples: example queries, see `bmsql.fewshot`. Stateless between questions; safe in threads,
    tasks and event loops.

    The model is asked for a query plan, which is compiled; for SQL only where a plan cannot express
    the question; and for the answer's words, which are held against the rows. Raises the errors of
    `ChatClient.complete`; an answer that cannot be had or stays wrong is made without the model, and
    the answer's warnings say so.
    """

    def __init__(
        self,
        client: ChatClient,
        model: SemanticModel,
        rules: RuleBook,
        catalog: Catalog,
        link: LinkQuestion,
        *,
        options: ChatOptions | None = None,
        examples: ExampleStore | None = None,
    ) -> None:
        offline = OfflineReasoner(model, rules, catalog, link)
        self.client = client
        self.options = options or ChatOptions()
        self.examples = examples
        self.link = link
        self._steps = Steps(model, rules, catalog, link, offline, self.options, examples)

    @property
    def name(self) -> str:
        """The model, as `provider:name` where the provider is known."""
        return self.client.name

    @property
    def local(self) -> bool:
        """False: what it is shown is sent to the model's server."""
        return False

    @property
    def has_callbacks(self) -> bool:
        """See `ChatClient.has_callbacks`; the graph then takes a step for each node."""
        return self.client.has_callbacks

    def plan(self, question: str, *, feedback: str = "") -> Plan:
        """The plan for a question, with names checked and values as they are stored."""
        return think(self._steps.plan(question, feedback), self.client)

    async def aplan(self, question: str, *, feedback: str = "") -> Plan:
        """As `plan`."""
        return await athink(self._steps.plan(question, feedback), self.client)

    def draft(self, question: str, plan: Plan) -> Draft:
        """The compiled plan, or SQL written by the model where the plan is not complete."""
        return think(self._steps.draft(question, plan), self.client)

    async def adraft(self, question: str, plan: Plan) -> Draft:
        """As `draft`."""
        return await athink(self._steps.draft(question, plan), self.client)

    def drafts(self, question: str, plan: Plan, count: int) -> tuple[Draft, ...]:
        """`count` drafts: the compiled plan where it is complete, and samples of the model's SQL."""
        return think(self._steps.drafts(question, plan, count), self.client)

    async def adrafts(self, question: str, plan: Plan, count: int) -> tuple[Draft, ...]:
        """As `drafts`."""
        return await athink(self._steps.drafts(question, plan, count), self.client)

    def choose(
        self, question: str, plan: Plan, drafts: Sequence[Draft], results: Sequence[QueryResult | None]
    ) -> Draft:
        """The draft whose result answers the question, of several that as many candidates agree with.

        results: None where rows must not be shown.
        """
        return think(self._steps.choose(question, plan, drafts, results), self.client)

    async def achoose(
        self, question: str, plan: Plan, drafts: Sequence[Draft], results: Sequence[QueryResult | None]
    ) -> Draft:
        """As `choose`."""
        return await athink(self._steps.choose(question, plan, drafts, results), self.client)

    def repair(self, question: str, plan: Plan, attempts: tuple[Attempt, ...]) -> Draft | None:
        """Another draft, told the exact messages of all that was tried; None when none is new."""
        return think(self._steps.repair(question, plan, attempts), self.client)

    async def arepair(self, question: str, plan: Plan, attempts: tuple[Attempt, ...]) -> Draft | None:
        """As `repair`."""
        return await athink(self._steps.repair(question, plan, attempts), self.client)

    def review(self, evidence: Evidence) -> Review:
        """Whether the rows suffice; the model is asked only where something is off and a pass is left."""
        return think(self._steps.review(evidence), self.client)

    async def areview(self, evidence: Evidence) -> Review:
        """As `review`."""
        return await athink(self._steps.review(evidence), self.client)

    def answer(self, evidence: Evidence) -> str:
        """The answer in words, which say no more than the rows; see `bmsql.reasoners.chat.check_text`."""
        return think(self._steps.answer(evidence), self.client)

    async def aanswer(self, evidence: Evidence) -> str:
        """As `answer`."""
        return await athink(self._steps.answer(evidence), self.client)
