"""The answer: text, SQL, rows and everything needed to check them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from bmsql.types._base import Frozen, to_json
from bmsql.types._plan import Clarification, Plan
from bmsql.types._query import ConventionRecord, QueryResult, RanQuery, TraceEntry, Usage

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Answer(Frozen):
    """What `Agent.ask` returns.

    text: one or two sentences that say no more than the rows do.
    sql: the query the rows come from, in the BigQuery dialect, formatted; empty when abstained.
    general, refined: the query without and with the implied conventions, each with its result;
    refined is None when no convention changed the query.
    evidence: evidence keys of the rows the answer rests on (capped).
    sources: the studies those rows come from, where the knowledge base records them.
    warnings: what limits the answer (truncated, NULLs counted apart, mixed sources, ...).
    abstained, reason: no answer was given, and why; `clarification` when the question is ambiguous.
    """

    question: str
    text: str
    sql: str = ""
    plan: Plan | None = None
    general: RanQuery | None = None
    refined: RanQuery | None = None
    conventions: tuple[ConventionRecord, ...] = ()
    evidence: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    abstained: bool = False
    reason: str = ""
    clarification: Clarification | None = None
    reasoner: str = ""
    backend: str = ""
    profile: str = ""
    usage: Usage = Usage()
    trace: tuple[TraceEntry, ...] = ()
    total: int | None = None

    @property
    def result(self) -> QueryResult | None:
        """The result that the answer rests on: the refined one where there is one."""
        final = self.refined or self.general
        return final.result if final else None

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as dictionaries; empty when abstained."""
        return self.result.dicts() if self.result else []

    @property
    def truncated(self) -> bool:
        """True when there are more rows than were fetched."""
        return bool(self.result and self.result.truncated)

    @cached_property
    def table(self) -> pyarrow.Table:
        """The rows as a pyarrow table, typed as the database types them."""
        from bmsql.types._arrow import arrow_table

        return arrow_table(self.result)

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas data frame; raises MissingDependencyError without pandas."""
        from bmsql.types._arrow import data_frame

        return data_frame(self.table)

    def to_dict(self) -> dict[str, Any]:
        """All of the answer as data that is valid JSON for every value.

        NaN, infinities, decimals and integers beyond 2^53 become text, dates and times ISO 8601, bytes base64.
        """
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: to_json(value) for name, value in {**fields, "rows": self.rows}.items()}

    def _repr_html_(self) -> str:
        from bmsql.types._html import answer_html

        return answer_html(self)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        # The whole of it would fill screens and logs.
        rows = "abstained" if self.abstained else f"{len(self.rows)} rows"
        return f"Answer({self.text!r}, {rows})"
