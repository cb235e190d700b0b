"""Loading files of tables into a knowledge base."""

from __future__ import annotations

import datetime as dt
import hashlib
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from bmsql._version import __version__
from bmsql.backends import ROW_SOURCES, quoted
from bmsql.errors import ConfigurationError, KnowledgeBaseError
from bmsql.loading._files import TableFiles, count_rows, find_tables, record_file
from bmsql.loading._job import Prepared, Watch
from bmsql.loading._manifest import dumped
from bmsql.loading._reader import FileRelation, open_files
from bmsql.loading._report import LoadReport, OnProgress, TableRecord, TableReport, silent
from bmsql.loading._schema import TableSchema, read_schema
from bmsql.loading._target import open_target
from bmsql.semantic import SemanticModel, load_semantic_model

if TYPE_CHECKING:
    import duckdb

MEMORY_MB = 2048
_ROW_SOURCES_COLUMNS = ("table", "key", "source")


class Target(Protocol):
    """Where tables go: a DuckDB file or a BigQuery dataset; see `DuckDBTarget`."""

    name: str
    had: dict[str, TableRecord]
    resumed: dict[str, TableRecord]

    @property
    def connection(self) -> duckdb.DuckDBPyConnection: ...
    def opened(self, base: Path | None = None) -> AbstractContextManager[None]: ...
    def restrict(self, names: Iterable[str]) -> None: ...
    def put(self, table: Prepared, watch: Watch) -> None: ...
    def finish(self) -> None: ...
    def discard(self) -> None: ...


def load(
    paths: str | Path | Iterable[str | Path],
    to: str,
    *,
    semantic_model: SemanticModel | str | Path | None = None,
    check: bool = True,
    only: Sequence[str] = (),
    nulls: Sequence[str] = ("",),
    source: str = "",
    origin: str = "",
    force: bool = False,
    memory_mb: int = MEMORY_MB,
    on_progress: OnProgress = silent,
) -> LoadReport:
    """Load parquet and CSV files into the knowledge base `to`; what fails or is killed leaves it whole.

    paths: files, or folders of files; each is a table of its name. to: `duckdb:///path` or
    `bigquery://project/dataset`; tables of the same name are replaced, others are kept. A table that the
    semantic model knows must have its columns unless `check` is False. only: tables to load, all by default.
    nulls: cells of text files that stand for no value. source: what answers cite as the source of rows that
    name none themselves. origin: where the files come from, for the record; their folder by default.
    force: load a table anew even where the same content is there already.

    Run again after it was stopped, it goes on with the tables that are not there yet. Raises
    KnowledgeBaseError when a file is not as expected, ConfigurationError when an argument is wrong,
    BackendUnavailableError when the target cannot be reached.
    """
    started = time.perf_counter()
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    model = semantic_model if isinstance(semantic_model, SemanticModel) else load_semantic_model(semantic_model)
    tables = _chosen(find_tables(given), only)
    target = open_target(to, memory_mb=memory_mb)
    with target.opened():
        loader = _Loader(target, model, check, tuple(nulls), source, origin or _origin(given), force)
        reports = loader.run(tables, on_progress)
    return LoadReport(target=target.name, tables=reports, seconds=time.perf_counter() - started)


def _chosen(tables: Sequence[TableFiles], only: Sequence[str]) -> list[TableFiles]:
    known = {each.table.lower(): each for each in tables}
    for name in only:
        if name.lower() not in known:
            raise ConfigurationError(
                f"There is no file of a table {name!r}.",
                remedy=f"There are: {', '.join(each.table for each in tables)}.",
            )
    wanted = {name.lower() for name in only} or set(known)
    return [each for low, each in known.items() if low in wanted]


def _origin(given: Sequence[str | Path]) -> str:
    return ", ".join(str(Path(path).expanduser().absolute()) for path in given)


