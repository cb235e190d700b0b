"""Checking SQL without running it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bmsql.graph import Dependencies
from bmsql.sql import format_sql, shared_tree
from bmsql.types import ConventionRecord, Fix, Frozen, Plan, Problem, Rejected

if TYPE_CHECKING:
    from bmsql.sql.googlesql import Analyser


class CheckReport(Frozen):
    """What `Agent.check` found.

    valid: whether the SQL would run and, with a question, could answer it; runs: whether it would run.
    sql: as it would be run, with the fixes made, formatted; the text as given when it is not valid.
    problems: why it is not. refined: with the conventions that the question implies, empty when they
    change nothing. conventions, warnings: what they did. With a question, the tables, figures, counting,
    order and limit are checked too: see `bmsql.conventions.fit_to_plan`. analysed: whether GoogleSQL's own
    analyser was asked; what it refuses is a problem with the code `googlesql`.
    """

    valid: bool
    sql: str
    runs: bool = True
    tables: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    problems: tuple[Problem, ...] = ()
    refined: str = ""
    conventions: tuple[ConventionRecord, ...] = ()
    warnings: tuple[str, ...] = ()
    analysed: bool = False

    def __bool__(self) -> bool:
        return self.valid


def check_sql(sql: str, plan: Plan | None, deps: Dependencies, question: str = "") -> CheckReport:
    """The report on `sql`; with `plan`, also what the conventions of that plan make of it."""
    verdict = deps.validate(sql)
    runs = not isinstance(verdict, Rejected)
    if plan is not None and not isinstance(verdict, Rejected):
        verdict = deps.fit(verdict, plan, question)
    if isinstance(verdict, Rejected):
        return CheckReport(valid=False, runs=runs, sql=verdict.sql, problems=verdict.problems, fixes=verdict.fixes)
    report = CheckReport(valid=True, sql=format_sql(verdict.sql), tables=verdict.tables, fixes=verdict.fixes)
    if plan is None:
        return report
    applied = deps.rules.apply_plan(shared_tree(verdict.sql), deps.model, plan)
    return report.model_copy(
        update={
            "refined": format_sql(applied.tree, copy=False) if applied.changed else "",
            "conventions": tuple(applied.records),
            "warnings": tuple(applied.warnings),
        }
    )


def with_second_opinion(report: CheckReport, analyser: Analyser) -> CheckReport:
    """The report with what GoogleSQL's analyser says of the SQL as it would be run, or as it was given."""
    texts = list(filter(None, (report.sql, report.refined)))
    problems = tuple(dict.fromkeys(problem for text in texts if (problem := analyser.problem(text))))
    if not report.runs:
        accepted = () if problems else ("GoogleSQL's analyser accepts this SQL; it is refused all the same.",)
        return report.model_copy(update={"analysed": True, "warnings": (*report.warnings, *accepted)})
    found = {"analysed": True, "problems": (*report.problems, *problems)}
    return report.model_copy(update=found | ({"valid": False, "runs": False} if problems else {}))
