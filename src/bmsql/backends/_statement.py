"""The one statement that is run of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bmsql.errors import ExecutionError

if TYPE_CHECKING:
    import duckdb


class Translated:
    """A query in DuckDB's SQL, parsed by DuckDB when it first runs; any cursor of its file takes the statement."""

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self._statement: duckdb.Statement | None = None

    def statement(self, cursor: duckdb.DuckDBPyConnection) -> duckdb.Statement:
        """See `select`."""
        # Two threads may both parse it: they find the same.
        if self._statement is None:
            self._statement = select(cursor, self.sql)
        return self._statement


def select(cursor: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """The one SELECT in `sql`, by DuckDB's own parser: the last look before it runs.

    What is run is what was looked at, and not the text once more. Raises ExecutionError for anything else.
    """
    import duckdb

    statements = cursor.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise ExecutionError("Only a single SELECT is run.")
    return statements[0]
