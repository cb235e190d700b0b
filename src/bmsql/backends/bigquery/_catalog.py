"""The catalogue by introspection: free calls of the API, many at a time, no query."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from bmsql.backends._duckdb_file import INTERNAL
from bmsql.backends.bigquery._errors import fault_of
from bmsql.backends.bigquery._retry import tried
from bmsql.backends.bigquery._schema import columns_of
from bmsql.backends.bigquery._shards import SUFFIX, Family, fold
from bmsql.errors import QueryTimeoutError
from bmsql.types import Catalog, ColumnInfo, TableInfo

if TYPE_CHECKING:
    from google.cloud.bigquery import Client
    from google.cloud.bigquery.table import Table

# What loading writes beside the tables, while it is under way.
_STAGED = ("_kb_load_", "_kb_sources_")
# The client keeps ten connections.
_WORKERS = 10
_CALL_SECONDS = 30.0
_KINDS = {
    "TABLE": "table",
    "VIEW": "view",
    "MATERIALIZED_VIEW": "materialized view",
    "EXTERNAL": "external table",
    "SNAPSHOT": "snapshot",
    "CLONE": "clone",
}
_PARTITION = (
    ColumnInfo(name="_PARTITIONTIME", type="TIMESTAMP", description="When the row was ingested, truncated."),
    ColumnInfo(name="_PARTITIONDATE", type="DATE", description="The day on which the row was ingested."),
)


class Introspected(NamedTuple):
    """A catalogue, and what it leaves out.

    records: the tables of `bmsql` itself that the dataset holds, such as those that name the sources of
    rows. states: by table, a text that changes when it does. location: where the dataset lies.
    """

    catalog: Catalog
    records: frozenset[str]
    states: dict[str, str]
    location: str


def introspect(
    client: Client, project: str, dataset: str, others: Sequence[tuple[str, str]], *, name: str, seconds: float
) -> Introspected:
    """The tables and views of a dataset, and of `others`, each as project and dataset.

    Raises BackendUnavailableError, also when a dataset does not exist or `seconds` have passed,
    PermissionDeniedError, CredentialsError.
    """
    location = _location(client, project, dataset, name, seconds)
    stop = threading.Event()
    with ThreadPoolExecutor(_WORKERS, thread_name_prefix="bmsql-catalogue") as pool:
        try:
            found = [
                _dataset(client, place, home=(project, dataset), name=name, seconds=seconds, pool=pool, stop=stop)
                for place in ((project, dataset), *others)
            ]
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    states = {table.name: text for part in found for table, text in part}
    tables = tuple(table for part in found for table, _ in part)
    kept = tuple(table for table in tables if table.name not in INTERNAL and not table.name.startswith(_STAGED))
    catalog = Catalog(project=project, dataset=dataset, tables=kept)
    return Introspected(catalog, INTERNAL & states.keys(), states, location)


def _location(client: Client, project: str, dataset: str, name: str, seconds: float) -> str:
    found = tried(
        lambda: client.get_dataset(f"{project}.{dataset}", retry=None, timeout=_CALL_SECONDS),  # type: ignore[arg-type]
        name=name,
        seconds=seconds,
    )
    return str(found.location or "")


def _dataset(
    client: Client,
    place: tuple[str, str],
    *,
    home: tuple[str, str],
    name: str,
    seconds: float,
    pool: ThreadPoolExecutor,
    stop: threading.Event,
) -> list[tuple[TableInfo, str]]:
    project, dataset = place
    prefix = "" if place == home else f"{dataset}." if project == home[0] else f"{project}.{dataset}."

    def listed() -> list[str]:
        items = client.list_tables(f"{project}.{dataset}", retry=None, timeout=_CALL_SECONDS)  # type: ignore[arg-type]
        return [item.table_id for item in items]

    def look(family: Family) -> tuple[TableInfo, str] | None:
        table = tried(
            lambda: _get(client, f"{project}.{dataset}.{family.sample}"), name=name, seconds=seconds, stop=stop
        )
        return None if table is None else (table_info(table, family, prefix), _state(table, family))

    families = fold(tried(listed, name=name, seconds=seconds, stop=stop))
    try:
        found = list(pool.map(look, families, timeout=seconds))
    except TimeoutError as e:
        raise QueryTimeoutError(
            f"The catalogue of {project}.{dataset} could not be read within {seconds:g} s.",
            remedy="Raise the limit `seconds`.",
        ) from e
    # A table may have been dropped since it was listed.
    return [one for one in found if one is not None]


def _get(client: Client, table: str) -> Table | None:
    from google.api_core.exceptions import NotFound

    try:
        return client.get_table(table, retry=None, timeout=_CALL_SECONDS)  # type: ignore[arg-type]
    except NotFound as e:
        if fault_of(e).reason in ("", "notFound"):
            return None
        raise


def table_info(table: Table, family: Family, prefix: str = "") -> TableInfo:
    """A table of the API, or the latest shard of a family, as one of the catalogue."""
    kind = _KINDS.get(str(table.table_type), str(table.table_type or "table").lower())
    time, ranges = table.time_partitioning, table.range_partitioning
    partitioned = (time.field or "_PARTITIONTIME") if time is not None else ranges.field if ranges is not None else ""
    hidden = [SUFFIX] if family.shards else []
    if partitioned == "_PARTITIONTIME":
        hidden += _PARTITION
    stored = kind not in ("view", "external table")
    return TableInfo(
        name=prefix + family.name,
        columns=columns_of(table.schema),
        rows=table.num_rows if stored and table.num_rows is not None else None,
        description=" ".join(filter(None, (table.description, family.warning))),
        bytes=table.num_bytes if stored and table.num_bytes is not None else None,
        kind=kind,
        partitioned_by=partitioned or "",
        partition_filter=bool(table.require_partition_filter),
        clustered_by=tuple(table.clustering_fields or ()),
        hidden=tuple(hidden),
        shards=family.shards,
    )


def _state(table: Table, family: Family) -> str:
    """A text that changes when the table's data or definition do."""
    modified = table.modified.isoformat() if table.modified is not None else ""
    return f"{table.full_table_id}:{modified}:{table.num_rows}:{table.num_bytes}:{len(family.shards)}"
