"""What the model is asked in each step, and what is made of its replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bmsql.conventions import RuleBook
from bmsql.errors import CredentialsError, ModelOutputError, ModelRefusedError, PlanError, ReasonerError
from bmsql.fewshot import ExampleStore
from bmsql.planning import compile_plan
from bmsql.prompts import load_prompt
from bmsql.reasoners._base import Attempt, Evidence
from bmsql.reasoners._context import current_step
from bmsql.reasoners.chat._drive import Ask, Thought
from bmsql.reasoners.chat._grounding import check_text
from bmsql.reasoners.chat._messages import Message, Request
from bmsql.reasoners.chat._noticed import noticed, unsaid
from bmsql.reasoners.chat._options import ChatOptions
from bmsql.reasoners.chat._replies import ChoiceReply, PlanReply, ReviewReply
from bmsql.reasoners.chat._rows import LEAST_TOKENS, render_result, render_rows
from bmsql.reasoners.chat._shown import Shown
from bmsql.reasoners.chat._summary import plain_summary
from bmsql.reasoners.chat._to_plan import PlanMaker
from bmsql.reasoners.offline import OfflineReasoner
from bmsql.semantic import SemanticModel
from bmsql.sql import extract_sql, one_line, same_sql
from bmsql.types import Catalog, Draft, Mention, Plan, QueryResult, Review

# Samples must differ: at the temperature of a first draft they would all be the same.
_SAMPLING = 0.7
# Of so many times as many examples as are shown, those over the plan's tables are taken.
_LOOKED_AT = 4
# What a model writes that has no other query.
_GIVEN_UP = frozenset({"NONE", "NULL", "N/A"})


class Steps:
    """The steps of a ChatReasoner as generators of requests. Stateless; safe in threads."""

    def __init__(
        self,
        model: SemanticModel,
        rules: RuleBook,
        catalog: Catalog,
        link: Callable[[str], tuple[Mention, ...]],
        offline: OfflineReasoner,
        options: ChatOptions,
        examples: ExampleStore | None,
    ) -> None:
        self.model, self.rules, self.catalog = model, rules, catalog
        self.link, self.offline, self.options, self.examples = link, offline, options, examples
        tables = tuple(name for name in model.tables if name in catalog.by_name)
        self.maker = PlanMaker(model, rules, tables)
        self.shown = Shown(model, rules, catalog, tables, options)

    # -- plan ---------------------------------------------------------------------------------

    def plan(self, question: str, feedback: str) -> Thought[Plan]:
        """The plan; names that nothing is like lead to SQL as text over the tables that are known."""
        reading = self.offline.plan(question)
        mentions = reading.mentions or self.link(question)
        if not self.options.plans:
            return self.shown.unplanned(reading, mentions)
        values = {
            **self.shown.static(reading),
            "question": question,
            "linked": self.shown.linked(mentions),
            "reading": self.shown.reading(reading),
            "feedback": f"THE PLAN BEFORE DID NOT SUFFICE: {feedback}" if feedback else "",
        }
        reply: PlanReply = (yield self._ask("plan", values, schema=PlanReply)).value
        if reply.use_reading and self.options.reading and reading.answerable:
            return reading
        try:
            return self.maker.make(reply, question, mentions, lambda tables: self.offline.conventions(question, tables))
        except PlanError as error:
            current_step().detail["plan"] = str(error)
            return self.shown.unplanned(reading, mentions, reply.tables, self.maker)

    # -- draft --------------------------------------------------------------------------------

    def draft(self, question: str, plan: Plan) -> Thought[Draft]:
        """The compiled plan; or the model's SQL where the plan is not complete or does not compile."""
        compiled = self._compiled(plan)
        if compiled is not None:
            return compiled
        return (yield from self._written(question, plan))

    def drafts(self, question: str, plan: Plan, count: int) -> Thought[tuple[Draft, ...]]:
        """Several drafts, the compiled plan first."""
        compiled = self._compiled(plan)
        made = [] if compiled is None else [compiled]
        failed: ReasonerError | None = None
        for sample in range(len(made), count):
            try:
                made.append((yield from self._written(question, plan, sample=sample)))
            except (ModelOutputError, ModelRefusedError) as error:
                # Another sample may be better; the others are there all the same.
                failed = error
            except ReasonerError:
                if not made:
                    raise
                break
        if failed is not None and not made:
            raise failed
        return tuple(made)

    def choose(
        self, question: str, plan: Plan, drafts: Sequence[Draft], results: Sequence[QueryResult | None]
    ) -> Thought[Draft]:
        """The model's choice among drafts whose results differ; the first where it makes none."""
        budget = max(LEAST_TOKENS, self.options.row_tokens // len(drafts))
        told = [
            f"{number}. {draft.sql}\n{self._rows(result, plan, budget)}"
            for number, (draft, result) in enumerate(zip(drafts, results, strict=True), 1)
        ]
        values = {"question": question, "candidates": "\n".join(told)}
        reply: ChoiceReply = (yield self._ask("choose", values, schema=ChoiceReply)).value
        return drafts[reply.number - 1] if 1 <= reply.number <= len(drafts) else drafts[0]

    def _rows(self, result: QueryResult | None, plan: Plan, tokens: int) -> str:
        return (
            "Its rows are not shown to you."
            if result is None
            else render_result(result, plan, self.model, tokens=tokens)
        )

    def _compiled(self, plan: Plan) -> Draft | None:
        if not plan.complete:
            return None
        try:
            tree = compile_plan(plan, self.model, self.catalog)
        except PlanError as error:
            current_step().detail["compile"] = str(error)
            return None
        return Draft(sql=one_line(tree, copy=False), author="plan")

    def _written(self, question: str, plan: Plan, sample: int = 0) -> Thought[Draft]:
        values = {
            **self._draft_values(question, plan),
            "limit": str(self.model.default_limit),
            "examples": self._examples(question, plan),
            "plan": self.shown.partial(plan),
        }
        temperature = _SAMPLING if sample else self.options.temperature
        reply = yield self._ask("draft", values, sample=sample, temperature=temperature)
        return Draft(sql=extract_sql(reply.value) or reply.value, author="model")

    def _draft_values(self, question: str, plan: Plan) -> dict[str, str]:
        return {
            "question": question,
            "key": self.model.evidence_key or "of each table",
            "schema": self.shown.tables_of(plan),
            "linked": self.shown.linked(plan.mentions, plan),
            "added": self.shown.added(plan),
        }

    def _examples(self, question: str, plan: Plan) -> str:
        if self.examples is None or not self.options.examples:
            return ""
        found = self.examples.nearest(
            question,
            plan.mentions,
            draft_sql=self._preliminary(question, plan),
            k=_LOOKED_AT * self.options.examples,
            hold_out="" if self.options.hold_out else None,
        )
        # An example over other tables teaches names that the draft must not use.
        tables = [source.table for source in plan.sources]
        alike = [one.example for one in found if any(table in one.example.sql for table in tables)]
        return "\n".join(f"EXAMPLE: {one.question}\n{one.sql}" for one in alike[: self.options.examples])

    def _preliminary(self, question: str, plan: Plan) -> str | None:
        """A first attempt at the query, for its shape: what the plan or the reading says, as far as it goes."""
        for attempt in (plan, self.offline.plan(question)):
            try:
                return one_line(compile_plan(attempt, self.model, self.catalog), copy=False)
            except PlanError:
                continue
        return None

    # -- repair -------------------------------------------------------------------------------

    def repair(self, question: str, plan: Plan, attempts: tuple[Attempt, ...]) -> Thought[Draft | None]:
        """Another query than all that were tried; the model is told once that it repeated itself."""
        tried = [self.shown.attempt(number, attempt) for number, attempt in enumerate(attempts, 1)]
        for told in ("", "\nYou returned a query that was tried already. Return another, or NONE."):
            values = {**self._draft_values(question, plan), "tried": "\n".join(tried) + told}
            reply = yield self._ask("repair", values)
            sql = extract_sql(reply.value)
            if not sql or sql.strip(" .`'\"").upper() in _GIVEN_UP:
                return None
            if not any(same_sql(sql, attempt.sql) for attempt in attempts):
                return Draft(sql=sql, author="model")
        return None

    # -- review -------------------------------------------------------------------------------

    def review(self, evidence: Evidence) -> Thought[Review]:
        """Sufficient where nothing is off; else as the model judges, while there is a pass for it."""
        left_out = unsaid(evidence, self.model)
        current_step().notes.extend(f"{one}." for one in left_out)
        concerns = [*noticed(evidence), *left_out]
        if not concerns or not current_step().passes_left:
            return Review(sufficient=True, reason="; ".join(concerns) or "nothing is off")
        values = {
            "question": evidence.question,
            "sql": evidence.sql,
            "noticed": "; ".join(concerns),
            "linked": self.shown.linked(evidence.plan.mentions),
            "rows": self._rows_of(evidence),
        }
        reply: ReviewReply = (yield self._ask("review", values, schema=ReviewReply)).value
        return Review(sufficient=reply.sufficient, reason=reply.reason, change=reply.change)

    # -- answer -------------------------------------------------------------------------------

    def answer(self, evidence: Evidence) -> Thought[str]:
        """The model's words where they hold, written anew once; else a summary made without it."""
        wrong = ""
        for _ in range(2):
            values = {
                "question": evidence.question,
                "applied": self.shown.applied(evidence),
                "counts": self.shown.counts(evidence),
                "rows": self._rows_of(evidence),
                "wrong": wrong,
            }
            try:
                reply = yield self._ask("answer", values, heard=not wrong)
            except (ReasonerError, CredentialsError) as error:
                return self._without_model(evidence, f"the model gave none: {error.message}")
            text = " ".join(reply.value.split())
            findings = (
                check_text(text, evidence, names=self.link, model=self.model) if self.options.check_answers else ()
            )
            if not findings:
                return text
            said = "; ".join(str(finding) for finding in findings[:6])
            current_step().detail.setdefault("ungrounded", []).append(said)
            wrong = f"YOUR ANSWER WAS: {text}\nIT SAID WHAT IS NOT THERE: {said}\nWrite it again without that."
        return self._without_model(evidence, "the model's text said more than the rows do")

    def _without_model(self, evidence: Evidence, why: str) -> str:
        current_step().notes.append(f"The answer's text was made without the model: {why}")
        return plain_summary(evidence, self.model, self.rules)

    def _rows_of(self, evidence: Evidence) -> str:
        return render_rows(evidence, self.model, tokens=self.options.row_tokens)

    # -- asking -------------------------------------------------------------------------------

    def _ask(
        self,
        name: str,
        values: dict[str, str],
        *,
        schema: type[Any] | None = None,
        heard: bool = False,
        sample: int = 0,
        temperature: float | None = None,
    ) -> Ask:
        prompt = load_prompt(name)
        system, user = prompt.render(values)
        request = Request(
            step=name,
            messages=(Message(role="system", content=system), Message(role="user", content=user)),
            schema=schema,
            max_tokens=self.options.max_tokens,
            temperature=self.options.temperature if temperature is None else temperature,
            sample=sample,
        )
        return Ask(request, prompt.label, heard)
