"""The record, inside a knowledge base, of what was loaded into it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bmsql.backends import MANIFEST, quoted
from bmsql.errors import BackendUnavailableError, KnowledgeBaseError
from bmsql.loading._report import TableRecord

if TYPE_CHECKING:
    import duckdb


def encoded(record: TableRecord) -> str:
    """A record as JSON, as it is stored beside the name of its table."""
    return record.model_dump_json()


def decoded(rows: Iterable[tuple[str, str]], where: str) -> dict[str, TableRecord]:
    """Records by table, from rows `(table_name, record)`.

    Raises KnowledgeBaseError when they are not what this version writes.
    """
    try:
        return {table: TableRecord.model_validate_json(record) for table, record in rows}
    except ValueError as e:
        raise KnowledgeBaseError(
            f"The records of loaded tables in {where} cannot be read: {e}",
            remedy="Another version of bmsql may have written them: upgrade, or load into a new place.",
        ) from e


def create(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table of records where it is missing."""
    connection.execute(f"CREATE TABLE IF NOT EXISTS {MANIFEST} (table_name VARCHAR PRIMARY KEY, record VARCHAR)")


def write(connection: duckdb.DuckDBPyConnection, record: TableRecord) -> None:
    """Store the record of a table in place of an earlier one."""
    connection.execute(f"INSERT OR REPLACE INTO {MANIFEST} VALUES (?, ?)", [record.table, encoded(record)])  # noqa: S608


def read(connection: duckdb.DuckDBPyConnection, where: str) -> dict[str, TableRecord]:
    """The records of an open file; none where it was not made by `bmsql.loading`."""
    sql = "SELECT count(*) FROM duckdb_tables() WHERE database_name = current_database() AND table_name = ?"
    if connection.execute(sql, [MANIFEST]).fetchone() == (0,):
        return {}
    rows = connection.execute(f"SELECT table_name, record FROM {MANIFEST} ORDER BY table_name").fetchall()  # noqa: S608
    return decoded(rows, where)


def still_whole(connection: duckdb.DuckDBPyConnection, records: dict[str, TableRecord]) -> dict[str, TableRecord]:
    """The records whose tables are still there with all their rows: a file can be changed by other hands."""
    kept = {}
    names = connection.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()")
    present = {name for (name,) in names.fetchall()}
    for table, record in records.items():
        if table in present:
            counted = connection.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()  # noqa: S608
            if counted == (record.rows,):
                kept[table] = record
    return kept


def read_records(path: Path, *, whole: bool = False) -> dict[str, TableRecord]:
    """The records in a DuckDB file, by table; none where it was not made by `bmsql.loading`.

    whole: leave out those whose tables are gone or have another number of rows by now.

    Raises BackendUnavailableError when it cannot be opened: no backend of this process may have it open.
    """
    import duckdb

    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            records = read(connection, str(path))
            return still_whole(connection, records) if whole else records
    except duckdb.Error as e:
        raise BackendUnavailableError(f"{path} cannot be opened: {e}", remedy="Close what has it open.") from e


def dumped(items: Iterable[object]) -> str:
    """Data as JSON that is always the same for the same data; for checksums."""
    return json.dumps(list(items), ensure_ascii=True, sort_keys=True)
