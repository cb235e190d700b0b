"""`bmsql kb info`: the knowledge base in use."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from bmsql.cli._console import Text, console, heading, show_table, write_json
from bmsql.cli._main import ANSWERED
from bmsql.cli._table import rows_table

TERMS = "README.md"


def show_info(backend: str | None, *, as_json: bool) -> int:
    """Tables with rows and columns; for the embedded knowledge base its file, sources and terms too."""
    from bmsql.agent import read_settings
    from bmsql.agent._open import open_named_backend

    opened = open_named_backend(read_settings(backend=backend))
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
        document |= _embedded()
    if as_json:
        write_json(document)
        return ANSWERED
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
    if document.get("sources"):
        heading(to, "Sources, with the rows from each")
        show_table(to, rows_table(to, ("source", "rows"), list(document["sources"].items()))[0])
    if document.get("terms"):
        heading(to, "Sources and terms")
        to.print(Text(document["terms"]))
    return ANSWERED


def _embedded() -> dict[str, Any]:
    from bmsql.backends import ensure_embedded
    from bmsql.data import facts_manifest

    found = ensure_embedded()
    sources: dict[str, int] = {}
    for table in facts_manifest().tables:
        for source, rows in table.sources.items():
            sources[source] = sources.get(source, 0) + rows
    terms = files("bmsql.data") / "facts" / TERMS
    return {
        "file": str(found.path),
        "note": found.note,
        "sources": dict(sorted(sources.items(), key=lambda item: -item[1])),
        "terms": terms.read_text(encoding="utf-8").strip() if terms.is_file() else "",
    }
