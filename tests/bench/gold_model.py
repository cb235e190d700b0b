"""A chat model that plays every step of every system with the gold query of the question, or a damaged one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from bmsql.sql import parse
from bmsql.testing import ScriptedCall, ScriptedChatModel

Damage = Callable[[str], str]
INVALID = "SELECT nothing FROM nowhere"
_QUESTION = "QUESTION"


def gold_model(gold: Mapping[str, str], damage: Damage = lambda sql: sql, **options: Any) -> ScriptedChatModel:
    """`gold` are queries by question, empty for what cannot be answered.

    Whatever writes SQL writes `damage` of gold; what judges is content. ReAct runs its query first and then answers.
    """

    def query(call: ScriptedCall) -> str:
        asked = call.prompt.rpartition(_QUESTION)[2]
        found = [question for question in gold if question in asked]
        sql = gold[max(found, key=len)]
        return damage(sql) if sql else "NONE"

    def react(call: ScriptedCall) -> dict[str, str]:
        sql = query(call)
        if sql == "NONE":
            return {"thought": "No table has it.", "action": "answer", "answer": "That is not in the tables."}
        if "OBSERVATION" in call.prompt:
            return {"thought": "There they are.", "action": "answer", "answer": "See the rows."}
        return {"thought": "One query does it.", "action": "execute", "sql": sql}

    def plan(call: ScriptedCall) -> dict[str, Any]:
        sql = query(call)
        tables = [table.name for table in parse(sql).find_all(exp.Table)] if sql != "NONE" else []
        return {"answerable": sql != "NONE", "problem": "no table has it", "tables": tables, "complete": False}

    steps = {
        "react": react,
        "plan": plan,
        "columns": {"tables": []},
        "sufficient": {"sufficient": True},
        "review": {"sufficient": True},
        "answer": "See the rows.",
    }
    return ScriptedChatModel(replies=query, steps={**steps, **options.pop("steps", {})}, **options)


def without_conditions(sql: str) -> str:
    """The query without its conditions; without its rows where it has none."""
    tree = parse(sql).copy()
    select = tree if isinstance(tree, exp.Select) else tree.find(exp.Select)
    assert select is not None
    if select.args.get("where"):
        select.set("where", None)
    else:
        select.where("1 = 0", copy=False)
    return tree.sql(dialect="bigquery")