class _Loader:
    """One load: everything is checked before anything is written."""

    def __init__(
        self,
        target: Target,
        model: SemanticModel,
        check: bool,
        nulls: tuple[str, ...],
        source: str,
        origin: str,
        force: bool,
    ) -> None:
        self.target, self.model, self.check = target, model, check
        self.nulls, self.source, self.origin, self.force = nulls, source, origin, force
        # The rows `(table, key, source)` of a file of row sources, and its checksum.
        self._row_sources: FileRelation | None = None
        self._row_sources_checksum = ""

    def run(self, tables: Sequence[TableFiles], on_progress: OnProgress) -> tuple[TableReport, ...]:
        """Load the tables that are not in the target yet."""
        self._open_row_sources(tables)
        tables = [each for each in tables if each.table != ROW_SOURCES]
        prepared = []
        for number, files in enumerate(tables, 1):
            watch = Watch(self._named(files.table), number, len(tables), on_progress)
            prepared.append((self._prepare(files, watch), watch))
        self.target.restrict(table.name for table, _ in prepared)
        reports = [self._put(table, watch) for table, watch in prepared]
        if all(report.action == "unchanged" for report in reports):
            self.target.discard()
        else:
            self.target.finish()
        return tuple(reports)

    def _open_row_sources(self, tables: Sequence[TableFiles]) -> None:
        for files in tables:
            if files.table == ROW_SOURCES:
                found = open_files(self.target.connection, files, self.nulls, typed=False)
                if len(found.columns) != len(_ROW_SOURCES_COLUMNS):
                    raise KnowledgeBaseError(
                        f"{found.file} has {len(found.columns)} columns.",
                        remedy=f"A file of row sources has three: {', '.join(_ROW_SOURCES_COLUMNS)}.",
                    )
                self._row_sources = found
                self._row_sources_checksum = dumped(record_file(path, lambda _: 0).sha256 for path in files.paths)

    def _sources(self, name: str, relation: FileRelation, schema: TableSchema) -> tuple[str, list[Any]] | None:
        """What names the source of each row: a column of the files themselves, or a file of row sources."""
        if schema.source:
            sql = f"SELECT ?, {quoted(schema.key)}, {quoted(schema.source)} FROM {relation.sql}"  # noqa: S608
            return sql, [name, *relation.parameters]
        if self._row_sources is not None:
            table, key, source = (quoted(column) for column, _ in self._row_sources.columns)
            sql = f"SELECT ?, {key}, {source} FROM {self._row_sources.sql} WHERE lower({table}) = lower(?)"  # noqa: S608
            return sql, [name, *self._row_sources.parameters, name]
        return None

    def _named(self, table: str) -> str:
        """The name by which the semantic model knows a table, whatever the case of the file's."""
        return next((name for name in self.model.tables if name.lower() == table.lower()), table)

    def _prepare(self, files: TableFiles, watch: Watch) -> Prepared:
        name = watch.table
        known = self.check and bool(self.model.tables[name].columns) if name in self.model.tables else False
        relation = open_files(self.target.connection, files, self.nulls, typed=not known)
        schema = read_schema(relation, self.model, name, check=self.check)
        total = sum(path.stat().st_size for path in files.paths)
        read = 0
        records = []
        for path in files.paths:
            before = read
            said = watch.part("read", total)
            record = record_file(path, count_rows(files), progress=lambda done: said(before + done))  # noqa: B023
            records.append(record)
            read += record.bytes
        how = (schema.select, [(c.name, c.type) for c in schema.columns], self.source, self._row_sources_checksum)
        identity = dumped([*(record.sha256 for record in records), how, self.nulls if not files.parquet else ()])
        return Prepared(
            name=name,
            file=relation.file,
            select=f"SELECT {schema.text} FROM {relation.sql}",  # noqa: S608 - names are quoted
            parameters=relation.parameters,
            schema=schema,
            record=TableRecord(
                table=name,
                rows=sum(record.rows for record in records),
                files=tuple(records),
                checksum=hashlib.sha256(identity.encode()).hexdigest(),
                origin=self.origin,
                loaded_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
                bmsql=__version__,
                model=self.model.name if schema.checked else "",
            ),
            sources=self._sources(name, relation, schema),
            prefixes={"": self.source} if self.source else {},
            description=self.model.tables[name].description if name in self.model.tables else "",
        )

    def _put(self, table: Prepared, watch: Watch) -> TableReport:
        started = time.perf_counter()
        action = self._action(table)
        if action == "loaded":
            self.target.put(table, watch)
        watch.say("done", 1)
        return TableReport(
            table=table.name,
            action=action,
            rows=table.record.rows,
            columns=len(table.schema.columns),
            checksum=table.record.checksum,
            seconds=time.perf_counter() - started,
            notes=() if table.schema.checked else ("The semantic model knows no such table: loaded as it is.",),
        )

    def _action(self, table: Prepared) -> Literal["loaded", "unchanged", "resumed"]:
        if self.force:
            return "loaded"
        if table.name in self.target.resumed:
            return "resumed" if _same(self.target.resumed[table.name], table.record) else "loaded"
        return "unchanged" if _same(self.target.had.get(table.name), table.record) else "loaded"


def _same(known: TableRecord | None, record: TableRecord) -> bool:
    return known is not None and known.checksum == record.checksum and known.rows == record.rows
