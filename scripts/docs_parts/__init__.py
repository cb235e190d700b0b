"""Generators of the parts of the documentation that come from the code and the data.

Each returns Markdown. `scripts/gen_docs.py` writes what they return between the markers of their name.
"""

from __future__ import annotations

from collections.abc import Callable

from docs_parts.code import agent_methods, api, cli_reference, error_table, error_tree, exit_codes, modules
from docs_parts.data import entities, kb_size, kb_tables, kb_terms, limits, options
from docs_parts.fields import field_tables
from docs_parts.picture import graph_mermaid, graph_picture
from docs_parts.rules import rule_catalogue, rule_table
from docs_parts.sessions import (
    offline_answers,
    offline_refusals,
    own_model,
    own_rules,
    own_session,
    session_ask,
    session_check,
    session_plan,
)

GENERATORS: dict[str, Callable[[], str]] = {
    "agent-methods": agent_methods,
    "answer-fields": lambda: field_tables("answer"),
    "api": api,
    "cli": cli_reference,
    "entities": entities,
    "error-table": error_table,
    "error-tree": error_tree,
    "exit-codes": exit_codes,
    "graph-mermaid": graph_mermaid,
    # A name with a suffix is a file of its own beside the pages.
    "graph.svg": graph_picture,
    "kb-size": kb_size,
    "kb-tables": kb_tables,
    "kb-terms": kb_terms,
    "limits": limits,
    "model-fields": lambda: field_tables("model"),
    "modules": modules,
    "offline-answers": offline_answers,
    "offline-refusals": offline_refusals,
    "options": options,
    "own-model": own_model,
    "own-rules": own_rules,
    "own-session": own_session,
    "rule-catalogue": rule_catalogue,
    "rule-fields": lambda: field_tables("rule"),
    "rule-table": rule_table,
    "session-ask": session_ask,
    "session-check": session_check,
    "session-plan": session_plan,
}

__all__ = ["GENERATORS"]
