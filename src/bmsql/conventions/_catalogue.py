"""The rules as plain data, for the documentation and the command line."""

from __future__ import annotations

from typing import Any

from bmsql.conventions._book import RuleBook
from bmsql.conventions._place import number_text
from bmsql.conventions._schema import Rule


def catalogue(rulebook: RuleBook) -> list[dict[str, Any]]:
    """One JSON-ready dictionary per rule of the book, in the order of its files."""
    return [_entry(rule, rulebook) for rule in rulebook]


def condition_text(rule: Rule) -> str:
    """`role op value` as text; for rules without a condition, the roles."""
    if not rule.op:
        return ", ".join(rule.all_roles)
    if isinstance(rule.value, tuple):
        return f"{rule.role} BETWEEN {number_text(rule.value[0])} AND {number_text(rule.value[1])}"
    if isinstance(rule.value, bool):
        return f"{rule.role} {rule.op} {str(rule.value).upper()}"
    value = number_text(rule.value) if isinstance(rule.value, int | float) else f"'{rule.value}'"
    return f"{rule.role} {rule.op} {value}"


def _entry(rule: Rule, book: RuleBook) -> dict[str, Any]:
    return {
        "name": rule.name,
        "title": rule.title,
        "kind": rule.kind,
        "families": list(rule.families),
        "condition": condition_text(rule),
        "unit": rule.unit,
        "reason": rule.reason,
        "citation": rule.citation,
        "profiles": list(rule.profiles),
        "companions": [name for name in rule.companions.get(book.profile, ()) if name in book],
        "words": list(rule.words),
        "waive": list(rule.waive),
        "complement_words": list(rule.complement_words),
    }
