"""The facts tables as they lie in the package: one parquet file each, described by a manifest."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from bmsql.errors import KnowledgeBaseError

_REINSTALL = "Reinstall bmsql."


@dataclass(frozen=True)
class FactsColumn:
    """A column: its BigQuery type, and the checksum of its values in row order.

    The checksum is the SHA-256 of the cells as UTF-8 text, each ended by byte 0x1E; NULL is byte
    0x00, an INT64 its decimal digits, a FLOAT64 Python's `float.hex()`, a BOOL `true` or `false`.
    """

    name: str
    type: str
    sha256: str


@dataclass(frozen=True)
class FactsTable:
    """A table: its file with checksum, row count, evidence key, and the column that names each row's source.

    `sources` counts the rows per source; the source column is in the file, but not among `columns`.
    """

    name: str
    file: str
    sha256: str
    rows: int
    key: str
    source_column: str
    sources: dict[str, int]
    columns: tuple[FactsColumn, ...]


@dataclass(frozen=True)
class FactsManifest:
    """What the package holds: the names that qualify the tables, and the tables."""

    project: str
    dataset: str
    tables: tuple[FactsTable, ...]


@cache
def facts_manifest() -> FactsManifest:
    """The manifest of the facts tables. Raises KnowledgeBaseError if it is missing or damaged."""
    try:
        data = json.loads(_read("manifest.json"))
        tables = tuple(
            FactsTable(**{**table, "columns": tuple(FactsColumn(**column) for column in table["columns"])})
            for table in data["tables"]
        )
        return FactsManifest(data["project"], data["dataset"], tables)
    except (ValueError, KeyError, TypeError) as e:
        raise KnowledgeBaseError(f"The facts manifest inside the package is damaged: {e!r}.", remedy=_REINSTALL) from e


@cache
def facts_checksum() -> str:
    """The SHA-256 of the manifest, and by its checksums of all facts: it changes when they do."""
    return hashlib.sha256(_read("manifest.json")).hexdigest()


def read_facts_file(table: FactsTable) -> bytes:
    """The parquet file of a table, checked. Raises KnowledgeBaseError if it is missing or damaged."""
    content = _read(table.file)
    if hashlib.sha256(content).hexdigest() != table.sha256:
        raise KnowledgeBaseError(
            f"The facts file {table.file} inside the package is damaged (its checksum differs).", remedy=_REINSTALL
        )
    return content


def _read(name: str) -> bytes:
    try:
        return (files("bmsql.data") / "facts" / name).read_bytes()
    except OSError as e:
        raise KnowledgeBaseError(
            f"The facts file {name} inside the package cannot be read: {e}.", remedy=_REINSTALL
        ) from e
