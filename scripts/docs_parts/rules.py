"""The catalogue of conventions."""

from __future__ import annotations

from html import escape
from typing import Any

from docs_parts.markdown import block, table


def _entries() -> dict[str, dict[str, Any]]:
    """Rules by name, over all profiles; `companions` by profile."""
    from bmsql.conventions import PROFILES, catalogue, load_rules

    found: dict[str, dict[str, Any]] = {}
    for profile in PROFILES:
        for entry in catalogue(load_rules(profile=profile)):
            kept = found.setdefault(entry["name"], {**entry, "companions": {}})
            if entry["companions"]:
                kept["companions"][profile] = entry["companions"]
    return found


def rule_table() -> str:
    """The rules at a glance."""
    rows = [
        (
            f"[`{entry['name']}`](#{entry['name']})",
            f"`{entry['condition']}`" if entry["condition"] else "-",
            entry["title"],
        )
        for entry in _entries().values()
    ]
    return table(("Rule", "Condition on a role", "In words"), rows)


def rule_catalogue() -> str:
    """Each rule with its condition, reason, citation and words."""
    from bmsql.conventions import PROFILES

    parts = []
    for name, entry in _entries().items():
        facts = [f"**{entry['title']}.** {entry['reason']}"]
        if entry["condition"]:
            facts += [block("text", entry["condition"] + (f"    ({entry['unit']})" if entry["unit"] else ""))]
        notes = []
        if set(entry["profiles"]) != set(PROFILES):
            notes.append(f"Only in the profile {', '.join(f'`{p}`' for p in entry['profiles'])}.")
        for profile, others in entry["companions"].items():
            notes.append(f"In the profile `{profile}` always together with {', '.join(f'`{o}`' for o in others)}.")
        if entry["citation"]:
            notes.append(f"Source: {entry['citation']}.")
        facts += [" ".join(notes)] if notes else []
        facts += [_words(entry)] if _words(entry) else []
        parts += [f"### `{name}`", *facts]
    return "\n\n".join(parts)


def _words(entry: dict[str, Any]) -> str:
    """The phrases, folded: they are many."""
    lists = (
        ("Implied by", entry["words"]),
        ("Waived by", entry["waive"]),
        ("Reversed by", entry["complement_words"]),
    )
    items = [f"<p>{title}: {escape('; '.join(words))}</p>" for title, words in lists if words]
    if not items:
        return ""
    return "\n".join(["<details><summary>Words in a question</summary>", *items, "</details>"])
