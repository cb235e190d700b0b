"""The state of the graph: plain data only, so that any checkpointer can store it."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from langgraph.managed import RemainingSteps

# Pydantic, which makes the graph's JSON schemas, refuses the standard one before Python 3.12.
from typing_extensions import TypedDict

Data = dict[str, Any]
Stage = Literal["general", "refined"]
Outcome = Literal[
    "",
    "planned",
    "declined",
    "unchanged",
    "drafted",
    "failed",
    "exhausted",
    "valid",
    "rejected",
    "ran",
    "changed",
    "sufficient",
    "again",
    "insufficient",
    "answered",
    "abstained",
]

# The first item of an update that replaces an accumulated list instead of adding to it.
RESET: Data = {"reset": True}


def accumulate(old: list[Data] | None, new: list[Data]) -> list[Data]:
    """`old` with `new` appended; only `new` when it begins with `RESET`."""
    if new and new[0] == RESET:
        return new[1:]
    return [*(old or []), *new]


class GraphInput(TypedDict):
    """What the graph is given."""

    question: str


class GraphOutput(TypedDict):
    """What the graph returns: `answer` is an `Answer` as plain data (`Answer.model_validate`)."""

    question: str
    answer: Data


class GraphState(TypedDict, total=False):
    """Everything known about a question under way.

    question, asked: the input, and the question that the rest of the state belongs to. began: epoch
    seconds. again, feedback: refine asks for another pass, and what to change. passes: the pass
    under way, from 1. plan, draft: as plain data. stage, sql: the query under way. outcome: of the
    node that ran last; the routes go by it. attempts: failed drafts, each with its pass. general,
    refined: SQL and capped result. records, warnings, measured: what the conventions did, and
    counts, evidence keys and sources of the final result. review: of this pass. kept: results
    of the pass before. seen: drafts of the passes before. usage: model
    steps, queries, seconds, bytes. trace: nodes entered.
    """

    question: str
    asked: str
    began: float
    again: bool
    feedback: str
    passes: int
    plan: Data
    draft: Data
    stage: Stage
    sql: str
    outcome: Outcome
    attempts: Annotated[list[Data], accumulate]
    general: Data | None
    refined: Data | None
    records: list[Data]
    warnings: list[str]
    measured: Data
    review: Data
    kept: Data | None
    seen: list[str]
    usage: Data
    trace: Annotated[list[Data], accumulate]
    answer: Data | None
    remaining_steps: RemainingSteps


# The lists that updates add to.
ACCUMULATED: Final = ("attempts", "trace")


def fresh_state(question: str) -> Data:
    """Values that a new question starts from, whatever an earlier one left on the same thread."""
    return {
        "asked": question,
        "began": 0.0,
        "again": False,
        "feedback": "",
        "passes": 1,
        "kept": None,
        "seen": [],
        "usage": {"steps": [], "queries": 0, "query_seconds": 0.0, "bytes_processed": None},
        "attempts": [RESET],
        "answer": None,
        **fresh_pass(),
    }


def fresh_pass() -> Data:
    """Values that each pass starts from."""
    return {
        "draft": {},
        "stage": "general",
        "sql": "",
        "general": None,
        "refined": None,
        "records": [],
        "warnings": [],
        "measured": {},
        "review": {},
    }


def is_fresh(state: GraphState) -> bool:
    """True when the plan node is entered for a new question, not for another pass."""
    return not state.get("again") or state.get("asked") != state["question"]


def merged(state: GraphState, update: Data) -> GraphState:
    """`state` as it is after `update`."""
    grown = {key: accumulate(state.get(key), update[key]) for key in ACCUMULATED if key in update}
    return {**state, **update, **grown}  # type: ignore[typeddict-item]


def failures(state: GraphState) -> list[Data]:
    """The failed drafts of the pass under way."""
    return [attempt for attempt in state.get("attempts", []) if attempt["pass"] == state.get("passes", 1)]
