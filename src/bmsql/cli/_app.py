"""The commands; each loads what it needs when it is called, so that `--help` is quick."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from bmsql._version import __version__
from bmsql.cli._bench_app import bench
from bmsql.cli._kb_app import kb
from bmsql.cli._options import (
    QUESTION_VARIABLE,
    Backend,
    Cache,
    Candidates,
    CheckedQuestion,
    CheckedSql,
    Debug,
    Examples,
    GoogleSql,
    Json,
    LimitOptions,
    MaxPasses,
    MaxRows,
    Model,
    ModelOutput,
    ModelSource,
    Names,
    Profile,
    Question,
    ReplaceModel,
    RuledQuestion,
    RuledSql,
    Rules,
    SemanticModelFile,
    SendRows,
    Table,
    read_limits,
)

app = typer.Typer(
    name="bmsql",
    help="Ask biomedical databases in plain English, and get answers that can be checked.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(kb, name="kb")
app.add_typer(bench, name="bench")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bmsql {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Ask biomedical databases in plain English, and get answers that can be checked."""


@app.command()
def ask(
    question: Question = None,
    model: Model = None,
    backend: Backend = None,
    semantic_model: SemanticModelFile = None,
    profile: Profile = None,
    rules: Rules = None,
    names: Names = None,
    max_passes: MaxPasses = None,
    limit: LimitOptions = None,
    send_rows: SendRows = None,
    candidates: Candidates = None,
    examples: Examples = None,
    cache: Cache = None,
    max_rows: MaxRows = 20,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Answer a question, with its SQL, rows and conventions."""
    from bmsql.agent import Agent
    from bmsql.cli import _console, _main

    text = _given(question, "question", QUESTION_VARIABLE)
    with Agent(
        model=model,
        backend=backend,
        semantic_model=semantic_model,
        profile=profile,
        rules=rules or None,
        names=names,
        max_passes=max_passes,
        limits=read_limits(limit),
        send_rows=send_rows,
        candidates=candidates,
        examples=examples,
        cache=cache,
    ) as agent:
        answer = agent.ask(text)
    if json:
        _console.write_json(answer.to_dict())
    else:
        from bmsql.cli._show import show_answer

        show_answer(_console.console(), answer, max_rows)
    return _main.ABSTAINED if answer.abstained else _main.ANSWERED


@app.command()
def plan(
    question: Question = None,
    model: Model = None,
    backend: Backend = None,
    semantic_model: SemanticModelFile = None,
    profile: Profile = None,
    rules: Rules = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Show how a question is understood. Nothing is run."""
    from bmsql.agent import Agent
    from bmsql.cli import _console, _main

    text = _given(question, "question", QUESTION_VARIABLE)
    with Agent(model, backend, semantic_model, profile, rules=rules or None) as agent:
        made = agent.plan(text)
    if json:
        _console.write_json(made.model_dump(mode="json"))
    else:
        from bmsql.cli._report import show_plan

        show_plan(_console.console(), made)
    return _main.ANSWERED if made.answerable and made.clarification is None else _main.ABSTAINED


@app.command()
def check(
    sql: CheckedSql = None,
    question: CheckedQuestion = "",
    googlesql: GoogleSql = False,
    backend: Backend = None,
    semantic_model: SemanticModelFile = None,
    profile: Profile = None,
    rules: Rules = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Check SQL without running it. Exit code 1: it would not run."""
    from bmsql.agent import Agent
    from bmsql.cli import _console, _main

    text = _given(sql, "SQL", "")
    with Agent(backend=backend, semantic_model=semantic_model, profile=profile, rules=rules or None) as agent:
        report = agent.check(text, question, second_opinion=googlesql)
    if json:
        _console.write_json(report.model_dump(mode="json"))
    else:
        from bmsql.cli._report import show_check

        show_check(_console.console(), report)
    return _main.ANSWERED if report.valid else _main.FAILED


@app.command()
def schema(
    table: Table = None,
    source: ModelSource = None,
    output: ModelOutput = None,
    force: ReplaceModel = False,
    semantic_model: SemanticModelFile = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Show the semantic model, or begin one for a database."""
    from bmsql.cli import _schema

    if source is not None:
        return _schema.write_first(source, output, force=force, as_json=json)
    if output is not None:
        raise typer.BadParameter("-o goes with --from.")
    return _schema.show(table, semantic_model, as_json=json)


@app.command()
def conventions(
    sql: RuledSql = "",
    question: RuledQuestion = "",
    backend: Backend = None,
    semantic_model: SemanticModelFile = None,
    profile: Profile = None,
    rules: Rules = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """List the conventions, or what they do to a query."""
    from bmsql.agent import Agent
    from bmsql.cli import _conventions

    if not sql and not question:
        return _conventions.show_rules(profile, rules, as_json=json)
    with Agent(backend=backend, semantic_model=semantic_model, profile=profile, rules=rules or None) as agent:
        return _conventions.show_applied(agent, sql, question, as_json=json)


@app.command()
def doctor(
    model: Model = None,
    backend: Backend = None,
    semantic_model: SemanticModelFile = None,
    profile: Profile = None,
    rules: Rules = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Say what would be used and why, and what is wrong."""
    from bmsql.cli import _doctor

    return _doctor.examine(
        model=model, backend=backend, semantic_model=semantic_model, profile=profile, rules=rules or None, as_json=json
    )


def _given(text: str | None, what: str, variable: str) -> str:
    """The text of an argument, of standard input for `-`, or of an environment variable."""
    if text == "-":
        return sys.stdin.read()
    if text is not None:
        return text
    if variable and variable in os.environ:
        return os.environ[variable]
    hint = f", or set {variable}" if variable else ""
    raise typer.BadParameter(f"give the {what}{hint}; - reads it from standard input.")
