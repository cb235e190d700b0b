"""The agent as a LangChain tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.tools import StructuredTool

    from bmsql.agent._agent import Agent
    from bmsql.types import Answer

ROWS_SHOWN = 10


def agent_tool(agent: Agent, name: str, description: str | None) -> StructuredTool:
    """A tool with one argument, `question`; sync and async."""
    from langchain_core.tools import StructuredTool

    def ask(question: str) -> tuple[str, dict[str, Any]]:
        answer = agent.ask(question)
        return content(answer), answer.to_dict()

    async def aask(question: str) -> tuple[str, dict[str, Any]]:
        answer = await agent.aask(question)
        return content(answer), answer.to_dict()

    title = agent.dependencies.model.title or agent.dependencies.model.name
    return StructuredTool.from_function(
        ask,
        coroutine=aask,
        name=name,
        description=description
        or f"Answer a question in plain English from a database ({title}). The answer carries its SQL and evidence.",
        response_format="content_and_artifact",
    )


def content(answer: Answer) -> str:
    """What a calling model reads: text, SQL, conventions, warnings and the first rows."""
    import json

    from bmsql.types import to_json

    parts = [answer.text]
    if answer.clarification:
        parts += [f"- {alternative}" for alternative in answer.clarification.alternatives]
    if answer.sql:
        parts.append(f"SQL:\n{answer.sql}")
    parts += [f"Convention {record.rule} ({record.status}): {record.predicate}" for record in answer.conventions]
    parts += [f"Note: {warning}" for warning in answer.warnings]
    if answer.rows:
        shown = answer.rows[:ROWS_SHOWN]
        parts.append(f"Rows ({len(shown)} of {len(answer.rows)}):")
        parts += [json.dumps(to_json(row), ensure_ascii=False) for row in shown]
    return "\n".join(parts)
