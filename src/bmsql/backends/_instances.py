"""Open DuckDB files, locked down, shared by all backends of this process.

Each file is attached read-only to a DuckDB instance of its own that has nothing else: no writable
catalogue, no access to other files or the network, no extensions, and a configuration that can no
longer be changed. (DuckDB's own cache of open files goes by path: it would hand out a file that has
been replaced since, and refuses a second memory limit.)
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bmsql.backends._workers import Workers
from bmsql.errors import BackendUnavailableError

if TYPE_CHECKING:
    import duckdb

_CATALOG = "bmsql_data"
# How many cursors, and how many threads, wait for the next query.
_KEPT = 8


@dataclass(frozen=True)
class InstanceKey:
    """What makes two uses the same instance: this process, this content of this file, these limits."""

    pid: int
    path: str
    device: int
    inode: int
    size: int
    modified_ns: int
    memory_mb: int
    threads: int


@dataclass
class Instance:
    """An open file, with the threads and the cursors that its queries run on.

    `holders` counts the backends that have it open, `working` the cursors that are lent; `idle` are the others.
    """

    key: InstanceKey
    connection: duckdb.DuckDBPyConnection
    workers: Workers = field(default_factory=lambda: Workers(_KEPT))
    idle: list[duckdb.DuckDBPyConnection] = field(default_factory=list)
    holders: int = 0
    working: int = 0
    # Set when DuckDB has declared the instance unusable: it is then opened anew.
    broken: bool = False

    def lend(self) -> duckdb.DuckDBPyConnection:
        """A connection for one caller, to be given to `take_back`: one connection cannot serve two threads."""
        with _registry.lock:
            if self.holders == 0:
                raise BackendUnavailableError(f"{self.key.path} has been closed.", remedy="Open it again.")
            kept = bool(self.idle)
            cursor = self.idle.pop() if kept else self.connection.cursor()
            self.working += 1
        if kept:
            return cursor
        try:
            cursor.execute(f"USE {_CATALOG}")
        except BaseException:
            self.take_back(cursor, keep=False)
            raise
        return cursor

    def take_back(self, cursor: duckdb.DuckDBPyConnection, *, keep: bool) -> None:
        """Keep a cursor for the next query, or close it. The file stays open until the last one is back.

        Closing the file would end the cursor's query. keep: only when nothing is left open on the cursor, and
        nobody can interrupt it any more.
        """
        with _registry.lock:
            if keep and self.holders > 0 and len(self.idle) < _KEPT:
                self.idle.append(cursor)
                self.working -= 1
                return
        cursor.close()
        with _registry.lock:
            self.working -= 1
            last = self.working == 0 and self.holders == 0
        if last:
            self.connection.close()


class _Registry:
    """The instances of this process."""

    def __init__(self) -> None:
        self.open: dict[InstanceKey, Instance] = {}
        self.lock = threading.Lock()
        self.inherited: list[Instance] = []

    def after_fork(self) -> None:
        """Begin anew in a child process.

        The threads of what was open stayed with the parent: it can be neither used nor closed here,
        and is kept so that nothing destroys it.
        """
        self.lock = threading.Lock()
        self.inherited.extend(self.open.values())
        self.open.clear()


_registry = _Registry()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_registry.after_fork)


def acquire(path: Path, *, memory_mb: int, threads: int) -> Instance:
    """Open a file, or share it where it is open already.

    Raises BackendUnavailableError, with the remedy, when it cannot be opened.
    """
    key = _key(path, memory_mb, threads)
    with _registry.lock:
        instance = _registry.open.get(key)
        if instance is None or instance.broken:
            instance = Instance(key, _connect(key))
            _registry.open[key] = instance
        instance.holders += 1
        return instance


def release(instance: Instance) -> None:
    """Give an instance back. The last one closes it: what is idle now, the file once no query runs any more."""
    with _registry.lock:
        if instance.key.pid != os.getpid():
            _registry.inherited.append(instance)
            return
        instance.holders -= 1
        if instance.holders > 0:
            return
        if _registry.open.get(instance.key) is instance:
            del _registry.open[instance.key]
        idle, instance.idle = instance.idle, []
        last = instance.working == 0
    instance.workers.close()
    for cursor in idle:
        cursor.close()
    if last:
        instance.connection.close()


def _key(path: Path, memory_mb: int, threads: int) -> InstanceKey:
    try:
        real = path.resolve(strict=True)
        stat = real.stat()
        if real.is_dir():
            raise BackendUnavailableError(
                f"{path} is a directory, not a DuckDB file.", file=str(path), remedy="Give the path of the file in it."
            )
        with real.open("rb"):
            pass
    except FileNotFoundError as e:
        raise BackendUnavailableError(
            f"There is no file {path}.",
            file=str(path),
            remedy="Check the path; a relative one starts at the current directory.",
        ) from e
    except OSError as e:
        raise BackendUnavailableError(
            f"{path} cannot be read: {e.strerror or e}.",
            file=str(path),
            remedy="Check that the path and its permissions are right.",
        ) from e
    return InstanceKey(
        os.getpid(), str(real), stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, memory_mb, threads
    )


def _connect(key: InstanceKey) -> duckdb.DuckDBPyConnection:
    import duckdb

    from bmsql.sql.duckdb import DUCKDB_SETTINGS

    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{key.memory_mb}MiB",
            "threads": key.threads,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            # An unknown table name would otherwise be looked up among the callers' Python variables.
            "python_enable_replacements": False,
            # Spilling would write beside the process; a query beyond the memory limit fails instead.
            "temp_directory": "",
        },
    )
    try:
        literal = key.path.replace("'", "''")
        connection.execute(f"ATTACH '{literal}' AS {_CATALOG} (READ_ONLY, TYPE duckdb)")
        _refuse_shadows(connection, key.path)
        connection.execute(f"USE {_CATALOG}")
        connection.execute("DETACH memory")
        for statement in DUCKDB_SETTINGS:
            # For all cursors: what is set for one session does not reach another.
            connection.execute(statement.replace("SET ", "SET GLOBAL ", 1))
        connection.execute("SET GLOBAL enable_external_access = false")
        connection.execute("SET GLOBAL lock_configuration = true")
    except duckdb.Error as e:
        connection.close()
        raise _unavailable(key.path, e) from e
    except BackendUnavailableError:
        connection.close()
        raise
    return connection


def _refuse_shadows(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Raise when macros of the file have the names of built-in functions: they would be called instead.

    To be asked before the file is the current catalogue, where its macros could answer this too.
    """
    sql = "SELECT DISTINCT lower(function_name), internal FROM duckdb_functions() WHERE internal OR database_name = ?"
    found = connection.execute(sql, [_CATALOG]).fetchall()
    built_in = {name for name, internal in found if internal}
    shadows = sorted({name for name, internal in found if not internal} & built_in)
    if shadows:
        raise BackendUnavailableError(
            f"{path} has macros with names of built-in functions, which would falsify answers: {', '.join(shadows)}.",
            file=path,
            remedy="Drop them with DROP MACRO (DROP MACRO TABLE), or copy the tables to a file without them.",
        )


def _unavailable(path: str, error: duckdb.Error) -> BackendUnavailableError:
    message = str(error)
    lowered = message.lower()
    if "not a valid duckdb database" in lowered:
        return BackendUnavailableError(
            f"{path} is not a DuckDB database.", file=path, remedy="Give the path of a DuckDB file."
        )
    if "lock" in lowered or "already attached" in lowered:
        return BackendUnavailableError(
            f"{path} is open for writing elsewhere: {message}", remedy="Close the program or connection that writes it."
        )
    if "version" in lowered:
        return BackendUnavailableError(
            f"{path} was written by another version of DuckDB: {message}",
            file=path,
            remedy="Upgrade the duckdb package.",
        )
    return BackendUnavailableError(
        f"{path} cannot be opened by DuckDB: {message}",
        file=path,
        remedy="The file may be damaged: restore it from its source.",
    )
