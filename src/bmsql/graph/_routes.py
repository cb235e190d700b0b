"""Where each node leads: pure functions of the state and the budgets."""

from __future__ import annotations

from typing import Literal

from langgraph.graph import END

from bmsql.graph._budgets import Budgets
from bmsql.graph._state import GraphState, failures

# Steps that must remain for `answer`, when an outer graph has set a recursion limit of its own.
_RESERVE = 2


def after_plan(state: GraphState, budgets: Budgets) -> Literal["generate", "answer"]:
    """A plan that can be answered is drafted; all else ends with what is known."""
    return "generate" if state["outcome"] == "planned" and _may_go_on(state) else "answer"


def after_generate(state: GraphState, budgets: Budgets) -> Literal["validate", "generate", "answer"]:
    """A draft is validated; a plan that did not compile is repaired; nothing new to try ends the pass."""
    if state["outcome"] == "drafted":
        return "validate" if _may_go_on(state) else "answer"
    return "generate" if state["outcome"] == "failed" and _may_repair(state, budgets) else "answer"


def after_validate(state: GraphState, budgets: Budgets) -> Literal["execute", "generate", "answer"]:
    """A valid query runs; a rejected one is repaired while the budget lasts."""
    if state["outcome"] == "valid":
        return "execute" if _may_go_on(state) else "answer"
    return "generate" if _may_repair(state, budgets) else "answer"


def after_execute(state: GraphState, budgets: Budgets) -> Literal["inject_thresholds", "refine", "generate", "answer"]:
    """General results go on to the conventions, refined ones to the review, errors to repair."""
    if state["outcome"] == "ran":
        if not _may_go_on(state):
            return "answer"
        return "inject_thresholds" if state["stage"] == "general" else "refine"
    return "generate" if _may_repair(state, budgets) else "answer"


def after_inject(state: GraphState, budgets: Budgets) -> Literal["validate", "refine", "answer"]:
    """A query that a convention changed is validated and run too."""
    if not _may_go_on(state):
        return "answer"
    return "validate" if state["outcome"] == "changed" else "refine"


def after_refine(state: GraphState, budgets: Budgets) -> Literal["plan", "answer"]:
    """Insufficient rows lead to another plan while passes are left."""
    again = state["outcome"] == "again" and state["passes"] < budgets.passes
    return "plan" if again and _may_go_on(state) else "answer"


def after_answer(state: GraphState, budgets: Budgets) -> str:
    """The answer is the end."""
    return END


def _may_repair(state: GraphState, budgets: Budgets) -> bool:
    return len(failures(state)) <= budgets.repairs and _may_go_on(state)


def _may_go_on(state: GraphState) -> bool:
    return state.get("remaining_steps", _RESERVE + 1) > _RESERVE
