"""The tables of a DuckDB file that `bmsql.loading` made, into another target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bmsql.backends import KEY_SOURCES, ROW_SOURCES, bigquery_type, quoted
from bmsql.loading import _manifest
from bmsql.loading._job import Prepared, Watch
from bmsql.loading._report import OnProgress
from bmsql.loading._schema import TableSchema
from bmsql.types import ColumnInfo

if TYPE_CHECKING:
    from bmsql.loading._bigquery import BigQueryTarget

_FILE = "sent"


def send(path: Path, target: BigQueryTarget, on_progress: OnProgress) -> None:
    """Load all tables of a file, with their sources and records, in place of those of the same name."""
    records = _manifest.read_records(path)
    with target.opened():
        connection = target.connection
        connection.execute(f"ATTACH '{str(path).replace(chr(39), chr(39) * 2)}' AS {_FILE} (READ_ONLY)")
        target.restrict(records)
        for number, (name, record) in enumerate(records.items(), 1):
            if (known := target.resumed.get(name)) is not None and known.checksum == record.checksum:
                continue
            source = f"{_FILE}.{quoted(name)}"
            described = connection.execute(f"SELECT * FROM {source} LIMIT 0").description or []  # noqa: S608
            columns = tuple(ColumnInfo(name=column[0], type=bigquery_type(column[1])) for column in described)
            prefixes = connection.execute(
                f"SELECT prefix, source FROM {_FILE}.{KEY_SOURCES} WHERE table_name = ?",  # noqa: S608
                [name],
            ).fetchall()
            table = Prepared(
                name=name,
                file=str(path),
                select=f"SELECT * FROM {source}",  # noqa: S608
                parameters=[],
                schema=TableSchema(columns, tuple(quoted(column.name) for column in columns), checked=True),
                record=record,
                sources=(
                    f"SELECT table_name, key, source FROM {_FILE}.{ROW_SOURCES} WHERE table_name = ?",  # noqa: S608
                    [name],
                ),
                prefixes=dict(prefixes),
            )
            target.put(table, Watch(name, number, len(records), on_progress))
        target.finish()
