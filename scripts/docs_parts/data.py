"""What the data say: the embedded knowledge base, the entities, the options and limits."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

from docs_parts.markdown import table

_FIRST_NAMES = 4


def kb_size() -> str:
    """How large the embedded knowledge base is."""
    from bmsql.data import facts_manifest

    manifest = facts_manifest()
    rows = sum(table.rows for table in manifest.tables)
    largest = max(manifest.tables, key=lambda table: table.rows)
    size = sum(len((files("bmsql.data") / "facts" / table.file).read_bytes()) for table in manifest.tables)
    return (
        f"It holds {rows:,} rows in {len(manifest.tables)} tables ({size / 1e6:.1f} MB inside the package). "
        f"Queries name them as `` `{manifest.project}.{manifest.dataset}.TABLE` ``; the bare table name is completed."
        f" The largest table is `{largest.name}`, with {largest.rows:,} rows."
    )


def kb_tables() -> str:
    """Tables, what a row is, row counts, and the sources with the rows from each."""
    from bmsql.data import facts_manifest
    from bmsql.semantic import load_semantic_model

    model = load_semantic_model()
    rows = []
    for item in facts_manifest().tables:
        sources = "; ".join(f"`{name}` {count:,}" for name, count in sorted(item.sources.items(), key=lambda s: -s[1]))
        rows.append((f"`{item.name}`", model.family_of(item.name).row, f"{item.rows:,}", sources))
    return table(("Table", "A row is", "Rows", "Sources, with the rows from each"), rows)


def kb_terms() -> str:
    """Sources and terms, as the file beside the data states them."""
    text = (files("bmsql.data") / "facts" / "README.md").read_text(encoding="utf-8")
    return "## " + text.split("\n## ", 1)[1].strip()


def entities() -> str:
    """What a question may name, and where each is found."""
    from bmsql.semantic import load_semantic_model

    model = load_semantic_model()
    rows = []
    for name, entity in model.entities.items():
        told = [table.family for table in model.tables.values() if name in table.about or name in table.covers]
        found = list(dict.fromkeys((*entity.match, *told)))
        if found:
            words = ", ".join(entity.nouns[:_FIRST_NAMES])
            rows.append((entity.label, entity.kind, words or "-", ", ".join(f"`{family}`" for family in found)))
    return table(("Entity", "Recognised as", "Words for it, among others", "Families of tables that hold it"), rows)


def options() -> str:
    """The options of an agent, under all the names that they have."""
    import inspect

    import typer

    from bmsql.agent import Agent
    from bmsql.agent._settings import LIMIT_VARIABLES, PREFIX, VARIABLES
    from bmsql.cli._app import app

    command: Any = typer.main.get_command(app)
    named = {param.name: param.opts[0] for param in command.commands["ask"].params}
    lines = []
    for name in list(inspect.signature(Agent.__init__).parameters)[1:]:
        if name == "limits":
            variables = ", ".join(f"`{variable}`" for variable in LIMIT_VARIABLES.values())
            lines.append(("`limits=`", "`--limit NAME=NUMBER`", variables))
        else:
            variable = f"{PREFIX}{name.upper()}"
            option = f"`{named[name]}`" if name in named else "-"
            lines.append((f"`{name}=`", option, f"`{variable}`" if variable in VARIABLES else "-"))
    return table(("Argument of `Agent`", "Option of `bmsql ask`", "Environment variable"), lines)


def limits() -> str:
    """The limits of one query, with their defaults."""
    from bmsql.types import Limits

    text = " ".join((Limits.__doc__ or "").split())
    rows = []
    for name, field in Limits.model_fields.items():
        meaning = re.search(rf"\b{name}: (.+?)(?:;|\.$|\. |$)", text)
        if meaning is None:
            raise ValueError(f"the limit {name} is not documented")
        rows.append(
            (
                f"`{name}`",
                f"{field.default:,}" if name.endswith("bytes") or "bytes_" in name else f"{field.default:g}",
                meaning[1],
            )
        )
    return table(("Limit", "Default", "Meaning"), rows)
