"""What a knowledge base records of how it came to be."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from bmsql.backends import KEY_SOURCES, ROW_SOURCES
from bmsql.data import facts_manifest
from bmsql.errors import BackendUnavailableError
from bmsql.loading import _manifest
from bmsql.loading._bigquery import BigQueryTarget
from bmsql.loading._facts import facts_records
from bmsql.loading._load import MEMORY_MB
from bmsql.loading._report import TableRecord
from bmsql.loading._target import existing_path, is_bigquery
from bmsql.types import Frozen


class Contents(Frozen):
    """The records of the tables that were loaded or synthesised, and the sources of rows with their numbers.

    Both are empty for a knowledge base that `bmsql.loading` did not make.
    """

    records: tuple[TableRecord, ...] = ()
    sources: dict[str, int] = Field(default_factory=dict)

    @property
    def synthetic_rows(self) -> int:
        """Rows that were made up."""
        return sum(record.synthetic_rows for record in self.records)


def describe(backend: str) -> Contents:
    """What a knowledge base (`embedded`, `duckdb:///path`, `bigquery://project/dataset`) records of itself.

    No backend of this process may have the DuckDB file open. Raises BackendUnavailableError when it cannot
    be opened, KnowledgeBaseError when its records cannot be read.
    """
    if backend.strip().lower() == "embedded":
        facts: dict[str, int] = {}
        for table in facts_manifest().tables:
            for source, rows in table.sources.items():
                facts[source] = facts.get(source, 0) + rows
        return Contents(records=facts_records(), sources=_most_first(facts))
    if is_bigquery(backend):
        records = BigQueryTarget(backend, memory_mb=MEMORY_MB).records()
        # The sources of its rows are not counted: that would cost a scan.
        return Contents(records=tuple(records.values()))
    path = existing_path(backend)
    records = _manifest.read_records(path)
    return Contents(records=tuple(records.values()), sources=_sources(path, records))


def _sources(path: Path, records: dict[str, TableRecord]) -> dict[str, int]:
    """Rows by source, the most first."""
    import duckdb

    counted: dict[str, int] = {}
    by_table: dict[str, int] = {}
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            known = {name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
            if ROW_SOURCES in known:
                sql = f"SELECT table_name, source, count(*) FROM {ROW_SOURCES} GROUP BY ALL"  # noqa: S608
                for table, source, rows in connection.execute(sql).fetchall():
                    counted[source] = counted.get(source, 0) + rows
                    by_table[table] = by_table.get(table, 0) + rows
            if KEY_SOURCES in known:
                sql = f"SELECT table_name, prefix, source FROM {KEY_SOURCES}"  # noqa: S608
                for table, prefix, source in connection.execute(sql).fetchall():
                    record = records.get(table)
                    if record is not None:
                        # A prefix marks synthetic rows; without one a source is that of all rows that name none.
                        rows = record.synthetic_rows if prefix else record.rows - by_table.get(table, 0)
                        counted[source] = counted.get(source, 0) + rows
    except duckdb.Error as e:
        raise BackendUnavailableError(f"{path} cannot be read: {e}", remedy="Close what has it open.") from e
    return _most_first(counted)


def _most_first(counted: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))
