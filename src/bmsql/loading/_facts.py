"""The embedded facts as records of tables, like those of tables that were loaded."""

from __future__ import annotations

from bmsql._version import __version__
from bmsql.data import facts_manifest, read_facts_file
from bmsql.loading._report import FileRecord, TableRecord


def facts_records() -> tuple[TableRecord, ...]:
    """A record of each facts table. Raises KnowledgeBaseError when the package's data are damaged."""
    return tuple(
        TableRecord(
            table=table.name,
            rows=table.rows,
            files=(
                FileRecord(name=table.file, sha256=table.sha256, bytes=len(read_facts_file(table)), rows=table.rows),
            ),
            checksum=table.sha256,
            origin="embedded",
            bmsql=__version__,
        )
        for table in facts_manifest().tables
    )
