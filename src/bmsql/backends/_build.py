"""Write the facts tables of the package into a DuckDB file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bmsql.backends._duckdb_file import ROW_SOURCES, quoted
from bmsql.data import facts_manifest, read_facts_file
from bmsql.errors import KnowledgeBaseError

LAYOUT = 1
"""Counted up whenever a file that was built before must be built anew."""

_DUCKDB_TYPES = {"STRING": "VARCHAR", "INT64": "BIGINT", "FLOAT64": "DOUBLE", "BOOL": "BOOLEAN"}


def build(path: Path) -> None:
    """Create the DuckDB file `path` with every facts table and the sources of its rows.

    Raises OSError when it cannot be written, KnowledgeBaseError when the package's data are damaged.
    """
    import duckdb

    try:
        with (
            tempfile.TemporaryDirectory(prefix="bmsql-") as folder,
            duckdb.connect(
                str(path), config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
            ) as connection,
        ):
            connection.execute(f"CREATE TABLE {ROW_SOURCES} (table_name VARCHAR, key VARCHAR, source VARCHAR)")
            for table in facts_manifest().tables:
                # A copy: the package may lie in an archive, and what was checked must be what is read.
                parquet = Path(folder, "table.parquet")
                parquet.write_bytes(read_facts_file(table))
                columns = ", ".join(
                    f"CAST({quoted(column.name)} AS {_DUCKDB_TYPES[column.type]}) AS {quoted(column.name)}"
                    for column in table.columns
                )
                name, key, source = quoted(table.name), quoted(table.key), quoted(table.source_column)
                connection.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM read_parquet(?)", [str(parquet)])  # noqa: S608
                connection.execute(
                    f"INSERT INTO {ROW_SOURCES} SELECT ?, {key}, {source} FROM read_parquet(?)",  # noqa: S608 - names are quoted
                    [table.name, str(parquet)],
                )
                counted = connection.execute(f"SELECT count(*) FROM {name}").fetchone()  # noqa: S608
                if counted != (table.rows,):
                    raise KnowledgeBaseError(
                        f"Table {table.name} of the package has {counted} rows, not {table.rows}.",
                        remedy="Reinstall bmsql.",
                    )
    except duckdb.IOException as e:
        raise OSError(f"the database cannot be written: {e}") from e
