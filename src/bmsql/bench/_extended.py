"""A knowledge base with further tables, to see how systems fare when there is more to choose from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmsql.backends import Backend, DuckDBBackend, cache_directory, file_lock, open_backend
from bmsql.bench.systems import SystemOptions
from bmsql.errors import BackendUnavailableError, BenchmarkFileError, ConfigurationError
from bmsql.semantic import SemanticModel, introspect_model, load_semantic_model, parse_semantic_model
from bmsql.types import Catalog

if TYPE_CHECKING:
    import duckdb

_LOCK_SECONDS = 600.0
# Raised when the same files give another knowledge base or semantic model.
_LAYOUT = 1


class ExtendedBackend(DuckDBBackend):
    """A DuckDB knowledge base with further tables; its fingerprint is that of what it was made from."""

    def __init__(self, path: Path, base: Catalog, made_from: str, **options: Any) -> None:
        super().__init__(path, project=base.project, dataset=base.dataset, **options)
        self._made_from = made_from

    def fingerprint(self) -> str:
        """The same wherever and whenever it was built from the same tables."""
        return self._made_from


def extended_options(options: SystemOptions, folders: Sequence[Path]) -> SystemOptions:
    """The same options over the knowledge base with the tables of `folders` added, one for each parquet file.

    A table that is there already is replaced; names that begin with an underscore are left out. The semantic model
    gets what `bmsql schema --from` would guess of the new tables. The database is built once, in the cache.

    Raises ConfigurationError for a backend that is no DuckDB file, BenchmarkFileError for a folder without tables.
    """
    files = [file for folder in folders for file in _parquet_files(folder)]
    base = open_backend(options.backend)
    with ExitStack() as stack:
        if base is not options.backend:
            stack.callback(base.close)
        if not isinstance(base, DuckDBBackend):
            raise ConfigurationError(
                f"tables cannot be added to {base.name}.", remedy="Use the embedded knowledge base or a DuckDB file."
            )
        made_from = _fingerprint(base.fingerprint(), files)
        path = cache_directory() / "extended" / f"{base.catalog().dataset}-{made_from[:16]}.duckdb"
        path.parent.mkdir(parents=True, exist_ok=True)
        with file_lock(path.with_suffix(".lock"), seconds=_LOCK_SECONDS):
            if not path.exists():
                _build(path, base.path, files)
        known = {table.name for table in base.catalog().tables}
        backend = ExtendedBackend(path, base.catalog(), made_from, name=f"{base.name} and {len(files)} tables")
    given = options.semantic_model
    model = given if isinstance(given, SemanticModel) else load_semantic_model(given)
    return replace(options, backend=backend, semantic_model=extended_model(model, backend, known))


def extended_model(model: SemanticModel, backend: Backend, known: Iterable[str]) -> SemanticModel:
    """`model` with what can be guessed of the tables of `backend` beyond the `known` ones and its own."""
    catalog, old = backend.catalog(), {*known, *model.tables}
    new = Catalog(
        project=catalog.project,
        dataset=catalog.dataset,
        tables=tuple(table for table in catalog.tables if table.name not in old),
    )
    if not new.tables:
        return model
    guessed = parse_semantic_model(introspect_model(new, backend.distinct_values), file="<guessed>")
    return model.model_copy(
        update={
            "families": {**guessed.families, **model.families},
            "tables": {**model.tables, **guessed.tables},
            # What the model knows by that name is now found in further tables too.
            "entities": _joined(model.entities, guessed.entities, ("match",)),
            "attributes": _joined(model.attributes, guessed.attributes, ("show", "measure")),
            "joins": _joins(model, guessed),
        }
    )


def _joined(known: dict[str, Any], guessed: dict[str, Any], by_family: tuple[str, ...]) -> dict[str, Any]:
    joined = dict(known)
    for name, item in guessed.items():
        if name not in known:
            joined[name] = item
            continue
        update = {field: {**getattr(item, field), **getattr(known[name], field)} for field in by_family}
        joined[name] = known[name].model_copy(update=update)
    return joined


def _joins(model: SemanticModel, guessed: SemanticModel) -> tuple[Any, ...]:
    found = {join.entity: join for join in guessed.joins}
    joined = [
        join.model_copy(update={"keys": {**found[join.entity].keys, **join.keys}}) if join.entity in found else join
        for join in model.joins
    ]
    names = {join.entity for join in model.joins}
    return (*joined, *(join for join in guessed.joins if join.entity not in names))


def _parquet_files(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.glob("*.parquet") if not file.name.startswith("_"))
    if not files:
        raise BenchmarkFileError(
            "there are no parquet files in it.", file=str(folder), remedy="Give a folder with one file for each table."
        )
    return files


def _fingerprint(base: str, files: Sequence[Path]) -> str:
    digest = hashlib.sha256(f"{_LAYOUT}:{base}".encode())
    for file in files:
        with file.open("rb") as content:
            digest.update(f"{file.stem}:{hashlib.file_digest(content, 'sha256').hexdigest()};".encode())
    return digest.hexdigest()


def _build(path: Path, base: Path, files: Sequence[Path]) -> None:
    """Build the database in a file beside, and move it into place whole."""
    import duckdb

    partial = path.with_suffix(".part")
    partial.unlink(missing_ok=True)
    try:
        with duckdb.connect(str(partial)) as connection:
            connection.execute(f"ATTACH '{_text(base)}' AS base (READ_ONLY)")
            tables = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'base' ORDER BY table_name"
            for (name,) in connection.execute(tables).fetchall():
                connection.execute(f"CREATE TABLE {_name(name)} AS SELECT * FROM base.{_name(name)}")  # noqa: S608
            for file in files:
                _add(connection, file)
            connection.execute("DETACH base")
    except duckdb.Error as error:
        partial.unlink(missing_ok=True)
        raise BackendUnavailableError(
            f"the extended knowledge base cannot be built: {error}", remedy="Check the parquet files and the disk."
        ) from error
    partial.replace(path)


def _add(connection: duckdb.DuckDBPyConnection, file: Path) -> None:
    connection.execute(
        f"CREATE OR REPLACE TABLE {_name(file.stem)} AS SELECT * FROM read_parquet('{_text(file)}')"  # noqa: S608
    )


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(path: Path) -> str:
    return str(path.absolute()).replace("'", "''")
