"""Where rows come from, by their evidence keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bmsql.backends._duckdb_file import KEY_SOURCES, ROW_SOURCES

Ask = Callable[[str, list[Any]], list[tuple[Any, ...]]]

# Of each table, as many are read once and kept in memory. Where there are more, each question asks for its own.
_KEPT_ROWS = 20_000
_KEPT_PREFIXES = 100
# Of several sources of a key, the same one holds whether they are kept or asked for.
_LAST = "source NULLS FIRST"


class Sources:
    """The sources that a DuckDB file records: of single rows, and of all keys with a prefix.

    recorded: which of the two tables there are; ask: runs a query with its parameters. What is kept holds for the
    file as it was when it was opened.
    """

    def __init__(self, recorded: frozenset[str], ask: Ask) -> None:
        self._recorded, self._ask = recorded, ask
        self._rows: dict[str, dict[str, str] | None] = {}
        self._prefixes: dict[str, list[tuple[str, str]] | None] = {}

    def of(self, table: str, keys: Sequence[str]) -> dict[str, str]:
        """The source of each key of a table, in the order of the keys; keys without one are absent.

        A row's own source comes before that of a prefix, and a longer prefix before a shorter one.
        """
        found: dict[str, str] = {}
        if KEY_SOURCES in self._recorded:
            found |= self._by_prefix(table, keys)
        if ROW_SOURCES in self._recorded:
            found |= self._by_row(table, keys)
        return found

    def _by_prefix(self, table: str, keys: Sequence[str]) -> dict[str, str]:
        if table not in self._prefixes:
            sql = (
                f"SELECT prefix, source FROM {KEY_SOURCES} WHERE table_name = ? AND prefix IS NOT NULL "  # noqa: S608
                f"ORDER BY length(prefix), {_LAST} LIMIT {_KEPT_PREFIXES + 1}"
            )
            rows = self._ask(sql, [table])
            self._prefixes[table] = None if len(rows) > _KEPT_PREFIXES else [(row[0], row[1]) for row in rows]
        kept = self._prefixes[table]
        if kept is not None:
            return {key: source for key in sorted(set(keys)) for prefix, source in kept if key.startswith(prefix)}
        sql = (
            f"SELECT asked.key, source FROM {KEY_SOURCES} JOIN (SELECT unnest(?) AS key) AS asked "  # noqa: S608
            "ON starts_with(asked.key, prefix) WHERE table_name = ? "
            f"ORDER BY asked.key, length(prefix), {_LAST}"
        )
        return dict(self._ask(sql, [list(keys), table]))

    def _by_row(self, table: str, keys: Sequence[str]) -> dict[str, str]:
        if table not in self._rows:
            sql = f"SELECT key, source FROM {ROW_SOURCES} WHERE table_name = ? LIMIT {_KEPT_ROWS + 1}"  # noqa: S608
            rows = self._ask(sql, [table])
            self._rows[table] = None if len(rows) > _KEPT_ROWS else _last_of(rows)
        kept = self._rows[table]
        if kept is not None:
            return {key: kept[key] for key in sorted(set(keys)) if key in kept}
        sql = (
            f"SELECT key, source FROM {ROW_SOURCES} "  # noqa: S608
            f"WHERE table_name = ? AND key IN (SELECT unnest(?)) ORDER BY key, {_LAST}"
        )
        return dict(self._ask(sql, [table, list(keys)]))


def _last_of(rows: list[tuple[Any, ...]]) -> dict[str, str]:
    return dict(sorted(rows, key=lambda row: row[1] or ""))
