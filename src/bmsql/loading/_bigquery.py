"""A BigQuery dataset as the target of a load.

Each table is uploaded as parquet into a staging table of its own, and checked there. Only when all are
there are they copied over the tables, each copy being atomic; what was staged by a load that did not end is
found again by the record in its description, and expires by itself.
"""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from bmsql.backends import KEY_SOURCES, MANIFEST, ROW_SOURCES
from bmsql.errors import KnowledgeBaseError
from bmsql.loading import _manifest
from bmsql.loading._bigquery_client import brief_retry, mapped, open_client
from bmsql.loading._job import Prepared, Watch, connect, execute
from bmsql.loading._report import TableRecord

if TYPE_CHECKING:
    import duckdb
    from google.cloud.bigquery import SchemaField, Table

STAGED = "_kb_load_"
STAGED_SOURCES = "_kb_sources_"
_STAGED_FOR = dt.timedelta(days=7)
_LABELS = {"app": "bmsql", "task": "kb-load"}
_LONGEST_DESCRIPTION = 16_384
# Other types are taken from the parquet file.
_PLAIN = ("STRING", "INT64", "FLOAT64", "BOOL", "BYTES", "DATE", "TIME", "DATETIME", "TIMESTAMP", "NUMERIC")


class BigQueryTarget:
    """A BigQuery dataset that tables are loaded into; see the module for how, and `DuckDBTarget`."""

    def __init__(self, url: str, *, memory_mb: int) -> None:
        self.name = url
        self.had: dict[str, TableRecord] = {}
        self.resumed: dict[str, TableRecord] = {}
        self._client, self._dataset, self._location = open_client(url)
        self._retry = brief_retry()
        self._where = f"{self._dataset.project}.{self._dataset.dataset_id}"
        self._memory_mb = memory_mb
        self._folder = Path()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._prefixes: dict[str, dict[str, str]] = {}
        self._descriptions: dict[str, str] = {}

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection that reads files."""
        if self._connection is None:
            raise RuntimeError("the target is not open")
        return self._connection

    @contextmanager
    def opened(self, base: Path | None = None) -> Iterator[None]:
        """Hold the target for one load, which ends with `finish`; a dataset that is missing is made.

        Raises CredentialsError, ConfigurationError or BackendUnavailableError when it cannot be had.
        """
        from google.cloud.bigquery import Dataset

        with tempfile.TemporaryDirectory(prefix="bmsql-") as folder, mapped(self._where):
            self._folder = Path(folder)
            dataset = Dataset(self._dataset)
            if self._location:
                dataset.location = self._location
            self._client.create_dataset(dataset, exists_ok=True, retry=self._retry)
            self.had = self._recorded()
            self.resumed = self._staged()
            self._connection = connect(":memory:", self._folder, self._memory_mb)
            try:
                yield
            finally:
                self._connection.close()
                self._connection = None

    def _table(self, name: str) -> Table | None:
        from google.api_core.exceptions import NotFound

        try:
            return self._client.get_table(self._dataset.table(name), retry=self._retry)
        except NotFound:
            return None

    def _rows(self, name: str) -> list[tuple[Any, ...]]:
        table = self._table(name)
        return (
            [] if table is None else [tuple(row.values()) for row in self._client.list_rows(table, retry=self._retry)]
        )

    def records(self) -> dict[str, TableRecord]:
        """The records in the dataset, by table. Raises as `opened` does."""
        with mapped(self._where):
            return _manifest.decoded(self._rows(MANIFEST), self._where)

    def _recorded(self) -> dict[str, TableRecord]:
        """The records of tables that are still there with all their rows."""
        return {
            name: record
            for name, record in self.records().items()
            if (table := self._table(name)) is not None and table.num_rows == record.rows
        }

    def _staged(self) -> dict[str, TableRecord]:
        found = {}
        for item in self._client.list_tables(self._dataset, retry=self._retry):
            if not item.table_id.startswith(STAGED):
                continue
            table = self._table(item.table_id)
            if table is None or not table.description:
                continue  # staged by a run that was stopped before it had checked it
            name = item.table_id.removeprefix(STAGED)
            record = _manifest.decoded([(name, table.description)], self._where)[name]
            if record.rows == table.num_rows:
                found[name] = record
        return found

    def restrict(self, names: Iterable[str]) -> None:
        """Forget what earlier runs staged of other tables than these."""
        for name in set(self.resumed) - set(names):
            del self.resumed[name]
            self._drop(name)

    def put(self, table: Prepared, watch: Watch) -> None:
        """Stage a table with its sources. Raises KnowledgeBaseError when its content is not what was expected."""
        self._drop(table.name)
        file = self._written(table, table.select, table.parameters, watch)
        fields = _fields(table)
        staged = self._upload(file, STAGED + table.name, lambda done: watch.say("upload", done), fields)
        watch.say("verify", 0)
        if staged.num_rows != table.record.rows:
            raise KnowledgeBaseError(
                f"{table.file}: {table.record.rows:,} rows were counted in the files of {table.name}, "
                f"but {staged.num_rows:,} were loaded.",
                remedy="The file may have changed meanwhile, or is malformed: check it, and load it again.",
            )
        if table.sources is not None:
            sql = f"SELECT * FROM ({table.sources[0]}) AS rows(table_name, key, source)"  # noqa: S608
            sources = self._written(table, sql, table.sources[1], watch)
            self._upload(sources, STAGED_SOURCES + table.name, lambda done: watch.say("upload", done))
        self._prefixes[table.name] = dict(table.prefixes)
        self._descriptions[table.name] = table.description
        record = _manifest.encoded(table.record)
        # Last: without it the staged table is not taken for whole.
        staged.description = record if len(record) <= _LONGEST_DESCRIPTION else None
        staged.expires = dt.datetime.now(dt.UTC) + _STAGED_FOR
        self._client.update_table(staged, ["description", "expires"], retry=self._retry)
        self.resumed[table.name] = table.record

    def _written(self, table: Prepared, sql: str, parameters: list[Any], watch: Watch) -> Path:
        file = self._folder / "table.parquet"
        file.unlink(missing_ok=True)
        target = str(file).replace("'", "''")
        changed = Prepared(table.name, table.file, sql, parameters, table.schema, table.record)
        execute(self.connection, f"COPY ({sql}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)", changed, watch)
        return file

    def _upload(
        self,
        file: Path,
        name: str,
        progress: Callable[[float], None],
        fields: list[SchemaField] | None = None,
        clustered: list[str] | None = None,
    ) -> Table:
        """Load a parquet file into a table, in place of what it holds."""
        from google.cloud.bigquery import LoadJobConfig, SourceFormat, WriteDisposition

        config = LoadJobConfig(
            source_format=SourceFormat.PARQUET, write_disposition=WriteDisposition.WRITE_TRUNCATE, labels=_LABELS
        )
        if fields:
            config.schema = fields
        if clustered:
            config.clustering_fields = clustered
        with file.open("rb") as content:
            job = self._client.load_table_from_file(
                _Counted(content, file.stat().st_size, progress),  # type: ignore[arg-type]
                self._dataset.table(name),
                job_config=config,
                num_retries=5,
            )
        job.result(retry=self._retry)
        return self._client.get_table(self._dataset.table(name), retry=self._retry)

    def finish(self) -> None:
        """Copy what was staged over the tables, then record it."""
        from google.cloud.bigquery import CopyJobConfig, WriteDisposition

        for name in self.resumed:
            config = CopyJobConfig(write_disposition=WriteDisposition.WRITE_TRUNCATE, labels=_LABELS)
            self._client.copy_table(
                self._dataset.table(STAGED + name), self._dataset.table(name), job_config=config, retry=self._retry
            ).result()
            table = self._client.get_table(self._dataset.table(name), retry=self._retry)
            table.description, table.expires = self._descriptions.get(name) or None, None
            self._client.update_table(table, ["description", "expires"], retry=self._retry)
        self._put_row_sources()
        kept = [row for row in self._rows(KEY_SOURCES) if row[0] not in self._prefixes]
        added = [(name, prefix, source) for name, each in self._prefixes.items() for prefix, source in each.items()]
        self._put_rows(KEY_SOURCES, ("table_name", "prefix", "source"), kept + added)
        records = {**self.records(), **self.resumed}
        rows = [(name, _manifest.encoded(record)) for name, record in sorted(records.items())]
        self._put_rows(MANIFEST, ("table_name", "record"), rows)
        for name in self.resumed:
            self._drop(name)

    def _put_row_sources(self) -> None:
        from google.cloud.bigquery import ArrayQueryParameter, QueryJobConfig

        staged = [name for name in self.resumed if self._table(STAGED_SOURCES + name) is not None]
        known = self._table(ROW_SOURCES) is not None
        if not staged and not known:
            return
        columns = "table_name, key, source"
        parts = [f"SELECT {columns} FROM {self._full(STAGED_SOURCES + name)}" for name in staged]  # noqa: S608
        if known:
            # Of tables that were replaced no source may stay.
            parts.insert(
                0,
                f"SELECT {columns} FROM {self._full(ROW_SOURCES)} WHERE table_name NOT IN UNNEST(@replaced)",  # noqa: S608
            )
        sql = f"CREATE OR REPLACE TABLE {self._full(ROW_SOURCES)} CLUSTER BY table_name, key AS " + " UNION ALL ".join(
            parts
        )
        config = QueryJobConfig(
            labels=_LABELS, query_parameters=[ArrayQueryParameter("replaced", "STRING", sorted(self.resumed))]
        )
        self._client.query(sql, job_config=config, retry=self._retry).result()

    def _put_rows(self, name: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
        """Replace a small table of text."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not rows and self._table(name) is None:
            return
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        arrays = {column: pa.array(values, pa.string()) for column, values in zip(columns, cells, strict=True)}
        file = self._folder / "rows.parquet"
        pq.write_table(pa.table(arrays), file)
        self._upload(file, name, lambda done: None)

    def _full(self, name: str) -> str:
        return f"`{self._where}.{name}`"

    def _drop(self, name: str) -> None:
        for prefix in (STAGED, STAGED_SOURCES):
            self._client.delete_table(self._dataset.table(prefix + name), not_found_ok=True, retry=self._retry)

    def discard(self) -> None:
        """Nothing was staged, and so there is nothing to throw away."""


class _Counted:
    """A file that tells how much of it has been read."""

    def __init__(self, file: IO[bytes], size: int, progress: Callable[[float], None]) -> None:
        self._file, self._size, self._progress = file, size, progress

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self._progress(self._file.tell() / self._size if self._size else 1.0)
        return block

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _fields(table: Prepared) -> list[SchemaField] | None:
    """The schema with the meanings of columns, where BigQuery can be told it."""
    from google.cloud.bigquery import SchemaField

    if any(column.type not in _PLAIN for column in table.schema.columns):
        return None
    return [SchemaField(c.name, c.type, description=c.description) for c in table.schema.columns]
