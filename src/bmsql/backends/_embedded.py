"""The embedded knowledge base: built once from the package's facts into the user's cache directory.

A build goes into a temporary file and is moved into place whole, under a lock between processes.
Beside the file stands its checksum, which every opening compares, so that a damaged file or one
that was never finished is built anew and not used. The file's name carries the checksum of the
facts and the version of DuckDB: an upgrade of either builds another file.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bmsql.backends._build import LAYOUT, build
from bmsql.backends._cache import CACHE_VARIABLE, cache_directory
from bmsql.backends._duckdb import DuckDBBackend
from bmsql.backends._duckdb_file import ROW_SOURCES
from bmsql.backends._lock import file_lock
from bmsql.data import facts_checksum, facts_manifest
from bmsql.errors import KnowledgeBaseError
from bmsql.types import Catalog, ColumnInfo, Limits, TableInfo

_LOCK_SECONDS = 60.0


@dataclass(frozen=True)
class EmbeddedFile:
    """Where the embedded knowledge base lies; `built`: just now; `note`: what the user should know."""

    path: Path
    built: bool
    note: str = ""


class _EmbeddedBackend(DuckDBBackend):
    """The embedded knowledge base: its checksum was compared, so the manifest tells what is in it."""

    def fingerprint(self) -> str:
        """Of the facts: the same wherever and whenever they were built."""
        return facts_checksum()

    def _introspect(self) -> tuple[Catalog, frozenset[str]]:
        return _manifest_catalog(), frozenset({ROW_SOURCES})


@cache
def _manifest_catalog() -> Catalog:
    manifest = facts_manifest()
    return Catalog(
        project=manifest.project,
        dataset=manifest.dataset,
        tables=tuple(
            TableInfo(
                name=table.name,
                rows=table.rows,
                columns=tuple(ColumnInfo(name=column.name, type=column.type) for column in table.columns),
            )
            for table in sorted(manifest.tables, key=lambda table: table.name)
        ),
    )


def open_embedded(*, limits: Limits | None = None) -> DuckDBBackend:
    """The embedded knowledge base, built first where it is missing or damaged.

    Raises KnowledgeBaseError when it cannot be built.
    """
    manifest = facts_manifest()
    return _EmbeddedBackend(
        ensure_embedded().path, project=manifest.project, dataset=manifest.dataset, limits=limits, name="embedded"
    )


def ensure_embedded() -> EmbeddedFile:
    """The file of the embedded knowledge base, built first where it is missing or damaged.

    It lies in the directory named by BMSQL_CACHE_DIR, else in the user's cache directory. Where
    the latter cannot be written, a temporary directory serves until the process ends, and `note`
    says so. Raises KnowledgeBaseError when nothing can be written, or the directory that
    BMSQL_CACHE_DIR names cannot.
    """
    folder = cache_directory()
    try:
        return _ensure(folder)
    except OSError as e:
        reason = e.strerror or str(e)
        if os.environ.get(CACHE_VARIABLE):
            raise KnowledgeBaseError(
                f"The knowledge base cannot be built in {folder}: {reason}.",
                remedy=f"Make the directory writable, or set {CACHE_VARIABLE} to another one.",
            ) from e
    try:
        found = _ensure(_temporary_folder())
    except OSError as e:
        raise KnowledgeBaseError(
            f"The knowledge base cannot be built in {folder} ({reason}), nor in a temporary directory: {e}.",
            remedy=f"Set {CACHE_VARIABLE} to a directory that can be written.",
        ) from e
    note = (
        f"{folder} cannot be written ({reason}): the knowledge base was built for this process only. "
        f"Set {CACHE_VARIABLE} to a directory that can be written, to keep it."
    )
    return EmbeddedFile(found.path, found.built, note)


@cache
def _temporary_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="bmsql-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _ensure(folder: Path) -> EmbeddedFile:
    """The intact file in `folder`, built if need be. Raises OSError when the folder cannot be used."""
    path = folder / f"{facts_manifest().dataset}-{_version()}.duckdb"
    if _intact(path):
        return EmbeddedFile(path, built=False)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with file_lock(path.with_suffix(".lock"), seconds=_LOCK_SECONDS) as locked:
            if _intact(path):  # another process built it while this one waited
                return EmbeddedFile(path, built=False)
            if locked:
                _sweep(path)
            _replace(path)
    except TimeoutError as e:
        raise KnowledgeBaseError(
            f"Another process has been building the knowledge base for a long time: {e}.",
            remedy="End that process, or try again later.",
        ) from e
    return EmbeddedFile(path, built=True)


def _version() -> str:
    import duckdb

    return hashlib.sha256(f"{LAYOUT};{duckdb.__version__};{facts_checksum()}".encode()).hexdigest()[:16]


def _checksum_file(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _intact(path: Path) -> bool:
    """Whether the file is whole: its content is that which was built."""
    try:
        expected = _checksum_file(path).read_text("ascii", errors="replace").strip()
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest() == expected
    except FileNotFoundError:
        return False


def _sweep(path: Path) -> None:
    """Remove what killed builders left behind. Only the holder of the lock may: no other is building."""
    for left in path.parent.glob(f"{path.stem}-*.tmp*"):
        left.unlink(missing_ok=True)


def _replace(path: Path) -> None:
    """Build beside `path`, then move into place: the checksum last, for without it nothing is used."""
    handle, name = tempfile.mkstemp(prefix=f"{path.stem}-", suffix=".tmp", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        temporary.unlink()  # DuckDB takes no empty file
        build(temporary)
        with temporary.open("rb+") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
            os.fsync(content.fileno())
        _checksum_file(path).unlink(missing_ok=True)
        temporary.replace(path)
        temporary.write_text(digest + "\n", "ascii")
        temporary.replace(_checksum_file(path))
    finally:
        temporary.unlink(missing_ok=True)
        temporary.with_name(temporary.name + ".wal").unlink(missing_ok=True)
