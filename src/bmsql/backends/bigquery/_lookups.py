"""The queries that the backend writes itself: distinct values, and where rows come from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from bmsql.backends._duckdb_file import KEY_SOURCES, ROW_SOURCES, did_you_mean
from bmsql.errors import InvalidSqlError
from bmsql.types import Catalog, ColumnInfo, TableInfo

if TYPE_CHECKING:
    from google.cloud.bigquery import ArrayQueryParameter, ScalarQueryParameter

# Types without a cast to text.
_BY_JSON = ("ARRAY", "STRUCT", "JSON", "RANGE")


# Beyond the length of any prefix: what names a row itself holds.
_LAST = 1_000_000


def distinct_sql(catalog: Catalog, table: TableInfo, columns: Sequence[str], limit: int) -> str:
    """The distinct combinations of columns as text, sorted, without those that are NULL throughout.

    Raises InvalidSqlError when the table has no such column.
    """
    found = [_column(table, name) for name in columns]
    selected = ", ".join(f"{_as_text(column)} AS c{position}" for position, column in enumerate(found, 1))
    present = " OR ".join(f"{quoted(column.name)} IS NOT NULL" for column in found)
    order = ", ".join(str(position) for position in range(1, len(found) + 1))
    source = quoted(catalog.qualified(table.name))
    return f"SELECT DISTINCT {selected} FROM {source} WHERE {present} ORDER BY {order} LIMIT {int(limit)}"  # noqa: S608 - names of the catalogue


def sources_sql(
    catalog: Catalog, table: str, keys: Sequence[str], records: Collection[str]
) -> tuple[str, list[ScalarQueryParameter | ArrayQueryParameter]]:
    """The sources of rows by key, the one that holds last, with the parameters of the query.

    records: which of the tables that name sources there are: by prefixes of keys, by row, or both.
    """
    from google.cloud.bigquery import ArrayQueryParameter, ScalarQueryParameter

    parts = []
    if KEY_SOURCES in records:
        # The longest prefix is the most specific.
        parts.append(
            f"SELECT asked AS key, source, LENGTH(prefix) AS place FROM {quoted(catalog.qualified(KEY_SOURCES))}, "  # noqa: S608
            "UNNEST(@keys) AS asked WHERE table_name = @table AND STARTS_WITH(asked, prefix)"
        )
    if ROW_SOURCES in records:
        parts.append(
            f"SELECT key, source, {_LAST} AS place FROM {quoted(catalog.qualified(ROW_SOURCES))} "  # noqa: S608
            "WHERE table_name = @table AND key IN UNNEST(@keys)"
        )
    sql = f"SELECT key, source FROM ({' UNION ALL '.join(parts)}) ORDER BY key, place"  # noqa: S608 - values are parameters
    return sql, [ScalarQueryParameter("table", "STRING", table), ArrayQueryParameter("keys", "STRING", list(keys))]


def quoted(name: str) -> str:
    """A name of the catalogue as a GoogleSQL identifier."""
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"


def _column(table: TableInfo, name: str) -> ColumnInfo:
    found = table.by_name.get(name.lower())
    if found is None:
        remedy = did_you_mean(name, [each.name for each in table.columns])
        raise InvalidSqlError(f"Table {table.name} has no column {name!r}.", remedy=remedy)
    return found


def _as_text(column: ColumnInfo) -> str:
    name = quoted(column.name)
    if column.type == "STRING":
        return name
    if column.type == "GEOGRAPHY":
        return f"ST_ASTEXT({name})"
    if column.type.startswith(_BY_JSON):
        return f"TO_JSON_STRING({name})"
    return f"TO_BASE64({name})" if column.type == "BYTES" else f"CAST({name} AS STRING)"
