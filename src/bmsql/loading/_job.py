"""One table on its way into a target, and running its SQL under watch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bmsql.errors import ConfigurationError, KnowledgeBaseError
from bmsql.loading._files import damaged
from bmsql.loading._report import LoadProgress, OnProgress, TableRecord
from bmsql.loading._schema import TableSchema, wrong_cell

if TYPE_CHECKING:
    import duckdb

Step = Literal["download", "read", "load", "upload", "verify", "done"]
_POLL = 0.2


@dataclass(frozen=True)
class Prepared:
    """A table that was checked: the SELECT that makes its rows, and what is to be recorded of it.

    sources: a SELECT of table name, key and source for each row with its parameters; None where rows have no
    source of their own. prefixes: the source of all rows whose key begins with a prefix. description: what the
    semantic model says of the table.
    """

    name: str
    file: str
    select: str
    parameters: list[Any]
    schema: TableSchema
    record: TableRecord
    sources: tuple[str, list[Any]] | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)
    description: str = ""


@dataclass(frozen=True)
class Watch:
    """Tells how far the work on one table is."""

    table: str
    number: int
    tables: int
    on_progress: OnProgress

    def say(self, step: Step, fraction: float) -> None:
        """Report that `fraction` of a step is done."""
        self.on_progress(
            LoadProgress(
                table=self.table,
                number=self.number,
                tables=self.tables,
                step=step,
                fraction=min(1.0, max(0.0, fraction)),
            )
        )

    def part(self, step: Step, total: float) -> Callable[[float], None]:
        """A function that is told how much of `total` is done."""
        return lambda done: self.say(step, done / total if total else 1.0)


def connect(path: str | Path, folder: Path, memory_mb: int) -> duckdb.DuckDBPyConnection:
    """DuckDB for loading: bounded memory, the rest spilled to `folder`; nothing is downloaded."""
    import duckdb

    connection = duckdb.connect(
        str(path),
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "memory_limit": f"{memory_mb}MiB",
            "temp_directory": str(folder / ".bmsql-spill"),
        },
    )
    connection.execute("SET enable_progress_bar = true")  # without it there is no progress to ask for
    connection.execute("SET enable_progress_bar_print = false")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def execute(connection: duckdb.DuckDBPyConnection, sql: str, table: Prepared, watch: Watch) -> None:
    """Run SQL over the files of a table.

    Raises KnowledgeBaseError when a cell or a file is wrong, ConfigurationError when memory is too small.
    """
    import duckdb

    try:
        with polled(connection, watch):
            connection.execute(sql, table.parameters)
    except duckdb.OutOfMemoryException as e:
        raise ConfigurationError(
            f"Loading {table.name} needs more than the memory allowed: {e}", remedy="Raise --memory."
        ) from e
    except (duckdb.InvalidInputException, duckdb.ConversionException) as e:
        raise wrong_cell(str(e), table.schema, table.file) or damaged(table.file, e) from e
    except duckdb.InterruptException as e:
        raise KeyboardInterrupt from e
    except duckdb.Error as e:
        if "No space left" in str(e) or "Cannot write" in str(e):
            raise KnowledgeBaseError(f"{table.name} cannot be stored: {e}", remedy="Free some space.") from e
        raise damaged(table.file, e) from e


@contextmanager
def polled(connection: duckdb.DuckDBPyConnection, watch: Watch) -> Iterator[None]:
    """Report the progress of the query that runs inside, from a thread of its own."""
    ended = threading.Event()

    def poll() -> None:
        while not ended.wait(_POLL):
            percent = connection.query_progress()
            if percent >= 0:
                watch.say("load", percent / 100)

    watch.say("load", 0)
    thread = threading.Thread(target=poll, name="bmsql-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    watch.say("load", 1)
