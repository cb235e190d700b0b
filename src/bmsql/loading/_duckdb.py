"""A DuckDB file as the target of a load: built beside the file and moved into its place whole.

`kb.duckdb.partial` is a copy of the old file into which each table is loaded in a transaction of its
own, together with its record. It stays when a load fails or is killed, so that the next run goes on from
it; it is thrown away when the old file has changed since.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bmsql.backends import KEY_SOURCES, ROW_SOURCES, file_lock, quoted
from bmsql.errors import BackendUnavailableError, ConfigurationError, KnowledgeBaseError
from bmsql.loading import _manifest
from bmsql.loading._job import Prepared, Watch, connect, execute
from bmsql.loading._report import TableRecord

if TYPE_CHECKING:
    import duckdb

_BASE = "_kb_base"
_LOCK_SECONDS = 1.0


class DuckDBTarget:
    """A DuckDB file that tables are loaded into; see the module for how.

    `had` and `resumed` are the records of the tables in the file as it was, and of those that an earlier
    run, which did not end, loaded beside it.
    """

    def __init__(self, path: Path, *, memory_mb: int) -> None:
        self.path = path
        self.name = f"duckdb:///{path.as_posix().lstrip('/')}"
        self.had: dict[str, TableRecord] = {}
        self.resumed: dict[str, TableRecord] = {}
        self._memory_mb = memory_mb
        self._partial = path.with_name(path.name + ".partial")
        self._connection: duckdb.DuckDBPyConnection | None = None

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection that reads files and writes the partial file."""
        if self._connection is None:
            raise RuntimeError("the target is not open")
        return self._connection

    @contextmanager
    def opened(self, base: Path | None = None) -> Iterator[None]:
        """Hold the target for one load, which ends with `finish`.

        base: a file to begin anew from; by default the file itself as it is, or what an earlier run left.
        Raises ConfigurationError, BackendUnavailableError or KnowledgeBaseError when it cannot be had.
        """
        import duckdb

        try:
            with file_lock(self.path.with_name(self.path.name + ".lock"), seconds=_LOCK_SECONDS):
                self._begin() if base is None else self._begin_from(base)
                try:
                    yield
                finally:
                    if self._connection is not None:
                        self._connection.close()
                        self._connection = None
        except TimeoutError as e:
            raise BackendUnavailableError(
                f"Another process is loading into {self.path}.", remedy="Wait until it has ended."
            ) from e
        except duckdb.IOException as e:
            raise KnowledgeBaseError(
                f"{self._partial} cannot be written: {e}", remedy="Check the free space and the permissions there."
            ) from e
        except OSError as e:
            raise ConfigurationError(
                f"{self.path} cannot be written: {e.strerror or e}.", remedy="Give another place, or make it writable."
            ) from e

    def _begin(self) -> None:
        base = ""
        if self.path.exists():
            self._settle()
            base = _fingerprint(self.path)
            self.had = _manifest.read_records(self.path, whole=True)
        if not self._continues(base):
            _remove(self._partial)
            if base:
                copy = self._partial.with_name(self._partial.name + ".copy")
                shutil.copyfile(self.path, copy)
                copy.replace(self._partial)
        self._connection = _connect(self._partial, self._memory_mb)
        self._connection.execute(f"CREATE OR REPLACE TABLE {_BASE} AS SELECT ? AS fingerprint", [base])
        _manifest.create(self._connection)
        now = _manifest.still_whole(self._connection, _manifest.read(self._connection, str(self._partial)))
        self.resumed = {table: record for table, record in now.items() if self.had.get(table) != record}

    def _begin_from(self, base: Path) -> None:
        _remove(self._partial)
        shutil.copyfile(base, self._partial)
        self._connection = _connect(self._partial, self._memory_mb)
        _manifest.create(self._connection)

    def _settle(self) -> None:
        """Bring what a writer left in the log beside the file into it, so that the file alone is all."""
        if self.path.with_name(self.path.name + ".wal").exists():
            _connect(self.path, self._memory_mb).close()

    def _continues(self, base: str) -> bool:
        """Whether the partial file was begun from the file as it is now, and can be opened."""
        import duckdb

        if not self._partial.exists():
            return False
        try:
            with duckdb.connect(str(self._partial)) as connection:
                found = connection.execute(f"SELECT fingerprint FROM {_BASE}").fetchone()  # noqa: S608
        except duckdb.Error:
            return False  # begun by a run that was killed before it wrote anything
        return found == (base,)

    def restrict(self, names: Iterable[str]) -> None:
        """Throw away what an earlier run built, where it holds other tables than these."""
        if set(self.resumed) - set(names):
            self.connection.close()
            _remove(self._partial)
            self._begin()

    def put(self, table: Prepared, watch: Watch) -> None:
        """Load a table with its sources and its record, or nothing of them.

        Raises KnowledgeBaseError when its content is not what was expected.
        """
        connection, name = self.connection, quoted(table.name)
        connection.execute("BEGIN TRANSACTION")
        try:
            for kind in ("TABLE", "VIEW"):
                if self._is(kind, table.name):
                    connection.execute(f"DROP {kind} {name}")
            execute(connection, f"CREATE TABLE {name} AS {table.select}", table, watch)
            self._put_sources(table)
            counted = connection.execute(f"SELECT count(*) FROM {name}").fetchone()  # noqa: S608
            if counted != (table.record.rows,):
                raise KnowledgeBaseError(
                    f"{table.file}: {table.record.rows:,} rows were counted in the files of {table.name}, "
                    f"but {counted[0] if counted else 0:,} were loaded.",
                    remedy="The file may have changed meanwhile, or is malformed: check it, and load it again.",
                )
            _manifest.write(connection, table.record)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def _is(self, kind: str, name: str) -> bool:
        function = {"TABLE": "duckdb_tables()", "VIEW": "duckdb_views()"}[kind]
        condition = f"database_name = current_database() AND lower({kind.lower()}_name) = lower(?)"
        found = self.connection.execute(f"SELECT count(*) FROM {function} WHERE {condition}", [name])  # noqa: S608
        return found.fetchone() != (0,)

    def _put_sources(self, table: Prepared) -> None:
        for name, column in ((ROW_SOURCES, "key"), (KEY_SOURCES, "prefix")):
            self.connection.execute(
                f"CREATE TABLE IF NOT EXISTS {name} (table_name VARCHAR, {column} VARCHAR, source VARCHAR)"
            )
            self.connection.execute(f"DELETE FROM {name} WHERE table_name = ?", [table.name])  # noqa: S608
        if table.sources is not None:
            sql, parameters = table.sources
            self.connection.execute(f"INSERT INTO {ROW_SOURCES} {sql}", parameters)
        for prefix, source in table.prefixes.items():
            self.connection.execute(f"INSERT INTO {KEY_SOURCES} VALUES (?, ?, ?)", [table.name, prefix, source])  # noqa: S608

    def finish(self) -> None:
        """Move what was built into the file's place."""
        self.connection.execute(f"DROP TABLE IF EXISTS {_BASE}")
        self.connection.execute("CHECKPOINT")
        self.connection.close()
        self._connection = None
        with self._partial.open("rb+") as content:
            os.fsync(content.fileno())
        self._partial.replace(self.path)

    def discard(self) -> None:
        """Throw away what was built, where there is nothing to do."""
        self.connection.close()
        self._connection = None
        _remove(self._partial)


def _connect(path: Path, memory_mb: int) -> duckdb.DuckDBPyConnection:
    import duckdb

    try:
        return connect(path, path.parent, memory_mb)
    except duckdb.Error as e:
        raise BackendUnavailableError(
            f"{path} cannot be opened for writing: {e}",
            file=str(path),
            remedy="Close what has it open; where it is no DuckDB file, give another place.",
        ) from e


def _fingerprint(path: Path) -> str:
    stat = path.stat()
    return f"{stat.st_dev}:{stat.st_ino}:{stat.st_size}:{stat.st_mtime_ns}"


def _remove(partial: Path) -> None:
    for suffix in ("", ".wal", ".copy"):
        partial.with_name(partial.name + suffix).unlink(missing_ok=True)
