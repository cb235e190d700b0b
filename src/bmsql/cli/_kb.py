"""`bmsql kb info`: what is in a knowledge base."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from bmsql.cli._console import Text, console, heading, show_table, write_json
from bmsql.cli._main import ANSWERED
from bmsql.cli._table import rows_table

TERMS = "README.md"
_DESCRIBED = ("duckdb://", "bigquery://")


def show_info(backend: str | None, *, as_json: bool) -> int:
    """Tables with rows, columns and what is recorded of how they came to be; their sources and terms."""
    from bmsql.agent import read_settings
    from bmsql.agent._open import open_named_backend

    settings = read_settings(backend=backend)
    opened = open_named_backend(settings)
    try:
        catalog = opened.catalog()
        document: dict[str, Any] = {
            "name": opened.name,
            "fingerprint": opened.fingerprint(),
            "project": catalog.project,
            "dataset": catalog.dataset,
            "tables": [
                {"name": table.name, "rows": table.rows, "columns": len(table.columns)} for table in catalog.tables
            ],
        }
    finally:
        opened.close()
    if document["name"] == "embedded":
        document |= _recorded("embedded", document["tables"]) | _embedded()
    elif document["name"].startswith(_DESCRIBED) and isinstance(settings.backend, str):
        document |= _recorded(settings.backend, document["tables"])
    if as_json:
        write_json(document)
        return ANSWERED
    _show(document)
    return ANSWERED


def _show(document: dict[str, Any]) -> None:
    to = console()
    to.print(Text(f"Knowledge base: {document['name']}", style="bold"))
    if "file" in document:
        to.print(Text(f"File: {document['file']}"))
    to.print(Text(f"Fingerprint: {document['fingerprint']}"))
    to.print(Text(f"Tables are qualified by: {document['project']}.{document['dataset']}"))
    if document.get("note"):
        to.print(Text(document["note"]))
    heading(to, "Tables")
    rows = [(table["name"], table["rows"], table["columns"]) for table in document["tables"]]
    show_table(to, rows_table(to, ("table", "rows", "columns"), rows)[0])
    recorded = [table for table in document["tables"] if table.get("checksum")]
    if recorded:
        heading(to, "How they came to be")
        names = ("table", "synthetic rows", "loaded", "by bmsql", "model", "checksum", "from")
        keys = ("name", "synthetic_rows", "loaded_at", "bmsql", "model", "checksum", "origin")
        cells = [tuple(table[key][:12] if key == "checksum" else table[key] for key in keys) for table in recorded]
        show_table(to, rows_table(to, names, cells)[0])
    if document.get("sources"):
        heading(to, "Sources, with the rows from each")
        show_table(to, rows_table(to, ("source", "rows"), list(document["sources"].items()))[0])
    if document.get("terms"):
        heading(to, "Sources and terms")
        to.print(Text(document["terms"]))


def _recorded(backend: str, tables: list[dict[str, Any]]) -> dict[str, Any]:
    """What the knowledge base records of itself, put beside its tables."""
    from bmsql.loading import describe

    contents = describe(backend)
    records = {record.table: record for record in contents.records}
    for table in tables:
        if (record := records.get(table["name"])) is not None:
            found = record.model_dump(mode="json", exclude={"table", "rows"})
            changed = table["rows"] is not None and table["rows"] != record.rows
            table |= {**found, **({"rows_when_loaded": record.rows} if changed else {})}
    notes = []
    if contents.synthetic_rows:
        notes.append(f"SYNTHETIC: {contents.synthetic_rows:,} rows are made up, for measuring; they are no data.")
    notes += [
        f"{table['name']} had {table['rows_when_loaded']:,} rows when it was loaded: it has been changed since."
        for table in tables
        if "rows_when_loaded" in table
    ]
    return {"note": " ".join(notes), "synthetic_rows": contents.synthetic_rows, "sources": contents.sources}


def _embedded() -> dict[str, Any]:
    from bmsql.backends import ensure_embedded

    found = ensure_embedded()
    terms = files("bmsql.data") / "facts" / TERMS
    return {
        "file": str(found.path),
        "note": found.note,
        "terms": terms.read_text(encoding="utf-8").strip() if terms.is_file() else "",
    }
