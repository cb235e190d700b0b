"""`bmsql schema`: the semantic model, shown or begun for another database."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from bmsql.cli._console import Text, console, heading, show_table, write_json, write_text
from bmsql.cli._main import ANSWERED
from bmsql.errors import ConfigurationError
from bmsql.semantic import SemanticModel, load_semantic_model


def show(name: str | None, semantic_model: str | None, *, as_json: bool) -> int:
    """Show the whole model, or one table or family of it."""
    from bmsql.agent import read_settings

    model = load_semantic_model(read_settings(semantic_model=semantic_model).semantic_model)
    tables = chosen_tables(model, name)
    if as_json:
        write_json(as_document(model, tables) if name is None else {t: table_document(model, t) for t in tables})
        return ANSWERED
    to = console()
    if name is None:
        to.print(Text(model.title or model.name, style="bold"))
        for line in filter(
            None, (model.description, f"evidence key: {model.evidence_key}" if model.evidence_key else "")
        ):
            to.print(Text(line.strip()))
        _show_overview(to, model)
    else:
        for table in tables:
            _show_table(to, model, table)
    return ANSWERED


def chosen_tables(model: SemanticModel, name: str | None) -> list[str]:
    """The tables that `name`, a table or a family in any case, stands for; all for None."""
    if name is None:
        return list(model.tables)
    known = {table.lower(): [table] for table in model.tables}
    known.update({family.lower(): list(model.tables_of(family)) for family in model.families})
    if found := known.get(name.lower()):
        return found
    near = get_close_matches(name.lower(), known, n=1, cutoff=0.4)
    raise ConfigurationError(
        f"the semantic model '{model.name}' has no table or family {name!r}.",
        remedy=f"Did you mean {known[near[0]][0]!r}?" if near else f"Its families are: {', '.join(model.families)}.",
    )


def as_document(model: SemanticModel, tables: list[str]) -> dict[str, Any]:
    """The model as plain data."""
    data = model.model_dump(mode="json", exclude_defaults=True)
    data["tables"] = {table: table_document(model, table) for table in tables}
    return data


def table_document(model: SemanticModel, name: str) -> dict[str, Any]:
    """A table with the meaning and unit of every column."""
    table = model.tables[name]
    columns = []
    for column, spec in table.columns.items():
        meaning, unit = model.meaning(name, column)
        columns.append({"name": column, "type": spec.type, "role": spec.role, "meaning": meaning, "unit": unit})
    return {
        "family": table.family,
        "description": table.description,
        "optional": table.optional,
        "about": dict(table.about),
        "columns": columns,
    }


def write_first(source: str, output: Path | None, *, force: bool, as_json: bool) -> int:
    """Write a first semantic model for the database `source` to a file or standard output."""
    from bmsql.backends import open_backend
    from bmsql.semantic import introspect_model

    if output is not None and output.exists() and not force:
        raise ConfigurationError(f"{output} exists.", remedy="Give another file, or --force to replace it.")
    backend = open_backend(source)
    try:
        text = introspect_model(backend.catalog(), backend.distinct_values)
    finally:
        backend.close()
    if output is None:
        write_json({"semantic_model": text}) if as_json else write_text(text)
        return ANSWERED
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"{output} cannot be written: {error.strerror or error}.", remedy="Give another file with -o."
        ) from error
    if as_json:
        write_json({"written": str(output)})
    else:
        sys.stderr.write(
            f'Wrote {output}. Read it over, then: bmsql ask --backend {source} --semantic-model {output} "..."\n'
        )
    return ANSWERED


def _show_overview(to: Console, model: SemanticModel) -> None:
    for name, family in model.families.items():
        tables = model.tables_of(name)
        if not tables:
            continue
        heading(to, f"{name}: {family.label}" + (f" - a row is {family.row}" if family.row else ""))
        for table in tables:
            spec = model.tables[table]
            note = " (optional)" if spec.optional else ""
            to.print(Text(f"  {table}{note}: {len(spec.columns)} columns. {spec.description}"))
    if model.entities:
        heading(to, "Entities")
        for name, entity in model.entities.items():
            to.print(
                Text(f"  {name}: {entity.label}, found in {', '.join(entity.match) or 'the tables that are about it'}")
            )
    if model.joins:
        heading(to, "Joins")
        for join in model.joins:
            to.print(Text(f"  {join.entity}: {', '.join(join.keys)}"))
    to.print()
    to.print(Text("`bmsql schema TABLE` shows the columns of a table or family.", style="dim"))


def _show_table(to: Console, model: SemanticModel, name: str) -> None:
    document = table_document(model, name)
    heading(to, name)
    if document["description"]:
        to.print(Text(document["description"]))
    about = ", ".join(f"{entity} {value}" for entity, value in document["about"].items())
    if about:
        to.print(Text(f"Every row is about: {about}"))
    if not document["columns"]:
        to.print(Text("Its columns are taken from the catalogue where the table exists."))
        return
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for title in ("column", "type", "meaning", "unit", "role"):
        table.add_column(title, overflow="fold")
    for column in document["columns"]:
        table.add_row(*(Text(column[key]) for key in ("name", "type", "meaning", "unit", "role")))
    show_table(to, table)
