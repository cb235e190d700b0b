"""Questions to an open DuckDB file that no user's query takes part in."""

from __future__ import annotations

import difflib
import hashlib
import logging
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmsql.backends._values import bigquery_type
from bmsql.types import ColumnInfo, TableInfo

if TYPE_CHECKING:
    import duckdb
    from duckdb.sqltypes import DuckDBPyType

ROW_SOURCES = "_row_sources"
"""The table `(table_name, key, source)` that names the source of each row; no part of the catalogue."""

KEY_SOURCES = "_key_sources"
"""The table `(table_name, prefix, source)` that names the source of all rows whose key begins with a prefix."""

MANIFEST = "_kb_manifest"
"""The table in which `bmsql.loading` records what it loaded; no part of the catalogue either."""

INTERNAL = frozenset({ROW_SOURCES, KEY_SOURCES, MANIFEST})

_HEADER_BYTES = 3 * 4096  # DuckDB's file header and its two database headers, rewritten by every checkpoint
_log = logging.getLogger(__name__)


def read_tables(cursor: duckdb.DuckDBPyConnection) -> tuple[TableInfo, ...]:
    """The tables and views of the schema `main` by name, those of `INTERNAL` among them.

    Views have no row count: counting could take as long as a query. A view that cannot be read
    here (over another file, or a table that is gone) is left out, with a warning in the log.
    """
    import duckdb

    names = cursor.execute(
        "SELECT table_name, table_type FROM information_schema.tables "
        "WHERE table_catalog = current_database() AND table_schema = 'main' ORDER BY table_name"
    ).fetchall()
    tables = []
    for name, kind in names:
        try:
            described = cursor.execute(f"SELECT * FROM {quoted(name)} LIMIT 0").description or []  # noqa: S608
            cursor.fetchall()  # nothing, but by then the result has ended
        except (duckdb.InterruptException, duckdb.FatalException, duckdb.InternalException):
            raise
        except duckdb.Error as e:
            _log.warning("%s cannot be read and is left out of the catalogue: %s", name, e)
            continue
        columns = bigquery_columns([(column[0], column[1]) for column in described])
        rows = None
        if kind == "BASE TABLE":
            ((rows,),) = cursor.execute(f"SELECT count(*) FROM {quoted(name)}").fetchall()  # noqa: S608
        tables.append(TableInfo(name=name, columns=columns, rows=rows))
    return tuple(tables)


def bigquery_columns(described: Sequence[tuple[str, Any]]) -> tuple[ColumnInfo, ...]:
    """Columns of a result from their names and DuckDB types."""
    return tuple(_column(name, kind) for name, kind in described)


@lru_cache(maxsize=4096)
def _column(name: str, kind: DuckDBPyType) -> ColumnInfo:
    return ColumnInfo(name=name, type=bigquery_type(kind))


def quoted(name: str) -> str:
    """A name as a DuckDB identifier."""
    return '"' + name.replace('"', '""') + '"'


def did_you_mean(name: str, known: list[str]) -> str:
    """A remedy for an unknown name: the nearest known ones, or the first."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or known[:10]
    return f"There are: {', '.join(near)}." if near else "It has none."


def file_fingerprint(path: Path) -> str:
    """A text that changes when a DuckDB file does: from its size, time of change and header.

    Not from its whole content, so that it is cheap for a file of many gigabytes.
    """
    sha = hashlib.sha256()
    for file in (path, path.with_name(path.name + ".wal")):
        if file.exists():
            stat = file.stat()
            sha.update(f"{stat.st_size}:{stat.st_mtime_ns};".encode())
            with file.open("rb") as content:
                sha.update(content.read(_HEADER_BYTES))
    return sha.hexdigest()
