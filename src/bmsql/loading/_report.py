"""What a load was told to do, what it says while it works, and what it has done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from bmsql.types import Frozen


class FileRecord(Frozen):
    """A file that a table was loaded from: its name, SHA-256, size in bytes and rows."""

    name: str
    sha256: str
    bytes: int
    rows: int


class TableRecord(Frozen):
    """What a knowledge base remembers of a table that was loaded or synthesised into it.

    checksum: the SHA-256 of the files' checksums, the columns and how they were read: equal where the same
    content would be loaded again. synthetic_rows: rows that were made up, with the rest facts. origin:
    where the files come from; loaded_at: UTC, ISO 8601; bmsql: the version that wrote it; model: the
    semantic model that the schema was checked against, empty where it knows no such table.
    """

    table: str
    rows: int
    synthetic_rows: int = 0
    files: tuple[FileRecord, ...] = ()
    checksum: str = ""
    origin: str = ""
    loaded_at: str = ""
    bmsql: str = ""
    model: str = ""


class TableReport(Frozen):
    """What was done about one table.

    action: `loaded`; `unchanged` (the target had the same content already); `resumed` (an earlier run that
    did not end had loaded it). notes: what the user should know, in sentences.
    """

    table: str
    action: Literal["loaded", "unchanged", "resumed", "synthesised"]
    rows: int
    columns: int
    checksum: str
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class LoadReport(Frozen):
    """What a load did: the target as it can be opened, and the tables."""

    target: str
    tables: tuple[TableReport, ...]
    seconds: float


class LoadProgress(Frozen):
    """A step of a load: `fraction` (0 to 1) of `step` is done for table `number` of `tables`."""

    table: str
    number: int
    tables: int
    step: Literal["download", "read", "load", "upload", "verify", "done"]
    fraction: float


OnProgress = Callable[[LoadProgress], None]


def silent(progress: LoadProgress) -> None:
    """Progress that nobody looks at."""
