"""`bmsql conventions`: the rules, and what they do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bmsql.cli._console import Text, console, heading, indented, show_sql, write_json
from bmsql.cli._main import ANSWERED, FAILED
from bmsql.cli._show import show_conventions

if TYPE_CHECKING:
    from bmsql.agent import Agent


def show_rules(profile: str | None, rules: list[Path] | None, *, as_json: bool) -> int:
    """List the rules in force."""
    from bmsql.agent import open_rules, read_settings
    from bmsql.conventions import catalogue

    book = open_rules(read_settings(profile=profile, rules=rules or None))
    entries = catalogue(book)
    if as_json:
        write_json({"profile": book.profile, "rules": entries})
        return ANSWERED
    to = console()
    to.print(Text(f"{len(entries)} conventions in the profile {book.profile}", style="bold"))
    for entry in entries:
        to.print()
        to.print(Text.assemble((entry["name"], "bold"), f": {entry['title']}"))
        if entry["condition"]:
            indented(to, entry["condition"])
        why = " ".join(filter(None, (entry["reason"], f"[{entry['citation']}]" if entry["citation"] else "")))
        indented(to, why)
        if entry["companions"]:
            indented(to, f"together with: {', '.join(entry['companions'])}")
    return ANSWERED


def show_applied(agent: Agent, sql: str, question: str, *, as_json: bool) -> int:
    """What the conventions make of a question, a query, or a query that answers a question."""
    plan = agent.plan(question) if question.strip() else None
    uses = [use.model_dump(mode="json") for use in plan.conventions] if plan else []
    if not sql:
        if as_json:
            write_json({"question": question, "implied": uses})
            return ANSWERED
        to = console()
        if not uses:
            to.print(Text("The question implies no convention."))
        for use in uses:
            words = f", by the words {use['words']!r}" if use["words"] else ""
            to.print(Text(f"- {use['rule']}: {use['mode']}{words}"))
        return ANSWERED
    report = agent.check(sql, question, conventions=True)
    if as_json:
        write_json({"question": question, "implied": uses, **report.model_dump(mode="json")})
        return ANSWERED if report.valid else FAILED
    to = console()
    if not report.valid:
        from bmsql.cli._report import show_check

        show_check(to, report)
        return FAILED
    for fix in report.fixes:
        to.print(Text(f"- fixed: {fix.message}"))
    show_conventions(to, report.conventions)
    heading(to, "SQL with the conventions" if report.refined else "The conventions leave the SQL as it is")
    show_sql(to, report.refined or report.sql)
    for warning in report.warnings:
        to.print(Text(f"- {warning}"))
    return ANSWERED
