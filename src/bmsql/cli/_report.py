"""Plans and check reports on the terminal."""

from __future__ import annotations

from rich.console import Console

from bmsql.agent import CheckReport
from bmsql.cli._console import Text, heading, show_sql
from bmsql.cli._show import show_conventions
from bmsql.types import Filter, Plan, Problem


def show_plan(to: Console, plan: Plan) -> None:
    """A plan as lines of what is asked, of which tables, with which conditions."""
    if plan.clarification is not None:
        to.print(Text(plan.clarification.question, style="bold"))
        for number, alternative in enumerate(plan.clarification.alternatives, start=1):
            to.print(Text(f"  {number}. {alternative}"))
        return
    if not plan.answerable:
        to.print(Text(f"Cannot be answered: {plan.problem}", style="bold"))
        return
    aggregate = plan.aggregate
    lines = {
        "asks": plan.intent + (f" of {plan.subject}" if plan.subject else ""),
        "tables": ", ".join(source.table for source in plan.sources),
        "combined": "" if plan.combine == "single" else plan.combine,
        "joined by": ", ".join(f"{join.left}-{join.right} on {join.entity} ({join.kind})" for join in plan.joins),
        "shows": ", ".join(dict.fromkeys(item.alias or item.column or item.value for item in plan.select)),
        "computes": f"{aggregate.function} of {aggregate.column or 'rows'}" if aggregate else "",
        "grouped by": ", ".join(item.alias or item.column for item in plan.group_by),
        "conditions": "; ".join(map(_filter, plan.filters)),
        "ordered by": ", ".join(order.column + (" descending" if order.descending else "") for order in plan.order),
        "limit": "" if plan.limit is None else str(plan.limit),
        "conventions": ", ".join(f"{use.rule} ({use.mode})" for use in plan.conventions),
        "linked": ", ".join(f"{mention.text!r} is {mention.entity} {mention.value}" for mention in plan.mentions),
        "not understood": ", ".join(plan.not_understood),
        "confidence": f"{plan.confidence:.2f}",
    }
    width = max(map(len, lines))
    for name, value in lines.items():
        if value:
            to.print(Text.assemble((f"{name:<{width}}  ", "dim"), value))
    for note in plan.notes:
        to.print(Text(f"- {note}"))


def show_check(to: Console, report: CheckReport) -> None:
    """Valid or not, why, and the SQL as it would be run."""
    run = "This SQL would run" if report.runs else "This SQL would not run"
    to.print(
        Text(
            f"{run}{'' if report.valid or not report.runs else ', but it does not answer the question'}.", style="bold"
        )
    )
    for problem in report.problems:
        to.print(Text(f"- {_problem(problem)}"))
    for fix in report.fixes:
        to.print(Text(f"- fixed: {fix.message}"))
    if report.analysed and report.valid:
        to.print(Text("- GoogleSQL's analyser accepts it."))
    if report.valid:
        heading(to, "SQL as it would be run")
        show_sql(to, report.sql)
    if report.refined:
        heading(to, "With the conventions")
        show_sql(to, report.refined)
    if report.conventions:
        heading(to, "Conventions")
        show_conventions(to, report.conventions)
    for warning in report.warnings:
        to.print(Text(f"- {warning}"))


def _problem(problem: Problem) -> str:
    place = f"line {problem.line}, column {problem.column}: " if problem.line is not None else ""
    return f"{place}{problem.message} {problem.suggestion}".strip()


def _filter(item: Filter) -> str:
    values = ", ".join(map(str, item.values))
    return f"{'not ' if item.negated else ''}{item.target} {item.op} {values}".strip()
